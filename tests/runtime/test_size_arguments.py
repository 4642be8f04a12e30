"""Ints that arrays are made with are sizes: a part of the code at first, run-time sizes later.

So are ints that calls leave to their defaults.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from tests.runtime.native_calls import agrees, hits
from tests.support.array_results import assert_agree
from tests.support.oracle import fresh


@hybrid.script
def table(n: Any, m: Any, x: Any) -> Any:
    a = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            a[i, j] = i * x + j
    return a


def rows_of(count: int, width: int) -> Any:
    made = np.empty((count, width + 1))
    made[:] = 2.0
    return made


@hybrid.script
def from_a_helper(steps: Any, m: Any) -> Any:
    width = m - 1
    return rows_of(3, width) * steps


@hybrid.script
def fits_for_some(x: Any, n: Any) -> Any:
    y = np.ones(n)
    if n == 3:
        return x + y
    return x * 1.0


@hybrid.script
def powers(n: Any, x: Any) -> Any:
    made = np.ones((n, 4))
    for k in hybrid.const_range(n):
        made[k] *= x + k
    return made


def parameters(kernel: Kernel[..., Any], *args: Any) -> list[str]:
    text = kernel.inspect("optimized", *args)
    return re.findall(r"(\w+):", text.partition(")")[0])


def test_what_is_a_part_of_the_code() -> None:
    assert parameters(table, 3, 40, 2.0) == ["x"]
    assert parameters(table, np.int64(3), 40, 2.0) == ["n", "x"]
    assert parameters(table, -3, 2**60, 2.0) == ["n", "m", "x"]
    assert parameters(from_a_helper, 4, 5) == ["steps"]


def test_the_program_as_written_has_all_its_parameters() -> None:
    func = table.prim_func(3, 40, 2.0)
    assert [param.name for param in func.params] == ["n", "m", "x"]
    np.testing.assert_array_equal(hj.build(func)(5, 6, 1.0), table.py_func(5, 6, 1.0))


@pytest.mark.parametrize(("kernel", "others"), [(table, (5, 2.5)), (from_a_helper, (7,))])
def test_as_in_numpy(kernel: Kernel[..., Any], others: tuple[Any, ...]) -> None:
    made = fresh(kernel)
    for n in (4, 4, 9, 1, 0, 33):
        assert_agree(made, [n, *others])


def test_sizes_that_a_script_has_to_know() -> None:
    kernel = fresh(powers)
    for n in (3, 5, 3, 0, 1):
        for run in (kernel, kernel.interpret):
            np.testing.assert_array_equal(run(n, 2.5), kernel.py_func(n, 2.5))


def test_a_size_that_varies_is_known_at_run_time() -> None:
    kernel = fresh(table)
    for n in (3, 4, 5, 6):
        kernel(n, 400, 2.0)
    reasons = [each.reason for each in kernel.cache_info()]
    assert reasons == ["first call with arguments of these types", "sizes vary: 3 -> 4"]


@pytest.mark.usefixtures("unchecked")
def test_native_calls_know_sizes_by_their_value() -> None:
    kernel = fresh(table)
    for _ in range(3):
        kernel(3, int("400"), 2.0)
    assert agrees(kernel, 3, int("400"), 2.0)
    found = hits(kernel)
    for other in (401, True, np.int64(400), 2**70):
        try:
            result = kernel(3, other, 2.0)
        except (ValueError, OverflowError, MemoryError, TypeError):
            continue
        np.testing.assert_array_equal(result, kernel.py_func(3, other, 2.0))
    assert hits(kernel) == found


def test_what_does_not_fit_is_told_where_it_runs() -> None:
    kernel = fresh(fits_for_some)
    for n in (4, 3, 5):
        assert_agree(kernel, [np.ones(2), n])
    for run in (kernel, kernel.interpret):
        with pytest.raises(ValueError, match="do not fit: sizes 3 and 2"):
            run(np.ones(2), 3)
    assert "known at run time" in str(kernel.report(np.ones(2), 3))


def test_negative_sizes_are_refused_when_they_are_used() -> None:
    kernel = fresh(table)
    for n in (2, -1, 3, -1):
        assert_agree(kernel, [n, 4, 1.0])


@hybrid.script
def smoothed(x: Any, width: Any = 3, /, *, step: Any = 1, first: Any = -1) -> Any:
    found = np.zeros(len(x))
    for i in range(len(x) - width):
        for j in range(0, width, step):
            found[i] += x[i + j] + first
    return found


@hybrid.script
def without_a_step(x: Any, step: Any = 0) -> Any:
    return x + len(x) // step if len(x) > 3 else x * 2.0


def test_defaults_are_a_part_of_the_code() -> None:
    kernel = fresh(smoothed)
    x = np.arange(9.0)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}),
        ((3,), {}),
        ((4,), {}),
        ((), {"step": 2}),
        ((), {"first": 5}),
        ((), {}),
        ((2,), {"step": 3, "first": 4}),
    ]
    for args, options in calls:
        for data in (x, x[:2], x[::2]):
            for run in (kernel, kernel.interpret):
                expected = kernel.py_func(data, *args, **options)
                np.testing.assert_array_equal(run(data, *args, **options), expected)
    assert str(kernel.cache_info()[0].arguments) == "float64[9], 3, 1, Python int"


def test_what_fails_with_a_default_fails_where_it_runs() -> None:
    kernel = fresh(without_a_step)
    for run in (kernel, kernel.interpret):
        np.testing.assert_array_equal(run(np.ones(3)), np.full(3, 2.0))
        with pytest.raises(ZeroDivisionError, match="division"):
            run(np.ones(4))
        np.testing.assert_array_equal(run(np.ones(4), 2), np.full(4, 3.0))
