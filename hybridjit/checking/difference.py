"""The first difference between two runs of one call: their results, arguments and errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.checking.exactness import allowed_error
from hybridjit.errors import DivisionByZero, RefutedIndex
from hybridjit.record import record
from hybridjit.scalars.contents import arrays_in
from hybridjit.scalars.kinds import is_array, is_sequence

# Plain Python has integers without end, and NumPy divides by zero with a warning: there the
# language says otherwise, and the two are not to be compared.
_PLAIN_ONLY = (OverflowError,)
_MOST_BITS = 63
_NATIVE_ONLY = (DivisionByZero, OverflowError)


@record
class Outcome:
    """What one run did: its result or error, and its arguments afterwards, by name."""

    result: Any
    error: Exception | None
    arguments: dict[str, Any]

    def value(self) -> Any:
        """The result, or the error as itself."""
        if self.error is not None:
            raise self.error
        return self.result


@record
class Difference:
    """Where two runs differ: in the result, in an argument, or in how they ended."""

    what: str
    index: tuple[int, ...] | None
    native: str
    plain: str
    argument: str | None = None

    @property
    def place(self) -> str:
        """`argument 'a' at [0, 3]`."""
        if self.index is None or self.index == ():
            return self.what
        return f"{self.what} at [{', '.join(map(str, self.index))}]"


def are_comparable(native: Outcome, plain: Outcome) -> bool:
    """False where the language differs from plain Python on purpose."""
    if isinstance(plain.error, _PLAIN_ONLY) or isinstance(native.error, _NATIVE_ONLY):
        return False
    return not _has_long_integers(plain.result)


def _has_long_integers(value: Any) -> bool:
    """True of Python's integers of more than 64 bits, also in sequences."""
    if is_sequence(value):
        return any(map(_has_long_integers, value))
    return isinstance(value, int) and value.bit_length() > _MOST_BITS


def find_difference(native: Outcome, plain: Outcome, *, is_exact: bool) -> Difference | None:
    """The first difference, or None. After an error, arguments may hold other elements."""
    if native.error is not None or plain.error is not None:
        return _error_difference(native.error, plain.error)
    arrays = [item for value in plain.arguments.values() for item in arrays_in(value)]
    arrays += list(arrays_in(plain.result))
    rules = _Rules(arrays, is_exact)
    found = rules.compare("the result", native.result, plain.result)
    for name, value in plain.arguments.items():
        found = found or rules.compare(f"argument '{name}'", native.arguments[name], value, name)
    return found


def _error_difference(native: Exception | None, plain: Exception | None) -> Difference | None:
    if native is not None and plain is not None:
        kinds = IndexError if isinstance(native, RefutedIndex) else type(plain)
        if isinstance(native, kinds) or isinstance(plain, type(native)):
            return None
    return Difference("how the call ended", None, _ending(native), _ending(plain))


def _ending(error: Exception | None) -> str:
    return "a result" if error is None else f"{type(error).__name__}: {error}".splitlines()[0]


@record
class _Rules:
    arrays: Sequence[NDArray[Any]]
    is_exact: bool

    def compare(
        self, what: str, native: Any, plain: Any, argument: str | None = None
    ) -> Difference | None:
        if is_array(plain) and plain.dtype.names:  # field by field
            native, plain = ([a[name] for name in plain.dtype.names] for a in (native, plain))
        if is_sequence(plain) and is_sequence(native):
            return self._compare_items(what, native, plain, argument)
        if plain is None or native is None:
            is_same = plain is native
            return None if is_same else Difference(what, None, repr(native), repr(plain), argument)
        if not isinstance(plain, (bool, int, float, complex, np.generic, np.ndarray)):
            return None  # not a number: a name, a type
        return self._compare_arrays(what, native, plain, argument)

    def _compare_items(
        self, what: str, native: Sequence[Any], plain: Sequence[Any], argument: str | None
    ) -> Difference | None:
        if len(native) != len(plain):
            return Difference(f"the length of {what}", None, f"{len(native)}", f"{len(plain)}")
        pairs = zip(native, plain, strict=True)
        for position, pair in enumerate(pairs):
            found = self.compare(f"item {position} of {what}", *pair, argument)
            if found is not None:
                return found
        return None

    def _compare_arrays(
        self, what: str, native: Any, plain: Any, argument: str | None
    ) -> Difference | None:
        got = np.asarray(native)
        want = np.asarray(plain)
        if got.shape != want.shape:
            return Difference(f"the shape of {what}", None, str(got.shape), str(want.shape))
        if is_array(plain) and got.dtype != want.dtype:
            return Difference(f"the type of {what}", None, str(got.dtype), str(want.dtype))
        # A variable of a script has the type of all its values, in Python that of the last.
        want = want.astype(got.dtype)
        wrong = ~self._agree(got, want)
        if not wrong.any():
            return None
        index = tuple(int(entry) for entry in np.argwhere(wrong)[0])
        return Difference(what, index, repr(got[index]), repr(want[index]), argument)

    def _agree(self, got: NDArray[Any], want: NDArray[Any]) -> NDArray[np.bool_]:
        if got.dtype.kind == "c":
            pairs = ((np.real(got), np.real(want)), (np.imag(got), np.imag(want)))
            return self._agree(*pairs[0]) & self._agree(*pairs[1])
        if got.dtype.kind not in "fV":
            return np.asarray(got == want)
        both = np.asarray(np.isnan(got) & np.isnan(want))
        same = np.asarray((got == want) & (np.signbit(got) == np.signbit(want)))
        if self.is_exact:
            return both | same
        with np.errstate(all="ignore"):
            apart = np.abs(got.astype(np.float64) - want.astype(np.float64))
        return both | (got == want) | (apart <= allowed_error(got.dtype, self.arrays))
