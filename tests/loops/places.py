"""Where a random loop program reads and writes: axes, loop variables and indices.

A program has two sizes, `n` and `m`, which are any numbers from 0 on. A loop variable knows the
interval of its values in terms of them, so that an index is in bounds for all sizes, or is known to
need a guard, a clamp or a remainder.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# Axes that hold exactly n and m indices below n and m, for indirect access.
TABLES = {"n": "p", "m": "q"}


@dataclass(frozen=True, slots=True)
class Reach:
    """The values from `low` up to `size + high`; without a size, up to `high`."""

    low: int
    size: str
    high: int

    def plus(self, number: int) -> Reach:
        return Reach(self.low + number, self.size, self.high + number)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis with `factor * size + pad` indices, but at least none."""

    size: str
    factor: int = 1
    pad: int = 0

    def extent(self, sizes: Mapping[str, int]) -> int:
        return max(0, self.factor * sizes[self.size] + self.pad)

    def text(self) -> str:
        scaled = self.size if self.factor == 1 else f"{self.factor} * {self.size}"
        if self.pad == 0:
            return scaled
        return f"{scaled} {'+' if self.pad > 0 else '-'} {abs(self.pad)}"

    def has_start(self, reach: Reach) -> bool:
        return reach.low >= 0

    def has_end(self, reach: Reach) -> bool:
        """Whether no value is too large, whatever the sizes; a larger factor only helps."""
        return reach.size in ("", self.size) and reach.high < self.pad


@dataclass(frozen=True, slots=True)
class Index:
    """The text of an index, and what must hold for it to be in bounds."""

    text: str
    guards: tuple[str, ...] = ()


class Indexing:
    """Chooses indices into axes from the loop variables in scope.

    Tame programs are what people write: each axis has its loop, elements are stored where the loops
    are, neighbours are read if they are there. Compilers do most to them. The others are wild.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.is_tame = rng.random() < 0.6
        self.loops: dict[str, Reach] = {}

    def index(self, axis: Axis, *, may_guard: bool, is_target: bool = False) -> Index:
        """An index into an axis, mostly by the innermost loop that fits."""
        text, reach = self._place(axis, is_target=is_target)
        has_start, has_end = axis.has_start(reach), axis.has_end(reach)
        if has_start and has_end:
            return Index(text)
        way = self.rng.choice(("guard", "guard", "guard", "remainder", "clamp"))
        if self.is_tame:
            way = "guard" if may_guard else "clamp"
        if way == "guard" and may_guard:
            return Index(text, tuple(self._guards(text, axis, has_start, has_end)))
        if way == "clamp":
            return Index(f"min(max({text}, 0), {axis.text()} - 1)")
        return Index(f"({text}) % ({axis.text()})")

    def _guards(self, text: str, axis: Axis, has_start: bool, has_end: bool) -> Iterator[str]:
        if not has_start or self.rng.random() < 0.3:
            yield f"{text} >= 0"
        if not has_end or self.rng.random() < 0.3:
            yield f"{text} < {axis.text()}"

    def _place(self, axis: Axis, *, is_target: bool) -> tuple[str, Reach]:
        """A sum of loop variables and a number, or another function of one of them."""
        name = self._variable(axis)
        if name is None:
            return "0", Reach(0, "", 0)
        reach = self.loops[name]
        if self.is_tame and is_target and axis.factor == 1:
            return name, reach
        if self.is_tame:
            doubled = axis.factor == 2 and self.rng.random() < 0.7
            near = self._windowed if self.rng.random() < 0.7 else self._shifted
            return (self._doubled if doubled else near)(name, reach)
        forms = [self._shifted] * 4 + [self._windowed] * 6
        if reach.size == axis.size:
            forms += [self._reversed, self._indirect]
        if axis.factor == 2:
            forms += [self._doubled] * 4
        return self.rng.choice((*forms, self._halved, self._negated))(name, reach)

    def _variable(self, axis: Axis) -> str | None:
        fitting = [name for name, reach in self.loops.items() if reach.size == axis.size]
        if self.is_tame and fitting:
            return fitting[-1]
        others = [name for name, reach in self.loops.items() if reach.size]
        chosen = fitting if fitting and self.rng.random() < 0.9 else others or list(self.loops)
        if not chosen:
            return None
        return chosen[-1] if self.rng.random() < 0.6 else self.rng.choice(chosen)

    def _shifted(self, name: str, reach: Reach) -> tuple[str, Reach]:
        shift = self.rng.choice((0, 0, 0, 0, 1, -1, 2, -3))
        if shift == 0:
            return name, reach
        return f"{name} {'+' if shift > 0 else '-'} {abs(shift)}", reach.plus(shift)

    def _windowed(self, name: str, reach: Reach) -> tuple[str, Reach]:
        windows = [(other, found) for other, found in self.loops.items() if not found.size]
        windows = [(other, found) for other, found in windows if other != name]
        if not windows:
            return self._shifted(name, reach)
        other, found = self.rng.choice(windows)
        if self.rng.random() < 0.5:
            return f"{name} + {other}", Reach(
                reach.low + found.low, reach.size, reach.high + found.high
            )
        return f"{name} - {other}", Reach(
            reach.low - found.high, reach.size, reach.high - found.low
        )

    def _reversed(self, name: str, reach: Reach) -> tuple[str, Reach]:
        return f"{reach.size} - 1 - {name}", Reach(-1 - reach.high, reach.size, -1 - reach.low)

    def _indirect(self, name: str, reach: Reach) -> tuple[str, Reach]:
        table = Axis(reach.size)
        if not (table.has_start(reach) and table.has_end(reach)):
            return name, reach
        return f"{TABLES[reach.size]}[{name}]", Reach(0, reach.size, -1)

    def _doubled(self, name: str, reach: Reach) -> tuple[str, Reach]:
        """2 * v + c up to 2 * size + 2 * high + c: in bounds of a doubled axis if it is padded."""
        shift = self.rng.choice((0, 0, 1))
        text = f"2 * {name}" if shift == 0 else f"2 * {name} + {shift}"
        return text, Reach(2 * reach.low + shift, reach.size, 2 * reach.high + shift)

    def _halved(self, name: str, reach: Reach) -> tuple[str, Reach]:
        return f"{name} // 2", Reach(reach.low // 2, reach.size, max(reach.high, 0))

    def _negated(self, name: str, reach: Reach) -> tuple[str, Reach]:
        """A quotient by a negative number, which is exact, or rounded up when it is negated."""
        if self.rng.random() < 0.5:
            return f"-2 * {name} // -2", reach
        return f"-({name} // -2)", Reach(-(reach.low // -2), reach.size, max(reach.high, 0))
