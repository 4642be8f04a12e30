"""Several errors at once are reported together, and none that only follows from another."""

from tests.conftest import Golden
from tests.errors.case import Case, load, wrong


@wrong("several")
def test_refused(case: Case, golden: Golden) -> None:
    golden.check(case.report(), "txt")


def test_at_most_five_are_shown_and_the_rest_counted() -> None:
    (case,) = [case for case in load("several") if case.name == "more_than_five"]
    error = case.fail()
    assert len(error.diagnostics) == 5
    assert "and 2 more" in str(error)
