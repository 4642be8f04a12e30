"""Plain Python, the interpreter and native code agree on every kernel of the corpus, for all its
arguments."""

import pytest

from hybridjit.codegen.math.bounds import COMPLEX_BOUNDS
from tests.corpus import CORPUS
from tests.corpus.case import Arguments, Case
from tests.support.oracle import assert_same_outcome, run_interpreted, run_once, run_plain
from tests.support.poisoned import run_poisoned
from tests.support.rows import check_each

# Where the last bit of a function weighs more in native code: float32 results kept in float64
# arrays, lgamma between its zeros at negative arguments, whose bound is an absolute one, and
# complex tan and tanh.
ULP = {
    "functions_of_integers": 2 << 29,
    "special_functions": 256,
    "complex_functions": int(COMPLEX_BOUNDS["tan"]),
}


@pytest.mark.sampled(36)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CORPUS])
def test_every_way_agrees(case: Case) -> None:
    def check(arguments: Arguments) -> None:
        assert_every_way_agrees(case, arguments)

    check_each(case.arguments, check, lambda arguments: arguments.label)


def assert_every_way_agrees(case: Case, arguments: Arguments) -> None:
    plain, interpreted, native = (
        run_once(way, case.kernel, arguments.args, arguments.kwargs)
        for way in (run_plain, run_interpreted, run_poisoned)
    )
    assert_same_outcome(interpreted, plain, ulp=case.ulp, joined=case.joined)
    assert_same_outcome(native, interpreted, ulp=ULP.get(case.name, case.ulp))
