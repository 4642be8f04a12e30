"""How long a search may last: "60s", "5m", 90, or a number of trials."""

from __future__ import annotations

import re

from hybridjit.errors import ArgumentValueError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def read_budget(budget: str | float) -> float:
    """Seconds."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(budget).lower())
    if found is None or found[2] not in _UNITS or float(found[1]) <= 0:
        raise ArgumentValueError(
            f"budget is {budget!r}: it must be a time above 0",
            help='write it as "60s", "5m" or a number of seconds',
        )
    return float(found[1]) * _UNITS[found[2]]
