"""What random programs found: each bug as the smallest script that shows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import bfloat16, const_range, grid, int64, uint64
from tests.support.oracle import run_plain_and_interpreted


def bump(q: Any) -> Any:
    q[0] += 1
    return q[0]


def sign_of(x: Any) -> Any:
    if x > 0:
        return 1
    return -1


@hybrid.script
def bound_changes_in_the_loop(n: Any) -> Any:
    k = n
    i = 0
    for i in range(k):  # noqa: B007
        k = k - 1
    return i, k


@hybrid.script
def grid_extent_changes_in_the_grid(a: Any, n: Any) -> Any:
    k = n
    for _i, _j in grid(2, k):
        k = k + 5
        a[0] += 1
    return k


@hybrid.script
def grid_variables_after_the_grid(n: Any) -> Any:
    i = 7
    j = 8
    for i, j in grid(n, n - 3):  # noqa: B007
        pass
    return i, j


@hybrid.script
def loop_variable_is_set_in_the_loop(n: Any) -> Any:
    m = 9
    for m in range(n):
        for _k in range(1):
            m = m + 10
    return m


@hybrid.script
def chain_does_not_reach_its_end(a: Any, x: Any, y: Any) -> Any:
    s = 0
    if x < y < bump(a):
        s = 1
    return s, x < bump(a) < bump(a)


@hybrid.script
def static_branch_in_a_helper(x: Any) -> Any:
    return sign_of(3) + sign_of(-2) + sign_of(x)


@hybrid.script
def known_answer_after_a_load(a: Any, i: Any) -> Any:
    return a[i] <= (1 << 62)


@hybrid.script
def known_answer_after_a_conjunction(a: Any, i: Any) -> Any:
    return (a[i] > 0 and 1 >= 100) or (a[i] < 100 or 1 < 100)


@hybrid.script
def uint64_with_constants(x: Any) -> Any:
    return x > np.bool_(False), x < int64(-1), int64(3) <= x, max(x, uint64(7)), min(x, True)


@hybrid.script
def constants_meet(x: Any) -> Any:
    return max(np.int8(3), np.int8(-3)), abs(int64(-5)), min(np.int8(100), 5), max(2, x)


@hybrid.script
def numpy_bools(a: Any) -> Any:
    return a[0] + True, a[0] * True, True + a[0]


@hybrid.script
def bool_of_a_number(a: Any, i: Any) -> Any:
    a[0] = i
    a[1] = bool(i)
    return bool(i), bool(bfloat16(0.5))


@hybrid.script
def return_in_an_expanded_loop(x: Any) -> Any:
    for k in const_range(1, 3):
        return x + k
    return x


@hybrid.script
def chain_with_a_known_start(a: Any) -> Any:
    return 1 <= 1 <= bump(a), 2 < 1 < bump(a)


@hybrid.script
def element_compared_with_uint64(a: Any, i: Any, x: Any) -> Any:
    return a[i] == x, x < a[i]


def third(q: Any) -> Any:
    q[0] += 1
    return q[2]


@hybrid.script
def result_that_is_not_used(a: Any) -> None:
    third(a)


@hybrid.script
def shifts_past_the_width(n: Any, a: Any) -> Any:
    return n >> int64(-1), n << int64(64), a[0] >> np.int64(-2), a[1] << np.int64(-2)


@hybrid.script
def numpy_extrema_of_bools(a: Any) -> Any:
    return np.minimum(a[0], True), np.maximum(a[0], a[1])


@hybrid.script
def operands_that_meet_in_no_type(a: Any, k: int) -> Any:
    found = 0
    for c in const_range(-1, 2):
        if a[0] and c:
            found += 1
        while found < 20 and (c or (a[1] and k) or a[a[0] % 2] > 0 or 0.5):
            found += 5
        found += 100 if a[1] or -1 else 200
        assert c > 5 or a[1] or c - 300 or found
    return found


BOOLS = np.zeros(2, np.bool_)
INTS = np.arange(3)
UINTS = np.ones(2, np.uint64)
CASES: list[tuple[Any, list[Any]]] = [
    *((bound_changes_in_the_loop, [n]) for n in (0, 5)),
    *((grid_extent_changes_in_the_grid, [INTS, n]) for n in (0, 3)),
    *((grid_variables_after_the_grid, [n]) for n in (0, 3, 5)),
    *((loop_variable_is_set_in_the_loop, [n]) for n in (0, 3)),
    *((chain_does_not_reach_its_end, [INTS, x, y]) for x, y in ((1, 2), (2, 1), (0, 9))),
    *((static_branch_in_a_helper, [x]) for x in (-1, 1)),
    *((known_answer_after_a_load, [array, i]) for array in (BOOLS, INTS) for i in (0, 9)),
    *((known_answer_after_a_conjunction, [INTS, i]) for i in (0, 9)),
    *((uint64_with_constants, [np.uint64(x)]) for x in (0, 2**64 - 1)),
    *((constants_meet, [x]) for x in (1, 3)),
    (numpy_bools, [BOOLS]),
    (return_in_an_expanded_loop, [3]),
    (chain_with_a_known_start, [INTS]),
    *((element_compared_with_uint64, [UINTS, i, x]) for i in (0, 9) for x in (-1, 1)),
    *((result_that_is_not_used, [array]) for array in (INTS, UINTS)),
    (numpy_extrema_of_bools, [BOOLS]),
    *((shifts_past_the_width, [n, INTS - 1]) for n in (5, -5)),
    (bool_of_a_number, [BOOLS, 2]),
    *((operands_that_meet_in_no_type, [np.array(a, np.uint8), 3]) for a in ([1, 2], [0, 0])),
]


@pytest.mark.parametrize(("kernel", "args"), CASES)
def test_what_programs_found(kernel: Any, args: list[Any]) -> None:
    run_plain_and_interpreted(kernel, args, joined=True)
