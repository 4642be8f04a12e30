"""Graphs of operators of stdlib against NumPy: a few of every row."""

from __future__ import annotations

import random

import pytest

from hybridjit import stdlib
from tests.operators.campaign import check, make_chain, try_number
from tests.operators.table import ROWS, Row, families

# Families whose operators take more than an array and numbers, or give what no formula gives.
ELSEWHERE = {
    *("adaptive_pooling", "bits", "correlation", "deformable_convolution", "detection", "images"),
    *("layouts", "packed_convolution", "pooling_gradients", "random", "recurrent", "signal"),
    *("sparse", "transposed_convolution", "vision"),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("row", ROWS, ids=[f"{row.name}{k}" for k, row in enumerate(ROWS)])
def test_rows(row: Row) -> None:
    chains = [make_chain(random.Random(number), [row]) for number in range(12)]
    suitable = [chain for chain in chains if chain.names]
    assert suitable
    for chain in suitable[:2]:
        check(chain)


def test_some_graphs() -> None:
    for number in range(4):
        assert try_number(11, number).failures == []


def test_formulas_do_not_cancel() -> None:
    """The only elements are results of gelu that 1 + erf(x) has no digits of."""
    chain = make_chain(random.Random("201/173"), ROWS)
    assert chain.names == ["tile", "quantize", "add", "gelu"]
    check(chain)


def test_families() -> None:
    known = {each.family for each in stdlib.OPERATORS.values()}
    assert known - {*families()} == ELSEWHERE
