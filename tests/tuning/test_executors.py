"""Who compiles and who measures: one executor, two, or a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from hybridjit.errors import ArgumentValueError
from hybridjit.tuning.executors import executors_of
from hybridjit.tuning.jobs import compile_code, measure, refer, unpack, verify
from tests.tuning.kernels import CASES


class Noting(Executor):
    """Does jobs at once, or has another do them, and notes which they were."""

    def __init__(self, other: Executor) -> None:
        self.other = other
        self.jobs: set[Any] = set()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.jobs.add(fn)
        return self.other.submit(fn, *args, **kwargs)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_some_compile_and_others_measure(kind: Any) -> None:
    kernel, args = CASES["loops"]
    with kind(1) as first, kind(1) as second:
        compilers, measurers = Noting(first), Noting(second)
        fast = kernel.tune(*args, trials=4, executor=(compilers, measurers))
    assert compilers.jobs <= {compile_code, verify}
    assert compile_code in compilers.jobs
    assert measurers.jobs <= {measure, refer, unpack}
    assert measure in measurers.jobs
    assert fast.tuned.counts["measured"] == 4
    np.testing.assert_array_equal(fast(*args), kernel(*args))


class Cluster:
    """What a client says of its workers."""

    def __init__(self, *resources: Mapping[str, float]) -> None:
        self.workers = {f"tcp://{k}": {"resources": each} for k, each in enumerate(resources)}

    def scheduler_info(self) -> Mapping[str, Any]:
        return {"workers": self.workers}

    def get_executor(self, **options: Any) -> Any:
        return options


def test_workers_with_the_resource_measure() -> None:
    found = executors_of(Cluster({"measure": 1}, {}, {"GPU": 1}, {"measure": 2}))
    assert found.measurers == {"resources": {"measure": 1}}
    assert found.compilers == {
        "workers": ["tcp://1", "tcp://2"],
        "allow_other_workers": True,
    }
    assert found.hands == 4


def test_a_cluster_of_one_kind() -> None:
    plain = executors_of(Cluster({}, {}))
    assert (plain.measurers, plain.compilers, plain.hands) == ({}, None, 2)
    quiet = executors_of(Cluster({"measure": 1}))
    assert (quiet.measurers, quiet.compilers) == ({"resources": {"measure": 1}}, None)


@pytest.mark.parametrize("wrong", [3, (), (1, 2), "all"])
def test_what_is_no_executor(wrong: Any) -> None:
    kernel, args = CASES["loops"]
    with pytest.raises(ArgumentValueError, match=r"executor is .* one of concurrent\.futures"):
        kernel.tune(*args, trials=1, executor=wrong)
