"""Run the plain function of a script up to where it fails; tell what its variables held there.

Python itself knows them best: tuples, lists that grow and records are whole there, while the
program that is compiled has variables for their parts.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, redirect_stdout
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from hybridjit.errors import Span, place_of


def plain_variables(
    plain: FunctionType, call: Callable[[], object], expected: Exception
) -> dict[str, Any] | None:
    """The variables of `plain`, which `call` calls, where it failed as `expected` tells.

    None if it does not fail, or fails in another way: plain Python has no types that overflow.
    """
    found = _failure(call)
    if found is None or not _is_alike(found, expected):
        return None
    entered = list(_frames(found))
    if not _is_there(entered, place_of(expected)):
        return None
    own = [frame for frame, _ in entered if frame.f_code is plain.__code__]
    return _data(own[-1].f_locals) if own else None


def _failure(call: Callable[[], object]) -> Exception | None:
    """What a call raises."""
    with run_again():
        try:
            call()
        except Exception as error:
            return error
    return None


@contextmanager
def run_again() -> Generator[None]:
    """What ran before runs again, and prints and warns of nothing: that was said then."""
    with (
        np.errstate(all="ignore"),
        warnings.catch_warnings(),
        redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


def _is_alike(found: Exception, expected: Exception) -> bool:
    return isinstance(expected, type(found)) or isinstance(found, type(expected))


def _frames(error: Exception) -> Iterator[tuple[FrameType, int]]:
    """The frames that an error left, outermost first, and the line that each was at."""
    entry = error.__traceback__
    while entry is not None:
        yield entry.tb_frame, entry.tb_lineno
        entry = entry.tb_next


def _is_there(entered: list[tuple[FrameType, int]], place: Span | None) -> bool:
    return place is None or any(
        frame.f_code.co_filename == place.file and place.line <= line <= place.end_line
        for frame, line in entered
    )


def _data(variables: dict[str, Any]) -> dict[str, Any]:
    """The variables that hold no functions, classes or modules."""
    return {
        name: value
        for name, value in variables.items()
        if not (callable(value) or isinstance(value, ModuleType))
    }
