"""Memory that grows, as that of lists and of functions that call themselves, under schedules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.kernel import Kernel
from tests.schedule.programs import Steps, refuse

Array = Any
AnyKernel = Kernel[..., Any]


@hybrid.script
def filled(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        kept = [0.0]
        for j in range(a.shape[1]):
            if a[i, j] > 0:
                kept.append(a[i, j])
        b[i] = len(kept)


def deeper(x: int) -> int:
    if x <= 2:
        return 1
    return deeper(x - 1) + deeper(x - 2)


@hybrid.script
def called(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        b[i] = deeper(i % 7)


CONCURRENT: dict[str, Steps] = {
    "parallel": lambda s: s.parallel("i"),
    "vectorize": lambda s: s.vectorize("i"),
    "bind": lambda s: s.bind("i", "threadIdx.x"),
}


@pytest.mark.parametrize("steps", CONCURRENT.values(), ids=CONCURRENT)
@pytest.mark.parametrize("kernel", [filled, called], ids=lambda kernel: kernel.__name__)
def test_it_grows_in_one_iteration_at_a_time(kernel: AnyKernel, steps: Steps) -> None:
    refuse(kernel.prim_func(np.zeros((4, 5)), np.zeros(4)), steps, "memory grows in it")


MEMORY: dict[str, Callable[[str], Steps]] = {
    "set_scope": lambda name: lambda s: s.set_scope(name, "global"),
    "storage_align": lambda name: lambda s: s.storage_align(name, 0, 16),
}


@pytest.mark.parametrize("steps", MEMORY.values(), ids=MEMORY)
def test_it_stays_where_it_is(steps: Callable[[str], Steps]) -> None:
    func = called.prim_func(np.zeros((4, 5)), np.zeros(4))
    refuse(func, steps("places"), "'places' is memory that grows, as lists do")
