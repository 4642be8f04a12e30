"""Kernels that are sure to fail at an index, and kernels that fail only for some arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import hybrid

LINE = np.arange(1.0, 9.0)
PLANE = np.ones((3, 4))


@hybrid.packed
def called(x: Any) -> None:
    pass


@hybrid.script
def past_the_end(a: Any, out: Any) -> Any:
    for i in range(a.shape[0] + 1):
        out[i] = a[i]


@hybrid.script
def constant_index(a: Any) -> Any:
    return a[8]


@hybrid.script
def too_negative(a: Any) -> Any:
    for i in range(5, 20):
        a[-i] = 0.0


@hybrid.script
def downwards(a: Any) -> Any:
    for i in range(7, -12, -2):
        a[i] = 0.0


@hybrid.script
def second_axis(m: Any) -> Any:
    for i in range(3):
        for j in range(2):
            m[i, j + i * 2] = 1.0


@hybrid.script
def earlier_iteration(a: Any, b: Any) -> Any:
    for i in range(20):
        a[i] = 0.0
        b[i + 3] = 0.0


@hybrid.script
def through_a_variable(a: Any) -> Any:
    for i in range(4):
        j = 3 * i
        a[j] = 0.0


@hybrid.script
def in_a_bound(a: Any) -> Any:
    for _ in range(int(a[8])):
        a[0] = 1.0


@hybrid.script
def after_scratch(a: Any) -> Any:
    t = hybrid.allocate((4,), "float64")
    for i in range(4):
        t[i] = a[i]
    for i in range(5):
        a[i] = t[i]


SURE = [
    (past_the_end, (LINE, np.zeros(9)), "index 8 is out of .* axis 0 of 'a' with size 8", "i=8"),
    (constant_index, (LINE,), "index 8 is out of bounds for axis 0 of 'a'", ""),
    (too_negative, (LINE,), "index -9 is out of bounds", "i=9"),
    (downwards, (LINE,), "index -9 is out of bounds", "i=-9"),
    (second_axis, (PLANE,), "index 4 is out of bounds for axis 1 of 'm' with size 4", "i=2, j=0"),
    (earlier_iteration, (LINE, LINE), "index 8 is out of bounds for axis 0 of 'b'", "i=5"),
    (through_a_variable, (LINE,), "index 9 is out of bounds", "i=3"),
    (in_a_bound, (LINE,), "index 8 is out of bounds", ""),
    (after_scratch, (LINE,), "index 4 is out of bounds for axis 0 of 't'", "i=4"),
]


@hybrid.script
def behind_a_condition(a: Any) -> Any:
    if a[0] > 0.0:
        a[9] = 0.0


@hybrid.script
def behind_a_choice(a: Any) -> Any:
    return a[9] if a[0] > 0.0 else a[1]


@hybrid.script
def behind_and(a: Any) -> Any:
    return a[0] > 0.0 and a[9] > 0.0


@hybrid.script
def behind_a_return(a: Any) -> Any:
    if a[0] > 0.0:
        return a[1]
    return a[9]


@hybrid.script
def behind_a_raise(a: Any) -> Any:
    if a[0] > 0.0:
        raise ValueError("no")
    a[9] = 0.0


@hybrid.script
def behind_an_assert(a: Any) -> Any:
    assert a[0] < 0.0, "negative"
    a[9] = 0.0


@hybrid.script
def behind_a_break(a: Any) -> Any:
    for i in range(10):
        if a[i] > 3.0:
            break


@hybrid.script
def behind_a_continue(a: Any) -> Any:
    for i in range(10):
        if a[min(i, 7)] > 3.0:
            continue
        a[i] = 0.0


@hybrid.script
def behind_a_while(a: Any) -> Any:
    n = 0
    while n < 5:
        n += 1
        if n == 3:
            return n
    a[9] = 0.0
    return n


@hybrid.script
def behind_a_division(a: Any, n: Any) -> Any:
    a[0] = 7 // n
    a[9] = 0.0


@hybrid.script
def behind_another_check(a: Any, n: Any) -> Any:
    for i in range(10):
        a[i] = a[n]


@hybrid.script
def behind_a_variable_that_may_be_unset(a: Any, n: Any) -> Any:
    if n > 3:
        x = 1.0
    a[0] = x  # pyright: ignore[reportPossiblyUnboundVariable]
    a[9] = 0.0


@hybrid.script
def behind_a_print(a: Any) -> Any:
    print("seen")
    a[9] = 0.0


@hybrid.script
def behind_a_callback(a: Any) -> Any:
    called(a[0])
    a[9] = 0.0


@hybrid.script
def in_a_loop_of_unknown_length(a: Any, n: Any) -> Any:
    for _ in range(n):
        a[9] = 0.0


@hybrid.script
def in_an_empty_loop(a: Any) -> Any:
    for _ in range(0):
        a[9] = 0.0


@hybrid.script
def with_unknown_index(a: Any, n: Any) -> Any:
    for i in range(3):
        a[i + n] = 0.0


UNSURE = [
    *((behind_a_condition, (x,)) for x in (LINE, -LINE)),
    *((behind_a_choice, (x,)) for x in (LINE, -LINE)),
    *((behind_and, (x,)) for x in (LINE, -LINE)),
    *((behind_a_return, (x,)) for x in (LINE, -LINE)),
    *((behind_a_raise, (x,)) for x in (LINE, -LINE)),
    *((behind_an_assert, (x,)) for x in (LINE, -LINE)),
    *((behind_a_break, (x,)) for x in (LINE, -LINE)),
    *((behind_a_continue, (x,)) for x in (LINE, -LINE)),
    (behind_a_while, (LINE,)),
    *((behind_a_division, (LINE, n)) for n in (0, 1)),
    *((behind_another_check, (LINE, n)) for n in (0, 8)),
    *((behind_a_variable_that_may_be_unset, (LINE, n)) for n in (0, 8)),
    (behind_a_print, (LINE,)),
    (behind_a_callback, (LINE,)),
    *((in_a_loop_of_unknown_length, (LINE, n)) for n in (0, 2)),
    (in_an_empty_loop, (LINE,)),
    *((with_unknown_index, (LINE, n)) for n in (5, 6, -9)),
]
