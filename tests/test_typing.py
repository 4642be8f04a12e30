# pyright: reportUnnecessaryTypeIgnoreComment=true
"""What a type checker knows of kernels: the parameters of the function, its result, and `out=`.

Run, this test shows that the calls work; the type checker, which reads it too, that they are typed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import assert_type

from hybridjit import Kernel, Schedule, Trace, f32, f64, get_num_threads, hybrid, parse, threads
from hybridjit.errors import ArgumentError
from hybridjit.hybrid import output_tensor
from hybridjit.ir.func import PrimFunc
from hybridjit.scalars.specs import ArraySpec

Floats = NDArray[np.float64]


@hybrid.script
def scale(a: Floats, factor: float = 2.0) -> Floats:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] * factor
    return b


@hybrid.script(fastmath=True)
def first(a: Floats) -> float:
    return a[0]


def test_calls_have_the_types_of_the_function() -> None:
    a = np.ones(3)
    assert_type(scale(a), Floats)
    assert_type(scale(a, factor=3.0), Floats)
    assert_type(scale.interpret(a, 3.0), Floats)
    assert_type(scale.py_func(a), Floats)
    assert_type(first(a), float)


def test_out_is_a_parameter_of_every_kernel() -> None:
    a, out = np.ones(3), np.zeros(3)
    assert_type(scale(a, out=out), Floats)
    assert_type(scale.interpret(a, 3.0, out=out), Floats)
    assert out.tolist() == [3, 3, 3]


def test_wrong_calls_are_errors() -> None:
    with pytest.raises(ArgumentError, match="no parameter 'fctor'"):
        scale(np.ones(3), fctor=3.0)  # pyright: ignore[reportCallIssue]
    with pytest.raises(ArgumentError, match="missing a required argument"):
        scale()  # pyright: ignore[reportCallIssue]


def test_kernels_pass_as_functions() -> None:
    def apply(function: Callable[[Floats], Floats]) -> Floats:
        return function(np.ones(3))

    kernel: Kernel[..., Any] = scale
    assert apply(scale).tolist() == kernel(np.ones(3)).tolist() == [2, 2, 2]


def test_names_that_are_loaded_late_have_types() -> None:
    s = scale.schedule(f64[8])
    assert_type(s, Schedule)
    assert_type(s.trace, Trace)
    assert_type(f32[8, "n"], ArraySpec)
    assert_type(parse(s.show()), PrimFunc)
    with threads(1):
        assert assert_type(get_num_threads(), int) == 1


def test_names_that_do_not_exist_are_errors() -> None:
    with pytest.raises(ImportError, match="cannot import name 'shedule'"):
        from hybridjit import shedule  # noqa: F401, PLC0415 # pyright: ignore
