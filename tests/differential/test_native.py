"""Native code and the interpreter agree: on random programs, on every operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from hybridjit import Kernel, hybrid
from hybridjit.ir.expr import Call, Pow
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.visit import walk
from tests.corpus.case import Array
from tests.differential.test_random_programs import SLOW
from tests.programs.kinds import STYLES
from tests.programs.program import Program, forget_sources, program_from_seed
from tests.support.oracle import assert_same_outcome, run_interpreted, run_once
from tests.support.poisoned import run_poisoned
from tests.support.strategies import programs, wild_programs

SEEDS = range(150)
CHUNK = 10
# Functions that are exact: native code must give the very bits of the interpreter.
EXACT = {
    *("floor", "ceil", "trunc", "rint", "sign", "copysign", "minimum", "maximum", "fmod"),
    *(
        "popcount",
        "clz",
        "dot_bytes",
        "fma",
        "isnan",
        "isinf",
        "isfinite",
        "real",
        "imag",
        "conj",
        "complex",
    ),
}
EXACT_ON_REALS = {"sqrt", "abs"}


def check(kernel: Kernel[..., Any], args: Any) -> None:
    expected = run_once(run_interpreted, kernel, args)
    found = run_once(run_poisoned, kernel, args)
    assert_same_outcome(found, expected)


def is_exact(func: PrimFunc) -> bool:
    """True if the program has no function that may differ in the last bits."""
    for node in walk(func.body):
        if isinstance(node, Pow) and not node.dtype.is_integer:
            return False
        if isinstance(node, Call):
            is_real = not node.args[0].dtype.is_complex
            if node.name not in EXACT and not (node.name in EXACT_ON_REALS and is_real):
                return False
    return True


def check_program(program: Program) -> None:
    if is_exact(program.kernel.prim_func(*program.args)):
        check(program.kernel, program.args)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("style", ["tame", "wild"])
@pytest.mark.parametrize("first", SEEDS[::CHUNK])
def test_programs_of_the_first_seeds(first: int, style: str) -> None:
    for seed in range(first, first + CHUNK):
        program = program_from_seed(seed, STYLES[style])
        try:
            check_program(program)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{program!r}") from error
    forget_sources()


@given(program=programs())
@settings(suppress_health_check=SLOW)
def test_programs(program: Program) -> None:
    check_program(program)


@given(program=wild_programs())
@settings(suppress_health_check=SLOW)
def test_programs_that_may_leave_their_arrays(program: Program) -> None:
    check_program(program)


# -- every pair of bytes ---------------------------------------------------------------------------


@hybrid.script
def byte_operators(x: Array, y: Array, out: Array) -> None:
    for k in range(x.shape[0]):
        a, b = x[k], y[k]
        out[0, k] = a + b
        out[1, k] = a - b
        out[2, k] = a * b
        out[3, k] = a & b
        out[4, k] = a | b
        out[5, k] = a ^ b
        out[6, k] = a << b
        out[7, k] = a >> b
        out[8, k] = min(a, b)
        out[9, k] = max(a, b)
        out[10, k] = np.minimum(a, b)
        out[11, k] = np.maximum(a, b)
        out[12, k] = -a
        out[13, k] = ~a
        out[14, k] = abs(a)


@hybrid.script
def byte_comparisons(x: Array, y: Array, out: Array) -> None:
    for k in range(x.shape[0]):
        a, b = x[k], y[k]
        out[0, k] = a < b
        out[1, k] = a <= b
        out[2, k] = a > b
        out[3, k] = a >= b
        out[4, k] = a == b
        out[5, k] = a != b


@hybrid.script
def byte_divisions(x: Array, y: Array, out: Array) -> None:
    for k in range(x.shape[0]):
        out[0, k] = x[k] // y[k]
        out[1, k] = x[k] % y[k]


def all_pairs(dtype: str) -> tuple[Any, Any]:
    every = np.arange(256).astype(np.uint8)
    x: Any = np.repeat(every, 256)
    y: Any = np.tile(every, 256)
    return x.view(dtype), y.view(dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_all_pairs_of_bytes(dtype: str) -> None:
    x, y = all_pairs(dtype)
    out = np.zeros((15, x.size), dtype)
    byte_operators(x, y, out)
    with np.errstate(all="ignore"):
        expected = [
            *(x + y, x - y, x * y, x & y, x | y, x ^ y, x << y, x >> y),
            *(np.minimum(x, y), np.maximum(x, y), np.minimum(x, y), np.maximum(x, y)),
            *(-x, ~x, np.abs(x)),
        ]
    for row, values in zip(out, expected, strict=True):
        np.testing.assert_array_equal(row, values)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_all_comparisons_of_bytes(dtype: str) -> None:
    x, y = all_pairs(dtype)
    out = np.zeros((6, x.size), bool)
    byte_comparisons(x, y, out)
    for row, values in zip(out, (x < y, x <= y, x > y, x >= y, x == y, x != y), strict=True):
        np.testing.assert_array_equal(row, values)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_all_divisions_of_bytes(dtype: str) -> None:
    x, y = all_pairs(dtype)
    x, y = x[y != 0], y[y != 0]
    out = np.zeros((2, x.size), dtype)
    byte_divisions(x, y, out)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out[0], x // y)
        np.testing.assert_array_equal(out[1], x % y)


def test_division_by_zero_raises() -> None:
    out = np.zeros((2, 1), np.int8)
    with pytest.raises(ZeroDivisionError, match="integer division or modulo by zero"):
        byte_divisions(np.ones(1, np.int8), np.zeros(1, np.int8), out)


# -- powers ----------------------------------------------------------------------------------------


@hybrid.script
def small_powers(x: Array, out: Array) -> None:
    for i in range(x.shape[0]):
        out[0, i] = x[i] ** 2
        out[1, i] = x[i] ** 3
        out[2, i] = x[i] ** -1.0
        out[3, i] = x[i] ** 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_powers_are_products(dtype: str) -> None:
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e30]
    x = np.concatenate([rng.standard_normal(1000) * 10, special]).astype(dtype)
    out = np.zeros((4, x.size), dtype)
    small_powers(x, out)
    with np.errstate(all="ignore"):
        expected = [x * x, x * x * x, 1 / x, x]
    np.testing.assert_array_equal(out, np.array(expected, dtype))
