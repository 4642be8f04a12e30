"""A kernel that runs: what it raises is told as Python tells it, without the frames of ours.

my.py:7: ValueError: too large
"""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import hybridjit
from hybridjit.errors import HybridError

_OURS = Path(hybridjit.__file__).parent


class CallError(Exception):
    """A script, or what it calls, has raised an error of its own; the message says which."""


@contextmanager
def calling() -> Generator[None]:
    """Where a kernel is called."""
    try:
        yield
    except HybridError:
        raise
    except Exception as error:
        raise CallError(_describe(error)) from None


def _describe(error: Exception) -> str:
    text = "".join(traceback.format_exception_only(error)).rstrip()
    frames = traceback.extract_tb(error.__traceback__)
    others = [frame for frame in frames if _OURS not in Path(frame.filename).parents]
    return f"{others[-1].filename}:{others[-1].lineno}: {text}" if others else text
