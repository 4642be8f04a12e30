"""What fusion did with arrays, for the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hybridjit.errors import Span, line_in
from hybridjit.record import record


@record
class Fused:
    """An array that needs no memory any more: where it is computed instead, and how.

    `file` is where it is made, if that is not the file of the script.
    """

    name: str
    span: Span | None
    into: tuple[str, ...]
    how: str
    file: str = ""

    def __str__(self) -> str:
        line = "" if self.span is None else f", {line_in(self.file, self.span.line)},"
        if not self.into:
            return f"'{self.name}'{line} is read by nothing"
        return f"'{self.name}'{line} is {self.how} for {', '.join(self.into)}"


@record
class FusionNotes:
    """What fusion did, for the report: the arrays that went, and why others stay.

    Those are named by their names and the lines that they are made in.
    """

    fused: tuple[Fused, ...] = ()
    reasons: Mapping[tuple[str, int | None], str] = field(
        default_factory=dict[tuple[str, "int | None"], str]
    )
