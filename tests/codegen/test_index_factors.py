"""Indices with divisions in vector loops: found to be rows of memory, and right in any case."""

import itertools
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit.codegen.emit.index_factors import find_factor, join_fused
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Buffer, Const, Expr, FloorDiv, Load, Mod, Var
from hybridjit.processor import current_target
from tests.support.oracle import assert_same

Array = Any
X, Y = Var("i"), Var("j")


@pytest.mark.parametrize(
    ("expr", "factor"),
    [
        (Const(-12), 12),
        (Const(0), 0),
        (X, 8),
        (Y, 1),
        (X * 3, 24),
        (X + 12, 4),
        (X - 16, 8),
        (X * Y, 8),
        (X + Y, 1),
        (X // 2, 1),
        (X + 0, 8),
    ],
)
def test_factors(expr: Expr, factor: int) -> None:
    assert find_factor(expr, {X: 8}) == factor
    for i, j in itertools.product(range(-24, 25, 8), range(-3, 4)):
        value = int(eval(str_of(expr), {"i": i, "j": j}))
        assert value % factor == 0 if factor else value == 0


def str_of(expr: Expr) -> str:
    """The expression as Python's own arithmetic has it."""
    from_ir = {X: "i", Y: "j"}
    match expr:
        case Const(value):
            return f"({value})"
        case Var():
            return from_ir[expr]
        case _:
            lhs, rhs = (str_of(getattr(expr, side)) for side in ("lhs", "rhs"))
            signs = {"Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//"}
            return f"({lhs} {signs[type(expr).__name__]} {rhs})"


def test_fused_axes_are_joined_where_they_lie_as_one() -> None:
    pair = [FloorDiv(X, Const(14)), Mod(X, Const(14))]
    assert join_fused(pair, [56, 4], {}) == [Const(0), X]
    assert join_fused(pair, [64, 4], {}) == pair  # rows with something between them
    assert join_fused(pair, [None, 4], {}) == pair
    assert join_fused([pair[1], pair[0]], [56, 4], {}) == [pair[1], pair[0]]
    names = {Y: pair[0]}
    assert join_fused([Y, pair[1]], [56, 4], names) == [Const(0), X]


def test_what_is_read_from_memory_is_read_once() -> None:
    loaded = Load(Buffer("p", INT64, (Const(3),)), (X,))
    pair = [FloorDiv(loaded, Const(14)), Mod(loaded, Const(14))]
    assert join_fused(pair, [56, 4], {}) == pair


PROGRAM = """
def f(a: float32[{rows}, {size}], b: float32[{count}], c: float32[{size}], n: int):
    for i in range({blocks}):
        for j in vectorize(i * {step} + {first}, i * {step} + {first} + {lanes}):
            if 0 <= j + {shift} and j + {shift} < {total} and j < {count} and j < n:
                b[j] = a[(j + {shift}) // {size}, (j + {shift}) % {size}]
                b[j] = b[j] + a[(j + {shift}) // {size}, 3] * c[(j + {shift}) % {size}]
"""


@pytest.mark.sampled(18)
@pytest.mark.parametrize("size", [8, 14, 16, 32])
@pytest.mark.parametrize("step", [16, 14, 7])
@pytest.mark.parametrize("first", [0, 3, -16])
@pytest.mark.parametrize("shift", [0, 4, 14])
def test_every_element_is_the_right_one(size: int, step: int, first: int, shift: int) -> None:
    sizes = {"rows": 5, "size": size, "count": 60, "blocks": 4, "step": step, "first": first}
    text = PROGRAM.format(**sizes, lanes=step, shift=shift, total=5 * size)
    module = hj.build(hj.parse(text))
    generator = np.random.default_rng(0)
    a, c = generator.random((5, size), np.float32), generator.random(size, np.float32)
    found, expected = np.zeros(60, np.float32), np.zeros(60, np.float32)
    for run, out in ((module, found), (module.interpret, expected)):
        run(a, out, c, 55)
    assert_same(found, expected)


PACKED = """
def f(a: float32[6, 192, 32], b: float32[192]):
    for i in range(6):
        for k in range(192):
            for j in vectorize(i * 32, i * 32 + 32):
                b[j] = b[j] + a[j // 32, k, j % 32]
"""
FUSED = """
def f(a: float32[8, 14], b: float32[8, 14]):
    for i in vectorize(112):
        b[i // 14, i % 14] = a[i // 14, i % 14] + 1.0
"""


@pytest.mark.skipif(current_target().vector_bits < 256, reason="two vectors are a row there")
@pytest.mark.parametrize("text", [PACKED, FUSED])
def test_rows_are_loaded_at_once(text: str) -> None:
    code = hj.build(hj.parse(text)).inspect("llvm")
    assert "masked.gather" not in code
    assert "masked.scatter" not in code
    assert "load <" in code
