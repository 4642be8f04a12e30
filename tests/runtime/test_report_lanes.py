"""`kernel.report(...)`: the lanes of loops, the tiles of sums, and what gathers."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.processor import current_target
from tests.support.processors import needs_wide_vectors

np: Any = numpy


def test_tiles_are_said_of_the_loop_around_them() -> None:
    @hybrid.script
    def totals(a: Any) -> Any:
        return a.sum(axis=1)

    found = totals.report(np.ones((30, 640)))
    rows, tiles = found.shown
    assert (rows.name, rows.tile) == ("i", "")
    sizes, lanes = tiles.tile.removesuffix(" lanes").split(" in ")
    assert int(sizes.split(" x ")[1]) % int(lanes) == 0
    assert tiles.runs == f"one by one, tiles of {tiles.tile}"
    assert tiles.is_made
    assert tiles.line == rows.line


def test_no_loop_has_more_lanes_than_iterations() -> None:
    kernel: Any = hybrid.script(lambda_free_sums)
    loops = kernel.report(np.ones((30, 100))).loops
    assert all(loop.lanes <= int(loop.extent) for loop in loops)


def lambda_free_sums(a: Any) -> Any:
    return a.sum(axis=1)


@hybrid.script
def in_turns(a: Any, weights: Any) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] * weights[i % weights.shape[0]]


def test_a_loop_that_was_cut_runs_as_most_of_its_iterations_do() -> None:
    """The first eight need no remainder: they are a loop of their own, which may be in lanes."""
    args = hj.f64["n"], hj.f64[8]
    are_others_alone = "in range(last, a.shape[0])" in in_turns.inspect("lowered", *args)
    (loop,) = in_turns.report(*args).loops
    assert (loop.lanes == 1) is are_others_alone, loop.runs


def test_a_loop_that_was_cut_tells_why_most_of_its_iterations_have_no_lanes() -> None:
    (loop,) = in_turns.report(np.linspace(0.0, 1.0, 1000), np.ones(9)).loops
    assert "9 iterations" not in loop.reason


@pytest.mark.parametrize(
    ("step", "reason"), [(1, ""), (-1, ""), (2, ""), (40, "1 of 2 loads gathers")]
)
def test_gathers_are_counted(step: int, reason: str) -> None:
    @hybrid.script
    def added(a: Any, b: Any) -> Any:
        out = np.empty_like(b)
        for i in range(b.shape[0]):
            out[i] = np.exp(a[(step * i) if step > 0 else b.shape[0] - 1 - i]) * b[i]
        return out

    (loop,) = added.report(np.ones(64 * abs(step)), np.ones(64)).loops
    assert loop.lanes > 1
    assert loop.reason == reason


@hybrid.script
def every_second(a: Any, b: Any, n: Any) -> Any:
    out = np.empty_like(b)
    for i in range(n):
        out[i] = np.exp(a[2 * i]) * b[i]
    return out


@needs_wide_vectors
def test_what_only_the_rest_gathers() -> None:
    """Whole vectors pick every second element from rows; under a mask, they are gathered."""
    args = np.ones(200), np.ones(100), 67
    (loop,) = every_second.report(*args).loops
    assert loop.lanes > 1
    assert loop.reason == "in the rest, 1 of 2 loads gathers"
    if current_target().vector_bits == 512:
        assert "gather" in every_second.inspect("asm", *args)


@hybrid.script
def matmul(a: Any, b: Any) -> Any:
    c = hybrid.output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def test_sums_in_lanes_tell_their_rows() -> None:
    a = np.ones((67, 67))
    rows, lanes, terms = matmul.report(a, a).loops
    (step,) = (
        step for step in matmul.auto_schedule(a, a).trace.steps if step.name == "sums_in_lanes"
    )
    assert (rows.rows, lanes.lanes) == (step.options["rows"], step.options["lanes"])
    assert rows.runs == f"{rows.rows} rows at once"
    assert lanes.runs == f"in {lanes.lanes} lanes"
    assert terms.runs == "one by one"


@hybrid.script
def column_plus(a: Any, b: Any) -> Any:
    out = np.empty_like(b)
    for i in range(b.shape[0]):
        out[i] = np.exp(a[i, 0]) * b[i]
    return out


COLUMNS = {
    "alone": np.ones((64, 1)),
    "of pairs": np.ones((64, 2)),
    "of long rows": np.ones((64, 40)),
    "in Fortran's order": np.ones((64, 40), order="F"),
    "of every twentieth row": np.ones((64 * 20, 1))[::20],
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_what_gathers_is_what_the_code_gathers(kind: str) -> None:
    """How arrays lie in memory counts, not how they are indexed."""
    args = COLUMNS[kind], np.ones(64)
    (loop,) = column_plus.report(*args).loops
    assert loop.lanes > 1
    if current_target().has_quick_gathers:
        assert ("gathers" in loop.reason) is ("gather" in column_plus.inspect("asm", *args))
    assert ("gathers" in loop.reason) is (kind in ("of long rows", "of every twentieth row"))


@hybrid.script
def boxes(a: Any) -> Any:
    out = np.zeros((a.shape[0] - 2, a.shape[1]))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for k in range(3):
                total += a[i + k, j]
            out[i, j] = total
    return out


def four_rows(s: hj.Schedule) -> None:
    outer, inner = s.split("i", factor=4)
    s.reorder(outer, "j", inner)


def test_a_loop_inside_of_lanes_needs_no_reason() -> None:
    """Each of its iterations is done for all lanes at once, however few there are."""
    loops = boxes.with_schedule(four_rows).report(np.ones((403, 400))).loops  # a row is left
    column = next(loop for loop in loops if loop.name == "j")
    assert column.lanes > 1
    assert {loop.reason for loop in loops if loop.depth > column.depth} == {""}
