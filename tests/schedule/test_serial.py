"""serial: a loop runs in order again."""

import pytest

from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import NEST, SCAN, check, refuse


@pytest.mark.parametrize("kind", ["parallel", "vectorize", "unroll"])
def test_it_takes_a_kind_back(kind: str) -> None:
    s = Schedule(NEST.func(7))
    getattr(s, kind)("i")
    s.serial("i")
    assert structural_equal(s.func, s.original)


def test_it_takes_a_thread_axis_back() -> None:
    s = Schedule(NEST.func(7))
    s.bind("i", "threadIdx.x")
    s.serial("i")
    assert structural_equal(s.func, s.original)


def test_then_it_can_be_split() -> None:
    def steps(s: Schedule) -> None:
        s.parallel("i")
        s.serial("i")
        s.split("i", factor=2)

    check(NEST, steps)


def test_it_forgets_that_the_kind_was_not_proved() -> None:
    s = Schedule(NEST.func(7))
    s.parallel("i", unsafe=True)
    s.serial("i")
    assert not s.func.body.annotations  # type: ignore[attr-defined]


def test_a_scan_that_was_made_serial_still_depends_on_itself(golden: Golden) -> None:
    s = Schedule(SCAN.func(7))
    s.serial("i")
    error = refuse(s.func, lambda s: s.parallel("i"), "`b.1.` written .* is read")
    golden.check(str(error), "txt")
