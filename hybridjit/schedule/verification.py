"""Run a scheduled program against its original, at the given sizes and at awkward ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hybridjit import config
from hybridjit.errors import HybridError, ScheduleError
from hybridjit.ir.raisable import ERRORS
from hybridjit.record import record
from hybridjit.scalars.contents import arrays_in, fresh_copies, with_arrays
from hybridjit.scalars.kinds import field_names, is_record, is_sequence

_TUPLE: type[Any] = tuple
_NUMBERS: tuple[type[Any], ...] = (bool, int, float, complex, np.generic, np.ndarray)
# Fewer than one vector, one, one more and one less than round numbers, primes.
AWKWARD = (0, 1, 2, 7, 17, 31)
_RAISABLE: tuple[type[Exception], ...] = tuple(ERRORS.values())
# Results that may be rounded otherwise are compared to so many digits of their type.
_LOOSE = {"float16": 1e-2, "bfloat16": 1e-1, "float32": 1e-4, "complex64": 1e-4}


class Origin(Protocol):
    """What a schedule came from: a kernel that can be run as it is, or with steps taken."""

    fastmath: tuple[str, ...]

    def __call__(self, *args: Any) -> Any: ...

    def with_schedule(self, schedule: Any) -> Any: ...

    def view_schedule(self, opened: Any, path: Any) -> Any: ...


@record
class Verified:
    """What was compared: the shapes of the arrays of each run, and those that could not run."""

    shapes: tuple[tuple[tuple[int, ...], ...], ...]
    skipped: int
    # How many steps were not checked. Their mistakes may need other data to be seen.
    unsafe: int = 0

    def __str__(self) -> str:
        note = f", {self.skipped} more do not fit the program" if self.skipped else ""
        note += f"; steps that are unsafe nonetheless: {self.unsafe}" if self.unsafe else ""
        return f"equal at {len(self.shapes)} sets of sizes{note}"


@record
class Version:
    """One way to run the scheduled program. `way` says how it differs from the usual one."""

    run: Any
    way: str = ""
    # Which of two equal numbers a minimum keeps, 0.0 or -0.0, may be a matter of the order.
    is_ordered: bool = True


def verify_kernels(
    plain: Any, versions: Sequence[Version], args: Sequence[Any], *, loose: bool = False
) -> Verified:
    """Call all on `args` and on arguments of other sizes; raise ScheduleError if they differ.

    Where the order of some sums is open, results are the same up to rounding: `loose`.
    """
    seen: list[tuple[tuple[int, ...], ...]] = []
    skipped = 0
    for sizes in _sizes(args):
        changed = [with_arrays(arg, partial(_resized, sizes=sizes)) for arg in args]
        expected = outcome_of(plain, changed)
        if expected is None:
            skipped += 1
            continue
        try:
            found = [outcome_of(version.run, changed) for version in versions]
        except ScheduleError:
            if not sizes:
                raise
            skipped += 1  # steps that fit the given sizes need not fit others
            continue
        shapes = tuple(array.shape for array in arrays_in(changed) if array.shape)
        for version, outcome in zip(versions, found, strict=True):
            same = Same(loose=loose, ordered=version.is_ordered)
            if outcome is None or not all(map(same, expected, outcome)):
                raise _difference(version, shapes)
        seen.append(shapes)
    return Verified(tuple(seen), skipped)


def _difference(version: Version, shapes: Sequence[tuple[int, ...]]) -> ScheduleError:
    return ScheduleError(
        f"the scheduled program differs from the original for arrays of shapes "
        f"{', '.join(map(str, shapes))}{version.way}",
        help="a step was taken with unsafe=True, or this is a bug in hybridjit",
    )


def _sizes(args: Sequence[Any]) -> Iterator[dict[int, int]]:
    """What to make of each size that occurs in `args`: itself first, then awkward numbers."""
    found: list[int] = sorted({n for array in arrays_in(list(args)) for n in array.shape})
    yield {}
    if not found:
        return
    for size in AWKWARD:
        yield dict.fromkeys(found, size)
    for size in found:
        yield {size: max(size - 1, 0)}
        yield {size: size + 1}
    yield {size: size + 1 for size in found}


def _resized(array: NDArray[Any], sizes: dict[int, int]) -> NDArray[Any]:
    shape: Any = tuple(sizes.get(n, n) for n in array.shape)
    if shape == array.shape:
        return array
    made: Any = np.zeros(shape, array.dtype) if array.size == 0 else np.resize(array, shape)
    return made


def outcome_of(run: Any, args: Sequence[Any]) -> list[Any] | None:
    """The arguments after a run and its result; None if it does not take such arguments."""
    copies = fresh_copies(args)
    try:
        with config.scope(check=False):  # the original is what it is held against
            result = run(*copies)
    except ScheduleError:
        raise
    except (HybridError, *_RAISABLE):
        return None
    return [*copies, *(result if isinstance(result, _TUPLE) else (result,))]


@record
class Same:
    """Whether two results are the same: bit by bit, or else as numbers, or roughly."""

    loose: bool
    ordered: bool

    def __call__(self, a: Any, b: Any) -> bool:
        if is_sequence(a) or is_record(a):
            return type(a) is type(b) and self._same_items(_items(a), _items(b))
        if not isinstance(a, _NUMBERS) or not isinstance(b, _NUMBERS):
            return type(a) is type(b)  # None, a name, a generator
        return self._same_arrays(a, b)

    def _same_items(self, a: Sequence[Any], b: Sequence[Any]) -> bool:
        return len(a) == len(b) and all(map(self, a, b))

    def _same_arrays(self, a: Any, b: Any) -> bool:
        x: Any = np.asarray(a)
        y: Any = np.asarray(b)
        if x.shape != y.shape or x.dtype != y.dtype:
            return False
        if x.dtype.kind in "biu" or (self.ordered and not self.loose):
            return x.tobytes() == y.tobytes()
        tolerance = _LOOSE.get(x.dtype.name, 1e-8) if self.loose else 0.0
        return bool(np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True))


def _items(value: Any) -> list[Any]:
    if is_sequence(value):
        return list(value)
    return [getattr(value, name) for name in field_names(value) or ()]
