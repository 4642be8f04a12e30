"""Steps of TVM's stages that have no meaning here: what to write instead."""

from __future__ import annotations

from typing import Any, NoReturn

from hybridjit.config import api_edge
from hybridjit.errors import ScheduleError


class AbsentSteps:
    """The part of a stage that refuses."""

    @api_edge
    def env_threads(self, threads: Any) -> NoReturn:
        """Refused: it starts the threads of a scan on a GPU."""
        raise ScheduleError(
            "env_threads: the steps of a scan run on the CPU, without threads of their own",
            help="s[update].parallel(axis) computes the elements of each step on several threads",
        )

    @api_edge
    def set_store_predicate(self, predicate: Any) -> NoReturn:
        """Refused: it stores some elements only, and leaves it open what the others are."""
        raise ScheduleError(
            "set_store_predicate: every element of a tensor has a value",
            help="say which one: te.if_then_else(condition, value, other) in the te.compute",
        )
