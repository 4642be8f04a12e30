"""Products whose columns are the pixels of images: two axes that lie as one, bit for bit."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.schedule.primitives.array_products import find_in_block
from tests.support.small_machine import small_machine

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(21)


@pytest.fixture(autouse=True, params=[False, True], ids=["", "by element"])
def on_a_small_machine(request: Any) -> Generator[None]:
    with small_machine(by_element=request.param):
        yield


def of_an_image(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                y[c, i, j] = 0.0
                for d in range(x.shape[0]):
                    y[c, i, j] += x[d, i, j] * w[c, d]


def from_what_is_there(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for d in range(x.shape[0]):
            for i in range(y.shape[1]):
                for j in range(y.shape[2]):
                    y[c, i, j] += w[c, d] * x[d, i, j]


def of_some_rows(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1] - 1):
            for j in range(y.shape[2]):
                for d in range(x.shape[0]):
                    y[c, i, j] += x[d, i, j] * w[c, d]


def of_some_columns(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2] - 1):
                for d in range(x.shape[0]):
                    y[c, i, j] += x[d, i, j] * w[c, d]


def turned(x: Array, w: Array, y: Array) -> None:
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                for d in range(x.shape[0]):
                    y[c, i, j] += x[d, j, i] * w[c, d]


def pixels_in_front(x: Array, w: Array, y: Array) -> None:
    for i in range(y.shape[1]):
        for j in range(y.shape[2]):
            for c in range(y.shape[0]):
                for d in range(x.shape[0]):
                    y[c, i, j] += x[d, i, j] * w[c, d]


AS_ONE = (of_an_image, from_what_is_there, of_some_rows, pixels_in_front)
SIZES = [(17, 9, 11, 5), (18, 3, 7, 7), (9, 21, 1, 13), (16, 5, 13, 1), (23, 4, 3, 32)]


def arguments(sizes: tuple[int, int, int, int], dtype: str) -> list[Array]:
    channels, depth, rows, columns = sizes
    x = RNG.standard_normal((depth, rows, columns)) * 1000.0 ** RNG.random(columns)
    w = RNG.standard_normal((channels, depth))
    y = RNG.standard_normal((channels, rows, columns))
    return [made.astype(dtype) for made in (x, w, y)]


def laid_out(array: Array, layout: str) -> Array:
    """The same elements, rows further apart than they are long, or axes the other way round."""
    if layout == "apart":
        wide = np.zeros((*array.shape[:-1], array.shape[-1] + 3), array.dtype)
        wide[..., :-3] = array
        return wide[..., :-3]
    return np.asfortranarray(array) if layout == "F" else array.copy()


@pytest.mark.sampled(20)
@pytest.mark.parametrize("layout", ["C", "F", "apart"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("function", [*AS_ONE, of_some_columns, turned])
def test_every_bit(
    function: Any, sizes: tuple[int, int, int, int], dtype: str, layout: str
) -> None:
    if function is turned:
        sizes = (*sizes[:2], sizes[3], sizes[3])
    wanted = arguments(sizes, dtype)
    args = [laid_out(arg, layout) for arg in wanted]
    function(*wanted)
    hybrid.script(function)(*args)
    for arg, want in zip(args, wanted, strict=True):
        numpy.testing.assert_array_equal(arg, want)


@pytest.mark.parametrize("function", [*AS_ONE, of_some_columns, turned])
def test_which_lie_as_one(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    func = kernel.schedule(*arguments((17, 9, 11, 11), "float64")).func
    found = find_in_block(func, "y_1" if function is of_an_image else "y", is_gemm=True)
    assert found is not None
    assert (len(found.product.columns) == 2) is (function in AS_ONE)
