"""Loops: every kind and form, the value of their variables afterwards, and what is refused."""

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import HybridError, ParseError
from hybridjit.frontend.expansion import MAX_EXPANDED
from hybridjit.frontend.for_loops import MAX_LOOP_DEPTH
from hybridjit.hybrid import (
    bind,
    const_range,
    grid,
)
from hybridjit.ir.stmt import For, LoopKind
from hybridjit.ir.visit import walk
from tests.frontend.from_text import script_from_text
from tests.support.oracle import run_plain_and_interpreted
from tests.support.rows import in_each

Array = Any
Number = Any

BOUNDS = [
    *((0,), (1,), (5,), (-2,)),
    *((2, 6), (6, 2), (3, 3), (-2, 2)),
    *((0, 7, 2), (1, 8, 3), (7, 0, -1), (7, 0, -3), (0, 7, -1), (7, 0, 2), (5, 5, -1)),
]


def loops_of(kernel: Any, *args: Any) -> list[For]:
    """The loops of the function that a script becomes, outermost first."""
    return [node for node in walk(kernel.prim_func(*args).body) if isinstance(node, For)]


def nested(depth: int, body: str) -> str:
    """A function with `depth` loops, one in the other."""
    lines = [f"{'    ' * (k + 1)}for i{k} in range(1):" for k in range(depth)]
    return "\n".join(["def f(n):", *lines, f"{'    ' * (depth + 1)}{body}", "    return n", ""])


# Kinds


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("range", LoopKind.SERIAL),
        ("serial", LoopKind.SERIAL),
        ("parallel", LoopKind.PARALLEL),
        ("vectorize", LoopKind.VECTORIZED),
        ("unroll", LoopKind.UNROLLED),
        ("scan", LoopKind.SCAN),
    ],
)
def test_the_kind_of_a_loop(name: str, kind: LoopKind) -> None:
    text = f"def f(a):\n    for i in {name}(1, 4):\n        a[i] = i\n"
    (loop,) = loops_of(script_from_text(text), np.zeros(4))
    assert loop.kind is kind


def test_a_bound_loop_names_its_thread_axis() -> None:
    @hybrid.script
    def f(a: Array) -> None:
        for i in bind(4, "threadIdx.x"):
            a[i] = i

    (loop,) = loops_of(f, np.zeros(4))
    assert (loop.kind, loop.thread) == (LoopKind.BOUND, "threadIdx.x")


@pytest.mark.parametrize("name", ["range", "serial", "parallel", "vectorize", "unroll", "scan"])
@in_each("bounds", BOUNDS)
def test_every_kind_runs_the_iterations_of_range(name: str, bounds: tuple[int, ...]) -> None:
    text = f"""def f(a):
    for i in {name}({", ".join(map(str, bounds))}):
        a[i + 2] += i * i + 1
"""
    run_plain_and_interpreted(script_from_text(text), [np.zeros(12, np.int64)])


@pytest.mark.parametrize("bounds", [bounds for bounds in BOUNDS if len(bounds) == 3], ids=str)
def test_bounds_that_are_known_only_at_run_time(bounds: tuple[int, ...]) -> None:
    @hybrid.script
    def f(start: Number, stop: Number, step: Number) -> Number:
        s = 0
        for i in range(start, stop, step):
            s = s * 10 + i
        return s

    run_plain_and_interpreted(f, bounds)


def test_a_step_of_zero_at_run_time() -> None:
    @hybrid.script
    def f(step: Number) -> Number:
        s = 0
        for i in range(0, 4, step):
            s += i
        return s

    run_plain_and_interpreted(f, [0])


def test_bounds_are_read_once() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        count = 0
        for _ in range(n):
            n = n - 1
            count += 1
        return count, n

    run_plain_and_interpreted(f, [5])


def test_bounds_may_depend_on_outer_loops() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i in range(n):
            for j in range(i, 2 * i + 1, i + 1):
                s += i * 10 + j
        return s

    run_plain_and_interpreted(f, [6])


@pytest.mark.parametrize("loop", ["serial(5)", "unroll(5)", "scan(0, 5)"])
@pytest.mark.parametrize("word", ["break", "continue"])
def test_ordered_loops_may_be_left(loop: str, word: str) -> None:
    text = f"""def f(n):
    s = 0
    for i in {loop}:
        if i == n:
            {word}
        s = s * 10 + i
    return s
"""
    run_plain_and_interpreted(script_from_text(text), [3])


