"""A pass of one's own over the IR, added to the pipeline for one build.

The pass finds multiplications by powers of two of integers and shifts instead. It is a function
from PrimFunc to PrimFunc; what it gives is verified, shown by `inspect`, interpreted and compiled.
"""

from __future__ import annotations

import dataclasses

import numpy as np

import hybridjit as hj
from hybridjit import te, tir


def shift_instead(func: tir.PrimFunc) -> tir.PrimFunc:
    """x * 8 --> x << 3."""

    def rule(node: tir.Node) -> tir.Node | None:
        match node:
            case tir.Mul(x, tir.Const(int(factor), dtype)) if factor > 1 and dtype.is_integer:
                if factor & (factor - 1) == 0:
                    return tir.ShiftLeft(x, tir.Const(factor.bit_length() - 1, dtype))
        return None

    return dataclasses.replace(func, body=tir.rewrite(func.body, rule))


class UnrollInner(tir.Mutator):
    """A rewriting with state: loops of few iterations, inside of others, are unrolled."""

    def __init__(self) -> None:
        self.depth = 0

    def rewrite_For(self, node: tir.For) -> tir.Stmt:
        self.depth += 1
        made = self.generic(node)
        self.depth -= 1
        is_short = isinstance(node.stop, tir.Const) and node.stop.value.real <= 16
        if self.depth == 0 or not is_short:
            return made
        return dataclasses.replace(made, kind=tir.LoopKind.UNROLLED)


@tir.prim_func_pass(stage="loops")
def unroll_inner(func: tir.PrimFunc) -> tir.PrimFunc:
    """Runs after blocks are lowered, when there are plain loops only."""
    return dataclasses.replace(func, body=UnrollInner().rewrite(func.body))


def main() -> None:
    n = te.var("n")
    A = te.placeholder((n, 16), "int32", "A")
    B = te.compute((n, 16), lambda i, j: A[i, j] * 8 + j, name="B")
    s = te.create_schedule(B.op)

    module = hj.build(s, [A, B], name="scaled", passes=[shift_instead, unroll_inner])
    print(module.inspect("tir"))

    a = np.random.default_rng(0).integers(-1000, 1000, (5, 16), np.int32)
    b = np.empty_like(a)
    module(a, b)
    np.testing.assert_array_equal(b, a * 8 + np.arange(16))
    assert "<< 3" in module.inspect("tir")
    print("the result is that of the multiplication")


if __name__ == "__main__":
    main()
