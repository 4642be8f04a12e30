"""reduce, accumulate, outer and at of ufuncs, against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError, ShapeMismatch, TypeMismatch
from tests.support.ufunc_results import assert_equal, np
from tests.support.ufunc_results import numbers as floats


def numbers(shape: Any, dtype: str = "int64") -> Any:
    return floats(shape, dtype)


@hybrid.vectorize
def add(x: Any, y: Any) -> Any:
    return x + y


@hybrid.vectorize
def largest(x: Any, y: Any) -> Any:
    return max(x, y)


@hybrid.vectorize(identity=0)
def gcd(x: Any, y: Any) -> Any:
    while y != 0:
        x, y = y, x % y
    return x


@hybrid.vectorize
def mixed(x: Any, y: Any) -> Any:
    return x * 2 - y


@hybrid.vectorize(associative=True)
def last(x: Any, y: Any) -> Any:
    return y if x == x else x


AXES = [0, 1, 2, -1, None, (0, 1), (0, 2), (1, 2), (2, 0), (0, 1, 2), ()]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduce(axis: Any, keepdims: bool) -> None:
    x = numbers((3, 4, 5))
    expected = np.add.reduce(x, axis=axis, keepdims=keepdims)
    assert_equal(add.reduce(x, axis=axis, keepdims=keepdims), expected)
    assert_equal(largest.reduce(x, axis, None, None, keepdims), x.max(axis, keepdims=keepdims))


@pytest.mark.parametrize("axis", [0, 1, (0, 1), None])
def test_reduce_of_layouts(axis: Any) -> None:
    x = numbers((6, 8))
    for array in (x.T, x[::2, ::-1], np.asfortranarray(x), x[1:, 2:]):
        assert_equal(add.reduce(array, axis=axis), np.add.reduce(array, axis=axis))
        is_whole = axis in (None, (0, 1))
        expected = np.gcd.reduce(array.ravel() if is_whole else array, 0 if is_whole else axis)
        assert_equal(gcd.reduce(array, axis=axis), expected)


def test_reduce_starts_from_initial() -> None:
    x = numbers((3, 4))
    assert_equal(add.reduce(x, initial=100), np.add.reduce(x, initial=100))
    assert_equal(largest.reduce(x, axis=None, initial=100), np.int64(100))


def test_reduce_of_nothing() -> None:
    empty = np.zeros((0, 3))
    assert_equal(add.reduce(empty), np.zeros(3))
    assert_equal(add.reduce(empty, axis=1), np.zeros(0))
    assert_equal(gcd.reduce(np.zeros(0, int)), np.int64(0))
    with pytest.raises(ArgumentValueError, match=r"zero-size array to .* 'largest'"):
        largest.reduce(empty)
    assert_equal(largest.reduce(empty, initial=1), np.ones(3))


@pytest.mark.parametrize("options", [{}, {"axis": None}, {"axis": -1}, {"initial": 2}])
def test_reduce_of_a_number(options: Any) -> None:
    for number in (np.array(3.0), np.array(3), 3.0):
        assert_equal(add.reduce(number, **options), np.add.reduce(number, **options))
    with pytest.raises(IndexError, match="axis 1 is out of bounds"):
        add.reduce(np.array(3.0), axis=1)


def test_reduce_keeps_the_type_of_the_function() -> None:
    assert add.reduce(numbers(3, "int8")).dtype == np.int8
    assert_equal(
        add.reduce(numbers(300, "int8"), dtype="int64"), np.add.reduce(numbers(300, "int8"))
    )
    assert add.reduce(numbers(3, "float32")).dtype == np.float32


def test_reduce_into_an_array() -> None:
    x, out = numbers((3, 4)), np.zeros(4)
    assert add.reduce(x, out=out) is out
    assert_equal(out, np.add.reduce(x).astype(float))
    with pytest.raises(ShapeMismatch, match="out= has the shape"):
        add.reduce(x, out=np.zeros(3))


def test_reduce_needs_an_associative_function() -> None:
    with pytest.raises(ArgumentError, match=r"(?s)not known to be associative.*identity=0"):
        mixed.reduce(numbers(3))
    assert_equal(last.reduce(numbers(5)), numbers(5)[-1])


@pytest.mark.parametrize("name", ["add", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor"])
def test_known_reductions(name: str) -> None:
    functions: dict[str, Any] = {
        "add": add,
        "multiply": multiply,
        "bitwise_and": bitwise_and,
        "bitwise_or": bitwise_or,
        "bitwise_xor": bitwise_xor,
    }
    x = numbers((3, 4))
    assert_equal(functions[name].reduce(x), getattr(np, name).reduce(x))
    for dtype in ("int64", "int8", "uint8", "uint64", "bool"):
        empty = np.zeros((0, 2), dtype)
        expected = getattr(np, name).reduce(empty, dtype=dtype)
        assert_equal(functions[name].reduce(empty), expected)


@hybrid.vectorize
def multiply(x: Any, y: Any) -> Any:
    return x * y


@hybrid.vectorize
def bitwise_and(x: Any, y: Any) -> Any:
    return x & y


@hybrid.vectorize
def bitwise_or(x: Any, y: Any) -> Any:
    return x | y


@hybrid.vectorize
def bitwise_xor(x: Any, y: Any) -> Any:
    return x ^ y


@hybrid.vectorize
def squares(x: Any, y: Any) -> Any:
    _ = y
    return x * x


def test_a_product_of_one_operand_with_itself_is_none() -> None:
    with pytest.raises(ArgumentError, match="not known to be associative"):
        squares.reduce(numbers(3))


def test_a_type_that_never_settles() -> None:
    @hybrid.vectorize(associative=True)
    def flips(x: Any, y: Any) -> Any:
        return x == y

    assert flips.reduce(np.array([True, False, False])) == np.True_

    @hybrid.vectorize(associative=True)
    def odd(x: Any, y: Any) -> Any:
        return x == y if isinstance(x, float) else 0.5

    with pytest.raises((TypeMismatch, SyntaxError), match=r"isinstance|settles"):
        odd.reduce(np.array([1, 2]))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_accumulate(axis: int) -> None:
    x = numbers((3, 4, 5))
    for array in (x, x.transpose(2, 0, 1), x[:, ::-1]):
        assert_equal(add.accumulate(array, axis), np.add.accumulate(array, axis))
    expected = np.frompyfunc(mixed.py_func, 2, 1).accumulate(x, axis, dtype=object)
    assert_equal(mixed.accumulate(x, axis), expected.astype("int64"))


def test_accumulate_of_little() -> None:
    assert_equal(add.accumulate(np.zeros(0)), np.zeros(0))
    assert_equal(add.accumulate(np.ones((2, 0)), 1), np.ones((2, 0)))
    assert_equal(add.accumulate([1, 2, 3]), np.array([1, 3, 6]))
    with pytest.raises(ArgumentError, match="needs an array with an axis"):
        add.accumulate(1)
    out = np.zeros(3)
    assert add.accumulate(np.arange(3), out=out) is out
    assert out.tolist() == [0, 1, 3]


def test_outer() -> None:
    for left, right in itertools.product((3, (2, 3), ()), repeat=2):
        x, y = numbers(left), numbers(right, "float32")
        assert_equal(add.outer(x, y), np.add.outer(x, y))
    with pytest.raises(ArgumentError, match="two operands"):
        hybrid.vectorize(one).outer(1, 2)


def one(x: Any) -> Any:
    return -x


INDICES: list[Any] = [
    [0, 2, 2, 1, 2],
    ([0, 1, 1], [1, 0, 0]),
    (slice(None), [1, 1]),
    np.array([True, False, True]),
    -1,
    (Ellipsis, 0),
]


def _plain() -> Any:
    return np.zeros((3, 4))


def _fortran() -> Any:
    return np.zeros((3, 4), order="F")


def _strided() -> Any:
    return np.zeros((6, 8))[::2, ::2]


@pytest.mark.parametrize("indices", INDICES)
def test_at(indices: Any) -> None:
    for make in (_plain, _fortran, _strided):
        found, expected = make(), make()
        add.at(found, indices, 2)
        np.add.at(expected, indices, 2)
        assert_equal(found, expected)
        hybrid.vectorize(one).at(found, indices)
        np.negative.at(expected, indices)
        assert_equal(found, expected)


def test_at_reads_before_it_writes() -> None:
    x, y = np.arange(4.0), np.arange(4.0)
    add.at(x, [0, 0, 1, 2], x)
    np.add.at(y, [0, 0, 1, 2], y.copy())
    assert_equal(x, y)


def test_at_refuses() -> None:
    with pytest.raises(ArgumentError, match="at takes the 2 operands of 'add'"):
        add.at(np.zeros(3), [0])
    with pytest.raises(ArgumentError, match="does not cast"):
        add.at(np.zeros(3, int), [0], 1.5)
    with pytest.raises(IndexError, match="out of bounds"):
        add.at(np.zeros(3), [3], 1)


def test_folds_are_for_two_operands() -> None:
    with pytest.raises(ArgumentError, match="reduce is for functions of two operands"):
        hybrid.vectorize(one).reduce(numbers(3))
