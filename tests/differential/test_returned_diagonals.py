"""A diagonal of an argument that is returned: a view of the argument, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.frontend.from_text import script_from_text

np: Any = numpy

PARTS = {
    2: ("np.diag(x)", "np.diag(x, 1)", "np.diag(x, -2)", "np.diag(x, 9)", "x.T.diagonal()"),
    3: ("x.diagonal()", "np.diagonal(x, 1, 2, 0)", "x[0].diagonal(-1)", "x[::-1].diagonal()"),
    4: ("x.diagonal()", "np.diagonal(x, 0, 1, 3)", "x[:, 0].diagonal(1, 0, 2)[None]"),
}
CASES = [(ndim, text) for ndim, texts in PARTS.items() for text in texts]


@pytest.mark.parametrize(("ndim", "text"), CASES)
def test_it_is_as_in_numpy(ndim: int, text: str) -> None:
    kernel = script_from_text(f"def f(x):\n    return {text}\n", {"np": np})
    for sizes in ((3, 3, 4, 2), (5, 4, 2, 3), (2, 7, 3, 3), (2, 7, 3, 3)):
        shape = sizes[:ndim]
        x = np.arange(np.prod(shape)).reshape(shape)
        expected = kernel.py_func(x)
        for found in (kernel(x), kernel.interpret(x)):
            np.testing.assert_array_equal(found, expected, strict=True)
            assert found.strides == expected.strides or not found.size
            assert np.shares_memory(found, x) == np.shares_memory(expected, x)
