"""Suggestions for misspelt names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A sentence naming the candidate closest to `name`, if one is close."""
    close = difflib.get_close_matches(name, list(dict.fromkeys(candidates)), n=1, cutoff=0.7)
    return f"did you mean '{close[0]}'?" if close else None
