"""Texts with values in them: a template as `str.format` takes it, and then the values.

("index {} of {:5d}", i, n) is what the message of `raise IndexError(f"index {i} of {n:5d}")` is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Formatter

from hybridjit.ir.expr import Expr
from hybridjit.record import record

Message = tuple[str | Expr, ...]


@record
class Written:
    """A value in a text, and how it is written: "" as it is, or such as "!s" or ":5d"."""

    value: Expr
    style: str = ""


def text_of(*parts: str | Expr | Written) -> Message:
    """The message whose parts are put together as one text."""
    template, values = "", list[Expr]()
    for part in parts:
        if isinstance(part, str):
            template += part.replace("{", "{{").replace("}", "}}")
            continue
        written = part if isinstance(part, Written) else Written(part)
        template += f"{{{written.style}}}"
        values.append(written.value)
    return template, *values


def filled(template: object, values: Sequence[object]) -> str:
    """The text, once the values are known."""
    return str(template).format(*values)


def parts_of(message: Message) -> Iterator[str | Written]:
    """The parts that make up the text of a message."""
    template, *values = message
    left = iter(values)
    for literal, field, spec, conversion in Formatter().parse(str(template)):
        if literal:
            yield literal
        if field is not None:
            value = next(left)
            assert isinstance(value, Expr)
            style = f"!{conversion}" if conversion else ""
            yield Written(value, f"{style}:{spec}" if spec else style)


def count_values(template: str) -> int:
    """How many values a template takes."""
    return sum(field is not None for _, field, _, _ in Formatter().parse(template))


def without_values(template: str) -> str:
    """The text where no values are known."""
    return template.format(*["..."] * count_values(template))
