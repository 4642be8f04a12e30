"""Numbers that users give to steps."""

from __future__ import annotations

from hybridjit.errors import ScheduleError


def check_int(value: object, what: str) -> None:
    """Refuse anything but an integer; `what` names the step and the argument."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ScheduleError(f"{what} must be an integer, got {value!r}")
