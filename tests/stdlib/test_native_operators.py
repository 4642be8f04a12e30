"""Calls of operators on arrays run without Python once they are known, with the same results."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from hybridjit import stdlib, te
from hybridjit.errors import ArgumentError
from hybridjit.stdlib.running import operator as operators
from hybridjit.stdlib.running.operator import Operator

hs: Any = stdlib
GENERATOR = np.random.default_rng(0)
A: Any = GENERATOR.random((4, 6), np.float32)
B: Any = GENERATOR.random((4, 6), np.float32)
IMAGE = GENERATOR.random((1, 2, 5, 5), np.float32)
KERNEL = GENERATOR.random((2, 2, 3, 3), np.float32)
ODD = GENERATOR.random((3, 5, 7))
INDICES = np.array([2, 0, 3])

CALLS: dict[str, Callable[[Any], Any]] = {
    "matmul": lambda f: f(A, B.T),
    "softmax": lambda f: f(A, axis=0),
    "add": lambda f: f(A, B[0]),
    "multiply": lambda f: f(A, 2.5),
    "subtract": lambda f: f(3, INDICES),
    "relu": lambda f: f(ODD),
    "negative": lambda f: f(ODD[:, ::-2]),
    "sqrt": lambda f: f(np.array(2.0)),
    "maximum": lambda f: f(A, np.float32(0.5)),
    "where": lambda f: f(A > 0.5, A, 0.0),
    "sum": lambda f: f(A),
    "mean": lambda f: f(A, axis=(0, 1), keepdims=True),
    "argmax": lambda f: f(ODD, axis=-1),
    "layer_norm": lambda f: f(A, gamma=B[0], beta=A[1]),
    "concatenate": lambda f: f((A, B), axis=1),
    "stack": lambda f: f((A[0], B[1], A[2])),
    "split": lambda f: f(A, 2),
    "transpose": lambda f: f(ODD, (2, 0, 1)),
    "take": lambda f: f(A, INDICES, axis=0),
    "conv2d": lambda f: f(IMAGE, KERNEL, stride=(2, 1)),
    "full": lambda f: f((2, 3), 1.5),
    "arange": lambda f: f(5),
}


def hits(operator: Any) -> int:
    return sum(table.hits for table in operator.native_calls.tables)


def fresh(name: str) -> Operator:
    """An operator that has not been called."""
    known: Any = getattr(hs, name)
    known.clear()
    return known


def test_classes_of_calls_are_many() -> None:
    assert all(isinstance(getattr(hs, name), Operator) for name in CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_native_calls_give_the_same(name: str) -> None:
    operator, call = fresh(name), CALLS[name]
    through_python = call(functools.partial(Operator.__call__, operator))
    for _ in range(4):
        call(operator)
    before = hits(operator)
    found = call(operator)
    assert hits(operator) == before + 1
    assert type(found) is type(through_python)
    for now, then in zip(_items(found), _items(through_python), strict=True):
        assert (now.shape, now.dtype, now.tobytes()) == (then.shape, then.dtype, then.tobytes())
        assert type(now) is type(then)
        assert now.flags.writeable
        assert now.flags.owndata
        now[...] = 0
    for again, then in zip(_items(call(operator)), _items(through_python), strict=True):
        assert again.tobytes() == then.tobytes()


def _items(value: Any) -> Any:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def warm(operator: Any, *args: Any, **kwargs: Any) -> None:
    for _ in range(4):
        operator(*args, **kwargs)
    assert hits(operator) > 0


def test_options_are_told_apart() -> None:
    softmax, total = fresh("softmax"), fresh("sum")
    for axis in (0, 1, -1):
        warm(softmax, A, axis=axis)
    for axis in (0, 1, -1):
        np.testing.assert_allclose(softmax(A, axis=axis).sum(axis=axis), 1, rtol=1e-6)
    warm(total, A, keepdims=True)
    assert total(A, keepdims=True).shape == (1, 1)
    assert total(A, keepdims=False).shape == ()
    assert total(A).shape == ()


def test_an_option_that_changes_is_seen() -> None:
    transpose, order = fresh("transpose"), [2, 0, 1]
    for _ in range(6):
        assert transpose(ODD, order).shape == (7, 3, 5)
    order[:] = [1, 2, 0]
    assert transpose(ODD, order).shape == (5, 7, 3)


def test_operands_in_another_order() -> None:
    norm = fresh("layer_norm")
    expected = norm(A, B[0], A[1])
    for _ in range(6):
        np.testing.assert_array_equal(norm(A, beta=A[1], gamma=B[0]), expected)
        np.testing.assert_array_equal(norm(A, gamma=B[0], beta=A[1]), expected)
        np.testing.assert_array_equal(norm(gamma=B[0], beta=A[1], x=A), expected)


def test_numbers_arrays_and_shapes_are_told_apart() -> None:
    add = fresh("add")
    others: list[Any] = [1, 1.5, True, np.int8(1), np.float32(2), A, B[0], B[:, :1], A.T.copy().T]
    for _ in range(3):
        for other in others:
            found, expected = add(A, other), np.add(A, other)
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype
    assert hits(add) > 0


def test_tensors_after_arrays() -> None:
    add = fresh("add")
    warm(add, A, B)
    tensor = te.placeholder((4, 6), "float32")
    assert isinstance(add(tensor, tensor), te.Tensor)
    with pytest.raises(ArgumentError, match="is a tensor"):
        add(tensor, A)


def test_refusals_after_native_calls() -> None:
    matmul, take = fresh("matmul"), fresh("take")
    warm(matmul, A, B.T)
    with pytest.raises(ValueError, match=r"matmul|sizes"):
        matmul(A, B)
    with pytest.raises(ArgumentError, match="matmul"):
        matmul(A)
    warm(take, A, INDICES, axis=0)
    for _ in range(3):
        with pytest.raises(IndexError, match="out of bounds"):
            take(A, INDICES + 9, axis=0)


def test_out() -> None:
    matmul = fresh("matmul")
    expected = matmul(A, B.T)
    for _ in range(5):
        out = np.zeros((4, 4), np.float32)
        assert matmul(A, B.T, out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert matmul(A, B.T, out=None) is not None
    assert hits(matmul) > 0
    with pytest.raises(ValueError, match="out="):
        matmul(A, B.T, out=np.zeros((4, 5), np.float32))
    parts: Any = (np.zeros((2, 6), np.float32), np.zeros((2, 6), np.float32))
    hs.split(A, 2, out=parts)
    np.testing.assert_array_equal(np.concatenate(parts), A)
    tensor = te.placeholder((4, 6), "float32")
    with pytest.raises(ArgumentError, match="this is a tensor"):
        hs.relu(tensor, out=A)


def test_no_more_tables_than_can_be_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "MAX_NATIVE", 2)
    relu = fresh("relu")
    for _ in range(4):
        for size in range(1, 6):
            np.testing.assert_array_equal(
                relu(np.arange(size) - 2.0), np.maximum(np.arange(size) - 2, 0)
            )
    assert len(relu.native_calls.tables) == 2
    relu.clear()
    assert relu.native_calls.tables == ()
    np.testing.assert_array_equal(relu(np.arange(3) - 2.0), [0, 0, 0])


class Named(np.ndarray[Any, Any]):
    """An array of a subclass."""


def test_arrays_of_a_subclass() -> None:
    add = fresh("add")
    for _ in range(4):
        for array in (A, A[:2], A.astype(np.int32), A[:, ::2]):
            other: Any = array.view(Named)
            found = add(other, 1)
            np.testing.assert_array_equal(found, array + 1)
            assert type(found) is np.ndarray
    assert hits(add) > 0
    for _ in range(3):
        with pytest.raises(ArgumentError, match="masked array"):
            add(np.ma.masked_equal(A, A[0, 0]), 1)
