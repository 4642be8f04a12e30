"""`x in items` of strings, dtypes, None and tuples, which no loop goes through."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit.errors import ParseError
from tests.frontend.from_text import script_from_text

np: Any = numpy
NAMES = {"np": np, "MODES": ("edge", "wrap")}


@pytest.mark.parametrize(
    ("expression", "arguments"),
    [
        ("x in ('edge', 'wrap'), x not in ['edge', 'wrap']", ("edge", "wrap", "zero")),
        ("x in MODES, x in (), 'edge' in (x, 1)", ("edge", "zero", 1.0)),
        ("n > 2 and x in ('edge', 'wrap'), n > 5 or x in ('edge',)", ("edge", "zero")),
        ("x in (None, 3), x not in (None, 4)", (None, 3, 4, 3.0)),
        ("x.dtype in (np.float32, 'float64')", (np.zeros(1), np.zeros(1, "f4"), np.zeros(1, int))),
        ("x.shape in ((2, 2), (4,)), x.shape not in ((2, 2),)", (np.zeros((2, 2)), np.zeros(4))),
        (
            "(x, n) in ((1, 3), (2, 4)), (n, (x, n)) in [(3, (1, 3))], (x, 0) in (None,)",
            (1, 2, 3.0),
        ),
    ],
)
def test_as_in_python(expression: str, arguments: tuple[Any, ...]) -> None:
    kernel = script_from_text(f"def f(x, n):\n    return {expression}\n", NAMES)
    for x in arguments:
        wanted = kernel.py_func(x, 3)
        assert kernel(x, 3) == wanted
        assert kernel.interpret(x, 3) == wanted


def test_an_array_is_not_compared_with_strings() -> None:
    kernel = script_from_text("def f(x):\n    return x in (1, 'a')\n")
    with pytest.raises(ParseError, match="'in' is only supported of"):
        kernel(np.zeros(3))
