"""The steps of examples/te/story.py beside TVM's: the same tensors, loops and data, in turns.

    pip install apache-tvm
    TVM_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.story

TVM rounds a product together with the sum that it is added to. So do we here where it says
`contract`; as a rule, each is rounded as the loops say. Arrays begin where lines of the cache do,
as TVM's always do.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import hybridjit as hj
from hybridjit import te
from hybridjit.compat.tvm import nd

SIZES = (1024, 2048, 1024, 3072)  # M, K, L, N
RELATIVE = 1e-3  # how far sums of float32 may differ from those in NumPy's order
STEPS = {"reordered": (None, False), "tiles of 8": (8, False), "tiles of 64, in lanes": (64, True)}
"""The size of a tile, and whether its columns are lanes."""

Run = Callable[[], object]


def main(arguments: Sequence[str] | None = None) -> None:
    """Race all ways of each step, and tell."""
    options = _parse(arguments)
    sizes = [size // options.part for size in SIZES]
    table = Table("step", "TVM, ms", "ours, contract, ms", "ours, ms", "TVM / contract")
    data = _data(sizes)
    for name, (tile, has_lanes) in STEPS.items():
        runs = [
            _run_by_tvm(sizes, tile, data, has_lanes=has_lanes),
            _run_by_us(sizes, tile, data, {"contract"}, has_lanes=has_lanes),
            _run_by_us(sizes, tile, data, False, has_lanes=has_lanes),
        ]
        best = _race(runs, options.rounds)
        table.add_row(name, *(f"{each * 1e3:.2f}" for each in best), f"{best[0] / best[1]:.2f}")
    Console().print(table)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.story", description=__doc__)
    parser.add_argument("--part", type=int, default=1, help="sizes are divided by this")
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many counts")
    return parser.parse_args(arguments)


def _data(sizes: Sequence[int]) -> list[nd.NDArray]:
    """A, B, E and room for F."""
    rows, inner, columns, width = sizes
    generator = np.random.default_rng(0)
    shapes = (rows, inner), (inner, columns), (columns, width)
    given = [nd.array(generator.standard_normal(shape).astype("f4") / 40) for shape in shapes]
    return [*given, nd.empty((rows, width))]


def _tensors(te: Any, sizes: Sequence[int]) -> list[Any]:
    """A, B, E, C = A B and F = exp(C) E, by our `te` or by TVM's."""
    rows, inner, columns, width = sizes
    A = te.placeholder((rows, inner), "float32", name="A")
    B = te.placeholder((inner, columns), "float32", name="B")
    E = te.placeholder((columns, width), "float32", name="E")
    k, x = te.reduce_axis((0, inner), "k"), te.reduce_axis((0, columns), "x")

    def multiply(m: Any, n: Any) -> Any:
        return te.sum(A[m, k] * B[k, n], axis=k)

    C = te.compute((rows, columns), multiply, name="C")

    def exponential(p: Any, q: Any) -> Any:
        return te.exp(C[p, q])

    D = te.compute((rows, columns), exponential, name="D")

    def multiply_again(i: Any, j: Any) -> Any:
        return te.sum(D[i, x] * E[x, j], axis=x)

    F = te.compute((rows, width), multiply_again, name="F")
    return [A, B, E, C, F]


def _run_by_us(
    sizes: Sequence[int], tile: int | None, data: Sequence[Any], fastmath: Any, *, has_lanes: bool
) -> Run:
    A, B, E, C, F = _tensors(te, sizes)
    s = te.create_schedule(F.op, fastmath=fastmath)
    for T in (C, F):
        (i, j), (k,) = T.op.axis, T.op.reduce_axis
        if tile is None:
            s[T].reorder(i, k, j)
            continue
        io, jo, ii, ji = s[T].tile(i, j, tile, tile)
        ko, ki = s[T].split(k, factor=tile)
        s[T].reorder(io, jo, ko, ii, ki, ji)
        if has_lanes:
            s[T].vectorize(ji)
    function = hj.build(s, [A, B, E, F])
    return _checked(lambda: function(*data), data[-1].numpy, data)


def _run_by_tvm(
    sizes: Sequence[int], tile: int | None, data: Sequence[Any], *, has_lanes: bool
) -> Run:
    tvm: Any = importlib.import_module("tvm")
    *given, C, F = _tensors(tvm.te, sizes)
    s = tvm.s_tir.Schedule(tvm.te.create_prim_func([*given, F]))
    for name in (C.op.name, F.op.name):
        i, j, k = s.get_loops(s.get_sblock(name))
        if tile is None:
            s.reorder(i, k, j)
            continue
        (io, ii), (jo, ji), (ko, ki) = (s.split(loop, [None, tile]) for loop in (i, j, k))
        s.reorder(io, jo, ko, ii, ki, ji)
        if has_lanes:
            s.vectorize(ji)
    processor = tvm.target.codegen.llvm_get_system_cpu()
    function = tvm.compile(s.mod, target={"kind": "llvm", "mcpu": processor})["main"]
    copies = [tvm.runtime.tensor(np.asarray(array), tvm.cpu()) for array in data]
    return _checked(lambda: function(*copies), copies[-1].numpy, data)


def _checked(run: Run, result: Callable[[], Any], data: Sequence[Any]) -> Run:
    """`run`, whose result is right."""
    a, b, e, _ = map(np.asarray, data)
    run()
    np.testing.assert_allclose(result(), np.exp(a @ b) @ e, rtol=RELATIVE, atol=RELATIVE)
    return run


def _race(runs: Sequence[Run], rounds: int) -> list[float]:
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


if __name__ == "__main__":
    main()
