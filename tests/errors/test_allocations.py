"""Arrays that cannot be made: what is said, and that the advice works."""

from tests.conftest import Golden
from tests.errors.case import Case, mended, wrong


@wrong("allocations")
def test_refused(case: Case, golden: Golden) -> None:
    golden.check(case.report(), "txt")


@mended("allocations")
def test_help_works(case: Case) -> None:
    case.check_help()
