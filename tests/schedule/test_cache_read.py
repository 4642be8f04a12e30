"""cache_read: a block reads a copy."""

from typing import Any

import pytest

import hybridjit as hj
from hybridjit import ScheduleError, hybrid
from hybridjit.hybrid import allocate, output_tensor, parallel
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.support.before_after import assert_unchanged, outcome, replayed, run_example
from tests.support.memory_programs import (
    SIZES,
    floats,
    gather,
    in_place,
    integers,
    matmul,
    named,
    out_of_bounds,
    prefix_sum,
    row_sums,
    shift_down,
    stencil,
    steps,
    triangle,
    two_stages,
    with_while,
    wrapping,
)


@hybrid.script
def add_one(a: Any) -> Any:
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        c[i] = a[i] + 1
    return c


@hybrid.script
def halves(a: Any) -> None:
    n = a.shape[0] // 2
    for i in parallel(n):
        for j in range(2):
            a[i] = a[n + i] + j


@hybrid.script
def half_set(a: Any) -> Any:
    t = allocate(a.shape, a.dtype, "global", zero=False)
    b = output_tensor(a.shape, a.dtype)
    for i in range(0, a.shape[0], 2):
        t[i] = a[i]
    for j in range(0, a.shape[0], 2):
        b[j] = t[j]
    return b


def tiled_stencil(spec: Any) -> Schedule:
    s = Schedule(stencil.prim_func(spec))
    outer, _ = s.split("i", 8)
    s.cache_read("b", "a", "local", at=outer)
    return s


def test_the_whole_buffer(golden: Golden) -> None:
    s = Schedule(two_stages.prim_func(hj.f32["n", "m"]))

    copy = s.cache_read("b", "t", "shared")

    assert copy.name == "t_shared"
    golden.check(s.show(), "ir")
    for size in SIZES:
        assert_unchanged(s.original, s.func, [floats(size, 3)], native=size == 7)
    assert structural_equal(replayed(s), s.func)


def test_what_one_iteration_reads(golden: Golden) -> None:
    s = tiled_stencil(hj.i64["n"])

    golden.check(s.show(), "ir")
    for size in (*SIZES, 8, 9, 10, 11, 18):
        assert_unchanged(s.original, s.func, [integers(size)], native=size == 18)


@pytest.mark.parametrize("size", [*SIZES, 8, 9, 10, 18])
def test_constant_sizes(size: int) -> None:
    s = tiled_stencil(integers(size))
    assert_unchanged(s.original, s.func, [integers(size)], native=size == 18)


def test_the_copy_can_be_cached_again() -> None:
    s = Schedule(matmul.prim_func(hj.f32["n", "k"], hj.f32["k", "m"]))
    outer, _ = s.split("k", 4)
    s.cache_read("c", "b", "shared")
    s.cache_read("c", "b_shared", "local", at=outer)

    assert "b_shared_local = allocate((4, 1)" in s.show()
    for size in SIZES:
        assert_unchanged(s.original, s.func, [floats(3, size), floats(size, 2)])


def test_names_of_copies_are_unique() -> None:
    s = Schedule(matmul.prim_func(floats(4, 5), floats(5, 6)))
    i, j, _ = s.loops("c")
    assert s.cache_read("c", "a", "local", at=i).name == "a_local"
    s.cache_read("a_local", "a", "local", at=i)
    assert s.cache_read("c", "b", "local", at=j).name == "b_local"
    assert [block.name for block in s.blocks()] == ["a_local_1", "a_local", "b_local", "c"]


def test_negative_indices_read_the_whole_axis() -> None:
    """a[i - 1] is the last element for i = 0, and must be that in the copy."""
    s = Schedule(wrapping.prim_func(hj.i64["n"]))
    outer, _ = s.split("i", 4)

    s.cache_read("b", "a", "local", at=outer)

    assert "a_local = allocate((a.shape[0],)" in s.show()
    for size in SIZES:
        assert_unchanged(s.original, s.func, [integers(size)], native=size == 7)


@pytest.mark.parametrize("native", [False, True])
def test_an_index_out_of_bounds_stays_an_error(native: bool) -> None:
    s = Schedule(out_of_bounds.prim_func(hj.i64["n"]))
    outer, _ = s.split("i", 4)
    s.cache_read("b", "a", "local", at=outer)
    assert outcome(s.func, [integers(7)], native=native) == [IndexError]


def test_what_is_gathered_is_copied_as_a_whole() -> None:
    s = Schedule(gather.prim_func(hj.i64["n"], hj.i64["n"]))
    outer, _ = s.split("i", 4)

    s.cache_read("b", "a", "local", at=outer)
    s.cache_read("b", "p", "local", at=outer)

    assert "a_local = allocate((a.shape[0],)" in s.show()
    assert "p_local = allocate((4,)" in s.show()
    for size in SIZES:
        assert_unchanged(s.original, s.func, [integers(size), integers(size) % max(size, 1)])