# Last values


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_a_loop_variable_keeps_its_last_value(bounds: tuple[int, ...]) -> None:
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]

    @hybrid.script
    def f(start: Number, stop: Number, step: Number) -> Number:
        s = 0
        i = 77
        for i in range(start, stop, step):
            s += i
        return i, s

    run_plain_and_interpreted(f, [start, stop, step])


def test_a_loop_over_a_shape_that_runs_leaves_its_last_value() -> None:
    @hybrid.script
    def f(a: Array) -> Number:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        return s, i  # pyright: ignore[reportPossiblyUnboundVariable]

    run_plain_and_interpreted(f, [np.ones(3)])


def test_a_variable_changed_in_the_body_does_not_change_the_iterations() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i in range(n):
            s = s * 10 + i
            i = i * 2
            s += i
        return s

    run_plain_and_interpreted(f, [4])


@pytest.mark.parametrize("n", [0, 3])
def test_a_variable_changed_in_the_body_keeps_that_value_after_the_loop(n: int) -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        i = -1
        for i in range(n):
            i = i + 100
        return i

    run_plain_and_interpreted(f, [n])


def test_two_loops_may_share_a_variable() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i in range(n):
            s += i
        t = i  # pyright: ignore[reportPossiblyUnboundVariable]
        for i in range(n, 2 * n):
            s += i
        return s, t, i  # pyright: ignore[reportPossiblyUnboundVariable]

    run_plain_and_interpreted(f, [3])


def test_an_inner_loop_may_reuse_the_variable_of_the_outer_one() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i in range(n):
            for i in range(3):
                s += i
            s = s * 10 + i
        return s, i  # pyright: ignore[reportPossiblyUnboundVariable]

    run_plain_and_interpreted(f, [2])


# grid


def test_grid_runs_its_loops_in_order() -> None:
    @hybrid.script
    def f(a: Array) -> Number:
        s = 0
        for i, j in grid(a.shape[0], a.shape[1]):
            s = s * 3 + a[i, j]
        return s

    run_plain_and_interpreted(f, [np.array([[0, 1, 2], [2, 1, 0]])])


def test_grid_of_one_extent_has_one_variable() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i in grid(n):
            s += i
        return s

    run_plain_and_interpreted(f, [4])


def test_continue_in_a_grid_goes_to_the_next_point() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i, j in grid(n, n):
            if i == j:
                continue
            s += i * 10 + j
        return s

    run_plain_and_interpreted(f, [3])


def test_break_in_a_grid_is_refused() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i, j in grid(n, n):
            if i == j:
                break
            s += 1
        return s

    with pytest.raises(ParseError, match=r"break in a grid loop"):
        f.interpret(3)


def test_grid_needs_a_variable_for_each_extent() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i, j in grid(n, n, n):
            s += i + j
        return s

    with pytest.raises(ParseError, match="found 2 variables for 3 extents"):
        f.interpret(3)


# Loops that are expanded


@pytest.mark.parametrize("bounds", [(3,), (1, 4), (5, 0, -2), (0,)], ids=str)
def test_const_range_is_expanded(bounds: tuple[int, ...]) -> None:
    text = f"""def f(n):
    s = 0
    for i in const_range({", ".join(map(str, bounds))}):
        s = s * 10 + i + n
    return s
"""
    kernel = script_from_text(text)
    run_plain_and_interpreted(kernel, [2])
    assert loops_of(kernel, 2) == []


def test_the_variable_of_const_range_can_index_a_tuple() -> None:
    @hybrid.script
    def f(arrays: Any) -> Number:
        s = 0.0
        for k in const_range(len(arrays)):
            s += arrays[k][0]
        return s

    run_plain_and_interpreted(f, [(np.ones(1), np.ones(2), np.ones(3, np.float32))])


def test_a_loop_over_a_tuple_is_expanded() -> None:
    @hybrid.script
    def f(arrays: Any) -> Number:
        s = 0.0
        for a in arrays:
            s += a[0]
        return s

    run_plain_and_interpreted(f, [(np.ones(1), np.ones(2))])


