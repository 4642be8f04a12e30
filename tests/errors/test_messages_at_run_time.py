"""assert and raise inside a kernel: Python's own exceptions, with the line in a note."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from tests.conftest import Golden
from tests.frontend.from_text import script_from_text

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


MESSAGES = {
    "none": "assert x > 1",
    "text": 'assert x > 1, "small"',
    "number": "assert x > 1, x",
    "tuple": 'assert x > 1, ("small", x)',
    "tuple_of_one": 'assert x > 1, ("small",)',
    "empty_tuple": "assert x > 1, ()",
    "computed": 'assert x > 1, ("small", double(x))',
    "raise": 'raise ValueError("small", x)',
    "raise_tuple": 'raise ValueError(("small", x))',
    "raise_empty_tuple": "raise ValueError(())",
    "raise_assertion": 'raise AssertionError("small", x)',
}


@pytest.mark.parametrize("statement", MESSAGES.values(), ids=MESSAGES)
def test_arguments_of_exceptions_are_those_of_python(statement: str) -> None:
    text = f"def f(x):\n    {statement}\n"
    kernel = script_from_text(text, {"double": double})
    arguments = [raised_by(way, 1) for way in (kernel.py_func, kernel.interpret, *[kernel] * 4)]
    assert arguments == [arguments[0]] * 6


def double(x: Any) -> Any:
    y = 0
    for _ in range(2):
        y += x
    return y


def raised_by(call: Callable[[Any], Any], x: Any) -> tuple[type, tuple[Any, ...]]:
    try:
        call(x)
    except (AssertionError, ValueError) as error:
        return type(error), error.args
    raise AssertionError("nothing was raised")
