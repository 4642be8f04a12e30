"""Plain Python and the interpreter agree on every kernel of the corpus, for all its arguments."""

import pytest

from tests.corpus import CORPUS
from tests.corpus.case import Arguments, Case
from tests.oracle import run_all_ways

CALLS = [
    pytest.param(case, arguments, id=f"{case.name}-{arguments.label}")
    for case in CORPUS
    for arguments in case.arguments
]


@pytest.mark.parametrize(("case", "arguments"), CALLS)
def test_every_way_agrees(case: Case, arguments: Arguments) -> None:
    run_all_ways(case.kernel, arguments.args, arguments.kwargs, ulp=case.ulp, joined=case.joined)
