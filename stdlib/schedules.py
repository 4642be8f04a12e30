"""How operators run on arrays: schedules that fit many shapes."""

from __future__ import annotations

from hybridjit.schedule.schedule import Schedule


def as_written(s: Schedule) -> None:
    """No steps: loops over the last axis run as vectors anyway."""


def in_chunks(s: Schedule) -> None:
    pass


def along_rows(s: Schedule) -> None:
    pass


def in_tiles(s: Schedule) -> None:
    pass


def row_by_row(s: Schedule) -> None:
    pass


def scan_inside(s: Schedule) -> None:
    pass
