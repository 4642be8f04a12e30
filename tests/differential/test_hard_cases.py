"""Cases that are easy to get wrong: plain Python, the interpreter and native code agree on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, hybrid, parse
from hybridjit.hybrid import allocate, const_range, grid
from hybridjit.ir.equal import find_difference
from tests.support.oracle import (
    assert_same_outcome,
    run_interpreted,
    run_native,
    run_once,
    run_plain_and_interpreted,
)

Array = Any
LOW, HIGH = -(2**63), 2**63 - 1


def check(kernel: Kernel[..., Any], *args: Any, plain: bool = True) -> None:
    """The three ways agree, and the printed program is the program."""
    if plain:
        run_plain_and_interpreted(kernel, args, joined=True)
    interpreted = run_once(run_interpreted, kernel, args)
    assert_same_outcome(run_once(run_native, kernel, args), interpreted)
    func = kernel.prim_func(*args)
    assert find_difference(parse(str(func)), func) is None


# -- names -----------------------------------------------------------------------------------------


@hybrid.script
def target_is_changed(n: Any) -> Any:
    i = 100
    s = 0
    for i in range(n):
        s += i
        i = i * 2
        s += i
    return s, i


@hybrid.script
def inner_loop_takes_the_name(n: Any) -> Any:
    s = 0
    i = -1
    for i in range(n):
        for i in range(i):  # noqa: B020
            s += i
        s += 10 * i
    return s, i


@hybrid.script
def bounds_change_inside(n: Any) -> Any:
    s = 0
    lo, hi = 0, n
    for i in range(lo, hi):
        hi = 0
        lo = 5
        s += i
        for j in range(i, hi + i + 2):
            hi += 3
            s += j * 100
    return s, hi, lo


@hybrid.script
def parameter_is_the_target(n: Any) -> Any:
    x = n
    for n in range(n):  # noqa: B020
        x += n
    return x, n


@hybrid.script
def copies_share_a_name(n: Any) -> Any:
    s = i = 0
    for i in const_range(3):
        for j in range(n):
            s = s * 2 + i + j
            i = i + 1
    return s, i


@hybrid.script
def grid_targets_are_swapped(n: Any) -> Any:
    s = 0
    for i, j in grid(n, n + 1):
        i, j = j, i
        s = s * 3 + i - j
    return s


@hybrid.script
def targets_from_left_to_right(a: Any) -> Any:
    i = 0
    i, a[i], i = 2, 7.0, 3
    a[i] += i
    i = a[i] = 1
    return i


NAMES = [
    target_is_changed,
    inner_loop_takes_the_name,
    bounds_change_inside,
    parameter_is_the_target,
    copies_share_a_name,
    grid_targets_are_swapped,
]


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("kernel", NAMES, ids=lambda kernel: kernel.py_func.__name__)
def test_names(kernel: Kernel[..., Any], n: int) -> None:
    check(kernel, n)


def test_assignment_to_several_targets() -> None:
    check(targets_from_left_to_right, np.arange(6.0))


# -- order of effects ------------------------------------------------------------------------------


def step(a: Any) -> Any:
    a[0] = a[0] * 2 + 1
    return a[0]


@hybrid.script
def effects_in_expressions(a: Any) -> Any:
    x = step(a) - step(a) * step(a)
    y = a[0] * step(a) + a[0]
    a[int(step(a)) % 4] += step(a)
    z = a[0] < step(a) < a[0] < step(a)
    return x, y, z, min(a[0], step(a), a[0])


@hybrid.script
def effects_in_conditions(a: Any) -> Any:
    x = 0.0
    if (step(a) > 3 and step(a) > 5) or step(a) > 100:
        x += 1
    while step(a) < 500:
        if step(a) > 20:
            continue
        x += step(a) if a[0] > 9 else -step(a)
    return x


@pytest.mark.parametrize("first", [0.0, 1.0, 2.0])
@pytest.mark.parametrize(
    "kernel",
    [effects_in_expressions, effects_in_conditions],
    ids=lambda kernel: kernel.py_func.__name__,
)
def test_order_of_effects(kernel: Kernel[..., Any], first: float) -> None:
    check(kernel, np.array([first, 1.0, 2.0, 3.0]))


def search(a: Any, x: Any) -> Any:
    k = 0
    while True:
        if k >= len(a):
            return -1
        last = -1
        for j in range(3):
            last = j
            if a[k] == x + j:
                return k * 10 + j
            if j == 1 and k == 2:
                break
        k += 1
        if last == 1:
            continue
        if k == 100:
            break
    return 5


@hybrid.script
def returns_from_inlined_loops(a: Any, n: Any) -> Any:
    s = 0
    for i in range(n):
        found = search(a, i)
        if found < 0:
            continue
        s = s * 7 + found
        if search(a, i + 1) == -1 and search(a, i + 2) == -1:
            break
    return s


@pytest.mark.parametrize("n", [1, 4, 9])
def test_returns_from_inlined_loops(n: int) -> None:
    check(returns_from_inlined_loops, np.array([3.0, 1.0, 4.0, 1.0, 5.0]), n)


# -- integers at their limits ----------------------------------------------------------------------


@hybrid.script
def long_ranges(lo: Any, hi: Any, by: Any) -> Any:
    s = 0
    count = 0
    i = 12345
    for i in range(lo, hi, by):
        s ^= i
        count += 1
        if count > 20:
            break
    return s, count, i


@pytest.mark.parametrize(
    "bounds",
    [
        (HIGH - 2, HIGH, 1),
        (HIGH - 3, HIGH, 2),
        (LOW, LOW + 4, 1),
        (LOW, HIGH, 1),
        (HIGH, LOW, -1),
        (LOW, HIGH, HIGH),
        (HIGH, LOW, LOW),
        (5, 0, LOW),
        (0, 5, HIGH),
        (0, LOW, LOW),
        (-1, LOW, LOW),
        (0, 5, 0),
    ],
)
def test_long_ranges(bounds: tuple[int, int, int]) -> None:
    check(long_ranges, *bounds)


@hybrid.script
def guarded(a: Any, i: Any, d: Any) -> Any:
    x = a[i] if 0 <= i < a.shape[0] else -1.0
    y = 10 // d if d != 0 else -5
    z = 1 if d == 0 else 10 % d if d > 3 else 20 // d
    inside = i < a.shape[0] and i >= 0 and a[i] > 1
    outside = i >= a.shape[0] or i < 0 or a[i] > 1
    return x, y, z, inside, outside


@pytest.mark.parametrize("i", [LOW, -9, -1, 0, 3, 4, HIGH])
def test_what_a_condition_guards_is_not_evaluated(i: int) -> None:
    for d in (0, 5):
        check(guarded, np.arange(4.0), i, d)


@hybrid.script
def sums_that_wrap(a: Any, x: Any) -> Any:
    s = 0.0
    if x >= 0 and x + 1 < a.shape[0]:
        s += a[x]
    if x >= 0:
        for i in range(x + 1, a.shape[0]):
            s += a[i]
    for i in range(x - 2, x + 2):
        if i >= 0 and i - x + 2 < a.shape[0]:
            s += a[i - x + 2]
    k = (x + 1) // 4
    if x >= 0 and k < a.shape[0]:
        s += a[k]
    return s


@pytest.mark.parametrize("x", [LOW, LOW + 1, -1, 0, 3, 2**61, 2**62 + 3, HIGH - 1, HIGH])
def test_guards_of_sums_that_wrap(x: int, unchecked: None) -> None:
    check(sums_that_wrap, np.arange(8.0), x, plain=abs(x) < 2**60)


@hybrid.script
def indices_that_change(a: Any, idx: Any) -> Any:
    s = 0.0
    for i in range(idx.shape[0]):
        t = idx[i] % 4
        idx[i] = idx[i] + 3
        s += a[t - idx[i] % 4]
        if int(idx[i]) >= 2:
            idx[i] = idx[i] - 2
            s += a[int(idx[i]) - 2]
    return s


@pytest.mark.parametrize("dtype", ["int8", "int64"])
@pytest.mark.parametrize("values", [[0, 1, 2, 3], [-5, 100, 7, 2], [4, 5, 6, 7]])
def test_an_index_is_read_again_after_it_changed(dtype: str, values: list[int]) -> None:
    check(indices_that_change, np.arange(8.0), np.array(values, dtype))


# -- memory ----------------------------------------------------------------------------------------


@hybrid.script
def truths(a: Any) -> Any:
    count = 0
    for i in range(a.shape[0]):
        if a[i]:
            count += 1
        count += int(a[i]) * 100
    return count, a[1] == a[2], a[1] & a[2], a[1] ^ a[2]


def test_any_byte_but_0_is_true() -> None:
    data: Array = np.array([0, 1, 2, 255, 128], np.uint8)
    check(truths, data.view(bool))


@hybrid.script
def leaves_with_arrays_alive(n: Any, rounds: Any, how: Any) -> Any:
    s = 0.0
    for i in range(rounds):
        t = allocate((n, n), "float64")
        if i == how:
            break
        if i == how - 1:
            continue
        for j in range(n):
            w = allocate((n + j,), "float32")
            w[j] = 2.0
            if j == 2:
                break
            if how == -7 and i == 3:
                raise ValueError("leaves", i, j)
            if how == -8 and i == 3:
                return s + w[j + 1000000]
            if how == -9 and j == 1:
                return s + w[j]
            t[j, j] = i
            s += w[j] + t[j, j]
    return s


@pytest.mark.parametrize("how", [2, -7, -8, -9])
def test_every_way_out_frees_what_is_alive(how: int) -> None:
    check(leaves_with_arrays_alive, 3, 5, how)


@pytest.mark.parametrize("n", [-1, 2**31, 2**40, 2**62])
def test_sizes_that_no_memory_has(n: int) -> None:
    with pytest.raises((ValueError, MemoryError), match=r"negative|too big|allocate|memory"):
        leaves_with_arrays_alive(n, 1, 5)


@hybrid.script
def overlapping(arrays: Any, n: Any) -> None:
    for i in range(n):
        arrays[0][i] = arrays[1][i] + 1


@pytest.mark.parametrize("offset", [0, 1, 5])
def test_arrays_of_a_tuple_that_overlap(offset: int) -> None:
    results: list[Any] = []
    for run in (overlapping.py_func, overlapping.interpret, overlapping):
        memory = np.arange(20.0)
        run((memory[offset:], memory), 10)
        results.append(memory)
    assert results[0].tolist() == results[1].tolist() == results[2].tolist()


@hybrid.script
def seven_axes(a: Any) -> Any:
    s = 0
    for i in range(2):
        s += a[i, 0, 1, 0, -1, 0, i] * (i + 1)
    a[1, 1, 1, 1, 1, 1, 1] = 9
    return s


@pytest.mark.parametrize("order", ["C", "F"])
def test_seven_axes(order: Any) -> None:
    data: Array = np.arange(128)
    check(seven_axes, np.array(data.reshape((2,) * 7), order=order))


# -- messages --------------------------------------------------------------------------------------


@hybrid.script
def narrowed(a: Any, x: Any) -> None:
    a[0] = x


@hybrid.script
def raised(x: Any, y: Any) -> Any:
    return x**y


@pytest.mark.parametrize(
    ("kernel", "args"),
    [(narrowed, (np.zeros(1, np.int8), 300)), (raised, (np.int8(2), np.int8(-1)))],
    ids=["narrowed", "raised"],
)
def test_native_code_says_what_the_interpreter_says(kernel: Kernel[..., Any], args: Any) -> None:
    interpreted = run_once(run_interpreted, kernel, args)
    native = run_once(run_native, kernel, args)
    assert str(native.error) == str(interpreted.error) != "None"