def test_a_loop_over_pairs_unpacks_them() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i, j in ((1, 2), (3, n)):
            s = s * 10 + i * j
        return s

    run_plain_and_interpreted(f, [4])


def test_an_expanded_loop_keeps_the_last_value_of_its_variable() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        s = 0
        for i in const_range(3):
            s += i * n
        return i, s  # pyright: ignore[reportPossiblyUnboundVariable]

    run_plain_and_interpreted(f, [4])


def test_each_copy_of_an_expanded_body_has_its_own_types() -> None:
    @hybrid.script
    def f(arrays: Any) -> Number:
        total = 0
        for a in arrays:
            s = a[0]
            s += a[1]
            total += s
        return total

    run_plain_and_interpreted(f, [(np.ones(2, np.int8), np.ones(2))])


@pytest.mark.parametrize("word", ["break", "continue"])
def test_an_expanded_loop_cannot_be_left(word: str) -> None:
    text = f"def f(n):\n    for i in const_range(3):\n        if i > n:\n            {word}\n"
    with pytest.raises(ParseError, match=f"{word} in a const_range loop"):
        script_from_text(text).interpret(1)


def test_an_expansion_that_is_too_long_is_refused() -> None:
    text = f"def f(a):\n    for i in const_range({MAX_EXPANDED + 1}):\n        a[0] += i\n"
    with pytest.raises(ParseError, match="would be expanded 1025 times; at most 1024"):
        script_from_text(text).interpret(np.zeros(1))


# Refusals


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        ("for i in a[0]:", "cannot loop over a float64 value"),
        ("for i, j, k in enumerate(a):", "cannot unpack a tuple of 2 into 3 names"),
        ("for i in zip():", "zip needs something to loop over"),
        ("for i in zip(a, key=a):", "zip takes no argument 'key='"),
        ("for x, y in zip((1, 2), range(int(a[0]))):", "a tuple and an array of a size"),
        ("for i in range():", "range takes 1 to 3 arguments"),
        ("for i in range(1, 2, 3, 4):", "range takes 1 to 3 arguments"),
        ("for i in range(0, 3, 0):", "the step of range must not be zero"),
        ("for i in range(1.5):", "a bound of range must be an integer"),
        ("for i, j in range(3):", r"a loop over range\(...\) has one variable"),
        ("for i in bind(3):", "bind takes an extent and then the name"),
        ("for i in 5:", "cannot loop over a Python int value"),
    ],
)
def test_loops_that_are_refused(loop: str, message: str) -> None:
    with pytest.raises(HybridError, match=message):
        script_from_text(f"def f(a):\n    {loop}\n        pass\n").interpret(np.zeros(3))


@pytest.mark.parametrize("loop", ["parallel(n)", "vectorize(n)", 'bind(n, "threadIdx.x")'])
@pytest.mark.parametrize("word", ["break", "return"])
def test_iterations_without_an_order_cannot_be_left(loop: str, word: str) -> None:
    text = f"def f(n):\n    for i in {loop}:\n        if i > 1:\n            {word}\n"
    name = loop.partition("(")[0]
    with pytest.raises(ParseError, match=f"{word} in a {name} loop: its iterations have no order"):
        script_from_text(text).interpret(3)


def test_loops_may_be_nested_to_a_limit() -> None:
    run_plain_and_interpreted(script_from_text(nested(MAX_LOOP_DEPTH, "n += 1")), [1])


def test_loops_nested_too_deep_are_refused() -> None:
    with pytest.raises(ParseError, match="loops are nested more than 16 deep"):
        script_from_text(nested(MAX_LOOP_DEPTH + 1, "n += 1")).interpret(1)


@pytest.mark.parametrize(
    ("loop", "name"),
    [
        ("i, x in enumerate(a)", "i"),
        ("x in a", "x_index"),
        ("x, y in zip(a, a)", "item_index"),
        ("i, x in enumerate(a, 1)", "item_index"),
    ],
)
def test_loops_over_items_are_called_as_the_script_counts(loop: str, name: str) -> None:
    text = f"def f(a):\n    s = 0.0\n    for {loop}:\n        s += x\n    return s\n"
    (found,) = script_from_text(text).schedule(np.zeros(3)).loops()
    assert found.name == name
