"""Names that are given an array in a loop or a branch and are read after it, or before.

Whether they have a value is known only when the function runs: checkers would complain.
"""

from typing import Any


def made_in_a_loop(a, n):
    for t in range(n + 1):
        y = a * t
    return y


def made_in_a_loop_of_unknown_length(a, n):
    for t in range(n):
        y = a * t
    return y


def made_in_a_branch(a, n):
    if n > 2:
        y = a * 2
    return y.sum()


def another_array_in_a_branch(a, n):
    if n > 2:
        y = a[1:]
    return y.sum()


def from_the_round_before(a, n):
    total = 0.0
    for t in range(n):
        if t > 0:
            total += (last * last[::-1]).sum() + number
        last = a + t
        number = t * 0.5
    return total


PROGRAMS: list[Any] = [
    made_in_a_loop,
    made_in_a_loop_of_unknown_length,
    made_in_a_branch,
    another_array_in_a_branch,
    from_the_round_before,
]
