"""Why a step was refused: two iterations that it would turn around, and a picture of them.

     j=0   j=1
i=1   .     o        i=1, j=1 writes a[1, 1] first
           /
i=2   o  <           i=2, j=0 reads it later
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from hybridjit.html_text import escaped
from hybridjit.ir.expr import Const
from hybridjit.ir.stmt import For
from hybridjit.record import record


@record
class End:
    """An access: its text, its line, and the iteration that makes it."""

    text: str
    line: int | None
    is_write: bool
    iteration: tuple[tuple[str, int], ...]

    @property
    def place(self) -> str:
        """The line and the iteration, in words."""
        line = "" if self.line is None else f"at line {self.line} "
        return f"{line}in iteration {self.short}" if self.iteration else f"{line}{self.short}"

    @property
    def short(self) -> str:
        """The iteration alone."""
        values = ", ".join(f"{name}={value}" for name, value in self.iteration)
        return values or "outside of the loops"


@record
class Witness:
    """An access that comes first, one that comes later, and what they have in common.

    `element` is empty where the order of effects is at stake. `ranges` are the values that
    variables of loops take, if these are known.
    """

    first: End
    later: End
    element: str
    ranges: Mapping[str, range]

    def __str__(self) -> str:
        first, later = self.first, self.later
        if not self.element:
            return f"the effect {first.place} comes before the one {later.place}"
        before, after = ("written" if end.is_write else "read" for end in (first, later))
        return (
            f"`{self.element}` {before} by `{first.text}` {first.place} "
            f"is {after} by `{later.text}` {later.place}"
        )

    @property
    def unproved(self) -> str:
        """What would have to hold, of any iterations, for the two not to meet."""
        first, later = (
            f"`{end.text}`" + ("" if end.line is None else f" at line {end.line}")
            for end in (self.first, self.later)
        )
        if first == later:
            return f"{first} is another element in every iteration"
        return f"{first} and {later} are other elements in other iterations"

    def draw(self) -> str:
        """An arrow from one iteration to the other, as SVG; its text says the same."""
        return _Drawing(self).render()

    def legend(self) -> Iterator[str]:
        """What each of the two does."""
        if not self.element:
            yield from (f"{self.first.short} comes first", f"{self.later.short} comes later")
            return
        before, after = ("writes" if end.is_write else "reads" for end in (self.first, self.later))
        yield f"{self.first.short} {before} {self.element} first"
        yield f"{self.later.short} {after} it later"


def known_ranges(loops: Sequence[For]) -> dict[str, range]:
    """The values that the variables of loops take, where they are constants."""
    found: dict[str, range] = {}
    for loop in loops:
        bounds = [bound for bound in (loop.start, loop.stop, loop.step) if isinstance(bound, Const)]
        if len(bounds) == 3:
            found[loop.var.name] = range(*(int(bound.value.real) for bound in bounds))
    return found


# The picture

_CELL, _LEFT, _TOP, _LETTER = 52, 64, 30, 6.8
_COLORS = ("#2f6fb7", "#c2410c")


class _Drawing:
    """A grid of iterations near the two: along two loops, or a row for each of the accesses."""

    def __init__(self, witness: Witness) -> None:
        self.witness = witness
        ends = [dict(end.iteration) for end in (witness.first, witness.later)]
        common = [name for name in ends[0] if name in ends[1]]
        apart = [name for name in common if ends[0][name] != ends[1][name]]
        axes = sorted(
            [*apart, *(name for name in common if name not in apart)][:2], key=common.index
        )
        if len(axes) == 2 and apart:
            self.rows = self._values(axes[0], ends)
            self.columns = self._values(axes[1], ends)
            self.places = [(end[axes[1]], end[axes[0]]) for end in ends]
            return
        # One loop, or none, in common: each access has a row of its own.
        along = [axes[-1] if axes else next(reversed(end), "") for end in ends]
        values = [end.get(name, 0) for end, name in zip(ends, along, strict=True)]
        self.columns = {v: f"{along[0]}={v}" for v in self._near(values, along[0])}
        if not axes:
            self.columns = {v: str(v) for v in self.columns}
        self.rows = {0: witness.first.text, 1: witness.later.text}
        self.places = [(values[0], 0), (values[1], 1)]

    def _values(self, name: str, ends: Sequence[Mapping[str, int]]) -> dict[int, str]:
        """The values of a variable that are shown, with their labels."""
        near = self._near([end[name] for end in ends], name)
        return {value: f"{name}={value}" for value in near}

    def _near(self, values: Sequence[int], name: str) -> list[int]:
        known = self.witness.ranges.get(name)
        step = 1 if known is None else known.step
        beside = {value + offset * step for value in values for offset in (-1, 0, 1)}
        return sorted(v for v in beside if known is None or v in known or v in values)

    def render(self) -> str:
        left = max(_LEFT, 16 + _LETTER * max(map(len, self.rows.values())))
        labels = max([*map(len, self.witness.legend())])
        width = max(left + _CELL * len(self.columns) + 20, 30 + _LETTER * labels)
        height = _TOP + _CELL * len(self.rows) + 44
        xs = {value: left + _CELL * (k + 0.5) for k, value in enumerate(self.columns)}
        ys = {value: _TOP + _CELL * (k + 0.5) for k, value in enumerate(self.rows)}
        parts = [*self._labels(xs, ys, left), *self._dots(xs, ys), *self._arrow(xs, ys)]
        parts += self._legend(height - 30)
        text = escaped(str(self.witness))
        return (
            f'<svg class="dependence" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
            'role="img" font-family="ui-monospace, monospace" font-size="11" fill="currentColor">'
            f"<title>{text}</title>{''.join(parts)}</svg>"
        )

    def _labels(
        self, xs: Mapping[int, float], ys: Mapping[int, float], left: float
    ) -> Iterator[str]:
        for value, x in xs.items():
            yield _text(x, _TOP - 12, self.columns[value], "middle")
        for value, y in ys.items():
            yield _text(left - 4, y + 4, self.rows[value], "end")
        for x in _gaps(xs):
            yield _text(x, _TOP - 12, "...", "middle")
        for y in _gaps(ys):
            yield _text(left - 20, y + 4, "...", "end")

    def _dots(self, xs: Mapping[int, float], ys: Mapping[int, float]) -> Iterator[str]:
        for y in ys.values():
            for x in xs.values():
                yield f'<circle cx="{x:.0f}" cy="{y:.0f}" r="2" opacity="0.4"/>'
        for (column, row), color in zip(self.places, _COLORS, strict=True):
            yield f'<circle cx="{xs[column]:.0f}" cy="{ys[row]:.0f}" r="6" fill="{color}"/>'

    def _arrow(self, xs: Mapping[int, float], ys: Mapping[int, float]) -> Iterator[str]:
        (x0, y0), (x1, y1) = ((xs[column], ys[row]) for column, row in self.places)
        length = max(1.0, ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5)
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        # From rim to rim, bent a little, so that it does not hide the iterations in between.
        start, end = (x0 + 8 * dx, y0 + 8 * dy), (x1 - 10 * dx, y1 - 10 * dy)
        bend = ((x0 + x1) / 2 - 14 * dy, (y0 + y1) / 2 + 14 * dx)
        curve = f"M{_pair(start)} Q{_pair(bend)} {_pair(end)}"
        head = [
            (end[0] + 6 * (-dx + side * dy * 0.6), end[1] + 6 * (-dy - side * dx * 0.6))
            for side in (-1, 1)
        ]
        yield f'<path class="arrow" d="{curve}" fill="none" stroke="currentColor"/>'
        yield f'<path d="M{_pair(end)} L{_pair(head[0])} L{_pair(head[1])} Z"/>'

    def _legend(self, top: float) -> Iterator[str]:
        for k, (line, color) in enumerate(zip(self.witness.legend(), _COLORS, strict=True)):
            y = top + 16 * k
            yield f'<circle cx="12" cy="{y - 4:.0f}" r="4" fill="{color}"/>'
            yield _text(22, y, line, "start")


def _gaps(places: Mapping[int, float]) -> Iterator[float]:
    """Where iterations are left out."""
    steps = [high - low for low, high in pairwise(places)]
    for (low, a), (high, b) in pairwise(places.items()):
        if high - low > min(steps):
            yield (a + b) / 2


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escaped(text)}</text>'


def _pair(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
