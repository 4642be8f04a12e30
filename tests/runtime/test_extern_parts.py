"""Parts of arrays that are passed to C functions and to callbacks, in every way to run a script."""

import ctypes
import math
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.errors import ArgumentError, BoundsError, HybridError
from hybridjit.frontend.parse import parse_text
from hybridjit.hybrid import extern, output_tensor, packed, part
from tests.support.oracle import run_plain_and_interpreted

Array = Any


@ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64)
def c_sum(pointer: int, count: int) -> float:
    return sum((ctypes.c_double * count).from_address(pointer))


TOTAL = extern(c_sum, "float64", ["float64*", "int64"], name="total")


def fill_range(a: Array) -> None:
    a[...] = numbered(*a.shape)


FILL = packed(fill_range, name="fill")


@hybrid.script
def rows(a: Array) -> Array:
    out = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        out[i] = TOTAL(a[i], a.shape[1])
    return out


@hybrid.script
def slices(a: Array, n: int) -> Any:
    FILL(a[1:n, 2:])
    FILL(a[:, 1])
    return TOTAL(a[2, 1:4], 3)


@hybrid.script
def by_name(a: Array, i: int, n: int) -> None:
    FILL(part(a, (i, 0), (n, 2)))
    FILL(part(a, (-1, 1), (None, 3)))


@hybrid.script
def one_element(a: Array) -> Any:
    return TOTAL(part(a, (1, 0), (None, None)), 2 * a.shape[1])


def numbered(*shape: int) -> Array:
    numbers: Array = np.arange(float(math.prod(shape)))
    return numbers.reshape(shape)


def matrix() -> Array:
    return numbered(5, 4)


def test_rows_go_to_c() -> None:
    assert (
        run_plain_and_interpreted(rows, [matrix()]).result.tolist() == matrix().sum(axis=1).tolist()
    )


@pytest.mark.parametrize("n", [1, 3, 5, 9])
def test_slices_are_views(n: int) -> None:
    run_plain_and_interpreted(slices, [matrix(), n])


def test_slices_of_strided_arrays_are_views() -> None:
    wide = numbered(10, 8)
    run_plain_and_interpreted(by_name, [wide[::2, ::-1], 1, 2])


def test_parts_by_name() -> None:
    a = matrix()
    by_name(a, 2, 3)
    assert a[2:, :2].tolist() == [[0, 1], [2, 3], [4, 0]]
    assert a[4].tolist() == [4, 0, 1, 2]
    run_plain_and_interpreted(by_name, [matrix(), 2, 3])


def test_the_address_of_an_element() -> None:
    assert run_plain_and_interpreted(one_element, [matrix()]).result == matrix()[1:3].sum()


@pytest.mark.parametrize(("i", "n"), [(-1, 1), (3, 3), (5, 1), (0, -1), (0, 6)])
def test_a_part_outside_is_an_error(i: int, n: int) -> None:
    for run in (by_name.interpret, by_name):
        with pytest.raises(BoundsError, match="out of bounds for axis 0 of 'a'"):
            run(matrix(), i, n)
    with pytest.raises(IndexError, match="fit"):
        by_name.py_func(matrix(), i, n)


@pytest.mark.parametrize("a", [numbered(3, 4)[::2], numbered(4, 3).T, numbered(5, 8)[:, 1:5]])
def test_strided_arrays_do_not_go_to_c(a: Array) -> None:
    """The address alone would tell C nothing about the strides."""

    @hybrid.script
    def whole(a: Array) -> Any:
        return TOTAL(a, 3)

    for run in (whole.interpret, whole):
        with pytest.raises(ArgumentError, match="'a' must be C-contiguous to be passed to 'total'"):
            run(a)


def test_rows_of_strided_arrays_go_to_c_if_they_are_contiguous() -> None:
    run_plain_and_interpreted(rows, [numbered(5, 8)[::-2, 2:6]])
    with pytest.raises(ArgumentError, match="C-contiguous"):
        rows(numbered(4, 5).T)


def test_sizes_without_extent_are_contiguous() -> None:
    run_plain_and_interpreted(rows, [np.ones((0, 4))[:, ::2]])
    run_plain_and_interpreted(rows, [np.ones((3, 8))[:, :1]])


@pytest.mark.parametrize("text", ["a[::2]", "a[:, None]", "a.T", "a[::-1]"])
def test_other_views_are_refused(text: str) -> None:
    script = parse_error(f"def f(a: float64[3, 4]):\n    fill({text})\n")
    assert "without steps" in script


def parse_error(text: str) -> str:
    with pytest.raises(HybridError, match=r"pass a copy") as caught:
        parse_text(text, {"fill": FILL})
    return str(caught.value)


def test_parts_print_and_read_back() -> None:
    func = by_name.prim_func(matrix(), 1, 2)
    assert "fill(part(a, (i, 0), (n, 2)))" in str(func)
    assert "fill(part(a, (-1, 1), (None, 3)))" in str(func)
    assert hj.structural_equal(parse_text(str(func), {"fill": FILL}), func)


def test_starts_that_are_read_from_memory() -> None:
    @hybrid.script
    def jump(a: Array, starts: Array) -> None:
        for i in range(starts.shape[0]):
            FILL(part(a, (starts[i],), (2,)))

    run_plain_and_interpreted(jump, [np.ones(9), np.array([3, 0, 7])])
    with pytest.raises(IndexError, match="out of bounds"):
        jump(np.ones(9), np.array([8]))


def test_safety_tells_about_parts() -> None:
    found = by_name.safety(matrix(), 2, 3)
    assert [(check.buffer, check.axis) for check in found.checks] == [("a", 0), ("a", 0)]
    assert found.proved == 5
