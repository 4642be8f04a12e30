"""What a campaign drew and what became of it: without that, "no mismatch" says nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# Sizes of axes are counted in these classes: up to four vectors of float32 in 512 bits, and more.
_CLASSES = ((0, "0"), (1, "1"), (7, "2-7"), (16, "8-16"), (64, "17-64"), (1 << 60, "65 and more"))

# Tables in which a zero is of interest, and told.
_COUNTED = ("steps",)


def size_class(size: int) -> str:
    """The class that a size is counted in."""
    return next(name for last, name in _CLASSES if size <= last)


@dataclass(slots=True)
class Drawn:
    """Counts of one or of many programs.

    `counts` has "programs", "native" (those that ran in native code) and whatever else a campaign
    counts; `tables` say how the programs, sizes, types and steps were distributed.
    """

    counts: Counter[str] = field(default_factory=Counter[str])
    tables: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    failures: list[str] = field(default_factory=list[str])

    def count(self, table: str, entries: Mapping[str, int] | list[str]) -> None:
        """Add to one of the tables."""
        self.tables.setdefault(table, Counter()).update(entries)

    def count_arrays(self, args: Iterable[Any]) -> None:
        """Add the types and the sizes of the arrays among arguments."""
        arrays = [arg for arg in args if hasattr(arg, "shape")]
        self.count("types", [str(array.dtype) for array in arrays])
        self.count("sizes", [size_class(size) for array in arrays for size in array.shape])

    def add(self, other: Drawn) -> None:
        """Add what another worker or another program drew."""
        self.counts.update(other.counts)
        self.failures += other.failures
        for name, table in other.tables.items():
            self.count(name, table)

    def summary(self, seconds: float) -> str:
        """One line: how many programs, which share of them ran natively, how many failed."""
        programs, native = self.counts["programs"], self.counts["native"]
        others = [f"{count} {name}" for name, count in sorted(self.counts.items())]
        kept = [text for text in others if not text.endswith((" programs", " native"))]
        share = f"{100 * native / max(1, programs):.0f} %"
        return (
            f"{programs} programs, {native} native ({share}), {', '.join([*kept, ''])}"
            f"{len(self.failures)} failures, {programs / max(seconds, 1e-9):.1f} programs/s"
        )

    def lines(self) -> Iterator[str]:
        """The tables, one line each: what was drawn, by falling share or number."""
        for name, table in sorted(self.tables.items()):
            total = max(1, table.total())
            shares = [f"{entry} {_percent(n, total)}" for entry, n in table.most_common()]
            if name in _COUNTED:
                shares = [f"{entry} {n}" for entry, n in table.most_common()]
            yield f"{name}: {', '.join(shares)}"


def _percent(count: int, total: int) -> str:
    share = 100 * count / total
    return f"{share:.0f} %" if share >= 10 else f"{share:.1f} %"
