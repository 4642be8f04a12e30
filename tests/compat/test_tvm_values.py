"""Types and values are those of TVM where hybridjit has others: indices, literals, divisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit.compat.tvm as package
from hybridjit import te as plain
from hybridjit.errors import ArgumentError

np: Any = numpy  # whose types say nothing of arrays that may be any
tvm: Any = package
te: Any = tvm.te
tir: Any = tvm.tir
topi: Any = tvm.topi
Element = Callable[[Any], Any]
N = 6
A = te.placeholder((N,), name="A")
k = te.reduce_axis((0, N), "k")


def run(made: Any, *arrays: Any) -> Any:
    """The value of a tensor, given those of its placeholders as it reads them."""
    out = tvm.nd.empty(made.shape, str(made.dtype))
    tensors = made.op.input_tensors
    tvm.build(te.create_schedule(made.op), [*tensors, made])(*arrays, out)
    return out.numpy()


def vector(element: Element, size: int = N, **options: Any) -> Any:
    return te.compute((size,), element, **options)


def largest() -> Any:
    def combine(x: Any, y: Any) -> Any:
        is_left = x[1] >= y[1]
        return tir.Select(is_left, x[0], y[0]), tir.Select(is_left, x[1], y[1])

    def identity(place: str, value: str) -> Any:
        return tir.const(-1, place), te.min_value(value)

    return te.comm_reducer(combine, identity, name="argmax")


ELEMENTS: dict[str, tuple[Element, str]] = {
    "an index": (lambda i: i, "int32"),
    "of an index": (lambda i: i * 2 + 1, "int32"),
    "a size": (lambda i: te.var("n"), "int32"),
    "an integer": (lambda i: 3, "int32"),
    "a large integer": (lambda i: 2**40, "int64"),
    "the largest int32": (lambda i: 2**31 - 1, "int32"),
    "one more": (lambda i: 2**31, "int64"),
    "a float": (lambda i: 0.5, "float32"),
    "of an index and a float": (lambda i: i * 0.5, "float32"),
    "one of two floats": (lambda i: te.if_then_else(i < 2, 0.0, 1.0), "float32"),
    "one of two integers": (lambda i: tir.Select(A[i] > 0.5, 1, 0), "int32"),
    "the larger index": (lambda i: te.max(i, 2), "int32"),
    "an element": (lambda i: A[i] * 2.0 + i, "float32"),
    "a condition": (lambda i: A[i] > 0.5, "bool"),
    "a sum of indices": (lambda i: te.sum(k * i, axis=k), "int32"),
    "a sum of floats": (lambda i: te.sum(te.if_then_else(A[k] > 0, 1.0, 0.0), k), "float32"),
    "a sum of elements": (lambda i: te.sum(A[k] * k, axis=k), "float32"),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_what_has_no_type_has_one_as_in_tvm(name: str) -> None:
    element, dtype = ELEMENTS[name]
    assert vector(element).dtype == dtype


def test_the_place_of_the_largest_is_an_int32() -> None:
    V = te.placeholder((4, N), name="V")
    place, value = vector(lambda i: largest()((k, V[i, k]), axis=k), 4, name="T")
    v = np.random.default_rng(0).random((4, N), np.float32)
    places, values = tvm.nd.empty((4,), "int32"), tvm.nd.empty((4,))
    tvm.build(te.create_schedule(place.op), [V, place, value])(v, places, values)
    np.testing.assert_array_equal(places, v.argmax(1))
    np.testing.assert_array_equal(values, v.max(1))


HALVES: Any = np.array([-2.5, -0.5, 0.5, 1.5, 0.49999997, 8388609.0], np.float32)
ROUNDED = [-3, -1, 1, 2, 0, 8388609]


def test_halves_are_rounded_away_from_zero() -> None:
    for function in (te.round, tir.round):
        made = vector(_applied(function))
        np.testing.assert_array_equal(run(made, HALVES), ROUNDED)
    np.testing.assert_array_equal(run(vector(_applied(te.nearbyint)), HALVES)[:2], [-2, 0])
    np.testing.assert_array_equal(topi.round(HALVES), ROUNDED)
    assert topi.round(np.arange(3)).tolist() == [0, 1, 2]
    assert vector(lambda i: te.round(i)).dtype == "int32"


def _applied(function: Element) -> Element:
    return lambda i: function(A[i])


def test_integers_are_divided_towards_zero() -> None:
    x: Any = np.array([7, -7, 2**62 + 1, -(2**62 + 1)])
    y: Any = np.array([-2, 2, 3, 3])
    X, Y = (te.placeholder((4,), "int64", name) for name in "XY")
    towards_zero = [-3, -3, (2**62 + 1) // 3, -((2**62 + 1) // 3)]
    made = vector(lambda i: te.div(X[i], Y[i]), 4)
    assert made.dtype == "int64"
    assert run(made, x, y).tolist() == towards_zero
    assert topi.divide(x, y).tolist() == towards_zero
    assert vector(lambda i: tir.div(A[i], 2)).dtype == "float32"


def test_functions_by_name_give_an_int32_to_an_element() -> None:
    tvm.register_func("test.rounded", round_number, override=True)
    made = vector(lambda i: tir.call_packed("test.rounded", A[i] * 10))
    assert made.dtype == "int32"
    assert run(made, np.arange(N, dtype="float32")).tolist() == [*range(0, 10 * N, 10)]
    with pytest.raises(ArgumentError, match="without a result has no value"):
        vector(lambda i: tir.call_extern(None, "abs", i.astype("int32")))


def round_number(x: Any) -> int:
    return round(float(x))


def test_kinds_of_expressions() -> None:
    n = te.var("n")
    B = te.placeholder((n, 4), name="B")
    assert isinstance(B.shape[0], tir.Var)
    assert isinstance(B.shape[1], tir.IntImm)
    assert not isinstance(True, tir.IntImm)
    assert isinstance(tir.const(1, "int32"), tir.IntImm)
    assert isinstance(k, tir.IterVar)
    assert isinstance(B[0, 0], tir.PrimExpr)
    assert not isinstance(B, tir.PrimExpr)
    assert isinstance(B.op, te.PlaceholderOp)
    assert isinstance((B + B).op, te.tensor.ComputeOp)
    assert tir.Var("x", "float32").dtype == "float32"


def test_outputs_of_a_schedule_are_operations() -> None:
    B = vector(lambda i: A[i] + 1.0, name="B", tag=topi.tag.ELEMWISE)
    C = vector(lambda i: B[i] * 2.0, name="C", tag="broadcast")
    s = te.create_schedule([C.op])
    assert s.outputs == (C.op,)
    for stage in s.stages:  # as schedules of TOPI go through them
        if topi.tag.is_broadcast(stage.op.tag) and stage.op not in s.outputs:
            stage.compute_inline()
    out = tvm.nd.empty((N,))
    tvm.build(s, [A, C])(np.arange(N, dtype="float32"), out)
    assert out.tolist() == [2, 4, 6, 8, 10, 12]
    assert "for i" in s._repr_html_()


INTEGERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "a quotient": (lambda x: x / 255.0, lambda x: x / np.float32(255)),
    "of a literal": (lambda x: 1.0 / (x + 1), lambda x: 1 / (x + 1).astype("f")),
    "a product": (lambda x: x * 0.5, lambda x: x * np.float32(0.5)),
    "a sum of both": (lambda x: x * 0.5 + x, lambda x: x * np.float32(0.5) + x.astype("f")),
    "the larger": (lambda x: te.max(x, 0.5), lambda x: np.maximum(x, np.float32(0.5))),
    "the smaller": (lambda x: te.min(2.5, x), lambda x: np.minimum(x, np.float32(2.5))),
    "one of both": (lambda x: tir.Select(x > 2, x, 0.5), lambda x: np.where(x > 2, x, 0.5)),
    "a power": (lambda x: te.power(x, 0.5), lambda x: x.astype("f") ** np.float32(0.5)),
    "with a constant": (lambda x: (x + 0.5) * tir.const(2.0), lambda x: (x + 0.5) * 2),
}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize("name", INTEGERS)
def test_integers_and_a_float_literal_make_a_float32(name: str, dtype: str) -> None:
    element, wanted = INTEGERS[name]
    X = te.placeholder((N,), dtype, "X")
    x = np.arange(N).astype(dtype)
    made = vector(lambda i: element(X[i]))
    assert made.dtype == "float32"
    np.testing.assert_allclose(run(made, x), wanted(x).astype("f"), rtol=1e-6)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integers_become_the_float_that_they_meet(dtype: str, kind: str) -> None:
    X, Y = te.placeholder((N,), dtype, "X"), te.placeholder((N,), kind, "Y")
    made = vector(lambda i: X[i] * Y[i] - tir.Select(Y[i] > 2, X[i], Y[i]))
    assert made.dtype == kind
    x, y = np.arange(N).astype(dtype), np.arange(N)[::-1].astype(kind)
    np.testing.assert_array_equal(run(made, x, y), x * y - np.where(y > 2, x, y))


def test_other_types_meet_a_float_literal_as_ever() -> None:
    for dtype in ("float16", "float32", "float64"):
        X = te.placeholder((N,), dtype, "X")
        assert vector(_divided(X)).dtype == dtype
    wide = te.placeholder((N,), "int8", "W")
    assert vector(lambda i: wide[i] * tir.const(0.5, "float64")).dtype == "float64"
    assert vector(lambda i: wide[i].astype("float64") * 0.5).dtype == "float64"
    assert plain.compute((N,), _divided(wide)).dtype == "float64"


def _divided(tensor: Any) -> Any:
    def element(i: Any) -> Any:
        return tensor[i] / 255.0

    return element
