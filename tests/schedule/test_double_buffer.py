"""double_buffer: a scratch buffer is filled one iteration ahead."""

from typing import Any

import pytest

import hybridjit as hj
from hybridjit import ScheduleError, hybrid
from hybridjit.hybrid import allocate, output_tensor, parallel
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.support.before_after import assert_unchanged, replayed, run_example
from tests.support.memory_programs import (
    PROGRAMS,
    SIZES,
    Program,
    floats,
    integers,
    matmul,
    row_sums,
    steps,
    tiles,
    two_stages,
)


@hybrid.script
def backwards(a: Any) -> Any:
    b = output_tensor((a.shape[0], a.shape[1]), a.dtype)
    for i in range(a.shape[0] - 1, 0, -2):
        t = allocate((a.shape[1],), a.dtype, "local")
        for j in range(a.shape[1]):
            t[j] = a[i, j] * 2
        for k in range(a.shape[1]):
            b[i, k] = t[a.shape[1] - 1 - k] + t[0]
    return b


@hybrid.script
def counted(a: Any) -> Any:
    """The buffer starts as zero in each iteration, and counts from there."""
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        t = allocate((1,), a.dtype, "local")
        for j in range(a.shape[1]):
            t[0] = t[0] + a[i, j]
        b[i] = t[0]
    return b


