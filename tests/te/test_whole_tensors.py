"""Arithmetic with whole tensors is that of NumPy's arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import te

np: Any = numpy  # whose types say nothing of arrays that may be any
OPERATORS: list[Callable[[Any, Any], Any]] = [
    operator.add,
    operator.sub,
    operator.mul,
    lambda a, b: a / b,
    lambda a, b: a // b,
    lambda a, b: a % b,
    lambda a, b: a**b,
]
SHAPES: list[Any] = [
    ((3, 4), (3, 4)),
    ((3, 1), (4,)),
    ((2, 3, 4), (3, 1)),
    ((0, 4), (4,)),
    ((), (3,)),
]


def run(make: Callable[..., Any], *arrays: Any) -> Any:
    tensors = [te.placeholder(x.shape, x.dtype) for x in arrays]
    made = make(*tensors)
    result = np.zeros(made.shape, str(made.dtype))
    hj.build([*tensors, made])(*arrays, result)
    return result


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_two_tensors(op: Callable[[Any, Any], Any], shapes: Any) -> None:
    generator = np.random.default_rng(0)
    a, b = (np.asarray(generator.random(shape) + 1, "float32") for shape in shapes)
    np.testing.assert_allclose(run(op, a, b), op(a, b), rtol=1e-6)


@pytest.mark.parametrize("op", OPERATORS)
def test_a_tensor_and_a_number(op: Callable[[Any, Any], Any]) -> None:
    a: Any = np.arange(1, 5, dtype="float32")

    def number_after(tensor: Any) -> Any:
        return op(tensor, 2)

    def number_before(tensor: Any) -> Any:
        return op(3.0, tensor)

    for make in (number_after, number_before):
        found = run(make, a)
        assert found.dtype == "float32"
        np.testing.assert_allclose(found, make(a), rtol=1e-6)


def test_types_are_promoted_as_in_numpy() -> None:
    a, b = np.arange(3, dtype="int32"), np.ones(3, "float64")
    assert run(operator.mul, a, b).dtype == "float64"


def test_sizes_of_the_run() -> None:
    n = te.var("n")
    A, B = te.placeholder((n, 3), name="A"), te.placeholder((3,), name="B")
    C = (A + B) * A
    a, b = np.arange(6, dtype="float32").reshape(2, 3), np.arange(3, dtype="float32")
    c = np.zeros_like(a)
    hj.build([A, B, C])(a, b, c)
    np.testing.assert_array_equal(c, (a + b) * a)


def test_sizes_that_differ() -> None:
    A, B = te.placeholder((3, 4)), te.placeholder((3,))
    with pytest.raises(ValueError, match="sizes 4 and 3 do not broadcast"):
        operator.add(A, B)


def test_one_tensor() -> None:
    a: Any = np.array([[1.5, -2.5], [0.0, 3.0]], "float32")
    np.testing.assert_array_equal(run(operator.neg, a), -a)
    np.testing.assert_array_equal(run(to_integers, a), a.astype("int32"))


def to_integers(tensor: Any) -> Any:
    return tensor.astype("int32")
