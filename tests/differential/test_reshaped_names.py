"""Names for reshaped arrays, which NumPy copies or not: views here, unless that can be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel
from hybridjit.errors import ParseError
from tests.support.oracle import run_plain_and_interpreted

Values = Any


def written_before_the_name(m: Values) -> Values:
    doubled = m * 2
    doubled[0] = 1
    flat = doubled[:, 1:].reshape(-1)
    return flat + flat[::-1]


def written_before_a_loop_of_windows(m: Values) -> Values:
    padded = np.pad(m, 1, mode="edge")
    result = np.empty(m.shape)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            result[i, j] = np.median(padded[i : i + 3, j : j + 3])
    return result


def written_in_a_branch_before(m: Values) -> Values:
    doubled = m * 2
    if m[0, 0] > 0:
        doubled[1] = 7
    flat = doubled[:, 1:].reshape(-1)
    return flat * 3


def written_later(m: Values) -> Values:
    doubled = m * 2
    flat = doubled[:, 1:].reshape(-1)
    doubled[0] = 1
    return flat * 3


def written_in_the_same_loop(m: Values) -> Values:
    doubled = m * 2
    total = np.zeros(m.size - m.shape[0])
    for i in range(3):
        doubled[i % 2] = i
        flat = doubled[:, 1:].reshape(-1)
        total += flat
    return total


def written_by_another_name(m: Values) -> Values:
    doubled = m * 2
    row = doubled[1]
    flat = doubled[:, 1:].reshape(-1)
    row[:] = 5
    return flat * 3


@pytest.mark.parametrize(
    "function",
    [
        written_before_the_name,
        written_before_a_loop_of_windows,
        written_in_a_branch_before,
    ],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("shape", [(3, 4), (2, 7), (4, 2)])
def test_what_is_written_before_is_shown(
    function: Callable[..., Any], shape: tuple[int, int]
) -> None:
    m: Values = np.indices(shape).sum(axis=0) * 1.5 % 4
    assert run_plain_and_interpreted(Kernel(function), [m]).error is None


@pytest.mark.parametrize(
    "function",
    [written_later, written_in_the_same_loop, written_by_another_name],
    ids=lambda f: f.__name__,
)
def test_what_is_written_later_is_refused(function: Callable[..., Any]) -> None:
    kernel: Kernel[..., Any] = Kernel(function)
    with pytest.raises(ParseError, match="'flat' would be another view of the elements"):
        kernel(np.ones((3, 4)))
