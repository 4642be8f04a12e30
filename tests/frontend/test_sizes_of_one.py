"""What depends on a size being one: known sizes are looked at, others are refused or checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.errors import ParseError


@hybrid.script
def squeezed(a: Any) -> Any:
    return np.squeeze(a) * 1


@hybrid.script
def squeezed_first(a: Any) -> Any:
    return np.squeeze(a, axis=0) * 1


def test_squeeze_is_compiled_for_exact_sizes() -> None:
    for shape in ((3, 4), (5, 3), (16, 17), (1, 7), (7, 1), (1, 1), (0, 1)):
        a = np.ones(shape)
        assert np.asarray(squeezed(a)).shape == np.squeeze(a).shape


def test_squeeze_of_a_run_time_size_is_refused() -> None:
    with pytest.raises(ParseError, match="whether axis 0 has the size 1 is known only when"):
        squeezed.prim_func(hj.f64["n", 3])


def test_squeeze_of_a_slice_of_unknown_size_is_refused() -> None:
    @hybrid.script
    def f(a: Any, k: int) -> Any:
        return np.squeeze(a[:k]) * 1

    with pytest.raises(ParseError, match="name the axes to leave out"):
        f(np.ones(3), 1)


def test_squeeze_along_an_axis_checks_a_run_time_size() -> None:
    func = squeezed_first.prim_func(hj.f64["n", 3])
    assert "if a.shape[0] != 1:" in str(func)


def test_sizes_of_arguments_are_not_negative() -> None:
    @hybrid.script
    def column(a: Any) -> Any:
        return a[:, None] + np.ones((a.shape[0], 1))

    assert "max(" not in str(column.prim_func(hj.f64["n"]))
