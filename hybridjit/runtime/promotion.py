"""Which sizes are part of the code: exact ones first, run-time ones once they vary.

The first call of a kernel is compiled for its exact shapes. A dimension that is later seen with
another size is promoted: from then on it is a run-time size, and one piece of code serves all.
Dimensions that were equal in every call so far share one size.

    f(a[5, 3], b[5])   ->  a[5, 3], b[5]
    f(a[7, 3], b[7])   ->  a["n0", 3], b["n0"]
    f(a[9, 3], b[9])   ->  the same code

An int that arrays are made with, as in `np.zeros(n)`, is a size as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from hybridjit.brief_locks import brief_lock
from hybridjit.record import record
from hybridjit.scalars.specs import (
    SIZE_SPEC,
    ArraySpec,
    ConstantSpec,
    Spec,
    TupleSpec,
    is_known_size,
)

Sizes = tuple[int | str, ...]

_SOME_SIZE = ConstantSpec("?")


@record(frozen=False)
class _History:
    """What the calls of one pattern had in common: sizes by position of the dimension.

    `first` are the sizes of the first call, `classes` numbers the dimensions so that those which
    were equal in every call have the same number.
    """

    first: Sizes
    classes: tuple[int, ...]
    varying: set[int] = field(default_factory=set[int])

    def add(self, sizes: Sizes) -> list[int]:
        """Take in another call; return the dimensions that it shows to vary."""
        pairs = list(zip(self.classes, sizes, strict=True))
        self.classes = _numbered(pairs)
        fresh = [
            position
            for position, (old, new) in enumerate(zip(self.first, sizes, strict=True))
            if old != new and position not in self.varying
        ]
        self.varying.update(fresh)
        return fresh


def _numbered(keys: Sequence[object]) -> tuple[int, ...]:
    numbers: dict[object, int] = {}
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)


_lock = brief_lock()


class Promotion:
    """What the calls of one kernel have looked like."""

    def __init__(self) -> None:
        self._histories: dict[tuple[Spec, ...], _History] = {}

    def generalize(self, specs: tuple[Spec, ...]) -> tuple[tuple[Spec, ...], str]:
        """The types to compile for when `specs` come for the first time, and the reason.

        Threads come one after the other: a call must find itself in what is known of all calls.
        """
        with _lock:
            return self._generalize(specs)

    def _generalize(self, specs: tuple[Spec, ...]) -> tuple[tuple[Spec, ...], str]:
        pattern = tuple(_without_sizes(spec) for spec in specs)
        sizes = tuple(size for spec in specs for size in _sizes(spec))
        history = self._histories.get(pattern)
        if history is None:
            self._histories[pattern] = _History(sizes, _numbered(sizes))
            return specs, "first call with arguments of these types"
        fresh = history.add(sizes)
        changes = ", ".join(f"{history.first[i]} -> {sizes[i]}" for i in fresh)
        reason = f"sizes vary: {changes}" if fresh else "another combination of sizes"
        classes = history.classes  # of one moment: a signal handler may call the kernel, too
        entries = iter(
            f"n{classes[i]}" if i in history.varying and isinstance(size, int) else size
            for i, size in enumerate(sizes)
        )
        return tuple(_with_sizes(spec, entries) for spec in specs), reason


def _sizes(spec: Spec) -> Iterator[int | str]:
    if isinstance(spec, ArraySpec):
        yield from spec.shape
    elif isinstance(spec, ConstantSpec) and isinstance(spec.value, int) and spec.is_size:
        yield spec.value
    elif isinstance(spec, TupleSpec):
        for item in spec.items:
            yield from _sizes(item)


def _without_sizes(spec: Spec) -> Spec:
    if isinstance(spec, ArraySpec):
        return replace(spec, shape=("?",) * len(spec.shape))
    if is_known_size(spec):
        return _SOME_SIZE
    if isinstance(spec, TupleSpec):
        return replace(spec, items=tuple(_without_sizes(item) for item in spec.items))
    return spec


def _with_sizes(spec: Spec, entries: Iterator[int | str]) -> Spec:
    if isinstance(spec, ArraySpec):
        return replace(spec, shape=tuple(next(entries) for _ in spec.shape))
    if is_known_size(spec):
        return spec if isinstance(next(entries), int) else SIZE_SPEC
    if isinstance(spec, TupleSpec):
        return replace(spec, items=tuple(_with_sizes(item, entries) for item in spec.items))
    return spec
