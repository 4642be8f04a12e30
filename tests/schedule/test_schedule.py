"""Schedule: handles and names, what replaced them, and what is shown."""

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import ScheduleError
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import IMPERFECT, NEIGHBOURS, NEST, PLAIN, STRIDED, refuse


def test_handles_survive_rewriting() -> None:
    s = Schedule(NEST.func(7))
    i, j = s.loops("a")
    s.split(j, factor=3)
    s.reorder("j_0", i)
    s.parallel(i)
    assert "for i in parallel(7)" in s.show()


def test_blocks_survive_rewriting() -> None:
    s = Schedule(IMPERFECT.func(7))
    c, a = s.blocks()
    s.split("i", factor=2)
    assert [loop.name for loop in s.loops(c)] == ["i_0", "i_1"]
    assert [loop.name for loop in s.loops(a)] == ["i_0", "i_1", "j"]


def test_a_handle_that_was_replaced(golden: Golden) -> None:
    s = Schedule(NEST.func(7))
    i = s.loop("i")
    s.unroll("j")
    s.split(i, factor=2)
    with pytest.raises(
        ScheduleError, match=r"'i' was replaced by i_0, i_1 in step 3 \(split\)"
    ) as e:
        s.parallel(i)
    golden.check(str(e.value), "txt")


def test_a_name_that_was_replaced() -> None:
    s = Schedule(NEST.func(7))
    s.fuse("i", "j")
    with pytest.raises(ScheduleError, match=r"loop 'j' was replaced by i_j in step 1 \(fuse\)"):
        s.parallel("j")


def test_a_loop_that_was_merged_away() -> None:
    s = Schedule(NEIGHBOURS.func(7))
    j = s.loop("j")
    s.merge("i", "j")
    with pytest.raises(ScheduleError, match=r"loop 'j' was replaced by i in step 2 \(merge\)"):
        s.unroll(j)


def test_a_block_that_is_gone() -> None:
    s = Schedule(
        hj.parse("""
def f(a: int64[8]):
    for z in range(4):
        a[z] = 7
""")
    )
    hj.intrinsic(
        "seven",
        hj.parse("def d(x: int64[4]):\n    for k in range(4):\n        x[k] = 7\n"),
        hj.parse("def e(x: int64[4]):\n    for k in vectorize(4):\n        x[k] = 7\n"),
    )
    s.tensorize("z", "seven")
    with pytest.raises(ScheduleError, match=r"block 'a' was removed in step 1 \(tensorize\)"):
        s.block("a")


def test_a_loop_of_another_schedule() -> None:
    other = Schedule(PLAIN.func(7)).loop("i")
    refuse(PLAIN, lambda s: s.parallel(other), "loop 'i' belongs to another schedule")


def test_names_that_are_close() -> None:
    error = refuse(NEST, lambda s: s.block("aa"), "there is no block 'aa'")
    assert "did you mean 'a'?" in str(error)
    error = refuse(NEST, lambda s: s.loop("zebra"), "there is no loop 'zebra'")
    assert "there are i, j" in str(error)


@pytest.mark.parametrize(("name", "step"), [("get_loops", "loops"), ("paralel", "parallel")])
def test_steps_that_have_another_name(name: str, step: str) -> None:
    with pytest.raises(AttributeError, match=f"no '{name}': did you mean '{step}'"):
        getattr(Schedule(PLAIN.func(7)), name)


def test_steps_that_do_not_exist() -> None:
    with pytest.raises(AttributeError, match=r"a schedule has no 'qqq'$"):
        Schedule(PLAIN.func(7)).qqq  # pyright: ignore  # noqa: B018


def test_names_that_mean_two_loops(golden: Golden) -> None:
    s = Schedule(PLAIN.func(7))
    s.partition("i", 3)
    error = refuse(s.func, lambda s: s.unroll("i"), "there are 2 loops called 'i'")
    golden.check(str(error), "txt")


@pytest.mark.parametrize("loop", [3, None, np.int64(1), ("i",)])
def test_things_that_are_no_loops(loop: object) -> None:
    refuse(PLAIN, lambda s: s.unroll(loop), "expected a loop or the name of one")  # type: ignore[arg-type]
    refuse(PLAIN, lambda s: s.add_unit_loop(loop), "expected a block or the name of one")  # type: ignore[arg-type]


def test_queries_in_the_order_of_the_text() -> None:
    s = Schedule(IMPERFECT.func(7))
    assert [loop.name for loop in s.loops()] == ["i", "j"]
    assert [block.name for block in s.blocks()] == ["c", "a"]
    assert repr(s.loop("j")) == "loop j"
    assert repr(s.block("a")) == "block a"


def test_the_text_says_how_often_loops_run(golden: Golden) -> None:
    s = Schedule(STRIDED.func(13))
    golden.check(str(s), "ir")
    assert s.show() == str(s)


def test_loops_in_an_init_are_counted_in_the_order_of_the_text() -> None:
    s = Schedule(
        hj.parse("""
def f(a: int64[4], c: int64[9]):
    for k in range(4):
        with block("c", reduce(k)):
            with init():
                for x in range(1, 9):
                    c[x] = 0
            for y in range(2, 9):
                c[y] = c[y] + a[k]
""")
    )
    assert "for x in range(1, 9):  # 8 iterations" in s.show()
    assert "for y in range(2, 9):  # 7 iterations" in s.show()


def test_what_a_step_changed(golden: Golden) -> None:
    s = Schedule(IMPERFECT.func(7))
    assert s.diff() == ""
    s.unroll("j")
    s.loops()  # a question changes nothing
    golden.check(s.diff(), "txt")


def test_its_name() -> None:
    s = Schedule(NEST.func(7))
    assert repr(s) == "Schedule of f: 0 steps"
    s.unroll(s.loop("i"))
    assert repr(s) == "Schedule of f: 1 step"


def test_verify_needs_a_kernel() -> None:
    with pytest.raises(hj.ArgumentError, match="was not made from a kernel"):
        Schedule(PLAIN.func(7)).verify()
