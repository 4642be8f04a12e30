"""What a profile says: the time of each loop, of each thread, and how far that is from the best."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hybridjit.html_text import heading, preformatted, table
from hybridjit.profiling.limits import Limits
from hybridjit.record import record
from hybridjit.runtime.report import LoopReport, aligned, name_cells, name_heads, short_count

_SIDES = "><>>><<"


@record
class LoopTime:
    """A loop, how often it ran, and the seconds that all its runs took.

    `seconds` is None if it is too short for counters, or a `while`: its time is in that of the loop
    around it, or outside of timed loops. `threads` are the seconds of each thread that took part.
    `reach` says how near it comes to what the machine can do, 1 at best, and `limits` what that is.
    """

    loop: LoopReport
    seconds: float | None = None
    runs: int = 0
    threads: tuple[float, ...] = ()
    reach: float | None = None
    limits: Limits | None = None

    @property
    def bound(self) -> str:
        """What keeps it from being faster at best: "memory" or "arithmetic"."""
        work, limits = self.loop.work, self.limits
        if work is None or limits is None:
            return ""
        return "memory" if limits.is_memory(work.flops, work.bytes) else "arithmetic"


@record
class Profile:
    """Where the time of one call went, in seconds.

    `total` is the best of several calls with counters, `without_counters` of usual ones.
    `outside` is what the kernel spent outside of the timed loops, `entering` what it took to get
    into it and back: arrays are made, and arguments looked at.
    """

    name: str
    loops: tuple[LoopTime, ...]
    total: float
    outside: float
    entering: float
    without_counters: float

    @property
    def cost(self) -> float:
        """How much longer a call took for the counters, as a share."""
        return self.total / self.without_counters - 1

    def __str__(self) -> str:
        return "\n".join([*aligned(self._rows(), _SIDES), *self._remarks()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        remarks = preformatted("\n".join(self._remarks()))
        return "\n".join([heading(self.name), table(self._rows(), _SIDES), remarks])

    def _rows(self) -> list[tuple[str, ...]]:
        first = name_heads([each.loop for each in self.loops])
        heads = (*first, "runs", "time", "share", "threads", "of the best")
        rows = [self._row(each) for each in self.loops if not each.loop.is_in_tile]
        rows.append(("", "outside of timed loops", "", *self._time(self.outside), "", ""))
        rows.append(("", "the call itself", "", *self._time(self.entering), "", ""))
        return [heads, *rows]

    def _remarks(self) -> Iterator[str]:
        total, without = format_time(self.total), format_time(self.without_counters)
        yield f"{total} in all, {without} without counters"
        yield from self._limits()

    def _row(self, each: LoopTime) -> tuple[str, ...]:
        line, name = name_cells(each.loop)
        if each.seconds is None:
            return line, name, "", "", "", "", ""
        reach = "" if each.reach is None else f"{100 * each.reach:.0f} % ({each.bound})"
        taken = sum(each.threads) or 1
        threads = " ".join(f"{100 * part / taken:.0f} %" for part in each.threads)
        return line, name, str(each.runs), *self._time(each.seconds), threads, reach

    def _time(self, seconds: float) -> tuple[str, str]:
        return format_time(seconds), f"{100 * seconds / self.total:.0f} %"

    def _limits(self) -> Iterator[str]:
        """What the machine can do, with a rate for each amount of memory."""
        found = [each.limits for each in self.loops if each.limits is not None]
        found.sort(key=lambda limits: (limits.threads, -limits.flops, limits.footprint))
        for (threads, flops), group in itertools.groupby(found, lambda x: (x.threads, x.flops)):
            rates = {each.footprint: each.bytes for each in group}
            yield (
                f"the best of this machine on {threads} thread{'s' if threads > 1 else ''}: "
                f"{short_count(flops)}flop/s; "
                + ", ".join(f"{short_count(rate)}B/s in {_size(n)}" for n, rate in rates.items())
            )


def _size(footprint: int) -> str:
    """A power of two as people say it: 16 KiB."""
    return f"{footprint >> 10} KiB" if footprint < 1 << 20 else f"{footprint >> 20} MiB"


def outermost(loops: Sequence[LoopTime]) -> Iterator[LoopTime]:
    """The timed loops that are in no other one."""
    inside: int | None = None
    for each in loops:
        if inside is not None and each.loop.depth > inside:
            continue
        inside = None
        if each.seconds is not None:
            inside = each.loop.depth
            yield each


def format_time(seconds: float) -> str:
    """Three digits and a unit: 1.25 ms."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
