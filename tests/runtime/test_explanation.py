"""`kernel.explain(error, ...)`: the iteration that failed, with the values of variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid


@hybrid.script
def gathered(a: Any, k: Any) -> Any:
    total = 0.0
    for i in range(k.shape[0]):
        place = k[i] * 2
        total += a[place]
    return total


A = np.arange(6.0)
K = np.array([0, 2, 1, 7, 1])


def test_it_shows_the_iteration_and_the_values() -> None:
    with pytest.raises(IndexError, match="index 14 is out of bounds") as caught:
        gathered(A, K)
    found = gathered.explain(caught.value, A, K)
    assert found.values["i"] == 3
    assert found.values["place"] == 14
    assert found.values["total"] == 6.0
    lines = str(found).splitlines()
    assert "index 14 is out of bounds" in lines[0]
    assert "  i     = 3" in lines
    assert "  a     = float64[6] [0., 1., 2., 3., 4., 5.]" in lines
    assert list(found.values) == ["a", "k", "total", "i", "place"]


def test_the_arguments_stay_as_they_are() -> None:
    @hybrid.script
    def counted(a: Any, n: Any) -> None:
        for i in range(a.shape[0]):
            a[i] += 1.0
            a[n] = 0.0

    given: Any = np.ones(5)
    with pytest.raises(IndexError, match="index 9 is out of bounds") as caught:
        counted(given.copy(), 9)
    found = counted.explain(caught.value, given, 9)
    assert found.values["a"].tolist() == [2.0, 1.0, 1.0, 1.0, 1.0]
    assert given.tolist() == [1.0] * 5


def test_what_a_script_raises() -> None:
    @hybrid.script
    def checked(a: Any) -> Any:
        for i in range(a.shape[0]):
            if a[i] < 0:
                raise ValueError("negative")
        return 0

    given = np.array([1.0, -2.0])
    with pytest.raises(ValueError, match="negative") as caught:
        checked(given)
    found = checked.explain(caught.value, given)
    assert found.values["i"] == 1
    assert "ValueError: negative" in str(found)


def test_it_says_so_if_nothing_fails() -> None:
    with pytest.raises(ValueError, match="'gathered' does not fail: it gave IndexError"):
        gathered.explain(IndexError(), A, K[:3])


def test_it_says_so_if_another_error_comes() -> None:
    with pytest.raises(ValueError, match="fails with BoundsError, not with KeyError"):
        gathered.explain(KeyError(), A, K)


@hybrid.script
def named(error: Any, stage: Any) -> Any:
    return error[stage]


def test_parameters_of_any_name() -> None:
    given = {"error": np.zeros(3), "stage": 7}
    with pytest.raises(IndexError, match="index 7 is out of bounds") as caught:
        named(**given)
    assert named.explain(caught.value, **given).values["stage"] == 7
    assert "def named" in named.inspect("tir", **given)
