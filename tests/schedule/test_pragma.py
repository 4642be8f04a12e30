"""pragma: hints on loops."""

from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import NAMED, NEST, check, refuse


def test_a_hint(golden: Golden) -> None:
    s = Schedule(NEST.func(None))
    s.pragma("j", "auto_unroll_max_step", 16)
    golden.check(s.show(), "ir")


def test_results_stay() -> None:
    check(NEST, lambda s: s.pragma("j", "unroll_explicit"))


def test_a_block_is_not_a_loop(golden: Golden) -> None:
    error = refuse(NAMED, lambda s: s.pragma("t", "x"), "there is no loop 't'")
    golden.check(str(error), "txt")
