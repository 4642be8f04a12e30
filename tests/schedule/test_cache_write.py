"""cache_write: a part of a program writes to a copy."""

from typing import Any

import pytest

import hybridjit as hj
from hybridjit import ScheduleError, hybrid
from hybridjit.hybrid import block, output_tensor, parallel
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.support.before_after import assert_unchanged, replayed, run_example
from tests.support.memory_programs import (
    PROGRAMS,
    SIZES,
    Program,
    every_third,
    floats,
    guarded,
    integers,
    matmul,
    named,
    prefix_sum,
    row_sums,
    two_stages,
)


@hybrid.script
def add_one(a: Any) -> Any:
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        c[i] = a[i] + 1
    return c


@hybrid.script
def first_negative(a: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        if a[i] < 0:
            break
        c[i] = a[i]


@hybrid.script
def found(a: Any, c: Any) -> int:
    for i in range(a.shape[0]):
        c[i] = a[i]
        if a[i] < 0:
            return i
    return -1


@hybrid.script
def skipping(a: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        if a[i] < 0:
            continue
        c[i] = a[i]


@hybrid.script
def comb(a: Any) -> None:
    n = a.shape[0] // 2
    for i in parallel(n):
        for j in range(2):
            a[2 * i] = a[2 * i] + j


@hybrid.script
def interleaved(a: Any, c: Any) -> None:
    for i in parallel(2):
        for j in range(a.shape[0] // 2):
            c[2 * j + i] = a[j]


@hybrid.script
def two_results(a: Any, c: Any, d: Any) -> None:
    for i in range(a.shape[0]):
        with block("both"):
            c[i] = a[i] + d[i]
            d[i] = c[i] * 2


@hybrid.packed
def negate(c: Any) -> None:
    c *= -1


@hybrid.script
def called(a: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        c[i] = a[i]
        negate(c)


def tiled_matmul(*specs: Any) -> Schedule:
    s = Schedule(matmul.prim_func(*specs))
    i, j, k = s.loops("c")
    i_0, i_1 = s.split(i, 4)
    j_0, j_1 = s.split(j, 8)
    s.reorder(i_0, j_0, k, i_1, j_1)
    s.cache_write("c", "c", "local", at=j_0)
    return s


def test_the_whole_buffer(golden: Golden) -> None:
    s = Schedule(two_stages.prim_func(hj.f32["n", "m"]))

    copy = s.cache_write("b", "b", "local")

    assert copy.name == "b_local"
    golden.check(s.show(), "ir")
    for size in SIZES:
        assert_unchanged(s.original, s.func, [floats(size, 3)], native=size == 7)
    assert structural_equal(replayed(s), s.func)


def test_a_tile_of_a_matrix_product(golden: Golden) -> None:
    s = tiled_matmul(hj.f32["n", "k"], hj.f32["k", "m"])

    golden.check(s.show(), "ir")
    for n, m in ((0, 3), (1, 1), (4, 8), (5, 9), (13, 17)):
        for k in (0, 1, 3):
            assert_unchanged(s.original, s.func, [floats(n, k), floats(k, m)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("n", "k", "m"), [(4, 3, 8), (5, 0, 9), (1, 1, 1), (0, 2, 3), (9, 3, 15)])
def test_tiles_of_constant_size(n: int, k: int, m: int) -> None:
    args = [floats(n, k), floats(k, m)]
    s = tiled_matmul(*args)
    assert_unchanged(s.original, s.func, args, native=True)


def test_vector_tiles() -> None:
    s = tiled_matmul(floats(9, 5), floats(5, 19))
    _, _, _, i_1, j_1 = s.loops("c")
    s.vectorize(j_1)
    s.unroll(i_1)
    s.vectorize(s.loops("c_local")[-1])
    s.parallel(s.loops("c")[0])
    assert_unchanged(s.original, s.func, [floats(9, 5), floats(5, 19)], native=True)


@pytest.mark.parametrize("symbolic", [False, True])
def test_copies_move_as_other_stages_do(symbolic: bool) -> None:
    """TVM's way: copy all of it, then move the copying into the loop."""
    args = [floats(9, 5), floats(5, 11)]
    specs = (hj.f32["n", "k"], hj.f32["k", "m"]) if symbolic else args
    s = Schedule(matmul.prim_func(*specs))
    i, j, k = s.loops("c")
    i_0, i_1 = s.split(i, 4)
    j_0, j_1 = s.split(j, 4)
    s.reorder(i_0, j_0, k, i_1, j_1)

    s.compute_at(s.cache_read("c", "b", "local"), j_0)
    s.reverse_compute_at(s.cache_write("c", "c", "local"), j_0)

    assert [loop.name for loop in s.loops("b_local")[:2]] == [i_0.name, j_0.name]
    assert_unchanged(s.original, s.func, args, native=True)


def test_a_block_with_loops_inside_can_be_moved_to_the_copy() -> None:
    """Its new guard asks for the loop of the copy, which it sees through an iter."""
    s = Schedule(named.prim_func(hj.i64["n", "m"]))
    copy = s.cache_write("rows", "b", "local", at="i")
    s.compute_at("rows", s.loops(copy)[-1])
    for size in SIZES:
        assert_unchanged(s.original, s.func, [integers(size, 3)])


def test_every_third_element_of_a_copy() -> None:
    """The index of the copy is multiplied out, so that a loop can be restricted to it."""
    s = Schedule(every_third.prim_func(hj.i64["n"], hj.i64["n"]))
    outer, _ = s.split("i", 3)
    copy = s.cache_write("c", "c", "local", at=outer)
    assert "c_local[i_1_1 * 3] = a[i] + 5" in s.show()
    s.compute_at("c", s.loops(copy)[-1])
    for size in (*SIZES, 20):
        assert_unchanged(s.original, s.func, [integers(size), -integers(size)])


def test_a_block_with_two_results() -> None:
    s = Schedule(two_results.prim_func(hj.i64["n"], hj.i64["n"], hj.i64["n"]))
    outer, _ = s.split("i", 4)
    s.cache_write("both", "c", "local", at=outer)
    s.cache_write("both", "d", "local", at=outer)
    for size in SIZES:
        args = [integers(size), -integers(size), 2 * integers(size)]
        assert_unchanged(s.original, s.func, args, native=size == 7)


@pytest.mark.parametrize("at", [None, "i"])
def test_a_callback_sees_the_buffer_itself(at: str | None) -> None:
    s = Schedule(called.prim_func(integers(5), integers(5)))
    with pytest.raises(ScheduleError, match="'c' is passed to an external function"):
        s.cache_write("c", "c", "local", at=at)


def test_what_is_overwritten_is_not_read() -> None:
    s = Schedule(add_one.prim_func(hj.i64["n"]))
    outer, _ = s.split("i", 4)
    s.cache_write("c", "c", "local", at=outer)
    assert "c_local_in" not in s.show()


@pytest.mark.parametrize("kernel", [every_third, guarded])
def test_what_is_not_written_keeps_its_value(kernel: Any) -> None:
    s = Schedule(kernel.prim_func(hj.i64["n"], hj.i64["n"]))
    outer, _ = s.split("i", 4)

    s.cache_write("c", "c", "local", at=outer)

    assert "c_local_in" in s.show()
    for size in SIZES:
        assert_unchanged(s.original, s.func, [integers(size), -integers(size)], native=size == 7)


def test_a_sum_over_nothing_keeps_its_value() -> None:
    """With no iterations of k, nothing is written: what was in c must come back."""
    s = Schedule(matmul.prim_func(hj.f32["n", "k"], hj.f32["k", "m"]))
    s.cache_write("c", "c", "local", at="j")
    assert "c_local_in" in s.show()
    assert_unchanged(s.original, s.func, [floats(3, 0), floats(0, 4)], native=True)


def test_all_accesses_of_the_part_go_to_the_copy() -> None:
    s = Schedule(prefix_sum.prim_func(hj.i64["n"]))
    s.cache_write("a", "a", "local")
    for size in SIZES:
        assert_unchanged(s.original, s.func, [integers(size)], native=size == 7)


def test_the_example_runs() -> None:
    run_example(Schedule(add_one.prim_func(integers(5))), "cache_write")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("c", "a", "local"), "block 'c' does not write 'a'"),
        (("c", "x", "local"), "there is no buffer 'x'"),
        (("c", "c", "moon"), "there is no scope 'moon'"),
        (("c", "c", "register"), "'c' has 2 dimensions, a register has none"),
    ],
)
def test_refusals(arguments: tuple[str, str, str], message: str) -> None:
    s = Schedule(matmul.prim_func(floats(4, 5), floats(5, 6)))

    with pytest.raises(ScheduleError, match=message):
        s.cache_write(*arguments)

    assert s.func is s.original
    assert not s.trace.steps


@pytest.mark.parametrize(
    ("kernel", "at", "message"),
    [
        (first_negative, "i", "break leaves before 'c' is written back"),
        (skipping, "i", "continue leaves before 'c' is written back"),
        (found, "i", "return leaves before 'c' is written back"),
        (found, None, "return leaves before 'c' is written back"),
    ],
)
def test_a_copy_that_would_not_be_written_back(kernel: Any, at: str | None, message: str) -> None:
    s = Schedule(kernel.prim_func(integers(5), integers(5)))
    with pytest.raises(ScheduleError, match=message):
        s.cache_write("c", "c", "local", at=at)


@pytest.mark.parametrize("kernel", [first_negative, skipping])
def test_leaving_a_loop_inside_the_part_is_no_matter(kernel: Any) -> None:
    s = Schedule(kernel.prim_func(integers(7), integers(7)))
    s.cache_write("c", "c", "local")
    assert_unchanged(s.original, s.func, [integers(7), -integers(7)], native=True)


def test_a_scalar_is_no_buffer_to_copy() -> None:
    s = Schedule(row_sums.prim_func(integers(3, 4)))
    with pytest.raises(ScheduleError, match="'acc' is made inside of loop 'i'"):
        s.cache_write("acc", "acc", "local", at="i")
    with pytest.raises(ScheduleError, match="'acc' is a scalar variable"):
        s.cache_write("acc", "acc", "local")


def test_iterations_of_a_parallel_loop_stay_apart() -> None:
    """The box of what an iteration writes holds elements that the other one writes."""
    s = Schedule(interleaved.prim_func(integers(8), integers(8)))

    with pytest.raises(
        ScheduleError, match="would make iterations of the parallel loop 'i' depend"
    ):
        s.cache_write("c", "c", "local", at="i")

    assert s.func is s.original


def test_a_parallel_loop_whose_iterations_copy_what_is_theirs() -> None:
    s = Schedule(comb.prim_func(integers(8)))
    s.cache_write("a", "a", "local", at="i")
    assert_unchanged(s.original, s.func, [integers(8)], native=True)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
@pytest.mark.parametrize("size", [None, 7])
def test_every_legal_copy_of_every_program(program: Program, size: int | None) -> None:
    """Each block, each buffer, each loop: refused, or the results are the same bit by bit."""
    base = Schedule(program.func(size))
    _split_all(base)
    for name in base.blocks():
        for at in (None, *base.loops(name)):
            for buffer in ("a", "b", "c", "t"):
                for step in ("cache_read", "cache_write"):
                    s = Schedule(base.func)
                    try:
                        getattr(s, step)(name, buffer, "local", at=at)
                    except ScheduleError:
                        continue
                    for n in SIZES if size is None else (size,):
                        assert_unchanged(s.original, s.func, program.make(n))


def _split_all(s: Schedule) -> None:
    for loop in s.loops():
        try:
            s.split(loop, 4)
        except ScheduleError:
            continue
