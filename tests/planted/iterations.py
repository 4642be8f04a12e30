"""Bugs planted in what iterations do by themselves: windows of their own, rounds, limits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from hybridjit.analysis.limits import loop_extent
from hybridjit.analysis.value_intervals import Values
from hybridjit.codegen.emit import loops
from hybridjit.lowering import write_out_windows
from tests.frontend import test_numbers_that_fit as numbers
from tests.lowering import test_while_in_lanes as rounds
from tests.lowering import test_windows_in_lanes as windows
from tests.planted.bugs import Bug, replaced, second

_round = vars(loops)["_round"]


def without_the_last(loop: Any) -> int | None:
    extent = loop_extent(loop)
    return None if extent is None else max(extent - 1, 1)


def in_all_lanes(emitter: Any, body: Any, leave: Any, again: Any) -> None:
    if emitter.lanes is not None:
        emitter.lanes.mask = None
    _round(emitter, body, leave, again)


BUGS = (
    Bug(
        "windows are written out without their last rounds",
        [replaced(write_out_windows, "loop_extent", without_the_last)],
        partial(windows.test_results_are_those_of_plain_python, windows.median, np.float64),
        "avx2",
    ),
    Bug(
        "lanes that are done go on",
        [replaced(loops, "_round", in_all_lanes)],
        partial(rounds.test_results_are_those_of_plain_python, rounds.escape, np.float64),
        "avx2",
    ),
    Bug(
        "a number fits that does in one branch",
        [replaced(Values, "joined", second)],
        partial(numbers.test_what_may_not_fit, "two branches"),
    ),
)
