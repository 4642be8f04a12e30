"""The page itself: data, style and behaviour in one file."""

from __future__ import annotations

import dataclasses
import html
import importlib.resources
import json
from collections.abc import Sequence
from typing import Any

from hybridjit.record import record
from hybridjit.viewing.stages import Line, Stage, Step


@record(eq=False)
class Page:
    """What a page shows: the script, its stages, the steps of its schedule, how its loops run."""

    name: str
    arguments: str
    source: Sequence[tuple[int, str]]
    stages: Sequence[Stage]
    steps: Sequence[Step]
    loops: Sequence[Any]  # of runtime/report.py
    caches: Sequence[tuple[str, int]]  # from the smallest on: what it is for, and its bytes
    remarks: str

    def render(self) -> str:
        """The text of the HTML file."""
        text = _resource("page.html")
        values = {
            "title": html.escape(f"{self.name}({self.arguments})"),
            "style": _resource("page.css"),
            "script": _resource("page.js"),
            "data": _embedded(self._data()),
        }
        for name, value in values.items():
            text = text.replace(f"<!--{name}-->", value, 1)
        return text

    def _data(self) -> dict[str, Any]:
        loops = [{**dataclasses.asdict(loop), "runs": loop.runs} for loop in self.loops]
        # Steps change little: each line is kept once, and programs are lists of their numbers.
        lines: dict[Line, int] = {}
        return {
            "name": self.name,
            "source": self.source,
            "stages": [_numbered(stage, lines) for stage in self.stages],
            "steps": [_numbered(step, lines) for step in self.steps],
            "lines": list(lines),
            "loops": loops,
            "caches": self.caches,
            "remarks": self.remarks,
        }


def _numbered(part: Stage | Step, lines: dict[Line, int]) -> dict[str, Any]:
    numbers = [lines.setdefault(line, len(lines)) for line in part.lines]
    return {**dataclasses.asdict(part), "lines": numbers}


def _resource(name: str) -> str:
    return importlib.resources.files("hybridjit.viewing").joinpath(name).read_text(encoding="utf-8")


def _embedded(data: Any) -> str:
    """JSON inside a <script> element, which nothing in it may end."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
