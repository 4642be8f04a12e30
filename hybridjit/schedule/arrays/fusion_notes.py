"""What fusion did with arrays, for the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hybridjit.errors import Span
from hybridjit.record import record


@record
class Fused:
    """An array that needs no memory any more: where it is computed instead, and how."""

    name: str
    span: Span | None
    into: tuple[str, ...]
    how: str


@record
class FusionNotes:
    """What fusion did, for the report: the arrays that went, and why others stay.

    Those are named by their names and the lines that they are made in.
    """

    fused: tuple[Fused, ...] = ()
    reasons: Mapping[tuple[str, int | None], str] = field(
        default_factory=dict[tuple[str, "int | None"], str]
    )
