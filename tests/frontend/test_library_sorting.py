"""Sorting, which is inlined wherever it is called: it must not grow on the way."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.lowering.pipeline import lower
from hybridjit.processor import current_target

np: Any = numpy
Array = Any


def sort(a: Array):
    return np.sort(a)


def argsort(a: Array):
    return np.argsort(a)


def median(a: Array):
    return np.median(a)


def percentile(a: Array):
    return np.percentile(a, 30)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", [sort, argsort, median, percentile])
@pytest.mark.parametrize("spec", [hj.f64[1000], hj.f64["n"], hj.i32[1000], hj.f32["n"]])
def test_no_loop_is_there_twice(function: Any, spec: Any) -> None:
    """A loop with indices that are not proved is copied, to run without checks."""
    kernel: Any = hybrid.script(function)
    func = kernel.prim_func(spec)
    assert str(lower(func, current_target())).count("for ") <= str(func).count("for ")
