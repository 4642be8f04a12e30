"""The names of a random array script, and expressions over them, tried out with NumPy.

An operand knows its value, and whether that is exact: what NumPy adds in another order, or rounds
otherwise, is compared with a tolerance, and nothing that jumps is made of it.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.arrays.style import Style
from tests.arrays.values import np

MAX_SIZE = 400
# Beyond these, what is not exact is too far off to be compared.
_MAX_SCALE, _MAX_SCALE_OF_HALVES = 1e7, 2e3
FAILURES = (ValueError, TypeError, IndexError, AttributeError, ArithmeticError)
_KINDS = "biufc"
_SHIFTS = (":", ":", "1:", "1:", ":-1", ":-1", "2:", ":-2", "1:-1", "::-1")


@dataclass(frozen=True, slots=True)
class Noted:
    """What is known of a value. `scale` bounds what an inexact one was computed from."""

    is_exact: bool = True
    scale: float = 1.0

    def or_worse(self, other: Noted) -> Noted:
        """What is known of a value that is the one or the other."""
        return Noted(self.is_exact and other.is_exact, max(self.scale, other.scale))


@dataclass(frozen=True, slots=True)
class Operand:
    """An expression, its value, and what is known of that."""

    text: str
    value: Any
    is_exact: bool = True
    scale: float = 1.0

    @property
    def kind(self) -> str:
        """b, i, u, f or c."""
        return self.value.dtype.kind

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def note(self) -> Noted:
        return Noted(self.is_exact, self.scale)


@contextmanager
def quiet() -> Generator[None]:
    """Without warnings, of which odd numbers give many."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def evaluate(text: str, names: dict[str, Any]) -> Any:
    """The value of an expression in NumPy, or None if it has none that can be compared."""
    try:
        with quiet():
            value = eval(text, {"np": np}, names)
    except FAILURES:
        return None
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in _KINDS:
        return None
    is_odd = value.size > MAX_SIZE or value.dtype.itemsize > 16 or value.dtype.char in "gG"
    return None if is_odd else value


def largest(value: Any) -> float:
    """The largest finite magnitude, at least 1."""
    if value.dtype.kind == "b":
        return 1.0
    with np.errstate(all="ignore"):
        sizes = np.abs(value.astype("complex128")).ravel()
    sizes = sizes[np.isfinite(sizes)]
    return float(max(1.0, sizes.max())) if sizes.size else 1.0


def is_near(scale: float, dtype: Any) -> bool:
    """Whether what is computed from numbers of this size can be compared at all."""
    return scale <= (_MAX_SCALE_OF_HALVES if dtype.itemsize == 2 else _MAX_SCALE)


def is_widened(dtype: Any, *operands: Operand) -> bool:
    """Whether errors of operands are too large for a type that has more digits than theirs."""
    inexact = [operand.value.dtype for operand in operands if not operand.is_exact]
    return any(np.finfo(dtype).eps < np.finfo(other).eps for other in inexact)


