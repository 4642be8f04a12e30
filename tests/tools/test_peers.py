"""The table against peers: ways are checked, taken in turns, and shown beside the best peer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.peers import families
from benchmarks.peers.measure import measure_row
from benchmarks.peers.row import Row
from benchmarks.peers.table import as_chart, in_markdown, ratio, share
from hybridjit import hybrid, stdlib


@hybrid.script
def doubled(a: Any) -> Any:
    return a * 2


def added(a: Any) -> Any:
    return a + a


def one_more(a: Any) -> Any:
    return a + 1


def refuses(a: Any) -> Any:
    raise TypeError("not that")


def lacks() -> Callable[..., Any]:
    raise ImportError("no such peer")


def row(**ways: Callable[..., Any]) -> Row:
    def make(name: str) -> Callable[[], Callable[..., Any]]:
        return lambda: ways[name]

    args = (np.arange(16, dtype=np.float32),)
    return Row(
        "family", "doubled", args, {name: make(name) for name in ways}, flops=16, reference=added
    )


def test_every_way_is_timed() -> None:
    found = measure_row(row(numpy=added, script=doubled), 0.01)
    assert set(found["times"]) == {"numpy", "script"}
    assert all(0 < each["best"] <= each["median"] for each in found["times"].values())


def test_a_way_that_is_wrong_is_no_result() -> None:
    with pytest.raises(AssertionError, match="script is wrong"):
        measure_row(row(numpy=added, script=one_more), 0.01)


def test_a_peer_that_cannot_do_it_is_left_out() -> None:
    one = row(numpy=added, numba=refuses, script=doubled)
    assert measure_row(one, 0.01)["missing"] == {"numba": "TypeError: not that"}


def test_what_we_cannot_do_is_an_error() -> None:
    with pytest.raises(TypeError, match="not that"):
        measure_row(row(numpy=added, script=refuses), 0.01)


def test_a_peer_that_is_not_installed_is_left_out() -> None:
    made = Row(
        "family",
        "doubled",
        (np.ones(3, np.float32),),
        {"numpy": lambda: added, "xla": lacks, "script": lambda: doubled},
        flops=3,
    )
    assert measure_row(made, 0.01)["missing"] == {"xla": "no such peer"}


RECORDS: list[dict[str, Any]] = [
    {
        "family": "products",
        "name": "a < b",
        "limit": 1e-6,
        "times": {
            "numpy": {"best": 4e-6, "median": 5e-6},
            "xla": {"best": 3e-6, "median": 3e-6},
            "script": {"best": 2e-6, "median": 2e-6},
        },
    }
]


def test_the_best_peer_counts() -> None:
    assert ratio(RECORDS[0]) == pytest.approx(1.5)
    assert share(RECORDS[0]) == pytest.approx(0.5)


def test_the_table() -> None:
    text = in_markdown(RECORDS, 2)
    assert "| a < b | 4.00 (+25%) |  | 3.00 (+0%) |  | 2.00 (+0%) |  |  | 1.50 | 50% |" in text
    assert "products: 1.50 in the geometric mean of 1 rows, 0 of them below 1." in text


def test_the_chart_has_a_bar_for_each_row() -> None:
    text = as_chart(RECORDS, 1)
    assert text.startswith("<svg")
    assert "a &lt; b" in text
    assert ">1.50</text>" in text


def test_every_family_of_operators_has_a_row() -> None:
    assert set(families.CASES) == {known.family for known in stdlib.OPERATORS.values()}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("family", families.CASES)
def test_the_row_of_a_family_is_right(family: str) -> None:
    (found,) = families.rows([family])
    for name in ("numpy", "stdlib"):
        made = np.asarray(found.ways[name]()(*found.args), np.float64)
        np.testing.assert_allclose(made, found.expected(), rtol=1e-3, atol=1e-3)
