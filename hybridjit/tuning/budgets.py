"""What a space demands of its candidates: those that do not have it are refused, not compiled.

def tiles(s):
    rows, columns = s.sample_categorical([8, 64, 512]), s.sample_categorical([8, 64, 512])
    hj.tune.require(4 * rows * columns <= hj.tune.caches.own, "a tile must fit the cache")
    ...
"""

from __future__ import annotations

from hybridjit.errors import ScheduleError


def require(holds: bool, reason: str) -> None:
    """Refuse a candidate of which this does not hold."""
    if not holds:
        raise ScheduleError(f"the space demands otherwise: {reason}")


def require_fit(needed: int, there: int, what: str, where: str) -> None:
    """Refuse a candidate that needs more than there is."""
    require(needed <= there, f"it needs {needed} {what}, and {where} has room for {there}")