@dataclass(slots=True)
class Pool:
    """Arrays by name as the script has them by now, and what is known of them.

    `hidden` names are not for expressions: numbers, and what has a value in some cases only.
    """

    choose: random.Random
    style: Style
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    noted: dict[str, Noted] = field(default_factory=dict[str, Noted])
    hidden: set[str] = field(default_factory=set[str])

    def visible(self) -> list[str]:
        """The names of arrays, and of numbers that were computed of them."""
        values = self.names.items()
        kinds = (np.ndarray, np.generic)
        return [n for n, v in values if n not in self.hidden and isinstance(v, kinds)]

    def arrays(self) -> list[str]:
        """The names of arrays."""
        return [name for name in self.visible() if isinstance(self.names[name], np.ndarray)]

    def note(self, name: str) -> Noted:
        return self.noted.get(name, Noted())

    def named(self, name: str) -> Operand:
        """All of a named array."""
        return self.noted_operand(name, name, np.asarray(self.names[name]))

    def noted_operand(self, text: str, name: str, value: Any) -> Operand:
        """A value that is elements of a named array."""
        note = self.note(name)
        if value.dtype.kind in "iu":  # sums of which floats are made of may cancel
            return Operand(text, value, True, max(note.scale, largest(value)))
        return Operand(text, value, note.is_exact or value.dtype.kind == "b", note.scale)

    # -- expressions ---------------------------------------------------------------------------

    def make(self, depth: int) -> Operand:
        """An expression of at most the given depth."""
        for _ in range(8):
            found = self._make(depth)
            if found is not None:
                return found
        return self.leaf()

    def _make(self, depth: int) -> Operand | None:
        if depth == 0:
            return self.leaf()
        writer: Writer = self.choose.choice(self.style.writers)
        return writer(self, depth - 1)

    def pair(self, depth: int) -> tuple[Operand, Operand] | None:
        """Two operands that can be broadcast together."""
        left = self.make(depth)
        right = self.matching(left, self.choose.randint(0, depth))
        return None if right is None else (left, right)

    def matching(self, other: Operand, depth: int) -> Operand | None:
        """An operand that can be broadcast with another one."""
        for _ in range(6):
            found = self.make(depth)
            try:
                np.broadcast_shapes(found.value.shape, other.value.shape)
            except ValueError:
                continue
            return found
        return None

    def keep(
        self, text: str, *operands: Operand, is_exact: bool = True, scale: float = 1.0
    ) -> Operand | None:
        """An operand made of others, unless it cannot be compared.

        `scale` is what its own errors grow with, if it is not exact.
        """
        value = evaluate(text, self.names)
        if value is None:
            return None
        is_exact = is_exact and all(operand.is_exact for operand in operands)
        scales = (largest(value), *(operand.scale for operand in operands))
        if is_exact or value.dtype.kind in "biu":
            return Operand(text, value, True, max(scales))
        scale = max(scale, *scales)
        is_kept = is_near(scale, value.dtype) and not is_widened(value.dtype, *operands)
        return Operand(text, value, False, scale) if is_kept else None

    # -- parts of arrays -----------------------------------------------------------------------

    def leaf(self) -> Operand:
        """A part of a named array, or a number that was passed."""
        names = self.visible()
        if self.choose.random() < self.style.newest:
            names = names[-4:]
        name = self.choose.choice(names)
        if self.choose.random() < 0.05 and isinstance(self.names.get("s"), np.generic):
            return Operand("s", np.asarray(self.names["s"])[()])
        text = self.part(name)
        value = evaluate(text, self.names)
        return self.named(name) if value is None else self.noted_operand(text, name, value)

    def part(self, name: str) -> str:
        """A subscript of an array: slices, indices, new axes, ellipsis; or all of it."""
        array = self.names[name]
        if not np.ndim(array) or self.choose.random() < self.style.whole:
            return name
        entries: list[str] = []
        for size in array.shape:
            if self.choose.random() < 0.1:
                entries.append(self.choose.choice(("None", "np.newaxis")))
            entries.append(self.entry(size))
        if self.choose.random() < 0.2:
            entries[self.choose.randrange(len(entries)) :] = ["..."]
        elif self.choose.random() < 0.1:
            entries[: self.choose.randrange(len(entries))] = ["..."]
        return f"{name}[{', '.join(entries)}]"

    def entry(self, size: int) -> str:
        """One entry of a subscript."""
        if self.style.shifts:
            return self.choose.choice(_SHIFTS)
        if self.choose.random() < 0.3:
            return ":"
        if self.choose.random() < 0.15 and size:
            return str(self.choose.randint(-size, size - 1))
        low, high = (
            self.choose.choice(("", "", *map(str, range(-size - 1, size + 2)))) for _ in "ab"
        )
        step = self.choose.choice(("", "", ":1", ":2", ":-1", ":-1", ":-2", ":3", ":-3"))
        return f"{low}:{high}{step}"


# Writes an expression over the names of a pool, of operands of the given depth.
Writer = Callable[[Pool, int], Operand | None]
