"""compute_inline: values are computed where they are read."""

from __future__ import annotations

import numpy as np
import pytest

from hybridjit import ScheduleError
from hybridjit.schedule.program import blocks_of
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.nests.generate import Nest
from tests.nests.stages import check_valid_stages
from tests.support.before_after import assert_unchanged, run_example
from tests.support.stage_programs import (
    ELEMENTWISE,
    IN_PLACE,
    LOST_INDEX_ERROR,
    MATMUL,
    PADDED,
    PREFIX,
    STENCIL,
    TO_OUTPUT,
    WHERE_ONLY,
    check,
    make,
)

MIRRORED = """
def mirrored(a: float32["n", "n"], c: float32["n", "n"], z: float32["n"]):
    t = allocate((a.shape[0], a.shape[0]), "float32")
    for k in range(a.shape[0]):
        for i in range(a.shape[0]):
            for j in range(a.shape[0]):
                x = a[i, j] + z[k]
                t[a.shape[0] - 1 - j, i] = x * 2.0
        for i in range(a.shape[0]):
            for j in range(a.shape[0]):
                c[i, j] += t[i, j]
"""
PART = """
def part(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0] - 1):
        t[i] = a[i] * 2.0
    for j in range(a.shape[0]):
        c[j] = t[j]
"""


@pytest.mark.parametrize("text", [ELEMENTWISE, STENCIL, PADDED, WHERE_ONLY, MIRRORED])
def test_the_result_stays_the_same(text: str):
    schedule = make(text)

    schedule.compute_inline("t")

    assert "t" not in [block.name for block in blocks_of(schedule.func)]
    check(text, schedule)


def test_a_split_block_is_inlined_by_its_iters(golden: Golden):
    schedule = make(STENCIL)
    schedule.split("i", 4)
    schedule.split("j", 4)

    schedule.compute_inline("t")

    check(STENCIL, schedule)
    golden.check(schedule.show(), "ir")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MATMUL, "not computed by one store that does not read it"),
        (PREFIX, "not computed by one store that does not read it"),
        (PART, "may be read that is not stored"),
        (IN_PLACE.format(shift=1), "'a', which 't' is computed from, changes"),
        (LOST_INDEX_ERROR, "may raise an error"),
        (TO_OUTPUT.format(more=""), "is not scratch memory"),
    ],
)
def test_refusals_change_nothing(text: str, message: str):
    schedule = make(text)

    with pytest.raises(ScheduleError, match=message):
        schedule.compute_inline("t")

    assert schedule.func is schedule.original


def test_docstring():
    run_example(make(STENCIL), "compute_inline")


def test_random_stages():
    check_valid_stages(check_moves, 35, seed=13)


def check_moves(nest: Nest) -> None:
    for block in blocks_of(nest.func):
        schedule = Schedule(nest.func)
        try:
            schedule.compute_inline(block.name)
        except ScheduleError:
            continue
        assert_unchanged(nest.func, schedule.func, nest.args)


SHIFTED = """
def shifted(a: float32["n"], c: float32["n"]):
    t = allocate((a.shape[0],), "float32")
    for i in range(a.shape[0]):
        t[i] = (a[i + 1] if i + 1 < a.shape[0] else 1.0) * 2.0
    for j in range(a.shape[0]):
        a[j] = t[j]
"""


@pytest.mark.parametrize("kind", ["parallel", "vectorize", "bind"])
def test_a_concurrent_reader_must_not_read_what_another_iteration_writes(kind: str):
    schedule = make(SHIFTED)
    _, inner = schedule.split("j", 4)
    options = ("threadIdx.x",) if kind == "bind" else ()
    getattr(schedule, kind)(inner, *options)
    before = schedule.func

    with pytest.raises(ScheduleError, match=f"{kind} loop 'j_1' depend on each other"):
        schedule.compute_inline("t")

    assert schedule.func is before
    schedule.serial(inner)
    schedule.compute_inline("t")
    check(SHIFTED, schedule)


CHOSEN = """
def chosen(a: float32["n", "m"], b: float32["n"], at: int64["k"], c: float32["k", "m"]):
    t = allocate((a.shape[0], a.shape[1]), "float32")
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = {value}
    for p in range(at.shape[0]):
        for q in range(c.shape[1]):
            c[p, q] = t[at[p], q]
"""
ROWS = [[0, 3, 1], [2, -1, -4], [1, 4, 0], [-5, 0, 0], []]


@pytest.mark.parametrize("value", ["a[i, j] * 2.0", "a[i, j] + b[i]", "a[i, 0] * b[i]"])
def test_an_index_that_chooses_rows_of_what_is_as_long(value: str):
    """In bounds, from the end, or neither, which is an IndexError of another array."""
    schedule = make(CHOSEN.format(value=value))

    schedule.compute_inline("t")

    for rows in ROWS:
        generator = np.random.default_rng(3)
        a, b = (generator.random(shape, np.float32) for shape in ((4, 3), 4))
        args = [a, b, np.array(rows, np.int64), np.zeros((len(rows), 3), np.float32)]
        assert_unchanged(schedule.original, schedule.func, args, native=True)


@pytest.mark.parametrize(
    "value",
    [
        "a[i, j] * float32(i)",  # of a negative index it is another number
        "1.0",  # there is nothing that would refuse it
        "a[i, j] if j > 0 else 1.0",
        "a[a.shape[0] - 1 - i, j]",
        "a[i, j] + c[i, j]",  # as many rows as there are indices
    ],
)
def test_an_index_that_must_be_in_bounds(value: str):
    schedule = make(CHOSEN.format(value=value))
    with pytest.raises(ScheduleError, match="an index of 't' is not proved to be in bounds"):
        schedule.compute_inline("t")