def test_a_region_that_grows_with_the_loop() -> None:
    s = Schedule(triangle.prim_func(hj.i64["n", "n"]))
    s.cache_read("b", "a", "local", at="i")
    assert "a_local = allocate((1, i + 1)" in s.show()
    for size in SIZES:
        assert_unchanged(s.original, s.func, [integers(size, size)], native=size == 7)


def test_reads_that_come_before_all_writes_are_copied() -> None:
    """Each element is read before it is written, also by the iteration before."""
    for kernel in (in_place, shift_down):
        s = Schedule(kernel.prim_func(hj.i64["n"]))
        s.cache_read("a", "a", "local")
        for size in SIZES:
            assert_unchanged(s.original, s.func, [integers(size)], native=size == 7)


def test_elements_that_nobody_set_are_zero_for_the_copy() -> None:
    """The copy reads all of t, half of which has no value."""
    s = Schedule(half_set.prim_func(hj.i64["n"]))

    s.cache_read("b", "t", "local")

    assert 't = allocate((a.shape[0],), "int64", "global")' in s.show()
    for size in SIZES:
        assert_unchanged(s.original, s.func, [integers(size)], native=size == 7)


def test_the_example_runs() -> None:
    run_example(Schedule(add_one.prim_func(integers(5))), "cache_read")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("c", "c", "local"), "the copy of 'c' would be out of date: `c.0, 0.` written by"),
        (("c", "x", "local"), "there is no buffer 'x'"),
        (("x", "a", "local"), "there is no block 'x'"),
        (("c", "a", "moon"), "there is no scope 'moon'"),
        (("c", "a", "register"), "'a' has 2 dimensions, a register has none"),
    ],
)
def test_refusals(arguments: tuple[str, str, str], message: str) -> None:
    s = Schedule(matmul.prim_func(floats(4, 5), floats(5, 6)))

    with pytest.raises(ScheduleError, match=message):
        s.cache_read(*arguments)

    assert s.func is s.original
    assert not s.trace.steps


@pytest.mark.parametrize("kernel", [prefix_sum, steps])
@pytest.mark.parametrize("spec", [integers(7), hj.i64["n"]])
def test_a_copy_that_would_be_out_of_date_is_refused(kernel: Any, spec: Any) -> None:
    s = Schedule(kernel.prim_func(spec))
    with pytest.raises(ScheduleError, match="the copy of 'a' would be out of date"):
        s.cache_read("a", "a", "local")


def test_the_same_copy_is_legal_further_inside() -> None:
    s = Schedule(prefix_sum.prim_func(hj.i64["n"]))
    s.cache_read("a", "a", "local", at="t")
    for size in SIZES:
        assert_unchanged(s.original, s.func, [integers(size)], native=size == 7)


def test_the_message_names_two_iterations() -> None:
    s = Schedule(prefix_sum.prim_func(integers(7)))
    iterations = r"`a\[1\]` written by .* in iteration t=1 is read by .* in iteration t=2"
    with pytest.raises(ScheduleError, match=iterations):
        s.cache_read("a", "a", "local")


def test_a_loop_that_is_not_around_the_block() -> None:
    s = Schedule(two_stages.prim_func(floats(3, 4)))
    with pytest.raises(ScheduleError, match="block 'b' is not inside of loop 'i'"):
        s.cache_read("b", "t", "local", at="i")


def test_a_buffer_that_is_made_inside_of_the_block() -> None:
    s = Schedule(named.prim_func(integers(3, 4)))
    s.cache_read("b", "a", "local", at="j")
    with pytest.raises(ScheduleError, match="'a_local' is not made around block 'rows'"):
        s.cache_read("rows", "a_local", "local")
    with pytest.raises(ScheduleError, match="'a_local' is made inside of loop 'j'"):
        s.cache_read("b", "a_local", "local", at="j")


def test_a_scalar_is_no_buffer_to_copy() -> None:
    s = Schedule(row_sums.prim_func(integers(3, 4)))
    with pytest.raises(ScheduleError, match="'acc' is a scalar variable, a register already"):
        s.cache_read("b", "acc", "local")
    with pytest.raises(ScheduleError, match="block 'b' does not read 'a'"):
        s.cache_read("b", "a", "local")


def test_a_while_loop_that_writes_is_one_statement() -> None:
    s = Schedule(with_while.prim_func(integers(3)))
    with pytest.raises(ScheduleError, match="does not read 'a'"):
        s.cache_read("a", "a", "local")


def test_a_parallel_loop_stays_legal() -> None:
    """All of `a` would be copied in each iteration, while others write it."""
    s = Schedule(halves.prim_func(integers(8)))

    s.cache_read("a", "a", "local", at="j")

    assert_unchanged(s.original, s.func, [integers(8)], native=True)
