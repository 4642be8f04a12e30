"""Text and tables as HTML, for notebooks: what `_repr_html_` returns."""

from __future__ import annotations

from collections.abc import Sequence

_SIDES = {"<": "left", ">": "right"}


def escaped(text: str) -> str:
    """Text that means itself, without the module `html`, whose tables take time to load."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def heading(text: str) -> str:
    """A line that says what is shown."""
    return f"<div><strong>{escaped(text)}</strong></div>"


def preformatted(text: str) -> str:
    """Text with its spaces and line breaks."""
    style = "text-align: left; overflow-x: auto; line-height: 1.3"
    return f'<pre style="{style}">{escaped(text)}</pre>'


def table(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Rows of cells, the first of which is the head; each column goes to its side: "<" or ">"."""
    head, *body = rows
    lines = [_row(head, sides, "th"), *(_row(row, sides, "td") for row in body)]
    return f"<table>{''.join(lines)}</table>"


def _row(cells: Sequence[str], sides: str, tag: str) -> str:
    made = (
        f'<{tag} style="text-align: {_SIDES[side]}; white-space: pre-wrap">{escaped(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(made)}</tr>"


def folded(title: str, inner: str) -> str:
    """What is shown when somebody asks for it."""
    return f"<details><summary>{escaped(title)}</summary>{inner}</details>"
