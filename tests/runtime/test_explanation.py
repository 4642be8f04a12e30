"""`kernel.explain(error, ...)`: the iteration that failed, with the values of variables."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Body(NamedTuple):
    mass: float
    place: Any


@hybrid.script
def several(a: Any, body: Any, n: Any) -> Any:
    best = (1, (0, 2.5))
    found: list[Any] = []
    for i in range(n):
        best = (i, (i + 1, best[1][1] + a[i]))
        found.append((i, a[i]))
    x, y = best[1]
    later = a[1:] * 2
    return later[n + 3] * x * y + body.place[0] + len(found)


def test_tuples_lists_and_records_are_whole() -> None:
    given = A, Body(2.0, A[:2]), 4
    with pytest.raises(IndexError, match="index 7 is out of bounds") as caught:
        several(*given)
    text = str(several.explain(caught.value, *given))
    assert "  best  = (3, (4, 8.5))" in text
    assert "  found = [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0)]" in text
    assert "  i     = 3" in text  # the loop over `later` has an i of its own
    assert "  x     = 4" in text
    assert "  body  = Body(mass=2.0, place=float64[2] [0., 1.])" in text


def test_long_lists_are_cut() -> None:
    @hybrid.script
    def grown(a: Any) -> Any:
        found: list[int] = []
        for i in range(20):
            found.append(i)
        single = (3,)
        return found, a[single[0] * a.shape[0]]

    with pytest.raises(IndexError, match="is out of bounds") as caught:
        grown(A)
    text = str(grown.explain(caught.value, A))
    assert "found  = [0, 1, 2, ..., 19]" in text
    assert "single = (3,)" in text


def test_what_only_native_code_refuses() -> None:
    """Plain Python does not fail: the interpreter tells what is sure, which is not all."""

    @hybrid.script
    def unset(n: Any) -> Any:
        a = hybrid.allocate((4,), "float64", zero=False)
        pair = (0, 0.5)
        for i in range(n):
            a[i] = i
            pair = (i, pair[1] * 2)
        b = a[:2] + 1
        return a[n] + b[0] + pair[0]

    with pytest.raises(RuntimeError, match="is read before it is written") as caught:
        unset.interpret(3)
    found = unset.explain(caught.value, 3)
    assert found.values["i"] == 2
    assert found.values["pair"] == (2, 4.0)
    assert found.values["n"] == 3


def test_what_a_script_prints_is_not_printed_again(capsys: pytest.CaptureFixture[str]) -> None:
    @hybrid.script
    def told(a: Any, n: Any) -> Any:
        print("here", n)
        return a[n]

    with pytest.raises(IndexError, match="index 9 is out of bounds") as caught:
        told(A, 9)
    assert capsys.readouterr().out == "here 9\n"
    assert told.explain(caught.value, A, 9).values["n"] == 9
    assert capsys.readouterr() == ("", "")


def test_what_only_shared_memory_forbids_is_explained() -> None:
    m: Any = np.ones((3, 4))
    out: Any = np.zeros(3)

    @hybrid.script
    def stored(m: Any, out: Any, n: Any) -> None:
        values = np.ravel(m)
        out[0] = 1.0
        out[n] = values[1]

    with pytest.raises(IndexError, match="index 5 is out of bounds") as caught:
        stored(m, out, 5)
    assert stored.explain(caught.value, m, out, 5).values["n"] == 5
