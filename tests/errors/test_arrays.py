"""What cannot be done with whole arrays: what is said, and that the advice works."""

from tests.conftest import Golden
from tests.errors.case import Case, mended, wrong


@wrong("arrays")
def test_refused(case: Case, golden: Golden) -> None:
    golden.check(case.report(), "txt")


@mended("arrays")
def test_help_works(case: Case) -> None:
    case.check_help()
