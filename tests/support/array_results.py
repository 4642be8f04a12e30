"""Compare what a kernel of whole-array statements gives with what NumPy gives."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, cast
from unittest.mock import patch

import numpy as np

from hybridjit import Kernel
from hybridjit.frontend.parse import Parsed
from hybridjit.runtime import compiler
from hybridjit.runtime.translation import Request
from tests.support.optimized import is_ordered, run_optimized
from tests.support.oracle import (
    Outcome,
    assert_same_outcome,
    fresh,
    run_interpreted,
    run_once,
    run_plain,
)
from tests.support.poisoned import run_poisoned

# Sums of floats: NumPy adds in pairs, a script one after the other.
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12, "complex64": 2e-5}


def run_ways(
    kernel: Kernel[..., Any], args: Sequence[Any], exact: Kernel[..., Any]
) -> dict[str, Outcome]:
    """What a call gives in the interpreter, as written and optimised, and natively.

    The interpreter runs `exact`, another kernel of the function: a translation for the exact sizes
    would be run natively, too, in the place of the one for any size that calls of several sizes
    lead to.
    """
    return {
        "interpreter": run_once(run_interpreted, exact, args),
        "interpreter of the optimised program": run_once(run_optimized, exact, args),
        "native": run_once(run_poisoned, kernel, args),
    }


def assert_agree(kernel: Kernel[..., Any], args: Sequence[Any]) -> Outcome:
    """Run `kernel` as plain Python, in the interpreter, as written and optimised, and natively;
    fail unless all agree. Where no order is open, the optimiser changes no bit.
    """
    plain = run_once(run_plain, kernel, args)
    exact = _twin(kernel, os.getpid())
    with translated_once():
        outcomes = run_ways(kernel, args, exact)
    for name, found in outcomes.items():
        try:
            _assert_alike(found, plain)
        except AssertionError as error:
            raise AssertionError(f"{name} and NumPy differ: {error}") from found.error
    as_written, fast, _ = outcomes.values()
    if plain.error is None and is_ordered(exact.prim_func(*args)):
        assert_same_outcome(fast, as_written)
    return plain


@lru_cache(maxsize=16)
def _twin(kernel: Kernel[..., Any], process: int) -> Kernel[..., Any]:
    """Another kernel of the function, for all calls of it: arrays of one size are translated once.

    Children, in which the compiler may be another one, have their own.
    """
    return fresh(kernel)


@contextmanager
def translated_once() -> Generator[None]:
    """What two kernels of one function have in common is translated and made fast once."""
    translate, known = compiler.translate, dict[Any, Parsed]()

    def translate_once(request: Request) -> Parsed:
        options = request.fastmath, request.schedule, request.passes, request.parallel
        key = request.function, request.specs, options
        if key not in known:
            known[key] = translate(request)
        return known[key]

    with (
        patch.object(compiler, "translate", translate_once),
        patch.object(compiler, "make_fast", lru_cache(compiler.make_fast)),
    ):
        yield


def _assert_alike(found: Outcome, expected: Outcome) -> None:
    if expected.error is not None:
        assert isinstance(found.error, type(expected.error)), f"{found.error!r}, {expected.error!r}"
        return
    assert found.error is None, f"raised {found.error!r}"
    assert_close(found.result, expected.result)
    for got, want in zip(found.arguments, expected.arguments, strict=True):
        assert_close(got, want)


def assert_close(found: Any, expected: Any, bound: float | None = None) -> None:
    """Fail unless two results have the same types and shapes, and values that are as near as sums
    allow, or not further apart than `bound`; for 0, equal bit for bit.
    """
    if isinstance(expected, tuple):
        assert len(found) == len(cast("tuple[Any, ...]", expected))
        for got, want in zip(found, cast("tuple[Any, ...]", expected), strict=True):
            assert_close(got, want, bound)
        return
    if expected is None:
        assert found is None
        return
    got: Any = np.asarray(found)
    want: Any = np.asarray(expected)
    assert got.dtype == want.dtype, f"dtype {got.dtype}, expected {want.dtype}"
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    if bound == 0:
        assert is_same(got, want), f"{got!r}, expected {want!r}"
        return
    tolerance = TOLERANCE.get(want.dtype.name, 1e-12) if want.dtype.kind in "fc" else 0
    rtol, atol = (tolerance, tolerance) if bound is None else (0, bound)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def is_same(got: Any, want: Any) -> bool:
    """True if values are equal bit for bit; a NaN is a NaN."""
    if got.dtype.kind == "c":
        return is_same(got.real, want.real) and is_same(got.imag, want.imag)
    if got.dtype.kind != "f":
        return bool((got == want).all())
    both = np.isnan(got) & np.isnan(want)
    same = (got == want) & (np.signbit(got) == np.signbit(want))
    return bool((both | same).all())
