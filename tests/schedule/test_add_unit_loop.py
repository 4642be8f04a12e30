"""add_unit_loop: a loop of one iteration around a block."""

import pytest

import hybridjit as hj
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import INIT, NAMED, check, refuse

JUMP = """
def f(a: int64[8], b: int64[8]):
    for i in range(8):
        with block("x"):
            if a[i] > 3:
                {0}
            a[i] = 1
        b[i] = 2
"""


def test_a_loop(golden: Golden) -> None:
    s = Schedule(NAMED.func(None))
    assert s.add_unit_loop("t").name == "u"
    golden.check(s.show(), "ir")


def test_results_stay() -> None:
    check(NAMED, lambda s: (s.add_unit_loop("u"), s.add_unit_loop("t")))
    check(INIT, lambda s: s.add_unit_loop("total"))


def test_it_can_be_bound_and_fused() -> None:
    check(INIT, lambda s: s.bind(s.add_unit_loop("total"), "threadIdx.x"))
    check(INIT, lambda s: s.fuse("k", s.add_unit_loop("total")))


@pytest.mark.parametrize("jump", ["break", "continue"])
def test_a_jump_would_leave_the_wrong_loop(jump: str, golden: Golden) -> None:
    func = hj.parse(JUMP.format(jump))
    error = refuse(func, lambda s: s.add_unit_loop("x"), "would leave the new loop only")
    golden.check(str(error), "txt")


def test_a_return_leaves_all_loops() -> None:
    s = Schedule(hj.parse(JUMP.format("return")))
    s.add_unit_loop("x")
    assert "for u in range(1):" in s.show()


def test_a_block_that_is_not_there() -> None:
    refuse(NAMED, lambda s: s.add_unit_loop("v"), "there is no block 'v'")
