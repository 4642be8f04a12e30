"""Pictures of programs: a box for each loop, as large as what it holds, coloured by how it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hybridjit import tir
from hybridjit.html_text import escaped
from hybridjit.ir.printer import format_expr
from hybridjit.ir.stmt import flat_stmts

LINE, LETTER, INSET, MOST = 17, 6.7, 8, 46
# How loops run, in the order of their names in `LoopKind`, with the colours of their frames.
COLORS = {"parallel": "#b0682c", "vectorize": "#3a9b5c", "unroll": "#7a5cc2", "bind": "#b0682c"}


@dataclass
class Box:
    """A frame with a title and what is in it, or a line of text."""

    text: str
    color: str = "currentColor"
    is_frame: bool = False
    inside: list[Box] = field(default_factory=list)

    @property
    def width(self) -> float:
        own = LETTER * len(self.text) + 10
        return max([own, *(each.width + 2 * INSET for each in self.inside)])

    @property
    def height(self) -> float:
        if not self.is_frame:
            return LINE
        return LINE + 4 + sum(each.height + 3 for each in self.inside)

    def draw(self, x: float, y: float, width: float) -> Iterator[str]:
        if self.is_frame:
            place = f'x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{self.height:.0f}"'
            yield f'<rect {place} rx="4" fill="none" stroke="{self.color}" stroke-width="1.5"/>'
        place = f'x="{x + 5:.0f}" y="{y + 13:.0f}"'
        yield f'<text {place} fill="{self.color}">{escaped(self.text)}</text>'
        y += LINE + 2
        for each in self.inside:
            yield from each.draw(x + INSET, y, width - 2 * INSET)
            y += each.height + 3


def draw_program(func: Any, title: str) -> str:
    """The loops of a function, one in another."""
    boxes = list(_boxes(func.body))
    width = max(each.width for each in boxes) + 4
    height = sum(each.height + 3 for each in boxes) + 4
    parts: list[str] = []
    y = 2.0
    for each in boxes:
        parts += each.draw(2, y, width - 4)
        y += each.height + 3
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" '
        'font-family="ui-monospace, monospace" font-size="11" fill="currentColor">'
        f"<title>{escaped(title)}</title>{''.join(parts)}</svg>"
    )


def _boxes(stmt: Any) -> Iterator[Box]:
    for each in flat_stmts(stmt):
        match each:
            case tir.For():
                yield _loop(each)
            case tir.Block():
                if each.init is not None:
                    yield Box("first", is_frame=True, inside=list(_boxes(each.init)))
                yield from _names(each)
                yield from _boxes(each.body)
            case tir.If():
                inside = list(_boxes(each.then))
                yield Box(_short(f"if {format_expr(each.cond)}"), is_frame=True, inside=inside)
                if each.otherwise is not None:
                    yield Box("else", is_frame=True, inside=list(_boxes(each.otherwise)))
            case tir.Return():
                pass
            case _:
                yield Box(_short(_text(each)))


def _names(block: Any) -> Iterator[Box]:
    """What the names of a block stand for, unless they are those of its loops."""
    for each in block.iters:
        if not isinstance(each.value, tir.Var) or each.value.name != each.var.name:
            yield Box(_short(f"{each.var.name} = {format_expr(each.value)}"))


def _loop(loop: Any) -> Box:
    kind = loop.kind.value
    start = format_expr(loop.start)
    extent = format_expr(loop.extent) if start == "0" else f"{start} to {format_expr(loop.stop)}"
    hints = ", ".join(f"{name} {value}" for name, value in loop.annotations)
    how = "" if kind in ("range", "scan") else f", {kind}"
    title = f"{loop.var.name} in {extent}{how}{', ' + hints if hints else ''}"
    return Box(_short(title), COLORS.get(kind, "currentColor"), True, list(_boxes(loop.body)))


def _text(stmt: Any) -> str:
    match stmt:
        case tir.Store(buffer, indices, value):
            return f"{format_expr(tir.Load(buffer, indices))} = {format_expr(value)}"
        case tir.Allocate():
            sizes = ", ".join(map(format_expr, stmt.buffer.shape))
            return f"new {stmt.buffer.name}[{sizes}] {stmt.buffer.scope}" if sizes else ""
        case tir.Let(var, value):
            return f"{var.name} = {format_expr(value)}"
        case _:
            return type(stmt).__name__.lower()


def _short(text: str) -> str:
    return text if len(text) <= MOST else f"{text[: MOST - 3]}..."
