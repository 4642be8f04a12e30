"""Errors of a running kernel, in the interpreter and in native code."""

import copy

import pytest

from hybridjit import hybrid
from hybridjit.errors import HybridError, UninitializedRead
from tests.conftest import Golden
from tests.errors.case import Case, wrong


@wrong("runtime")
def test_stopped(case: Case, golden: Golden) -> None:
    golden.check(case.report(), "txt")


@wrong("runtime")
def test_native_code_stops_at_the_same_place(case: Case) -> None:
    if case.error is UninitializedRead:
        pytest.skip("only the interpreter keeps account of what was written")
    expected = case.fail()
    with pytest.raises(case.error, match=": error: ") as caught:
        hybrid.script(case.wrong)(*copy.deepcopy(case.wrong_args))
    assert isinstance(caught.value, HybridError)
    assert caught.value.span == expected.span
