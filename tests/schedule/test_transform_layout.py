"""transform_layout: the elements of a scratch buffer in another order."""

from typing import Any

import pytest

import hybridjit as hj
from hybridjit import ScheduleError
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.index_map import parse_index_map, text_of
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.support.before_after import assert_unchanged, replayed, run_example
from tests.support.memory_programs import (
    SIZES,
    floats,
    integers,
    matmul,
    negative_scratch,
    past_the_end,
    two_stages,
)

MAPS = (
    "i, j -> j, i",
    "i, j -> i // 4, j, i % 4",
    "i, j -> j // 2, i // 3, j % 2, i % 3",
    "i, j -> i, j + 3",
    "i, j -> 2 * i + 1, j",
    "i, j -> i + j, j",
    "i, j -> 0, i, j",
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", MAPS)
@pytest.mark.parametrize("size", SIZES)
def test_nothing_changes_but_the_layout(text: str, size: int) -> None:
    args = [floats(size, 5)]
    for spec in (args[0], hj.f32["n", "m"]):
        s = Schedule(two_stages.prim_func(spec))
        s.transform_layout("t", text)
        assert_unchanged(s.original, s.func, args, native=size == 7)


def test_constant_sizes_may_be_flattened() -> None:
    s = Schedule(two_stages.prim_func(floats(7, 5)))

    s.transform_layout("t", lambda i, j: i * 5 + j)

    assert "t = allocate((35,)" in s.show()
    assert_unchanged(s.original, s.func, [floats(7, 5)], native=True)


def test_packing(golden: Golden) -> None:
    s = Schedule(matmul.prim_func(hj.f32["n", "k"], hj.f32["k", "m"]))
    s.cache_read("c", "b", "global")
    s.transform_layout("b_global", lambda k, j: (j // 16, k, j % 16))

    golden.check(s.show(), "ir")
    for size in SIZES:
        assert_unchanged(s.original, s.func, [floats(size, 3), floats(3, size + 20)])


def test_the_trace_holds_the_text_of_a_function() -> None:
    s = Schedule(two_stages.prim_func(floats(7, 5)))

    s.transform_layout("t", lambda i, j: (i // 4, j, i % 4))

    assert "s.transform_layout('t', 'i, j -> i // 4, j, i % 4')" in str(s.trace)
    assert structural_equal(replayed(s), s.func)


def test_the_example_runs() -> None:
    run_example(Schedule(two_stages.prim_func(floats(7, 5))), "transform_layout")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i, j -> i", "gives two elements of 't' the same place, for example"),
        ("i, j -> i // 2, j", "gives two elements of 't' the same place"),
        ("i, j -> i + j, 0", "gives two elements of 't' the same place"),
        ("i, j -> i - 1, j", "'i - 1' may be negative"),
        ("i -> i", "'t' has 2 axes, the index map 'i -> i' takes 1"),
        ("i, j -> i * j, j", "is not a sum of multiples of indices"),
        ("i, j -> i // 0, j", "is not a sum of multiples of indices"),
        ("i, j", "expected an index map such as"),
        ("i, i -> i", "expected an index map such as"),
        ("i, j -> i, k", "cannot read 'k' in the index map"),
        ("i, j -> i, __import__('os')", "cannot read"),
        ("i, j -> i, j if i else j", "cannot read"),
        ("i, j -> i, (", "cannot read the index map"),
        ("i, j -> i, 1.5", "cannot read '1.5'"),
    ],
)
def test_refused_maps(text: str, message: str) -> None:
    s = Schedule(two_stages.prim_func(floats(7, 5)))

    with pytest.raises(ScheduleError, match=message):
        s.transform_layout("t", text)

    assert s.func is s.original
    assert not s.trace.steps


def _all_indices(*indices: Any) -> Any:
    return indices


def test_refused_functions() -> None:
    s = Schedule(two_stages.prim_func(floats(7, 5)))
    with pytest.raises(ScheduleError, match="which is no index"):
        s.transform_layout("t", lambda i, j: (i, "j"))
    with pytest.raises(ScheduleError, match="each with a name"):
        s.transform_layout("t", _all_indices)
    with pytest.raises(ScheduleError, match="expected an index map, a function or its text"):
        s.transform_layout("t", 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("buffer", "way_out"), [("a", "cache_read"), ("b", "cache_write")])
def test_what_comes_from_outside_keeps_its_layout(buffer: str, way_out: str) -> None:
    s = Schedule(two_stages.prim_func(floats(7, 5)))
    with pytest.raises(ScheduleError, match=f"(?s)which has the layout that it has.*{way_out}"):
        s.transform_layout(buffer, "i, j -> j, i")


def test_indices_that_are_not_proved_inside_are_refused() -> None:
    """An index that counts from the end, or is an error, means something else elsewhere."""
    for kernel in (negative_scratch, past_the_end):
        s = Schedule(kernel.prim_func(integers(4, 5)))
        with pytest.raises(ScheduleError, match="is not proved to lie inside of 't'"):
            s.transform_layout("t", "i, j -> i // 2, j, i % 2")


@pytest.mark.parametrize("text", MAPS)
def test_text_round_trips(text: str) -> None:
    again = str(parse_index_map(text))
    assert str(parse_index_map(again)) == again


def test_a_function_is_traced() -> None:
    assert text_of(lambda i, j: (j, i % 4 + 1)) == "i, j -> j, i % 4 + 1"
