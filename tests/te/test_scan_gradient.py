"""te.gradient through te.scan, against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import stdlib as hs
from hybridjit import te
from hybridjit.errors import HybridError
from hybridjit.interp.run import interpret
from tests.support.tensor_programs import run_natively, run_tensors
from tests.te.test_gradient import check

STEPS, WIDTH = 5, 3


def tensor(name: str, *shape: int) -> te.Tensor:
    return te.placeholder(shape, "float64", name)


X, W, V = tensor("X", STEPS, WIDTH), tensor("W", WIDTH, WIDTH), tensor("V", WIDTH)


def first(name: str = "first") -> te.Tensor:
    return te.compute((1, WIDTH), lambda t, i: X[t, i] * V[i], name=name)


def running_sum() -> te.Tensor:
    s = tensor("S", STEPS, WIDTH)
    step = te.compute((STEPS, WIDTH), lambda t, i: s[t - 1, i] * 0.9 + X[t, i], name="step")
    return te.scan(first(), step, s)


def recurrent() -> te.Tensor:
    """A product of matrices and a function of it, in every step."""
    s, k = tensor("S", STEPS, WIDTH), te.reduce_axis((0, WIDTH), "k")
    inner = te.compute(
        (STEPS, WIDTH), lambda t, i: te.sum(s[t - 1, k] * W[k, i], axis=k), name="inner"
    )
    step = te.compute((STEPS, WIDTH), lambda t, i: te.tanh(inner[t, i] + X[t, i]), name="step")
    return te.scan(first(), step, s)


def two_back() -> te.Tensor:
    s = tensor("S", STEPS, WIDTH)
    init = te.compute((2, WIDTH), lambda t, i: X[t, i] * V[i], name="init")
    step = te.compute(
        (STEPS, WIDTH), lambda t, i: s[t - 1, i] * s[t - 2, i] * V[i] + X[t, i], name="step"
    )
    return te.scan(init, step, s)


def no_first_step() -> te.Tensor:
    s = tensor("S", STEPS, WIDTH)
    init = te.compute((0, WIDTH), lambda t, i: V[i], name="init")
    zero = te.const(0.0, "float64")

    def body(t: Any, i: Any) -> Any:
        return te.if_then_else(t >= 1, te.exp(-s[t - 1, i]), zero) + X[t, i] * V[i]

    return te.scan(init, te.compute((STEPS, WIDTH), body, name="step"), s)


def two_states() -> te.Tensor:
    """A position and a velocity, which read each other; a stage that both read."""
    p, v = tensor("P", STEPS, WIDTH), tensor("U", STEPS, WIDTH)
    force = te.compute((STEPS, WIDTH), lambda t, i: te.sin(p[t - 1, i]) * V[i], name="force")
    speed = te.compute((STEPS, WIDTH), lambda t, i: v[t - 1, i] - force[t, i], name="speed")
    place = te.compute(
        (STEPS, WIDTH),
        lambda t, i: p[t - 1, i] + 0.5 * speed[t, i] + force[t, i] * 0.1,
        name="place",
    )
    starts = [first("first_p"), te.compute((1, WIDTH), lambda t, i: V[i] * 2.0, name="first_v")]
    positions, speeds = te.scan(starts, [place, speed], [p, v])
    return te.compute((STEPS, WIDTH), lambda t, i: positions[t, i] * speeds[t, i], name="both")


def one_of_two_states() -> te.Tensor:
    return two_states().op.input_tensors[1]


def largest() -> te.Tensor:
    s, k = tensor("S", STEPS, WIDTH), te.reduce_axis((0, WIDTH), "k")
    best = te.compute((STEPS,), lambda t: te.max(s[t - 1, k] * X[t, k], axis=k), name="best")
    step = te.compute((STEPS, WIDTH), lambda t, i: best[t] * V[i] + s[t - 1, i], name="step")
    return te.scan(first(), step, s)


def shifted() -> te.Tensor:
    """A wave: neighbours of the step before, with a border."""
    s = tensor("S", STEPS, WIDTH)

    def body(t: Any, i: Any) -> Any:
        left = te.if_then_else(i >= 1, s[t - 1, i - 1], V[0])
        return left * 0.5 + s[t - 1, i] * V[i] * X[t, i]

    return te.scan(first(), te.compute((STEPS, WIDTH), body, name="step"), s)


def along_columns() -> te.Tensor:
    s = tensor("S", WIDTH, STEPS)
    init = te.compute((WIDTH, 1), lambda i, t: X[t, i] * V[i], name="init")
    step = te.compute((WIDTH, STEPS), lambda i, t: s[i, t - 1] * X[t, i] + V[i], name="step")
    return te.scan(init, step, s, axis=1)


def scan_of_a_scan() -> te.Tensor:
    inner, s = recurrent(), tensor("Z", STEPS, WIDTH)
    step = te.compute((STEPS, WIDTH), lambda t, i: s[t - 1, i] * inner[t, i], name="outer")
    init = te.compute((1, WIDTH), lambda t, i: inner[t, i] + 1.0, name="outer_first")
    return te.scan(init, step, s)


GRAPHS: tuple[Callable[[], te.Tensor], ...] = (
    *(running_sum, recurrent, two_back, no_first_step, two_states, one_of_two_states, largest),
    *(shifted, along_columns, scan_of_a_scan),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_as_finite_differences(graph: Callable[[], te.Tensor]) -> None:
    output = graph()
    read = [given for given in (X, W, V) if given is not W or graph in (recurrent, scan_of_a_scan)]
    check(output, read)
    last = te.compute((WIDTH,), lambda i: output[STEPS - 1, i], name="last")
    if output.shape == (STEPS, WIDTH):
        check(last, read)


def test_whole_jacobians() -> None:
    s, x = tensor("S", STEPS), tensor("x", STEPS)
    step = te.compute((STEPS,), lambda t: s[t - 1] * 0.5 + x[t], name="step")
    total = te.scan(te.compute((1,), lambda t: x[t], name="first"), step, s)
    (jacobian,) = te.gradient(total, [x])
    wanted = np.tril(0.5 ** (np.arange(STEPS)[:, None] - np.arange(STEPS)).clip(0))
    for arrays in run_tensors([x, jacobian], [np.ones(STEPS)]):
        np.testing.assert_allclose(arrays[1], wanted)


def test_run_time_sizes() -> None:
    n = te.var("n")
    x, head = (te.placeholder((n,), "float64", name) for name in ("x", "head"))
    s = te.placeholder((n,), "float64", "S")
    step = te.compute((n,), lambda t: s[t - 1] * x[t], name="step")
    product = te.scan(te.compute((1,), lambda t: x[t], name="first"), step, s)
    (grad,) = te.gradient(product, [x], head)
    func = te.create_prim_func([x, head, grad])
    for size in (1, 2, 7):
        values, weights = np.linspace(0.5, 1.5, size), np.arange(1.0, size + 1)
        prefix = np.cumprod(values)
        wanted = [(prefix * weights)[k:].sum() / values[k] for k in range(size)]
        for run in (interpret, run_natively):
            found = np.full(size, np.nan)
            run(func, [values, weights, found])
            np.testing.assert_allclose(found, wanted)


def test_what_is_inside_has_no_gradient_outside() -> None:
    s, x = tensor("S", STEPS), tensor("x", STEPS)
    step = te.compute((STEPS,), lambda t: s[t - 1] + x[t], name="step")
    total = te.scan(te.compute((1,), lambda t: x[t], name="first"), step, s)
    for inner in (s, step):
        with pytest.raises(HybridError, match="inside of the scan"):
            te.gradient(total, [inner])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("accumulate", [hs.cumsum, hs.cumprod], ids=["cumsum", "cumprod"])
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 1, "exclusive": True}])
def test_sums_and_products_up_to_each_element(accumulate: Any, options: Any) -> None:
    check(accumulate(X, **options), [X])


def test_run_time_sizes_of_sums() -> None:
    n, m = te.var("n"), te.var("m")
    x, head = (te.placeholder((n, m), "float64", name) for name in ("x", "head"))
    (grad,) = te.gradient(hs.cumsum(x, 1), [x], head)
    func = te.create_prim_func([x, head, grad])
    for shape in ((3, 0), (0, 4), (1, 1), (3, 5)):
        weights = np.random.default_rng(0).random(shape)
        wanted = weights[:, ::-1].cumsum(axis=1)[:, ::-1]
        for run in (interpret, run_natively):
            found = np.full(shape, np.nan)
            run(func, [np.ones(shape), weights, found])
            np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_run_time_steps_that_are_computed(rows: int) -> None:
    """A scan over n + 2 steps, of which the gradient does not read an array of n."""
    n = te.var("n")
    a = te.placeholder((n, 3), "float64", "A")

    def padded(i: Any, j: Any) -> Any:
        return te.if_then_else(te.all(i >= 1, i < n + 1), a[i - 1, j], 0.0)

    x = te.compute((n + 2, 3), padded, name="X")
    state = te.placeholder((n + 2, 3), "float64", "state")
    init = te.compute((1, 3), lambda t, j: x[t, j])
    update = te.compute((n + 2, 3), lambda t, j: state[t - 1, j] + x[t, j])
    total = te.scan(init, update, state, name="total")
    head = te.placeholder((n + 2, 3), "float64", "head")
    (grad,) = te.gradient(total, a, head)
    weights = np.random.default_rng(rows).random((rows + 2, 3))
    func = te.create_prim_func([a, head, grad])
    for run in (interpret, run_natively):
        found = np.full((rows, 3), np.nan)
        run(func, [np.ones((rows, 3)), weights, found])
        after = np.cumsum(weights[::-1], axis=0)[::-1]
        np.testing.assert_allclose(found, after[1:-1], rtol=1e-14)
