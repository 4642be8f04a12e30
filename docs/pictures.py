"""Pictures of schedules: in which order the elements of an array are visited.

They are drawn from the schedule itself: its program is run with a counter in the place of what it
stores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit import tir
from hybridjit.interp.run import interpret

SIZE = 8
CELL = 16
PROGRAM = f"""
def visit(a: int64[{SIZE}, {SIZE}], count: int64[1]):
    for i in range({SIZE}):
        for j in range({SIZE}):
            a[i, j] = i + j
"""

SWEPT = f"""
def swept(a: float64[{SIZE}, {SIZE}]):
    for i in range(1, {SIZE}):
        for j in range({SIZE - 1}):
            a[i, j] = a[i - 1, j + 1] + 1.0
"""

Steps = Callable[[hj.Schedule], Any]


def _tiles(s: hj.Schedule) -> None:
    s.tile("i", "j", 4, 4)


def _strips(s: hj.Schedule) -> None:
    outer, inner = s.split("j", factor=4)
    s.reorder(outer, "i", inner)


STEPS: dict[str, tuple[str, Steps]] = {
    "as written": ("", lambda s: None),
    "reorder": ('s.reorder("j", "i")', lambda s: s.reorder("j", "i")),
    "split and reorder": ('jo, ji = s.split("j", factor=4); s.reorder(jo, "i", ji)', _strips),
    "tile": ('s.tile("i", "j", 4, 4)', _tiles),
    "partition": ('s.partition("j", 3)', lambda s: s.partition("j", 3)),
    "vectorize": ('s.vectorize("j")', lambda s: s.vectorize("j")),
    "parallel": ('s.parallel("i")', lambda s: s.parallel("i")),
}
# Loops whose iterations run together: a colour for all of them.
_TOGETHER = {"vectorize": 1, "parallel": 0}


def draw_orders() -> str:
    """A picture for each step."""
    return '<div class="pictures">' + "".join(map(_figure, STEPS)) + "</div>"


def draw_refusal() -> str:
    """The arrow of a step that is refused."""
    schedule = hj.Schedule(hj.parse(SWEPT))
    try:
        schedule.reorder("j", "i")
    except hj.ScheduleError as error:
        return str(error.witness.draw())
    raise AssertionError("the step was not refused")


def visiting_order(name: str) -> Any:
    """When each element is visited."""
    schedule = hj.Schedule(hj.parse(PROGRAM))
    STEPS[name][1](schedule)
    order, count = np.full((SIZE, SIZE), -1), np.zeros(1, np.int64)
    interpret(_counting(schedule.func), [order, count])
    return order


def _counting(func: hj.PrimFunc) -> hj.PrimFunc:
    counter = func.buffers[1]
    zero = tir.Const(0)

    def counted(node: Any) -> Any:
        if not isinstance(node, tir.Store):
            return None
        now = tir.Load(counter, (zero,))
        more = tir.Store(counter, (zero,), now + 1)
        return tir.Seq((replace(node, value=now), more))

    return replace(func, body=tir.rewrite(func.body, counted))


def _figure(name: str) -> str:
    order = visiting_order(name)
    axis = _TOGETHER.get(name)
    cells: list[str] = []
    for i in range(SIZE):
        for j in range(SIZE):
            when = order[i, j] if axis is None else (i, j)[1 - axis] * SIZE
            light = 92 - 62 * when / (SIZE * SIZE)
            place = f'x="{j * CELL}" y="{i * CELL}" width="{CELL}" height="{CELL}"'
            cells.append(f'<rect {place} fill="hsl(212 55% {light:.0f}%)" stroke="white"/>')
    path = "" if axis is not None else _path(order)
    side = SIZE * CELL
    label = STEPS[name][0]
    code = f"<code>{label}</code>" if label else ""
    return (
        f'<figure><svg viewBox="0 0 {side} {side}" width="{side}" role="img">'
        f"<title>{name}</title>{''.join(cells)}{path}</svg>"
        f"<figcaption><b>{name}</b>{code}</figcaption></figure>"
    )


def _path(order: Any) -> str:
    places = [np.argwhere(order == when)[0] for when in range(SIZE * SIZE)]
    points = " ".join(f"{j * CELL + CELL / 2},{i * CELL + CELL / 2}" for i, j in places)
    return f'<polyline points="{points}" fill="none" stroke="#c2410c" stroke-width="1"/>'
