"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    import difflib
else:
    difflib = lazy_module("difflib")


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A sentence naming the candidate closest to `name`, if one is close."""
    close = difflib.get_close_matches(name, list(dict.fromkeys(candidates)), n=1, cutoff=0.7)
    return f"did you mean '{close[0]}'?" if close else None
