"""Reductions of te, against NumPy, interpreted and native."""

from typing import Any

import numpy as np
import pytest

from hybridjit import te
from hybridjit.tensors.function import create_program
from tests.support.tensor_programs import assert_computes

Array = Any
RNG = np.random.default_rng(7)


def integers(*shape: int, dtype: str = "float32") -> Array:
    """Small integers, whose sums are exact in any order."""
    return RNG.integers(1, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_sum_and_product_keep_the_type(name: str, dtype: str) -> None:
    a = te.placeholder((3, 4), dtype, "A")
    k = te.reduce_axis((0, 4), "k")
    b = te.compute((3,), lambda i: getattr(te, name)(a[i, k], axis=k), name="B")
    value = integers(3, 4, dtype=dtype)
    assert_computes([a, b], [value], getattr(np, name)(value, axis=1, dtype=dtype))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "bool"])
@pytest.mark.parametrize("name", ["min", "max"])
def test_extrema(name: str, dtype: str) -> None:
    a = te.placeholder((3, 4), dtype, "A")
    k = te.reduce_axis((0, 4), "k")
    b = te.compute((3,), lambda i: getattr(te, name)(a[i, k], axis=k), name="B")
    value = (RNG.integers(0, 20, (3, 4)) % 7).astype(dtype)
    assert_computes([a, b], [value], getattr(np, name)(value, axis=1))


def test_conditions() -> None:
    a = te.placeholder((6, 4), name="A")
    k = te.reduce_axis((0, 4), "k")
    b = te.compute((6,), lambda i: te.any(a[i, k] > 7, axis=k), name="B")
    c = te.compute((6,), lambda i: te.all(a[i, k] - 1, axis=k), name="C")
    value = integers(6, 4)
    assert_computes([a, b, c], [value], [(value > 7).any(1), (value - 1).all(1)])


def test_conditions_of_numbers() -> None:
    b = te.compute((4,), lambda i: te.any(i == 1, te.all(i > 1, i < 3)), name="B")
    assert_computes([b], [], np.array([False, True, True, False]))


def test_direct_values() -> None:
    a = te.placeholder((4,), name="A")
    b = te.compute((4,), lambda i: te.max(a[i], 3.0, te.min(a[i], 6.0)), name="B")
    value = integers(4)
    assert_computes([a, b], [value], np.maximum(np.maximum(value, 3), np.minimum(value, 6)))


def test_several_axes_with_a_start() -> None:
    a = te.placeholder((3, 4, 5), name="A")
    y, x = te.reduce_axis((1, 4), "y"), te.reduce_axis((0, 5), "x")
    b = te.compute((3,), lambda i: te.sum(a[i, y, x], axis=[y, x]), name="B")
    value = integers(3, 4, 5)
    assert_computes([a, b], [value], value[:, 1:].sum((1, 2)))
    assert [axis.name for axis in b.op.reduce_axis] == ["y", "x"]


def test_a_condition_reads_tensors_too() -> None:
    a, mask = te.placeholder((3, 4), name="A"), te.placeholder((4,), "bool", "M")
    chosen = te.compute((4,), lambda j: ~mask[j], name="N")
    k = te.reduce_axis((0, 4), "k")
    b = te.compute((3,), lambda i: te.sum(a[i, k], axis=k, where=chosen[k]), name="B")
    value, flags = integers(3, 4), np.array([True, False, False, True])
    assert_computes([a, mask, b], [value, flags], value[:, ~flags].sum(1))


def test_a_starting_value() -> None:
    a, start = te.placeholder((3, 4), name="A"), te.placeholder((3,), name="S")
    k = te.reduce_axis((0, 4), "k")
    b = te.compute((3,), lambda i: te.sum(a[i, k], axis=k, init=start[i]), name="B")
    c = te.compute((3,), lambda i: te.max(a[i, k], axis=k, init=7), name="C")
    value, first = integers(3, 4), integers(3)
    expected = [value.sum(1) + first, np.maximum(value.max(1), 7)]
    assert_computes([a, start, b, c], [value, first], expected)


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 1), (1, 0)])
def test_ranges_that_depend_on_an_axis(low: int, high: int) -> None:
    a = te.placeholder((5, 5), name="A")

    def body(i: Any) -> Any:
        k = te.reduce_axis((i if low else 0, 5 if low else i + high), "k")
        return te.sum(a[i, k], axis=k)

    b = te.compute((5,), body, name="B")
    value = integers(5, 5)
    expected = np.triu(value) if low else np.tril(value, high - 1)
    assert_computes([a, b], [value], expected.sum(1))


def test_ranges_that_depend_on_each_other() -> None:
    a = te.placeholder((3, 4, 4), name="A")
    y = te.reduce_axis((0, 4), "y")
    x = te.reduce_axis((0, y), "x")
    b = te.compute((3,), lambda i: te.sum(a[i, y, x], axis=[y, x]), name="B")
    value = integers(3, 4, 4)
    assert_computes([a, b], [value], np.tril(value, -1).sum((1, 2)))


