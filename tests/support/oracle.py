"""Run a kernel in plain Python and in the interpreter; compare results, effects, output, errors.

Native code is held against them where it is asked for: `tests.lowering.ways`.
"""

from __future__ import annotations

import io
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hybridjit
from hybridjit import Kernel, config
from hybridjit.errors import RefutedIndex
from hybridjit.scalars.contents import fresh_copies

Run = Callable[..., Any]
Array = Any  # comparing arrays of unknown types has no static types worth the name
_PACKAGE = Path(hybridjit.__file__).parent
_ARRAY: type[Any] = np.ndarray
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
_SCALAR: tuple[type[Any], ...] = (bool, int, float, complex, np.generic)


# Ways to run a kernel


def run_plain(kernel: Kernel[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """In plain Python."""
    return kernel.py_func(*args, **kwargs)


def run_interpreted(kernel: Kernel[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """In the interpreter."""
    return kernel.interpret(*args, **kwargs)


def run_native(kernel: Kernel[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """In native code, whatever the settings are."""
    with config.scope(interpret=False):
        return kernel(*args, **kwargs)


def fresh(kernel: Kernel[..., Any]) -> Kernel[..., Any]:
    """A kernel of the same function, without code or memory of calls."""
    return Kernel(kernel.__hybrid_function__)


# Outcomes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run did: its result or error, its arguments afterwards, and what it printed."""

    result: Any
    error: Exception | None
    arguments: list[Any]
    output: str


def run_plain_and_interpreted(
    kernel: Kernel[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    ulp: int = 0,
    joined: bool = False,
) -> Outcome:
    """Run `kernel` in plain Python and in the interpreter; fail unless they agree.

    `ulp` bounds how far apart floats may be. With `joined`, a scalar that plain Python gives in a
    narrower type is first converted: there, a variable has the type of its last value, in a
    kernel that of all its values.
    """
    plain = run_once(run_plain, kernel, args, kwargs)
    found = run_once(run_interpreted, kernel, args, kwargs)
    try:
        assert_same_outcome(found, plain, ulp=ulp, joined=joined)
    except AssertionError as error:
        raise AssertionError(f"interpreter and plain Python differ: {error}") from found.error
    return plain


def run_once(
    way: Run, kernel: Kernel[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any] | None = None
) -> Outcome:
    """The outcome of one way to run a kernel, on fresh copies of the arguments."""
    names = tuple(kwargs or {})
    copies = fresh_copies([*args, *(kwargs or {}).values()])
    named = dict(zip(names, copies[len(args) :], strict=True))
    printed = io.StringIO()
    result, error = None, None
    with np.errstate(all="ignore"), warnings.catch_warnings(), redirect_stdout(printed):
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            result = way(kernel, *copies[: len(args)], **named)
        except Exception as caught:
            error = caught
    return Outcome(result, error, copies, printed.getvalue())


# Comparison


def assert_same_outcome(
    actual: Outcome, expected: Outcome, *, ulp: int = 0, joined: bool = False
) -> None:
    """Fail unless two runs ended alike, changed the arguments alike and printed the same."""
    _assert_same_error(actual.error, expected.error)
    if isinstance(actual.error, RefutedIndex):
        return  # the compiler saw it coming: nothing has run, nothing was written
    result = _converted(expected.result, actual.result) if joined else expected.result
    assert_same(actual.result, result, ulp=ulp)
    for position, pair in enumerate(zip(actual.arguments, expected.arguments, strict=True)):
        try:
            assert_same(*pair, ulp=ulp)
        except AssertionError as error:
            raise AssertionError(f"argument {position}: {error}") from None
    if actual.output != expected.output:
        raise AssertionError(f"printed {actual.output!r}, expected {expected.output!r}")


def _assert_same_error(actual: Exception | None, expected: Exception | None) -> None:
    if expected is None:
        if actual is not None:
            raise AssertionError(f"raised {type(actual).__name__}: {actual}")
        return
    wanted = type(expected)
    if not isinstance(actual, wanted):
        found = "nothing" if actual is None else f"{type(actual).__name__}: {actual}"
        raise AssertionError(f"raised {found}, expected {wanted.__name__}: {expected}")
    if _is_raised_by_script(expected) and (
        type(actual) is not wanted or list(map(str, actual.args)) != list(map(str, expected.args))
    ):
        raise AssertionError(f"raised {actual!r}, expected {expected!r}")


def _is_raised_by_script(error: Exception) -> bool:
    """True if a `raise` or an `assert` of the script raised it, not an operation that failed."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    is_ours = Path(place.filename).is_relative_to(_PACKAGE)
    # What an assertion asks may fail itself: `assert a[9] > 0`.
    words = ("raise ", "assert ") if isinstance(error, AssertionError) else ("raise ",)
    return not is_ours and (place.line or "").startswith(words)


def _converted(expected: Any, actual: Any) -> Any:
    """`expected` with each scalar in the type of its counterpart, if that is a wider one."""
    if isinstance(expected, _SEQUENCE) and isinstance(actual, _SEQUENCE):
        items = [_converted(*pair) for pair in zip(expected, actual, strict=True)]
        return items if isinstance(expected, list) else tuple(items)
    if not (isinstance(actual, _SCALAR) and isinstance(expected, _SCALAR)):
        return expected
    return type(actual)(expected)


def assert_same(actual: Any, expected: Any, ulp: int = 0) -> None:
    """Fail unless two values are the same: type, dtype, shape and every bit (any NaN is NaN).

    With `ulp`, floats may lie that many representable values apart.
    """
    if isinstance(expected, _SEQUENCE):
        if type(actual) is not type(expected) or len(actual) != len(expected):
            raise AssertionError(f"got {actual!r}, expected {expected!r}")
        for position, pair in enumerate(zip(actual, expected, strict=True)):
            try:
                assert_same(*pair, ulp=ulp)
            except AssertionError as error:
                raise AssertionError(f"item {position}: {error}") from None
        return
    if type(actual) is not type(expected):
        raise AssertionError(
            f"got {actual!r} of type {type(actual).__name__}, "
            f"expected {expected!r} of type {type(expected).__name__}"
        )
    if isinstance(expected, (_ARRAY, *_SCALAR)):
        _assert_same_array(np.asarray(actual), np.asarray(expected), ulp)
    elif actual != expected:
        raise AssertionError(f"got {actual!r}, expected {expected!r}")


def _assert_same_array(actual: Array, expected: Array, ulp: int) -> None:
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        raise AssertionError(
            f"got {actual.dtype} of shape {actual.shape}, "
            f"expected {expected.dtype} of shape {expected.shape}"
        )
    wrong = np.argwhere(~_agree(actual, expected, ulp))
    if len(wrong):
        at = tuple(int(index) for index in wrong[0])
        raise AssertionError(
            f"got {actual[at]!r}, expected {expected[at]!r} at index {at}; "
            f"{len(wrong)} of {actual.size} elements differ"
        )


def _agree(actual: Array, expected: Array, ulp: int) -> Array:
    if actual.dtype.names:
        fields = [_agree(actual[name], expected[name], ulp) for name in actual.dtype.names]
        # A field may be an array in each record.
        inner = [tuple(range(actual.ndim, field.ndim)) for field in fields]
        return np.all([f.all(axis=axes) for f, axes in zip(fields, inner, strict=True)], axis=0)
    if actual.dtype.kind == "c":
        return _agree(actual.real, expected.real, ulp) & _agree(actual.imag, expected.imag, ulp)
    if actual.dtype.kind in "biu":
        return np.asarray(actual == expected)
    distance = np.abs(_position(actual) - _position(expected))
    return (distance <= ulp) | (np.isnan(actual) & np.isnan(expected))


def _position(values: Array) -> Array:
    """The place of each float in the order of all floats of its type; -0.0 is just below 0.0."""
    # As Python ints: the distance between two float64s need not fit in int64.
    bits = values.copy().view(f"i{values.itemsize}").astype(object)
    lowest = -(1 << (8 * values.itemsize - 1))
    return np.asarray(np.where(bits < 0, lowest - bits - 1, bits), object)
