"""Products of loops whose sizes are known at run time only: in tiles where they fit and are large,
else as they stand; bit for bit what the loops give, errors included.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from tests.optimize.test_pack_products import (
    NOT_TAKEN,
    TAKEN,
    arguments,
    from_what_is_there,
    in_a_variable,
    in_the_array,
    row_by_row,
    scaled_before,
    set_before,
    terms_of_two_loops,
)
from tests.support.small_machine import small_machine

np: Any = numpy
Array = Any
# Small ones first: from the third on, sizes are those of the run. Then some that make tiles, and
# some that are too small or too narrow for them.
SIZES = [(2, 3, 4), (3, 2, 5), (4, 4, 3), (23, 33, 31), (40, 65, 18), (1, 70, 9), (70, 1, 9)]
EMPTY = [(0, 40, 40), (40, 0, 40), (40, 40, 0)]


@pytest.fixture(autouse=True)
def on_a_small_machine() -> Generator[None]:
    with small_machine():
        yield


def assert_same(kernel: Any, function: Any, args: list[Array]) -> None:
    """All arrays are the same afterwards, and the result, also after an error."""
    ours, theirs = ([arg.copy() for arg in args] for _ in range(2))
    try:
        wanted = function(*theirs)
    except IndexError:
        with pytest.raises(IndexError, match="out of bounds"):
            kernel(*ours)
    else:
        numpy.testing.assert_array_equal(kernel(*ours), wanted)
    for found, expected in zip(ours, theirs, strict=True):
        numpy.testing.assert_array_equal(found, expected)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [*TAKEN, *NOT_TAKEN])
def test_every_bit(function: Any, dtype: str) -> None:
    kernel: Any = hybrid.script(function)
    for sizes in (*SIZES, *EMPTY):
        assert_same(kernel, function, arguments(function, sizes, dtype))


def specs(function: Any) -> list[Any]:
    sizes = [("rows", "terms"), ("other", "columns"), ("height", "width")]
    return [hj.f64[size] for size in sizes[: function.__code__.co_argcount]]


@pytest.mark.parametrize("function", [in_the_array, in_a_variable, row_by_row, scaled_before])
def test_which_are_taken(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    assert "least_terms=" in str(kernel.auto_schedule(*specs(function)).trace)


@pytest.mark.parametrize("function", [in_the_array, row_by_row, set_before, from_what_is_there])
def test_the_step_by_hand(function: Any) -> None:
    """It is taken whatever the sizes are, if there are terms and they fit."""
    kernel: Any = hybrid.script(function)
    s = kernel.schedule(*specs(function))
    s.gemm(s.blocks()[-1].name, rows=4, vectors=1, lanes=4, depth=8)
    scheduled = kernel.with_schedule(s.trace)
    for sizes in (*SIZES, *EMPTY):
        assert_same(scheduled, function, arguments(function, sizes, "float64"))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("cut", [0, 1, 2])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "function", [in_the_array, in_a_variable, scaled_before, from_what_is_there]
)
def test_arrays_that_are_too_small(function: Any, cut: int, axis: int) -> None:
    """Errors come where they come in the loops, after what was done before."""
    kernel: Any = hybrid.script(function)
    for sizes in SIZES[:4]:
        kernel(*arguments(function, sizes, "float64"))
    args = arguments(function, (23, 33, 31), "float64")
    args[cut] = np.ascontiguousarray(args[cut][:-4] if axis == 0 else args[cut][:, :-4])
    assert_same(kernel, function, args)


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_arrays_that_are_known_to_be_too_small(cut: int) -> None:
    args = arguments(in_the_array, (23, 33, 31), "float64")
    args[cut] = np.ascontiguousarray(args[cut].T)
    with pytest.raises(IndexError, match="out of bounds"):
        hybrid.script(in_the_array)(*args)


def test_arguments_that_share_memory() -> None:
    kernel: Any = hybrid.script(in_the_array)
    for size in (3, 4, 5, 40):
        memory = np.random.default_rng(size).standard_normal((size, size)) / size
        ours, theirs = memory.copy(), memory.copy()
        kernel(ours, ours, ours)
        in_the_array(theirs, theirs, theirs)
        numpy.testing.assert_array_equal(ours, theirs)


def test_a_receipt_is_taken_once() -> None:
    """The loops for other sizes, which the step leaves, are not taken for a product again."""
    kernel: Any = hybrid.script(in_the_array)
    trace = kernel.auto_schedule(*specs(in_the_array)).trace
    again = kernel.with_schedule(trace)
    assert str(again.auto_schedule(*specs(in_the_array)).trace).count("gemm") == 1
    for sizes in SIZES:
        assert_same(again, in_the_array, arguments(in_the_array, sizes, "float64"))


def matrices_by_a_vector(a: Array, b: Array, c: Array) -> None:
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            c[n, i] = 0.0
            for k in range(a.shape[2]):
                c[n, i] += a[n, i, k] * b[k]


def a_vector_by_matrices(a: Array, b: Array, c: Array) -> None:
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            total = 0.0
            for k in range(a.shape[2]):
                total += b[k] * a[n, i, k]
            c[n, i] = total


def columns_by_a_vector(a: Array, b: Array, c: Array) -> None:
    for n in range(a.shape[0]):
        for i in range(a.shape[2]):
            c[n, i] = 0.0
            for k in range(a.shape[1]):
                c[n, i] += b[k] * a[n, k, i]


@pytest.mark.parametrize(
    "function", [matrices_by_a_vector, a_vector_by_matrices, columns_by_a_vector]
)
def test_products_of_several_matrices_and_a_vector_stay_as_they_are(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    for count, rows, terms in (*SIZES, *EMPTY):
        by_columns = function is columns_by_a_vector
        a = np.arange(float(count * rows * terms)).reshape(count, rows, terms) % 7 - 3
        if by_columns:
            a = np.ascontiguousarray(a.transpose(0, 2, 1))
        assert_same(kernel, function, [a, np.arange(float(terms)), np.ones((count, rows))])


def test_on_threads() -> None:
    kernel: Any = hybrid.script(in_a_variable, parallel=True)
    for sizes in (*SIZES, (64, 33, 70)):
        assert_same(kernel, in_a_variable, arguments(in_a_variable, sizes, "float64"))


def test_loops_of_known_terms() -> None:
    """Of two loops over terms, how long they are must be known: such a nest stays as it is."""
    kernel: Any = hybrid.script(terms_of_two_loops)
    trace = kernel.auto_schedule(hj.f64["rows", "terms"], hj.f64["terms", "columns"]).trace
    assert "gemm" not in str(trace)


def test_te() -> None:
    n, m, terms = te.var("n"), te.var("m"), te.var("terms")
    A, B = te.placeholder((n, terms), "float64", "A"), te.placeholder((terms, m), "float64", "B")
    k = te.reduce_axis((0, terms), "k")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), "C")
    built = hj.build(te.create_schedule(C.op), [A, B, C])
    for sizes in (*SIZES, *EMPTY):
        a, b, c = arguments(in_the_array, sizes, "float64")
        wanted = c.copy()
        in_the_array(a, b, wanted)
        built(a, b, c)
        numpy.testing.assert_array_equal(c, wanted)
