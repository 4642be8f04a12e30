"""Where something is in a list or tuple, and the largest of what may be nothing."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.frontend.from_text import script_from_text
from tests.support.oracle import (
    assert_same_outcome,
    run_interpreted,
    run_native,
    run_once,
    run_plain,
)

np: Any = numpy

GROWN = "    l = []\n    for i in range(n):\n        l.append(i * 3 % 5)\n"
BODIES = (
    "    l = [4, 2, n, 2]\n    return l.index(n), l.count(2), (1, 2, 3).count(n)",
    "    return (1.5, 2.5, 4.0).index(2.5)",
    f"{GROWN}    return l.index(k)",
    f"{GROWN}    return l.count(k)",
    f"{GROWN}    l.remove(k)\n    return l",
    f"{GROWN}    l.remove(k)\n    l.remove(k)\n    return len(l), l",
    "    return max((int(x) for x in a if x > k), default=-1)",
    "    return min((int(x) for x in a if x > k), default=n)",
    "    return max([i * i for i in range(n)], default=k)",
    "    x, *y = (1, 2, n)\n    *z, w = 1.5, n\n    return y, z, x, w",
    "    try:\n        return (1, 2, n).index(k)\n    except ValueError:\n        return -1",
)


@pytest.mark.parametrize("body", BODIES)
def test_as_python(body: str) -> None:
    kernel = script_from_text(f"def f(a, n, k):\n{body}\n", {})
    for n, k in ((0, 0), (1, 0), (4, 3), (7, 1), (20, 4), (5, 9)):
        args = [np.arange(6.0), n, k]
        wanted = run_once(run_plain, kernel, args)
        assert_same_outcome(run_once(run_interpreted, kernel, args), wanted)
        assert_same_outcome(run_once(run_native, kernel, args), wanted)


def test_the_largest_element_or_what_is_given() -> None:
    text = "def f(a, x):\n    return max(a, default=x), min(a[:2], default=x)\n"
    kernel = script_from_text(text, {})
    for size in (0, 1, 5):
        a, x = np.arange(float(size)), np.float64(3.5)
        wanted = kernel.py_func(a, x)
        assert kernel(a, x) == kernel.interpret(a, x) == wanted
