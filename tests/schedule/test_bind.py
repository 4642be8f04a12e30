"""bind: loops on the axes of a grid of threads; on the CPU they run as loops."""

import pytest

from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import NEST, PROGRAMS, SCAN, check, refuse, sort


def test_the_text(golden: Golden) -> None:
    s = Schedule(NEST.func(None))
    s.bind("i", "blockIdx.x")
    s.bind("j", "threadIdx.x")
    golden.check(s.show(), "ir")


def test_results_stay() -> None:
    check(NEST, lambda s: (s.bind("i", "blockIdx.x"), s.bind("j", "threadIdx.x")))


def test_which_programs_take_it() -> None:
    found = sort(PROGRAMS, lambda s: s.bind("i", "vthread"))
    assert found["refused"] == ["scan", "break", "return"]


@pytest.mark.parametrize("thread", ["threadidx.x", "", 3, None])
def test_axes_that_do_not_exist(thread: object) -> None:
    refuse(NEST, lambda s: s.bind("i", thread), "there is no thread axis")  # type: ignore[arg-type]


def test_iterations_that_depend_on_each_other(golden: Golden) -> None:
    error = refuse(SCAN, lambda s: s.bind("i", "threadIdx.x"), "cannot be bound to threads")
    golden.check(str(error), "txt")
