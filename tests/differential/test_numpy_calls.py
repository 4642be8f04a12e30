"""Every function of NumPy that a script has, called as people call it, against NumPy itself."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree
from tests.support.numpy_calls import ARRAYS, LINES, arrays_of

np: Any = numpy
# Functions of numbers have tests of their own, for every type.
_OF_NUMBERS = "tests/differential/test_library_elements.py"


@pytest.mark.sampled(45)
@pytest.mark.parametrize("call", LINES)
def test_gives_what_numpy_gives(call: str) -> None:
    names = arrays_of(call)
    kernel = script_from_text(f"def f({', '.join(names)}):\n    return {call}\n", {"np": np})
    outcome = assert_agree(kernel, [ARRAYS[name] for name in names])
    assert outcome.error is None


def test_every_function_is_called() -> None:
    called = set(re.findall(r"np\.([\w.]*\w)", "\n".join(LINES)))
    with open(_OF_NUMBERS, encoding="utf-8") as source:
        called |= set(re.findall(r"np\.(\w+)", source.read()))
    assert [name for name in hybrid.NUMPY_FUNCTIONS if name not in called] == []
