"""Who does the jobs of a search: one executor for all, or some that compile and some that measure.

    executor=ThreadPoolExecutor(4)          any of concurrent.futures does both
    executor=(compilers, measurers)         two of them
    executor=distributed.Client(...)        a cluster: what has the resource "measure" measures,
                                            the others compile

Where times are taken, nothing else should run; compiling may be done on any machine of the kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Protocol, cast

from hybridjit.record import record

RESOURCE = "measure"


class Cluster(Protocol):
    """What is asked of a `distributed.Client`."""

    def scheduler_info(self) -> Mapping[str, Any]: ...
    def get_executor(self, **options: Any) -> Executor: ...


@record(eq=False)
class Executors:
    """`measurers` do everything if there are no `compilers`; `hands` jobs are done at once."""

    measurers: Executor
    compilers: Executor | None
    hands: int


def is_executor(given: object) -> bool:
    """True for whatever `executors_of` takes."""
    pair = _pair_of(given)
    return all(hasattr(each, "submit") for each in pair or [given])


def executors_of(given: Any) -> Executors:
    """Who does what."""
    pair = _pair_of(given)
    if pair is not None:
        compilers, measurers = pair
        return Executors(measurers, compilers, _count_hands(compilers) + _count_hands(measurers))
    if not hasattr(given, "get_executor"):
        return Executors(given, None, _count_hands(given))
    return _of_cluster(given)


def _pair_of(given: object) -> Sequence[Any] | None:
    items = cast("Sequence[Any]", given) if isinstance(given, tuple | list) else ()
    return items if len(items) == 2 else None


def _of_cluster(cluster: Cluster) -> Executors:
    workers: Mapping[str, Mapping[str, Any]] = cluster.scheduler_info()["workers"]
    others = [address for address, each in workers.items() if not _measures(each)]
    hands = max(len(workers), 1)
    if not others or len(others) == len(workers):
        resources = {} if others else {"resources": {RESOURCE: 1}}
        return Executors(cluster.get_executor(**resources), None, hands)
    # One that comes later measures if it says so; compiling is left to whoever is there.
    compilers = cluster.get_executor(workers=others, allow_other_workers=True)
    return Executors(cluster.get_executor(resources={RESOURCE: 1}), compilers, hands)


def _measures(worker: Mapping[str, Any]) -> bool:
    return RESOURCE in (worker.get("resources") or {})


def _count_hands(executor: Executor) -> int:
    hands: int = getattr(executor, "_max_workers", 0) or len(getattr(executor, "_threads", ()))
    return max(hands, 1)
