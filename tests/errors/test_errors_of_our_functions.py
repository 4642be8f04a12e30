"""Errors that functions of ours raise at run time are at the call, as people see it."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit.errors import place_of, text_at
from tests.frontend.from_text import script_from_text

np: Any = numpy
CALLS: dict[str, tuple[Any, ...]] = {
    "divmod(x, y)": (7, 0),
    "min(x)": (np.zeros(0), 0),
    "[1, 2].index(y)": (7, 7),
    "pow(x, 2, y)": (7, 0),
    "np.linalg.solve(x, y)": (np.zeros((2, 2)), np.zeros(2)),
}


@pytest.mark.parametrize("call", CALLS)
def test_is_at_the_call(call: str) -> None:
    kernel = script_from_text(
        f"def f(x, y):\n    for i in range(1):\n        z = {call}\n        del z\n", {"np": np}
    )
    for way in (kernel, kernel.interpret):
        with pytest.raises((ValueError, ArithmeticError)) as caught:
            way(*CALLS[call])
        place = place_of(caught.value)
        assert place is not None
        assert place.file.startswith("<test script")
        assert text_at(place) == call
        told = "".join(getattr(caught.value, "__notes__", [str(caught.value)]))
        assert "in iteration i=0" in told
        assert "k=" not in told


def test_in_a_function_of_the_user_is_there() -> None:
    text = "def f(x):\n    return max(x, key=lambda v: 6 // v)\n"
    for way in (script_from_text(text), script_from_text(text).interpret):
        with pytest.raises(ZeroDivisionError, match="division") as caught:
            way(np.arange(3))
        place = place_of(caught.value)
        assert place is not None
        assert text_at(place) == "6 // v"
