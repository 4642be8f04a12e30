"""`.real`, `.imag` and `.conjugate()` of numbers of every type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.frontend.from_text import script_from_text
from tests.support.oracle import assert_same

NUMBERS: tuple[Any, ...] = (
    *(True, 3, 2.5, 1 + 2j, -0.0, float("inf")),
    *(np.bool_(True), np.uint8(3), np.float16(2.5), np.float32("nan"), np.complex64(1 - 2j)),
)


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_as_in_python(number: Any) -> None:
    kernel = script_from_text("def f(x):\n    return x.real, x.imag, x.conjugate()\n")
    wanted = kernel.py_func(number)
    for way in (kernel, kernel.interpret):
        for found, part in zip(way(number), wanted, strict=True):
            assert type(found) is type(part)
            assert_same(found, part)


def test_what_has_the_part_is_computed() -> None:
    kernel = script_from_text("def f(n):\n    return (1 // n).imag\n")
    assert kernel(5) == 0
    for way in (kernel, kernel.interpret):
        with pytest.raises(ZeroDivisionError, match="division"):
            way(0)
