"""What was measured, for people: a table in Markdown, and a chart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.peers.measure import OURS

Record = dict[str, Any]
PEERS = ("numpy", "numba", "xla", "onnx")
COLUMNS = (*PEERS, *OURS)


def ratio(record: Record) -> float | None:
    """How many times as fast our best way is as the best peer's; None without a peer."""
    times = {name: each["best"] for name, each in record["times"].items()}
    ours = [times[name] for name in OURS if name in times]
    peers = [times[name] for name in PEERS if name in times]
    return min(peers) / min(ours) if ours and peers else None


def share(record: Record) -> float:
    """Of the machine's limit, what our best way reaches."""
    return record["limit"] / min(
        each["best"] for name, each in record["times"].items() if name in OURS
    )


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def in_markdown(records: Sequence[Record], threads: int) -> str:
    """A table of one number of threads."""
    title = f"{threads} thread{'s' * (threads > 1)}"
    lines = [
        f"| {title} | {' | '.join(COLUMNS)} | best peer / ours | limit |",
        "|" + "---|" * (len(COLUMNS) + 3),
    ]
    for record in records:
        cells = [_cell(record["times"].get(name)) for name in COLUMNS]
        found = ratio(record)
        compared = "" if found is None else f"{found:.2f}"
        lines.append(
            f"| {record['name']} | {' | '.join(cells)} | {compared} | {share(record):.0%} |"
        )
    for family in dict.fromkeys(record["family"] for record in records):
        ratios = [r for each in records if each["family"] == family and (r := ratio(each))]
        below = sum(found < 1 for found in ratios)
        mean = f"{geometric_mean(ratios):.2f} in the geometric mean of {len(ratios)} rows"
        lines.append(f"\n{family}: {mean}, {below} of them below 1.")
    return "\n".join(lines) + "\n"


def _cell(times: dict[str, float] | None) -> str:
    """Microseconds, and by how much a typical call takes longer than the best one."""
    if times is None:
        return ""
    best = times["best"] * 1e6
    digits = 2 if best < 10 else 1 if best < 100 else 0
    return f"{best:.{digits}f} (+{times['median'] / times['best'] - 1:.0%})"


# -- the chart -------------------------------------------------------------------------------------

_WIDTH, _LEFT, _ROW, _TOP = 760, 260, 18, 34
_LEAST, _MOST = 0.25, 8.0


def as_chart(records: Sequence[Record], threads: int) -> str:
    """A bar for each row: how many times as fast as the best peer, on a logarithmic axis."""
    compared = [(each["name"], found) for each in records if (found := ratio(each)) is not None]
    height = _TOP + _ROW * len(compared) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="8" y="16" font-weight="bold">as fast as the best peer, times '
        f"({threads} thread{'s' * (threads > 1)})</text>",
        *_grid(height),
        *(_bar(row, name, found) for row, (name, found) in enumerate(compared)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _place(value: float) -> float:
    inside = min(max(value, _LEAST), _MOST)
    part = math.log(inside / _LEAST) / math.log(_MOST / _LEAST)
    return _LEFT + part * (_WIDTH - _LEFT - 50)


def _grid(height: int) -> Iterable[str]:
    for tick in (0.25, 0.5, 1, 2, 4, 8):
        x, color = _place(tick), "#000" if tick == 1 else "#ddd"
        yield f'<line x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{height}" stroke="{color}"/>'
        yield f'<text x="{x:.1f}" y="{_TOP - 9}" text-anchor="middle" fill="#666">{tick:g}</text>'


def _bar(row: int, name: str, found: float) -> str:
    y, one, end = _TOP + row * _ROW, _place(1), _place(found)
    color = "#2a7" if found >= 1 else "#c52"
    return (
        f'<text x="{_LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{min(one, end):.1f}" y="{y + 2}" width="{abs(end - one):.1f}" height="12" '
        f'fill="{color}"/><text x="{max(one, end) + 4:.1f}" y="{y + 11}">{found:.2f}</text>'
    )
