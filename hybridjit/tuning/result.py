"""What a search found, and how it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hybridjit.html_text import preformatted
from hybridjit.record import record
from hybridjit.schedule.trace import RecordedTrace, Trace
from hybridjit.tuning.rates import Work
from hybridjit.tuning.timing import Times

_LABEL = 12  # how high a number is in a picture
_WIDTH, _HEIGHT = 60, 8  # of the curve, in letters
_BLOCKS = " .:-=+*#"


@record
class Improvement:
    """After so many seconds and trials, the best candidate took `score` times as long as the
    program without steps.
    """

    seconds: float
    trials: int
    score: float


@record(eq=False)
class Tuned:
    """The result of a search. `recipe`, what won, is None if nothing was faster than what the
    compiler does by itself.

    `score` is how long the winner takes if the plain program takes 1, both timed in turns in the
    last race. `work` is what one call computes, if that is known, `knobs` what those of a template
    gave for the winner, in the order in which it asked.
    """

    recipe: Any
    score: float
    times: Times | None
    plain: Times | None
    curve: tuple[Improvement, ...]
    counts: Counter[str]
    seconds: float
    stopped: str
    work: Work | None = None
    knobs: tuple[Any, ...] | None = None

    @property
    def picture(self) -> str:
        """The curve of the best so far over time, SVG."""
        return draw_picture(self.curve, self.seconds)

    @property
    def trace(self) -> RecordedTrace | None:
        """The steps that won; `print(trace)` shows them as Python."""
        return Trace.from_json(self.recipe) if type(self.recipe) is str else None

    @property
    def trials(self) -> int:
        """How many candidates were run."""
        return sum(self.counts.values()) - self.counts["refused"]

    def __str__(self) -> str:
        if len(self.curve) < 2:
            return self._text()
        return self._text("", *draw_curve(self.curve, self.seconds))

    __repr__ = __str__

    def _text(self, *curve: str) -> str:
        lines = [self._summary(), *self._times(), self._counts(), *curve]
        if self.trace is not None:
            lines += ["", str(self.trace)]
        if self.knobs is not None:
            lines += ["", f"knobs: {', '.join(map(str, self.knobs))}"]
        return "\n".join(lines)

    def _summary(self) -> str:
        if self.recipe is None:
            return "nothing found that is faster than what the compiler does by itself"
        return f"{1 / self.score:.2f} times as fast as what the compiler does by itself"

    def _times(self) -> Sequence[str]:
        if self.times is None or self.plain is None:
            return ()
        times = (
            f"  {_seconds(self.times.best)} (median {self.times.spread:+.0%}) instead of "
            f"{_seconds(self.plain.best)} ({self.plain.spread:+.0%}), in turns"
        )
        return (
            (times,) if self.work is None else (times, f"  {self.work.describe(self.times.best)}")
        )

    def _counts(self) -> str:
        return f"  {describe_counts(self.counts)} in {self.seconds:.0f} s; {self.stopped}"

    def _repr_html_(self) -> str:
        return f"{self.picture}{preformatted(self._text())}"


def describe_counts(counts: Counter[str]) -> str:
    """`4 measured, 1 wrong`."""
    parts = [f"{counts[name]} {name}" for name in sorted(counts) if counts[name]]
    return ", ".join(parts) or "nothing tried"


def _seconds(value: float) -> str:
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def draw_curve(curve: Sequence[Improvement], seconds: float) -> list[str]:
    """The best so far over time, as text: lower is faster."""
    highest = max(point.score for point in curve)
    columns = [_at(curve, (column + 0.5) / _WIDTH * seconds) for column in range(_WIDTH)]
    rows: list[str] = []
    for row in reversed(range(_HEIGHT)):
        filled = [score / highest * _HEIGHT - row for score in columns]
        text = "".join(_BLOCKS[min(max(int(part * 7), 0), 7)] for part in filled).rstrip()
        label = f"{highest * (row + 1) / _HEIGHT:5.2f}"
        rows.append(f"{label} |{text}")
    return [*rows, f"      +{'-' * _WIDTH}", f"       0 s{f'{seconds:.0f} s':>{_WIDTH - 3}}"]


def _at(curve: Sequence[Improvement], seconds: float) -> float:
    passed = [point.score for point in curve if point.seconds <= seconds]
    return passed[-1] if passed else curve[0].score


def draw_picture(curve: Sequence[Improvement], seconds: float) -> str:
    """The same as a picture, SVG."""
    if not curve:
        return ""
    highest = max(point.score for point in curve)
    corners: list[str] = []
    level = curve[0].score
    for point in curve:
        x = 40 + 440 * point.seconds / max(seconds, 1e-9)
        corners += [f"{x:.1f},{_y(level, highest)}", f"{x:.1f},{_y(point.score, highest)}"]
        level = point.score
    corners.append(f"480,{_y(level, highest)}")
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 160" width="500" role="img" '
        'font-family="sans-serif" font-size="11"><title>best time over the search</title>'
        '<g fill="none" stroke="currentColor"><path d="M40 10V130H480" opacity=".4"/>'
        f'<polyline points="{" ".join(corners)}" stroke-width="2"/></g>'
        f'<g fill="currentColor">{_labels(highest, level)}'
        f'<text x="40" y="148">0 s</text><text x="480" y="148" text-anchor="end">{seconds:.0f} s'
        "</text></g></svg>"
    )


def _labels(highest: float, level: float) -> str:
    """The numbers at the axis: of two that would be one on the other, the best."""
    first, last = _y(highest, highest), _y(level, highest)
    label = f'<text x="4" y="{last}">{level:.2f}</text>'
    return (
        label if last - first < _LABEL else f'<text x="4" y="{first}">{highest:.2f}</text>{label}'
    )


def _y(score: float, highest: float) -> float:
    return round(130 - 110 * score / highest, 1)
