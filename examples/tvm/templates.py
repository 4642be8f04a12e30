"""Schedules of programs, and templates of AutoTVM, in TVM's words."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import hybridjit.compat.tvm as tvm
from hybridjit.compat.tvm import autotvm, te

SIZE = 64


def stages(size: int) -> list[Any]:
    A, B = te.placeholder((size, size), name="A"), te.placeholder((size, size), name="B")
    k = te.reduce_axis((0, size), "k")
    return [
        A,
        B,
        te.compute((size, size), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C"),
    ]


def check(module: Any, size: int = SIZE) -> None:
    a, b = np.random.default_rng(0).random((2, size, size), np.float32)
    c = tvm.nd.empty((size, size))
    module(tvm.nd.array(a), tvm.nd.array(b), c)
    tvm.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-4)


def schedule_of_a_program() -> None:
    """Loops are found by their block; each step is checked when it is taken."""
    sch = tvm.tir.Schedule(tvm.IRModule({"main": te.create_prim_func(stages(SIZE))}))
    i, j, k = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, factors=[None, 8])
    j0, j1 = sch.split(j, factors=[None, 16])
    sch.reorder(i0, j0, k, i1, j1)
    sch.vectorize(j1)
    print(sch.mod.script())
    print(sch.trace)
    check(tvm.build(sch.mod, target="llvm"))


@autotvm.template("examples/product")
def product(size: int) -> tuple[Any, list[Any]]:
    A, B, C = stages(size)
    s = te.create_schedule(C.op)
    y, x = s[C].op.axis
    cfg = autotvm.get_config()
    cfg.define_split("tile_y", y, num_outputs=2)
    cfg.define_split("tile_x", x, num_outputs=2)
    yo, yi = cfg["tile_y"].apply(s, C, y)
    xo, xi = cfg["tile_x"].apply(s, C, x)
    s[C].reorder(yo, xo, s[C].op.reduce_axis[0], yi, xi)
    return s, [A, B, C]


def tuned_template() -> None:
    """Some ways to tile, of which the fastest is kept in a file, and taken from there."""
    task = autotvm.task.create("examples/product", args=(SIZE,), target="llvm")
    print(task.config_space)
    with tempfile.TemporaryDirectory() as folder:
        log = str(Path(folder) / "product.log")
        option = autotvm.measure_option("local", autotvm.LocalRunner(number=3))
        keep = autotvm.callback.log_to_file(log)
        autotvm.tuner.RandomTuner(task).tune(n_trial=4, measure_option=option, callbacks=[keep])
        with autotvm.apply_history_best(log), tvm.target.Target("llvm"):
            check(tvm.build(*product(SIZE)))


def main() -> None:
    schedule_of_a_program()
    tuned_template()
    print("right")


if __name__ == "__main__":
    main()
