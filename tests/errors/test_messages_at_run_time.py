"""assert and raise inside a kernel: Python's own exceptions, with the line in a note."""

from __future__ import annotations

import re
import sys
import traceback
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from tests.conftest import Golden

needs_notes = pytest.mark.skipif(sys.version_info < (3, 11), reason="notes came with Python 3.11")


@hybrid.script
def check_positive(a: Any) -> None:
    for i in range(a.shape[0]):
        assert a[i] > 0, ("not positive:", a[i])


@hybrid.script
def refuse_negative(a: Any) -> None:
    for i in range(a.shape[0]):
        if a[i] < 0:
            raise ValueError("negative at", i)


@hybrid.script
def check_silently(a: Any) -> None:
    assert a[0] > 0


@hybrid.script
def step_by(a: Any, step: int) -> None:
    for i in range(0, 8, step):
        a[i] = 0.0


def report(error: BaseException) -> str:
    """What Python prints of the error itself, with files named without their directories."""
    text = "".join(traceback.format_exception_only(error))
    return re.sub(r"\S*/(\w+\.py)", r"\1", text)


@needs_notes
def test_assert_with_a_message(golden: Golden) -> None:
    with pytest.raises(AssertionError, match="not positive") as caught:
        check_positive.interpret(np.array([1.0, -2.0]))
    golden.check(report(caught.value), "txt")


@needs_notes
def test_raise(golden: Golden) -> None:
    with pytest.raises(ValueError, match="negative at") as caught:
        refuse_negative.interpret(np.array([1.0, -2.0]))
    golden.check(report(caught.value), "txt")


@needs_notes
def test_assert_without_a_message(golden: Golden) -> None:
    with pytest.raises(AssertionError, match="raised here") as caught:
        check_silently.interpret(np.array([-2.0]))
    golden.check(report(caught.value), "txt")


@needs_notes
def test_a_step_that_is_zero(golden: Golden) -> None:
    with pytest.raises(ValueError, match="must not be zero") as caught:
        step_by.interpret(np.zeros(8), 0)
    golden.check(report(caught.value), "txt")


def test_the_arguments_of_a_raised_error_are_those_of_python() -> None:
    a = np.array([1.0, -2.0])
    with pytest.raises(ValueError, match="negative at") as ours:
        refuse_negative.interpret(a)
    with pytest.raises(ValueError, match="negative at") as pythons:
        refuse_negative.py_func(a)
    assert ours.value.args == pythons.value.args


@pytest.mark.parametrize("run", [refuse_negative, refuse_negative.interpret], ids=["native", "ir"])
def test_what_a_script_raises_shows_no_frames_of_ours(run: Any) -> None:
    for _ in range(2):  # the second call is made by the dispatcher
        with pytest.raises(ValueError, match="negative at") as caught:
            run(np.array([1.0, -2.0]))
        names = [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]
        left_over = [] if sys.version_info >= (3, 11) else ["edge"]
        assert names[1:] in ([], left_over)
