"""How long a search may last, "60s", "5m" or 90, and what its parts get of that.

start                    half                        explored        end        over
  |  the plain program, candidates   |  and the best so far, at awkward sizes  |
  +--------------------------+----------------------------+-- last races --+-- verification
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hybridjit.errors import ArgumentValueError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_UNLIMITED = float("inf")
_RESERVED = 0.3  # of the time, at most, for the last races and the verification of the winner
_SIP = 0.025  # of the time
_USUAL = 60.0  # seconds, where there is no limit
_OVERTIME = 2.0, 0.03  # seconds, and a share of the time, to verify what has won

Clock = Callable[[], float]


def read_budget(budget: str | float) -> float:
    """Seconds."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(budget).lower())
    if found is None or found[2] not in _UNITS or float(found[1]) <= 0:
        raise ArgumentValueError(
            f"budget is {budget!r}: it must be a time above 0",
            help='write it as "60s", "5m" or a number of seconds',
        )
    return float(found[1]) * _UNITS[found[2]]


class Timetable:
    """When the parts of a search that starts now are over, by its clock; never without a limit."""

    def __init__(self, seconds: float | None, clock: Clock) -> None:
        self._seconds = _UNLIMITED if seconds is None else seconds
        self._clock = clock
        self._start = clock()
        self.end = self._start + self._seconds
        fixed, share = _OVERTIME
        self.over = self.end + fixed + share * self._seconds

    @property
    def passed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start

    @property
    def left(self) -> float | None:
        """Seconds until the end."""
        return None if self._seconds == _UNLIMITED else self._seconds - self.passed

    @property
    def is_half_over(self) -> bool:
        """True in the second half."""
        return self.passed > self._seconds / 2

    @property
    def sip(self) -> float:
        """Seconds that one run may take while nothing is known of any: one of dozens."""
        return _SIP * (_USUAL if self._seconds == _UNLIMITED else self._seconds)

    def until(self, moment: float) -> float:
        """Seconds that are left until then."""
        return max(moment - self._clock(), 0.0)

    def is_past(self, moment: float) -> bool:
        """True after a moment of this clock."""
        return self._clock() > moment

    def explored(self, needed: float) -> float:
        """When no more candidates are tried, if what follows needs so many seconds."""
        if self._seconds == _UNLIMITED:
            return _UNLIMITED
        return self.end - min(needed, _RESERVED * self._seconds)
