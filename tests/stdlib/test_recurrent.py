"""Recurrent layers: all operands of an LSTM, sizes of the run, no steps, half, and gradients."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import stdlib as hs
from hybridjit import te
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(3)
STEPS, BATCH, INPUTS, HIDDEN, OUTPUTS = 4, 2, 3, 5, 7


def draw(*shape: int) -> Any:
    return RNG.normal(size=shape) * 0.7


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def positive(x: Any) -> Any:
    return np.maximum(x, 0)


def states(
    x: Any,
    w: Any,
    u: Any,
    bias: Any = 0,
    hidden_bias: Any = 0,
    h0: Any = 0,
    c0: Any = 0,
    projection: Any = None,
    peepholes: Any = (0, 0, 0),
    order: str = "IFGO",
    functions: Any = (sigmoid, np.tanh, np.tanh),
) -> Any:
    """An LSTM, step by step."""
    h, c = np.zeros((x.shape[1], u.shape[1])) + h0, np.zeros((x.shape[1], len(w) // 4)) + c0
    hidden: list[Any] = []
    cells: list[Any] = []
    for step in x:
        parts = np.split(step @ w.T + bias + h @ u.T + hidden_bias, 4, 1)
        gate = dict(zip(order, parts, strict=True))
        enter, stay = (functions[0](gate[k] + p * c) for k, p in zip("IF", peepholes, strict=False))
        c = stay * c + enter * functions[1](gate["G"])
        h = functions[0](gate["O"] + peepholes[2] * c) * functions[2](c)
        h = h if projection is None else h @ projection.T
        hidden.append(h)
        cells.append(c)
    return np.array(hidden), np.array(cells)


X: Any = draw(STEPS, BATCH, INPUTS)
W, U = draw(4 * HIDDEN, INPUTS), draw(4 * HIDDEN, HIDDEN)
V, P = draw(4 * HIDDEN, OUTPUTS), draw(OUTPUTS, HIDDEN)
B, D = draw(2, 4 * HIDDEN)
H, C = draw(BATCH, HIDDEN), draw(BATCH, HIDDEN)
PEEPHOLES: Any = tuple(draw(3, BATCH, HIDDEN))
BY_NAME = dict(
    zip(("input_peephole", "forget_peephole", "output_peephole"), PEEPHOLES, strict=True)
)
SIZES = (INPUTS, HIDDEN, OUTPUTS, 4 * HIDDEN)


def lstm_row(*args: Any, wanted: Any, **options: Any) -> Row:
    return row("lstm_states", *args, wanted=wanted, rtol=1e-9, fixed=SIZES, **options)


ROWS = (
    lstm_row(X, W, U, wanted=states(X, W, U)),
    lstm_row(X, W, U, B, D, H, C, wanted=states(X, W, U, B, D, H, C)),
    lstm_row(X, W, V, B, projection=P, wanted=states(X, W, V, B, projection=P)),
    lstm_row(X, W, U, **BY_NAME, wanted=states(X, W, U, peepholes=PEEPHOLES)),
    lstm_row(X, W, U, output_peephole=H, wanted=states(X, W, U, peepholes=(0, 0, H))),
    lstm_row(X, W, U, reverse=True, wanted=states(X[::-1], W, U)),
    lstm_row(X, W, U, gates="GOFI", wanted=states(X, W, U, order="GOFI")),
    lstm_row(X, W, U, activations=("tanh", "relu", te.sigmoid),
             wanted=states(X, W, U, functions=(np.tanh, positive, sigmoid))),
    row("lstm_states", X[:0], W, U, h0=H, wanted=(np.zeros((0, 2, 5)),) * 2, dynamic=False),
    row("lstm_states", X[:, :0], W, U, wanted=(np.zeros((4, 0, 5)),) * 2, dynamic=False),
    row("lstm", X[:0], W, U, B, H, C, wanted=(np.zeros((0, 2, 5)), H, C), dynamic=False),
    row("gru", X[:0], W[:15], U[:15], h0=H, wanted=(np.zeros((0, 2, 5)), H), dynamic=False),
    row("rnn", X[:0], W[:5], U[:5], h0=H, wanted=(np.zeros((0, 2, 5)), H), dynamic=False),
    row("lstm", X, W, U, rtol=1e-9, fixed=SIZES,
        wanted=(states(X, W, U)[0], states(X, W, U)[0][-1], states(X, W, U)[1][-1])),
)  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


def test_no_steps_when_it_runs() -> None:
    steps = te.var("steps")
    x = te.placeholder((steps, BATCH, INPUTS), "float64", "x")
    others = [te.placeholder(array.shape, "float64", name) for array, name in ((W, "w"), (U, "u"))]
    start = te.placeholder(H.shape, "float64", "h0")
    module = hj.build([x, *others, start, *hs.lstm(x, *others, h0=start)])
    for count in (0, 1, 4):
        results = [np.full((count, BATCH, HIDDEN), 7.0), np.empty_like(H), np.empty_like(C)]
        module(X[:count], W, U, H, *results)
        hidden, cells = states(X[:count], W, U, h0=H)
        wanted = (
            hidden.reshape(results[0].shape),
            *((hidden[-1], cells[-1]) if count else (H, C * 0)),
        )
        for found, expected in zip(results, wanted, strict=True):
            compare(found, expected, 1e-9)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_types_are_computed_in_float32(dtype: str) -> None:
    given = [array.astype(dtype) for array in (X, W, U)]
    wanted = states(*(array.astype(float) for array in given))
    for found, expected in zip(hs.lstm_states(*given), wanted, strict=True):
        compare(found, expected.astype(dtype), 1e-3 if dtype == "float16" else 1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["lstm", "gru", "rnn"])
def test_gradient_is_that_of_small_steps(name: str) -> None:
    rows = {"lstm": 4, "gru": 3, "rnn": 1}[name] * HIDDEN
    arrays = [X, W[:rows], U[:rows], B[:rows]]
    tensors = [te.placeholder(array.shape, "float64", f"t{i}") for i, array in enumerate(arrays)]
    out: Any = getattr(hs, name)(*tensors)[0]
    gradients = te.gradient(hs.sum(hs.square(out)), tensors)
    results = [np.empty_like(array) for array in arrays]
    hj.build([*tensors, *gradients])(*arrays, *results)

    def loss(*values: Any) -> float:
        return float(np.sum(getattr(hs, name)(*values)[0] ** 2))

    for place, result in enumerate(results):
        for at in list(np.ndindex(result.shape))[:: max(result.size // 7, 1)]:
            steps = [[array.copy() for array in arrays] for _ in range(2)]
            for moved, by in zip(steps, (1e-6, -1e-6), strict=True):
                moved[place][at] += by
            slope = (loss(*steps[0]) - loss(*steps[1])) / 2e-6
            assert result[at] == pytest.approx(slope, rel=1e-5, abs=1e-7)


MISTAKES: dict[str, Any] = {
    "are given together": lambda: hs.lstm_states(X, W, U, input_peephole=H),
    "'IFGG' is no order": lambda: hs.lstm_states(X, W, U, gates="IFGG"),
    "three activations": lambda: hs.lstm_states(X, W, U, activations=("tanh",)),
    "no activation 'gelu'": lambda: hs.lstm_states(X, W, U, activations=("gelu", "tanh", "tanh")),
    "do not match": lambda: hs.lstm_states(X, W, U, projection=P),
    "is no state": lambda: hs.lstm_states(X, W, U, output_peephole=H[:1]),
    "'hidden_bias' .* has not one": lambda: hs.lstm_states(X, W, U, hidden_bias=B[:3]),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
