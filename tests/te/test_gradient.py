"""te.gradient, against finite differences."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid, te, tir
from hybridjit.errors import HybridError
from hybridjit.hybrid import output_tensor
from hybridjit.interp.run import interpret
from hybridjit.ir.expr import Const, Load
from hybridjit.ir.stmt import Store
from tests.conftest import Golden
from tests.support.tensor_programs import run_tensors

Array = Any
NDINDEX: Any = np.ndindex
STEP = 1e-6


def check(
    output: te.Tensor,
    inputs: Sequence[te.Tensor],
    *,
    low: float = 0.3,
    known: Mapping[te.Tensor, Array] | None = None,
) -> None:
    """Compare the gradients of `output`, weighted with a random head, with differences.

    What else it reads, such as indices, is `known`.
    """
    given = dict(known or {})
    generator = np.random.default_rng(3)
    values: list[Array] = [generator.random(tensor.shape) + low for tensor in inputs]
    weights = generator.random(output.shape)
    head = te.placeholder(output.shape, "float64", "head")
    grads = te.gradient(output, inputs, head)
    found = run_tensors([*given, *inputs, head, *grads], [*given.values(), *values, weights])
    forward = te.create_prim_func([*given, *inputs, output])

    def weighted(arrays: Sequence[Array]) -> float:
        result = np.zeros(output.shape)
        interpret(forward, [*given.values(), *arrays, result])
        return float((result * weights).sum())

    for place, value in enumerate(values):
        expected = np.zeros(value.shape)
        for at in NDINDEX(value.shape):
            moved: list[Array] = [array.copy() for array in values]
            moved[place][at] += STEP
            above = weighted(moved)
            moved[place][at] -= 2 * STEP
            expected[at] = (above - weighted(moved)) / (2 * STEP)
        for way in found:
            actual = way[len(given) + len(values) + 1 + place]
            np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)


def matrix(name: str, *shape: int) -> te.Tensor:
    return te.placeholder(shape, "float64", name)


FUNCTIONS = "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan atan sinh cosh tanh asinh"
A, B = matrix("A", 3, 4), matrix("B", 4, 2)
V = matrix("V", 5)


@pytest.mark.parametrize("name", ["hypot", "atan2", "copysign", "fmod"])
def test_functions_of_two(name: str) -> None:
    function: Callable[..., Any] = getattr(te, name)
    u = matrix("U", 5)
    check(te.compute((5,), lambda i: function(V[i] * 3 - 2, u[i]), name="C"), [V, u])
    check(te.compute((5,), lambda i: function(u[i] * 5, -V[i]), name="C"), [V, u])


def test_a_sum_of_a_product() -> None:
    def body(i: Any) -> Any:
        return tir.call_intrin("float64", "fma", V[i], V[i] * 2, 1 / V[i])

    check(te.compute((5,), body, name="C"), [V])


@pytest.mark.parametrize("name", [*FUNCTIONS.split(), "sigmoid", "erf", "erfc", "abs", "floor"])
def test_functions(name: str) -> None:
    function: Callable[..., Any] = getattr(te, name)
    check(te.compute((5,), lambda i: function(V[i] * 0.7), name="C"), [V])


@pytest.mark.parametrize("name", ["asin", "acos", "atanh"])
def test_functions_below_one(name: str) -> None:
    function: Callable[..., Any] = getattr(te, name)
    check(te.compute((5,), lambda i: function(V[i] * 0.5), name="C"), [V])


BODIES: dict[str, Callable[[Any], Any]] = {
    "sum and product": lambda i: V[i] * V[i] + 3 * V[i] - V[i] / 2,
    "quotient": lambda i: (V[i] + 1) / (V[i] * V[i]),
    "power": lambda i: V[i] ** 3 + 2 ** V[i] + V[i] ** V[i],
    "choice": lambda i: te.if_then_else(V[i] > 0.8, V[i] * 2, -V[i]),
    "extrema": lambda i: te.max(V[i], 0.8) * te.min(V[i], 0.9),
    "remainder": lambda i: V[i] % 0.25,
    "neighbours": lambda i: V[i] * V[te.if_then_else(i < 4, i + 1, 0)],
    "constant": lambda i: 1.5 + i,
    "type": lambda i: (V[i].astype("float32") * 0).astype("float64") + V[i],
}


@pytest.mark.parametrize("case", BODIES)
def test_elementwise(case: str) -> None:
    check(te.compute((5,), BODIES[case], name="C"), [V])


INF, NAN = np.inf, np.nan
# body -> (point, slope): what JAX and PyTorch give.
EDGES: dict[str, tuple[Callable[[Any], Any], dict[float, float]]] = {
    "abs": (lambda x: te.abs(x), {0.0: 0, -3.0: -1, 2.0: 1}),
    "sqrt": (lambda x: te.sqrt(x), {0.0: INF, -1.0: NAN, 4.0: 0.25}),
    "rsqrt": (lambda x: te.rsqrt(x), {0.0: -INF, 4.0: -1 / 16}),
    "log": (lambda x: te.log(x), {0.0: INF, 2.0: 0.5}),
    "log1p": (lambda x: te.log1p(x), {-1.0: INF, 1.0: 0.5}),
    "asin": (lambda x: te.asin(x), {1.0: INF, -1.0: INF, 0.0: 1}),
    "acosh": (lambda x: te.acosh(x), {1.0: INF}),
    "atanh": (lambda x: te.atanh(x), {1.0: INF, 0.0: 1}),
    "sigmoid": (lambda x: te.sigmoid(x), {800.0: 0, -800.0: 0, 0.0: 0.25}),
    "tanh": (lambda x: te.tanh(x), {800.0: 0, -800.0: 0, 0.0: 1}),
    "relu": (lambda x: te.max(x, 0.0), {0.0: 0.5, 1.0: 1, -1.0: 0}),
    "min of equals": (lambda x: te.min(x, 2 * x), {0.0: 1.5, 1.0: 1, -1.0: 2}),
    "max of itself": (lambda x: te.max(x, x), {0.0: 1, 3.0: 1}),
    "power of 0": (lambda x: x**0, {0.0: 0, 2.0: 0, -2.0: 0}),
    "power of 0.0": (lambda x: x**0.0, {0.0: 0, 2.0: 0}),
    "power of 1": (lambda x: x**1, {0.0: 1, 2.0: 1, -2.0: 1}),
    "power of 2": (lambda x: x**2, {0.0: 0, 2.0: 4, -3.0: -6}),
    "power of a half": (lambda x: x**0.5, {0.0: INF, 4.0: 0.25}),
    "power of -1": (lambda x: x**-1, {0.0: -INF, 2.0: -0.25}),
    "zero to the power": (lambda x: 0.0**x, {2.0: 0, 0.0: 0, 0.5: 0, -1.0: -INF}),
    "two to the power": (lambda x: 2.0**x, {0.0: np.log(2), 2.0: 4 * np.log(2)}),
    "negative base": (lambda x: (-2.0) ** x, {2.0: NAN}),
    "remainder by x": (lambda x: 7.5 % x, {2.0: -3, -2.0: 4}),
    "whole part": (lambda x: x // 2 + 7 // x, {2.0: 0, -2.0: 0}),
    "quotient": (lambda x: 1e-170 / x, {1e-170: -1e170, 1e-5: -1e-160}),
    "a branch": (lambda x: te.if_then_else(x > 0, te.sqrt(x), 0.0), {0.0: 0, 4.0: 0.25}),
}


@pytest.mark.parametrize("case", EDGES)
def test_slopes_at_edges(case: str) -> None:
    body, slopes = EDGES[case]
    x = matrix("X", len(slopes))
    c = te.compute((len(slopes),), lambda i: body(x[i]), name="C")
    (grad,) = te.gradient(c, [x], te.compute((len(slopes),), lambda i: 1.0, name="ones"))
    for arrays in run_tensors([x, grad], [np.array(list(slopes))]):
        np.testing.assert_allclose(arrays[1], list(slopes.values()), rtol=1e-14)


@pytest.mark.parametrize(("name", "value"), [("max", 3.0), ("min", -3.0)])
def test_equal_extrema_share_the_slope(name: str, value: float) -> None:
    k = te.reduce_axis((0, 5), "k")
    c = te.compute((), lambda: getattr(te, name)(V[k], axis=k, where=k != 4), name="C")
    (grad,) = te.gradient(c, [V])
    for arrays in run_tensors([V, grad], [np.array([0, value, 1, value, value])]):
        np.testing.assert_array_equal(arrays[1], [0, 0.5, 0, 0.5, 0])


def test_broadcasting() -> None:
    c = te.compute((3, 4), lambda i, j: A[i, j] * V[i] + V[j + 1], name="C")
    check(c, [A, V])


def test_reversed_and_shifted() -> None:
    c = te.compute((3,), lambda i: V[4 - i] * V[i + 1] * V[2 * i], name="C")
    check(c, [V])


def test_matrix_product() -> None:
    k = te.reduce_axis((0, 4), "k")
    check(te.compute((3, 2), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C"), [A, B])


def test_a_sum_with_a_condition_and_a_start() -> None:
    k = te.reduce_axis((1, 4), "k")
    c = te.compute((3,), lambda i: te.sum(A[i, k], axis=k, where=k != 2, init=V[i] * 2), name="C")
    check(c, [A, V])


@pytest.mark.parametrize("name", ["min", "max", "prod"])
def test_other_reductions(name: str) -> None:
    k = te.reduce_axis((0, 4), "k")
    c = te.compute((3,), lambda i: getattr(te, name)(A[i, k] * 2, axis=k), name="C")
    check(c, [A])


def test_a_product_with_zeros() -> None:
    k = te.reduce_axis((0, 4), "k")
    c = te.compute((), lambda: te.prod(V[k], axis=k), name="C")
    value = np.array([2.0, 0.0, 3.0, 5.0, 7.0])
    (grad,) = te.gradient(c, [V])
    for arrays in run_tensors([V, grad], [value]):
        np.testing.assert_allclose(arrays[1], [0, 30, 0, 0, 0])


@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (2, 1)])
def test_convolution(stride: int, padding: int) -> None:
    x, w = matrix("X", 2, 6, 6), matrix("W", 3, 2, 3, 3)
    size = 6 + 2 * padding
    padded = te.compute(
        (2, size, size),
        lambda c, y, x_: te.if_then_else(
            te.all(y >= padding, y < 6 + padding, x_ >= padding, x_ < 6 + padding),
            x[c, y - padding, x_ - padding],
            0.0,
        ),
        name="padded",
    )
    out = (size - 3) // stride + 1
    c, ky, kx = (te.reduce_axis((0, n), name) for n, name in ((2, "c"), (3, "ky"), (3, "kx")))
    conv = te.compute(
        (3, out, out),
        lambda o, y, x_: te.sum(
            padded[c, y * stride + ky, x_ * stride + kx] * w[o, c, ky, kx], axis=[c, ky, kx]
        ),
        name="conv",
    )
    check(conv, [x, w])


def test_softmax_through_several_stages() -> None:
    k = te.reduce_axis((0, 4), "k")
    most = te.compute((3,), lambda i: te.max(A[i, k], axis=k), name="most")
    powers = te.compute((3, 4), lambda i, j: te.exp(A[i, j] - most[i]), name="powers")
    total = te.compute((3,), lambda i: te.sum(powers[i, k], axis=k), name="total")
    check(te.compute((3, 4), lambda i, j: powers[i, j] / total[i], name="C"), [A])


def test_indices_that_count_from_the_end() -> None:
    check(te.compute((5,), lambda i: V[i - 2] * V[i] * V[-1 - i], name="C"), [V])


RAGGED: dict[str, tuple[int, Callable[[te.Tensor, Any], Any]]] = {
    "a shift": (7, lambda x, i: _sum_to(i + 1, lambda k: x[i + k] * x[k])),
    "a stride": (10, lambda x, i: _sum_to(i + 1, lambda k: x[i + 2 * k] * x[i - k])),
    "a suffix": (4, lambda x, i: _sum_to(4 - i, lambda k: x[i + k] * x[k])),
}


def _sum_to(stop: Any, body: Callable[[Any], Any]) -> Any:
    k = te.reduce_axis((0, stop), "k")
    return te.sum(body(k), axis=k)


@pytest.mark.parametrize("case", RAGGED)
def test_ranges_that_depend_on_another_axis(case: str) -> None:
    size, body = RAGGED[case]
    x = matrix("X", size)
    check(te.compute((4,), lambda i: body(x, i), name="C"), [x])


@pytest.mark.parametrize("reducer", [te.sum, te.min, te.max])
def test_ranges_that_depend_on_each_other(reducer: Any) -> None:
    x = matrix("X", 10)

    def body(i: Any) -> Any:
        k = te.reduce_axis((0, i + 1), "k")
        m = te.reduce_axis((k, k + i + 1), "m")
        return reducer(x[i + k + m] + x[m - k], axis=[k, m])

    check(te.compute((3,), body, name="C"), [x])


def test_indices_from_a_tensor() -> None:
    places = te.placeholder((4,), "int64", "P")
    c = te.compute((4,), lambda i: V[places[i]] * 2, name="C")
    head = matrix("H", 4)
    (grad,) = te.gradient(c, [V], head)
    where, weights, expected = np.array([0, -1, 4, 1]), np.arange(1.0, 5), np.zeros(5)
    np.add.at(expected, where, 2 * weights)
    for arrays in run_tensors([places, head, grad], [where, weights]):
        np.testing.assert_allclose(arrays[2], expected)


def test_a_diagonal() -> None:
    m = matrix("M", 4, 4)
    check(te.compute((4,), lambda i: m[i, i] * m[3 - i, i], name="C"), [m])


def test_an_input_in_the_middle() -> None:
    doubled = te.compute((5,), lambda i: V[i] * 2, name="D")
    c = te.compute((5,), lambda i: doubled[i] * doubled[i], name="C")
    (grad,) = te.gradient(c, [doubled], te.compute((5,), lambda i: 1.0, name="ones"))
    value = np.arange(5.0)
    for arrays in run_tensors([V, grad], [value]):
        np.testing.assert_allclose(arrays[1], 4 * value)


def test_a_whole_jacobian() -> None:
    k = te.reduce_axis((0, 5), "k")
    m = matrix("M", 3, 5)
    c = te.compute((3,), lambda i: te.sum(m[i, k] * V[k], axis=k), name="C")
    (grad,) = te.gradient(c, [V])
    matrix_value, value = np.random.default_rng(0).random((3, 5)), np.arange(5.0)
    for arrays in run_tensors([m, V, grad], [matrix_value, value]):
        np.testing.assert_allclose(arrays[2], matrix_value)


def test_nothing_to_derive() -> None:
    c = te.compute((5,), lambda i: V[i], name="C")
    (grad,) = te.gradient(c, [A], te.compute((5,), lambda i: 1.0, name="ones"))
    for arrays in run_tensors([grad], []):
        np.testing.assert_allclose(arrays[0], np.zeros((3, 4)))


INTEGERS = te.placeholder((5,), "int64", "I")
PAIR = te.compute((5,), lambda i: (V[i], V[i] * 2), name="P")


@hybrid.script
def both(a: Any) -> Any:
    up = output_tensor(a.shape, a.dtype)
    down = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        up[i] = a[i] + 1
        down[i] = a[i] - 1
    return up, down


def fill(ins: Any, outs: Any) -> Any:
    return [Store(out, (Const(0),), Load(ins[0], (Const(0),))) for out in outs]


SEVERAL: dict[str, Callable[[], Sequence[te.Tensor]]] = {
    "compute": lambda: te.compute((5,), lambda i: (V[i], V[i] * 2), name="P"),
    "extern": lambda: te.extern([(1,), (1,)], [V], fill),
    "script": lambda: both(V),
}


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("kind", SEVERAL)
def test_no_gradient_of_several_outputs_is_zeros(kind: str, place: int) -> None:
    outputs = SEVERAL[kind]()
    assert [tensor.value_index for tensor in outputs] == [0, 1]
    assert [tensor.op.output(tensor.value_index) for tensor in outputs] == list(outputs)
    after = te.compute((1,), lambda i: outputs[place][i] * 2, name="after")
    with pytest.raises(HybridError, match=r"te\.gradient goes through (te\.compute|one output)"):
        te.gradient(after, [V])


CALLS: dict[str, Callable[[], object]] = {
    "integers": lambda: te.gradient(te.compute((5,), lambda i: V[i], name="C"), [INTEGERS]),
    "several_outputs": lambda: te.gradient(PAIR[0], [V]),
    "extern": lambda: te.gradient(
        te.extern_primfunc([V], te.create_prim_func([V, te.compute((5,), lambda i: V[i])])), [V]
    ),
    "no_derivative": lambda: te.gradient(
        te.compute((5,), lambda i: tir.call_intrin("float64", "lgamma", V[i]), name="C"), [V]
    ),
    "head_of_another_shape": lambda: te.gradient(
        te.compute((5,), lambda i: V[i], name="C"), [V], A
    ),
    "no_tensors": lambda: te.gradient(te.compute((5,), lambda i: V[i], name="C"), None),  # type: ignore[arg-type]
    "no_head": lambda: te.gradient(te.compute((5,), lambda i: V[i], name="C"), [V], 1.0),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", CALLS)
def test_refusal(case: str, golden: Golden) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        CALLS[case]()
    golden.check(caught.value.render("short"), "txt")


@pytest.mark.parametrize(("inner", "outer"), [("float32", "float64"), ("float64", "float32")])
def test_a_gradient_has_the_type_of_what_it_is_by(inner: str, outer: str) -> None:
    x = te.placeholder((5,), inner, "X")
    wide = te.compute((5,), lambda i: x[i].astype(outer) * x[i].astype(outer), name="Y")
    k = te.reduce_axis((0, 5), "k")
    total = te.compute((), lambda: te.sum(wide[k], axis=k), name="Z")
    grads = te.gradient(total, [x, wide])
    assert [grad.dtype.name for grad in grads] == [inner, outer]
    values = np.linspace(0.1, 1.3, 5).astype(inner)
    for _, found, _ in run_tensors([x, *grads], [values]):
        np.testing.assert_array_equal(found, 2 * values.astype(outer))