@hybrid.script
def in_parallel(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in parallel(a.shape[0]):
        t = allocate((1,), a.dtype, "local")
        t[0] = a[i, 0]
        b[i] = t[0]
    return b


@hybrid.script
def sized(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        t = allocate((i + 1,), a.dtype, "local")
        t[i] = a[i, 0]
        b[i] = t[i]
    return b


@hybrid.script
def shared_value(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        t = allocate((1,), a.dtype, "local")
        x = a[i, 0] * 2
        t[0] = x
        b[i] = t[0] + x
    return b


@hybrid.script
def never_used(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        t = allocate((1,), a.dtype, "local")
        b[i] = a[i, 0]
        t[0] = a[i, 0]
    return b


@hybrid.script
def left_early(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        t = allocate((1,), a.dtype, "local")
        t[0] = a[i, 0]
        b[i] = t[0]
        if b[i] > 3:
            break
    return b


@hybrid.script
def skipped(a: Any) -> Any:
    """Iterations that go on before the buffer is filled must not fill it: there is no such row."""
    b = output_tensor((a.shape[0] + 2,), a.dtype)
    for i in range(a.shape[0] + 2):
        t = allocate((3,), a.dtype, "local", zero=False)
        if i >= a.shape[0]:
            continue
        for j in range(3):
            t[j] = a[i, j]
        b[i] = t[0] + t[2]
    return b


@hybrid.script
def filled_or_skipped(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        t = allocate((3,), a.dtype, "local", zero=False)
        for j in range(3):
            t[j] = a[i, j]
        if t[0] > 3:
            t[1] = 0
            b[i] = 1
            continue
        t[2] = 1
        b[i] = t[0] + t[2]
    return b


@hybrid.script
def skipped_later(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        t = allocate((3,), a.dtype, "local", zero=False)
        for j in range(3):
            t[j] = a[i, j]
        if t[1] > 3:
            continue
        b[i] = t[0] + t[2]
    return b


peek = hybrid.llvm(
    "define i64 @peek(ptr %x) {\n  %r = load i64, ptr %x\n  ret i64 %r\n}",
    "int64",
    ["const int64*"],
)


@hybrid.script
def passed_on(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        u = allocate((3,), "int64")
        t = allocate((3,), "int64")
        for j in range(3):
            u[j] = a[i, j] + j
        for j in range(3):
            t[j] = u[j] * 2
        b[i] = t[0] + t[2] + peek(u)
    return b


@pytest.mark.parametrize("kernel", [tiles, backwards])
def test_nothing_changes_but_the_order(kernel: Any) -> None:
    s = Schedule(kernel.prim_func(hj.i64["n", "m"]))
    s.double_buffer("t")
    for size in SIZES:
        assert_unchanged(s.original, s.func, [integers(size, 3)], native=size == 7)


@pytest.mark.parametrize("kernel", [tiles, backwards, skipped_later])
@pytest.mark.parametrize("size", [4, 5, 7])
def test_constant_sizes(kernel: Any, size: int) -> None:
    s = Schedule(kernel.prim_func(integers(size, 3)))
    s.double_buffer("t")
    assert_unchanged(s.original, s.func, [integers(size, 3)], native=size == 7)


def test_golden(golden: Golden) -> None:
    s = Schedule(tiles.prim_func(hj.i64["n", "m"]))
    s.double_buffer("t")
    golden.check(s.show(), "ir")
    assert structural_equal(replayed(s), s.func)


def test_the_panels_of_a_matrix_product() -> None:
    s = Schedule(matmul.prim_func(hj.f32["n", "k"], hj.f32["k", "m"]))
    j_0, _ = s.split("j", 4)
    s.cache_read("c", "b", "local", at=j_0)

    s.double_buffer("b_local")

    for size in SIZES:
        args = [floats(3, 2), floats(2, size)]
        assert_unchanged(s.original, s.func, args, native=size == 7)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_two_panels_in_one_loop(order: tuple[str, str]) -> None:
    """What fills one of them has nothing to do with what fills the other."""
    s = Schedule(matmul.prim_func(hj.i64["n", "k"], hj.i64["k", "m"]))
    j_0, _ = s.split("j", 4)
    for name in ("a", "b"):
        s.cache_read("c", name, "local", at=j_0)
    for name in order:
        s.double_buffer(f"{name}_local")
    for size in SIZES:
        args = [integers(3, 2), integers(2, size)]
        assert_unchanged(s.original, s.func, args, native=size == 7)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
@pytest.mark.parametrize("size", [None, 13])
def test_every_copy_in_every_loop(program: Program, size: int | None) -> None:
    base = Schedule(program.func(size))
    for loop in base.loops():
        s = Schedule(base.func)
        try:
            outer, _ = s.split(loop, 3)
            s.cache_read(s.blocks()[-1], "a", "local", at=outer)
            s.double_buffer("a_local")
        except ScheduleError:
            continue
        for n in SIZES if size is None else (size,):
            assert_unchanged(s.original, s.func, program.make(n))


def test_the_example_runs() -> None:
    run_example(Schedule(tiles.prim_func(integers(4, 3))), "double_buffer")


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (two_stages, "'t' is not made in the body of a loop"),
        (counted, "'t' may be read where it was not written and is zero"),
        (in_parallel, "loop 'i' is parallel"),
        (sized, "the size of 't' depends on the loop"),
        (shared_value, "'x' is made where 't' is filled, and used later"),
        (never_used, "nothing in loop 'i' uses 't' after it is filled"),
        (left_early, "break or return may leave loop 'i' early"),
        (skipped, "continue may leave an iteration of loop 'i' before 't' is filled"),
        (filled_or_skipped, "continue may leave an iteration of loop 'i' before 't' is filled"),
        (passed_on, "'u' is made where 't' is filled, and used later"),
    ],
)
def test_refusals(kernel: Any, message: str, symbolic: bool) -> None:
    s = Schedule(kernel.prim_func(hj.i64["n", "m"] if symbolic else integers(5, 3)))

    with pytest.raises(ScheduleError, match=message):
        s.double_buffer("t")

    assert s.func is s.original
    assert not s.trace.steps


@hybrid.script
def two_at_once(a: Any) -> Any:
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        t = allocate((3,), a.dtype)
        u = allocate((3,), a.dtype)
        for j in range(3):
            t[j] = a[i, 0] + j
            u[j] = a[i, 0] * j
        b[i] = t[0] + t[2] + u[1]
    return b


@pytest.mark.parametrize("name", ["t", "u"])
def test_what_is_filled_beside_it_is_made_before(name: str) -> None:
    s = Schedule(two_at_once.prim_func(integers(5, 3)))
    with pytest.raises(ScheduleError, match=r"is made where '.' is filled, and used later"):
        s.double_buffer(name)


def test_a_fill_that_needs_the_iteration_before() -> None:
    s = Schedule(steps.prim_func(hj.i64["n"]))
    s.cache_read("a", "a", "local", at="i")
    with pytest.raises(
        ScheduleError, match=r"cannot be filled .*: `a.1.` written by `a.i.` at line"
    ):
        s.double_buffer("a_local")


def test_a_scalar_variable_has_no_places() -> None:
    s = Schedule(row_sums.prim_func(integers(3, 4)))
    with pytest.raises(ScheduleError, match="double_buffer: 'acc' is a scalar variable"):
        s.double_buffer("acc")
    with pytest.raises(ScheduleError, match="rolling_buffer: 'acc' is a scalar variable"):
        s.rolling_buffer("acc")
    with pytest.raises(ScheduleError, match="transform_layout: 'acc' is a scalar variable"):
        s.transform_layout("acc", "i -> i")
    with pytest.raises(ScheduleError, match="storage_align: 'acc' is a scalar variable"):
        s.storage_align("acc", 0, 4)


def test_a_loop_of_one_iteration() -> None:
    s = Schedule(tiles.prim_func(integers(1, 3)))
    with pytest.raises(ScheduleError, match="loop 'i' has no next iteration"):
        s.double_buffer("t")
