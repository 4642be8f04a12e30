"""set_scope: in which memory a buffer lives."""

from typing import Any

import pytest

from hybridjit import ScheduleError, hybrid
from hybridjit.hybrid import allocate, output_tensor
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.support.before_after import assert_unchanged, replayed, run_example
from tests.support.memory_programs import SIZES, integers, two_stages
from tests.support.memory_programs import floats as f


@hybrid.script
def scalar_in_memory(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        t = allocate((), a.dtype, "local")
        t[()] = t[()] + a[i]
        b[i] = t[()]
    return b


def test_the_allocation_changes() -> None:
    s = Schedule(two_stages.prim_func(f(7, 5)))

    s.set_scope("t", "local")

    assert 't = allocate((7, 5), "float32", "local")' in s.show()
    assert_unchanged(s.original, s.func, [f(7, 5)], native=True)
    assert structural_equal(replayed(s), s.func)


def test_a_block_stands_for_what_it_writes() -> None:
    s = Schedule(two_stages.prim_func(f(7, 5)))

    s.set_scope(s.block("t"), "shared")

    assert '"shared"' in s.show()


@pytest.mark.parametrize("size", SIZES)
def test_a_zero_scalar_becomes_a_register_that_starts_as_zero(size: int) -> None:
    s = Schedule(scalar_in_memory.prim_func(integers(size)))

    s.set_scope("t", "register")

    assert "t: int64" in s.show()
    assert_unchanged(s.original, s.func, [integers(size)], native=True)


def test_the_example_runs() -> None:
    run_example(Schedule(two_stages.prim_func(f(7, 5))), "set_scope")


@pytest.mark.parametrize(
    ("buffer", "scope", "message"),
    [
        ("t", "cache", "there is no scope 'cache'"),
        ("t", "register", "'t' has 2 dimensions, a register has none"),
        ("a", "local", "'a' is an argument of the function"),
        ("b", "local", "'b' is an output of the function"),
        ("u", "local", "there is no block 'u'"),
    ],
)
def test_refusals(buffer: str, scope: str, message: str) -> None:
    s = Schedule(two_stages.prim_func(f(7, 5)))

    with pytest.raises(ScheduleError, match=message):
        s.set_scope(buffer, scope)

    assert s.func is s.original
    assert not s.trace.steps


def test_a_register_stays_one() -> None:
    s = Schedule(scalar_in_memory.prim_func(integers(3)))
    s.set_scope("t", "register")

    with pytest.raises(ScheduleError, match="'t' is a scalar variable, which is a register"):
        s.set_scope("t", "local")
