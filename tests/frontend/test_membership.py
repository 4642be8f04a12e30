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


@pytest.mark.parametrize(
    "expression",
    [
        "x in range(n), x not in range(2, n)",
        "x in range(n, -9, -3), x in range(-7, n, 3), 2 in range(n) and x in range(4)",
        "[k for k in range(-5, 9) if k in range(1, n, 2) or k not in range(3, -n, -2)]",
    ],
)
@pytest.mark.parametrize(
    "x", [-3, 0, 2, 5, True, 2.0, 2.5, np.nan, np.int8(3), np.float32(4)], ids=repr
)
def test_ranges_are_not_gone_through(expression: str, x: Any) -> None:
    kernel = script_from_text(f"def f(x, n):\n    return {expression}\n")
    for n in (-4, 0, 1, 3, 6, 10):
        wanted = kernel.py_func(x, n)
        assert kernel(x, n) == wanted
        assert kernel.interpret(x, n) == wanted


def test_a_range_without_a_step_is_an_error() -> None:
    kernel = script_from_text("def f(x, n):\n    return x in range(0, 9, n)\n")
    assert kernel(4, 2)
    with pytest.raises(ValueError, match="must not be zero"):
        kernel(4, 0)


def test_elements_in_a_range() -> None:
    kernel = script_from_text("""def f(a, found):
    for i in range(a.shape[0]):
        found[i] = a[i] in range(2, 9, 2)
""")
    for dtype in ("i1", "u1", "i8", "f4", "f8"):
        values = np.array([0, 1, 2, 4, 6, 8, 9, 10] * 5, dtype)
        found, wanted = np.zeros(40, bool), np.zeros(40, bool)
        kernel(values, found)
        kernel.py_func(values, wanted)
        assert found.tolist() == wanted.tolist()


def test_an_array_is_not_compared_with_strings() -> None:
    kernel = script_from_text("def f(x):\n    return x in (1, 'a')\n")
    with pytest.raises(ParseError, match="'in' is only supported of"):
        kernel(np.zeros(3))