@pytest.mark.parametrize("size", [0, 1, 5])
def test_nothing_to_reduce(size: int) -> None:
    n = te.var("n")
    a = te.placeholder((3, n), name="A")
    k = te.reduce_axis((0, n), "k")
    b = te.compute((3,), lambda i: te.sum(a[i, k], axis=k), name="B")
    value = integers(3, size)
    assert_computes([a, b], [value], value.sum(1))


def test_nothing_to_reduce_at_all() -> None:
    k = te.reduce_axis((2, 2), "k")
    b = te.compute((3,), lambda i: te.prod(i + k, axis=k), name="B")
    assert_computes([b], [], np.ones(3, np.int64))


def test_a_result_without_dimensions() -> None:
    a = te.placeholder((6,), name="A")
    k = te.reduce_axis((0, 6), "k")
    b = te.compute((), lambda: te.sum(a[k], axis=k), name="B")
    c = te.compute((6,), lambda i: a[i] / b, name="C")
    value = integers(6)
    assert_computes([a, c], [value], value / value.sum())


def _argmax() -> Any:
    def combine(x: Any, y: Any) -> Any:
        first = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
        return te.if_then_else(first, x[0], y[0]), te.if_then_else(first, x[1], y[1])

    def identity(index: str, value: str) -> Any:
        return te.max_value(index), te.min_value(value)

    return te.comm_reducer(combine, identity, name="argmax")


def test_argmax() -> None:
    a = te.placeholder((5, 7), name="A")
    k = te.reduce_axis((0, 7), "k")
    argmax = _argmax()
    where, most = te.compute((5,), lambda i: argmax((k, a[i, k]), axis=k), name="T")
    value = integers(5, 7)
    assert_computes([a, where, most], [value], [value.argmax(1), value.max(1)])
    assert_computes([a, where], [value], value.argmax(1))


def test_a_reducer_of_tuples_on_values() -> None:
    argmax = _argmax()
    b, _ = te.compute((4,), lambda i: argmax((i, i % 3), (i + 9, 1)), name="B")
    assert_computes([b], [], np.array([9, 1, 2, 12]))


def test_results_are_computed_before_they_are_stored() -> None:
    def combine(x: Any, y: Any) -> Any:
        return x[0] + y[0], x[1] + y[1] + x[0] * y[0]

    def identity(total: str, products: str) -> Any:
        return 0, 0

    pairs = te.comm_reducer(combine, identity, name="pairs")
    k = te.reduce_axis((0, 5), "k")
    total, products = te.compute((2,), lambda i: pairs((k + i, 0), axis=k), name="P")
    value = np.arange(5) + np.arange(2)[:, None]
    expected = (value.sum(1) ** 2 - (value**2).sum(1)) // 2
    assert_computes([total, products], [], [value.sum(1), expected])


def test_one_axis_in_two_reductions() -> None:
    a = te.placeholder((4, 4), name="A")
    k = te.reduce_axis((0, 4), "k")
    b = te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="B")
    c = te.compute((4,), lambda i: te.max(b[k] * a[k, i], axis=k), name="C")
    value = integers(4, 4)
    assert_computes([a, c], [value], (value.sum(1)[:, None] * value).max(0))


def test_matrix_product() -> None:
    n, m, depth = te.var("n"), te.var("m"), te.var("l")
    a, b = te.placeholder((n, depth), name="A"), te.placeholder((depth, m), name="B")
    k = te.reduce_axis((0, depth), "k")
    c = te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    x, y = integers(3, 5), integers(5, 4)
    assert_computes([a, b, c], [x, y, integers(3, 4)], x @ y)


def test_where_operations_are() -> None:
    a = te.placeholder((4, 4), name="A")
    k = te.reduce_axis((0, 4), "k")
    b = te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="B")
    c = te.compute((4,), lambda i: te.sum(a[k, i] * b[k], axis=k), name="B")
    program = create_program([a, c])
    assert [program.places.main_block(t.op) for t in (b, c)] == ["B", "B_1"]
    loops = [program.places.loop(t.op, k) for t in (b, c)]
    assert loops[0] is not loops[1]
    assert [var.name for var in loops] == ["k", "k"]


@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_extrema_of_floats_are_those_of_numpy(name: str, dtype: str) -> None:
    """NaN is the extremum wherever it stands, unlike in Python."""
    rows: Array = RNG.random((5, 4)).astype(dtype)
    rows[0, 0] = rows[1, 2] = rows[2, 3] = np.nan
    a = te.placeholder((5, 4), dtype, "A")
    k = te.reduce_axis((0, 4), "k")
    c = te.compute((5,), lambda i: getattr(te, name)(a[i, k], axis=k), name="C")
    assert_computes([a, c], [rows], getattr(np, name)(rows, axis=1))
    d = te.compute((5,), lambda i: getattr(te, name)(a[i, 0], a[i, 2]), name="D")
    pairs = getattr(np, f"{name}imum")
    assert_computes([a, d], [rows], pairs(rows[:, 0], rows[:, 2]))
