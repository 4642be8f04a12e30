"""What a call gives does not depend on the calls before it.

A kernel that has met two sizes of an axis is compiled for any size: then it meets sizes of 1 and
of 0, which NumPy treats in ways of their own. All calls run in the interpreter, some natively.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import Kernel
from hybridjit.errors import HybridError, InternalError
from hybridjit.interp.run import interpret
from hybridjit.runtime.arguments import spec_of_argument
from hybridjit.runtime.promotion import Promotion
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_close
from tests.support.numpy_calls import LINES, arrays_at, arrays_of
from tests.support.oracle import Outcome, Run, run_native, run_once, run_plain

np: Any = numpy
# Sizes of vectors, rows and columns: the first two make all of them known at run time only.
HISTORY = ((7, 4, 5), (9, 6, 8), (1, 1, 1), (2, 1, 3), (3, 2, 1), (0, 0, 0), (0, 3, 0), (11, 4, 4))
# What NumPy leaves open, and the type of sums of weights, which it takes from how many there are.
_LEFT_OPEN = ("np.empty", "argpartition", "np.bincount(k, w", "weights=w)[0]")
CALLS = [call for call in LINES if not any(part in call for part in _LEFT_OPEN)]
NATIVE_STEP = 16  # one call in so many runs natively: compiling takes half a second each


def _kernel(call: str) -> Kernel[..., Any]:
    names = ", ".join(arrays_of(call))
    return script_from_text(f"def f({names}):\n    return {call}\n", {"np": np})


def _interpreter() -> Run:
    """Runs a kernel in the interpreter, as one that is compiled for the sizes of calls so far."""
    promotion = Promotion()

    def run(kernel: Kernel[..., Any], /, *args: Any, **_: Any) -> Any:
        specs = tuple(spec_of_argument("", arg) for arg in args)
        general, _reason = promotion.generalize(specs)
        try:
            func = kernel.prim_func(*general)
        except HybridError:
            func = kernel.prim_func(*specs)
        return interpret(func, args)

    return run


def _assert_alike(found: Outcome, expected: Outcome) -> None:
    """The same value; or an error of the user's where NumPy raises one, whatever its type."""
    if expected.error is not None:
        assert found.error is not None, f"gave {found.result!r}, not {expected.error!r}"
        assert not isinstance(found.error, InternalError), f"raised {found.error!r}"
        return
    assert found.error is None, f"raised {found.error!r}"
    assert_close(found.result, expected.result)


def _check(call: str, way: Run) -> None:
    kernel = _kernel(call)
    for sizes in HISTORY:
        arrays = arrays_at(*sizes)
        args = [arrays[name] for name in arrays_of(call)]
        expected = run_once(run_plain, kernel, args)
        found = run_once(way, kernel, args)
        try:
            _assert_alike(found, expected)
        except AssertionError as error:
            raise AssertionError(f"at the sizes {sizes}: {error}") from found.error


@pytest.mark.sampled(32)
@pytest.mark.parametrize("call", CALLS)
def test_history_does_not_matter(call: str) -> None:
    _check(call, _interpreter())


@pytest.mark.sampled(32)
@pytest.mark.parametrize("call", CALLS[::NATIVE_STEP])
def test_history_does_not_matter_natively(call: str) -> None:
    _check(call, run_native)


SCRIPTS = {
    "a loop gives a name an array of another size": """
def f(b, d):
    t = d + 1
    for r in range(3):
        t = b * 1
    return t * 1
""",
    "only some rounds do": """
def f(b, d):
    t = b * 2
    for r in range(len(d)):
        if r % 2 == 1:
            t = d + r
        else:
            t = b - r
    return t, t.sum()
""",
    "a while loop does": """
def f(b, d):
    t = b + 0
    k = 0
    while k < 3:
        k += 1
        t = d * k
    return t
""",
    "more axes in front, of sizes that come to be 1": """
def f(b, d):
    t = np.zeros(len(d))
    t[:] = np.outer(np.unique(b[:1]), d)
    return t
""",
}
LENGTHS = ((4, 4), (5, 3), (1, 7), (7, 1), (6, 6), (2, 9))


@pytest.mark.parametrize("name", SCRIPTS)
def test_sizes_that_were_equal_before(name: str) -> None:
    kernel = script_from_text(SCRIPTS[name], {"np": np})
    interpreted = _interpreter()
    for b, d in LENGTHS:
        args = [np.arange(float(b)) + 1, np.arange(float(d)) - 2]
        expected = run_once(run_plain, kernel, args)
        for way in (interpreted, run_native):
            _assert_alike(run_once(way, kernel, args), expected)
