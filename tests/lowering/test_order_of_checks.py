"""The indices of one access are all computed before the first of them is checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.interp.run import compile_func
from hybridjit.lowering.check_bounds import check_bounds
from tests.lowering.ways import assert_all_ways_agree
from tests.support.oracle import run_native

CALLED: list[int] = []


def _note(x: int) -> int:
    CALLED.append(x)
    return x


noted = hybrid.packed(_note, "int64")


@hybrid.script
def reads(a: Any, k: Any, j: Any) -> Any:
    return a[k, noted(j)]


@hybrid.script
def writes(a: Any, k: Any, j: Any) -> Any:
    a[k, noted(j)] = 1.0


@hybrid.script
def nested(a: Any, b: Any, k: Any, j: Any) -> Any:
    return a[k, b[j]]


@pytest.mark.parametrize("kernel", [reads, writes])
@pytest.mark.parametrize("k", [0, 2, -4])
def test_a_callback_in_a_later_index_is_called(kernel: Any, k: int) -> None:
    a = np.ones((2, 3))
    outcome = assert_all_ways_agree(kernel, a, k, 1)
    assert (outcome.error is None) == (k == 0)
    CALLED.clear()
    with pytest.raises(IndexError, match="out of bounds"):
        run_native(kernel, a, 7, 2)
    lowered = check_bounds(lower_blocks(kernel.prim_func(a, 7, 2)))
    with pytest.raises(IndexError, match="out of bounds"):
        compile_func(lowered)([a, 7, 2])
    assert CALLED == [2, 2]


@pytest.mark.parametrize(("k", "j", "name"), [(0, 1, ""), (5, 1, "a"), (5, 9, "b"), (0, 9, "b")])
def test_the_index_that_fails_first_is_reported(k: int, j: int, name: str) -> None:
    a, b = np.ones((2, 3)), np.array([0, 1, 2])
    outcome = assert_all_ways_agree(nested, a, b, k, j)
    if name:
        with pytest.raises(IndexError, match=f"axis 0 of '{name}'"):
            run_native(nested, a, b, k, j)
    else:
        assert outcome.error is None
