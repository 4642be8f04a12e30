"""Reductions, tuples, scans and code of one's own in TVM's words, each against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

import hybridjit.compat.tvm as tvm
from hybridjit.compat.tvm import te

ROWS, COLUMNS = 6, 64


def run(s: Any, args: list[Any], *inputs: Any) -> list[Any]:
    """The results of a schedule, whose inputs come first among its arguments."""
    results = [tvm.nd.empty(arg.shape, str(arg.dtype)) for arg in args[len(inputs) :]]
    tvm.build(s, args, "llvm")(*map(tvm.nd.array, inputs), *results)
    return [result.numpy() for result in results]


def partial_sums(x: Any) -> None:
    """Sums of rows, in sixteen parts that are added up at last."""
    A = te.placeholder((ROWS, COLUMNS), name="A")
    k = te.reduce_axis((0, COLUMNS), "k")
    B = te.compute((ROWS,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    _, inner = s[B].split(k, factor=16)
    parts = s.rfactor(B, inner)
    s[parts].compute_at(s[B], s[B].op.axis[0])
    print(tvm.lower(s, [A, B], simple_mode=True))
    (found,) = run(s, [A, B], x)
    tvm.testing.assert_allclose(found, x.sum(axis=1), rtol=1e-5)


def largest(x: Any) -> None:
    """The largest element of each row, and its place: a reduction of tuples."""

    def combine(a: Any, b: Any) -> Any:
        first = a[1] >= b[1]
        return tvm.tir.Select(first, a[0], b[0]), tvm.tir.Select(first, a[1], b[1])

    def identity(place: Any, value: Any) -> Any:
        return tvm.tir.const(-1, place), te.min_value(value)

    argmax = te.comm_reducer(combine, identity, name="argmax")
    places = te.placeholder((ROWS, COLUMNS), name="places", dtype="int32")
    values = te.placeholder((ROWS, COLUMNS), name="values")
    k = te.reduce_axis((0, COLUMNS), "k")
    P, V = te.compute((ROWS,), lambda i: argmax((places[i, k], values[i, k]), axis=k), name="T")
    numbers = np.tile(np.arange(COLUMNS, dtype="int32"), (ROWS, 1))
    found, most = run(te.create_schedule(P.op), [places, values, P, V], numbers, x)
    assert (found == x.argmax(axis=1)).all()
    assert (most == x.max(axis=1)).all()


def running_sums(x: Any) -> None:
    """Sums from row to row: a scan, whose columns are lanes."""
    X, state = te.placeholder((ROWS, COLUMNS), name="X"), te.placeholder((ROWS, COLUMNS))
    init = te.compute((1, COLUMNS), lambda _, i: X[0, i])
    update = te.compute((ROWS, COLUMNS), lambda t, i: state[t - 1, i] + X[t, i])
    sums = te.scan(init, update, state, inputs=[X])
    s = te.create_schedule(sums.op)
    _, inner = s[update].split(update.op.axis[1], factor=16)
    s[update].vectorize(inner)
    (found,) = run(s, [X, sums], x)
    tvm.testing.assert_allclose(found, x.cumsum(axis=0), rtol=1e-5)


@tvm.register_func("examples.add_one", override=True)
def add_one(x: Any, y: Any) -> None:
    tvm.nd.array(x.numpy() + 1).copyto(y)


def own_code(x: Any) -> None:
    """Statements that are written down one by one, and a function of Python by its name."""
    A = te.placeholder((ROWS, COLUMNS), name="A")

    def write(ins: Any, outs: Any) -> Any:
        ib = tvm.tir.ir_builder.create()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, ROWS, name="i") as i, ib.for_range(0, COLUMNS, name="j") as j:
            with ib.if_scope(a[i, j] > 0.0):
                b[i, j] = a[i, j]
            with ib.else_scope():
                b[i, j] = a[i, j] * 0.1
        return ib.get()

    B = te.extern(A.shape, [A], write, name="B", dtype="float32")
    C = te.extern(
        A.shape,
        [B],
        lambda ins, outs: tvm.tir.call_packed("examples.add_one", ins[0], outs[0]),
        name="C",
    )
    (found,) = run(te.create_schedule(C.op), [A, C], x)
    tvm.testing.assert_allclose(found, np.where(x > 0, x, x * np.float32(0.1)) + 1, rtol=1e-5)


def main() -> None:
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype("float32")
    for part in (partial_sums, largest, running_sums, own_code):
        part(x)
        print(f"{part.__name__}: right")


if __name__ == "__main__":
    main()
