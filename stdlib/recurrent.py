"""Recurrent layers: an LSTM, a GRU and a plain one, along sequences of a batch.

`x` has the shape (steps, batch, inputs), weights are (gates * hidden, inputs) and (gates * hidden,
hidden), biases (gates * hidden,); gates lie one after the other: input, forget, cell, output of an
LSTM; reset, update, new of a GRU.

Each is a scan over states whose first row is what they begin with: row t is the state after step t.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.parts.recurrence import (
    SIGMOID,
    TANH,
    Gates,
    Layer,
    activation_of,
    check_weights,
    run_lstm,
)
from hybridjit.stdlib.parts.shapes import fill
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import in_tiles
from hybridjit.te import scan

RECIPE = scheduled_by(in_tiles, fastmath=("contract", "reassoc"))


@operator(recipe=RECIPE)
def lstm(
    x: T,
    w: T,
    u: T,
    bias: T | None = None,
    h0: T | None = None,
    c0: T | None = None,
) -> tuple[T, T, T]:
    """The hidden states of all steps, and the last hidden and cell state, from 0 if not given.

    >>> hs.lstm(np.ones((3, 2, 4)), np.ones((20, 4)), np.ones((20, 5)))[0].shape
    (3, 2, 5)
    """
    check_weights("lstm", 4, x, w, u, [bias])
    layer = Layer("lstm", x, w, u, (bias, None))
    hidden, cell = run_lstm(layer, (h0, c0), Gates())
    return layer.outputs(hidden), layer.last("hidden", hidden), layer.last("cell", cell)


@operator(recipe=RECIPE)
def lstm_states(
    x: T,
    w: T,
    u: T,
    bias: T | None = None,
    hidden_bias: T | None = None,
    h0: T | None = None,
    c0: T | None = None,
    projection: T | None = None,
    input_peephole: T | None = None,
    forget_peephole: T | None = None,
    output_peephole: T | None = None,
    *,
    activations: Sequence[Any] = ("sigmoid", "tanh", "tanh"),
    reverse: bool = False,
    gates: str = "IFGO",
) -> tuple[T, T]:
    """The hidden and cell states of an LSTM after each step, in the order of the steps.

    A projection, (outputs, hidden), makes hidden states of outputs; what is multiplied by `u` is
    these. Peepholes, (batch, hidden), let gates see the cell, those of input and forget gates only
    together. With reverse=True the first step sees the last of x. `gates` is the order of the input
    (I), forget (F), cell (G) and output (O) gates; `activations` are those of gates, of the cell
    gate and of the cell: "sigmoid", "tanh", "relu", or functions of te expressions.

    >>> hs.lstm_states(np.ones((3, 2, 4)), np.ones((20, 4)), np.ones((20, 5)))[1].shape
    (3, 2, 5)
    """
    name = "lstm_states"
    check_weights(name, 4, x, w, u, [bias, hidden_bias], projection)
    peepholes = (input_peephole, forget_peephole, output_peephole)
    layer = Layer(name, x, w, u, (bias, hidden_bias), projection, reverse)
    for peephole in peepholes:
        layer.check_state(peephole, layer.size)
    if (input_peephole is None) != (forget_peephole is None):
        raise ArgumentValueError(f"{name}: peepholes of input and forget gates are given together")
    how = Gates(gates, activations, peepholes, projection)
    hidden, cell = run_lstm(layer, (h0, c0), how)
    return layer.outputs(hidden), layer.outputs(cell)


@operator(recipe=RECIPE)
def gru(
    x: T,
    w: T,
    u: T,
    bias: T | None = None,
    hidden_bias: T | None = None,
    h0: T | None = None,
) -> tuple[T, T]:
    """The hidden states of all steps, and the last one. The reset gate is applied last.

    >>> hs.gru(np.ones((3, 2, 4)), np.ones((15, 4)), np.ones((15, 5)))[0].shape
    (3, 2, 5)
    """
    check_weights("gru", 3, x, w, u, [bias, hidden_bias])
    layer = Layer("gru", x, w, u, (bias, hidden_bias))
    size = layer.size
    init, state = layer.state("hidden", h0)
    past = layer.past(state)

    def element(at: tuple[Any, ...]) -> Any:
        t, n, k = at
        places = [(t, n, k + size * gate) for gate in range(3)]
        own, before = ([read(place) for place in places] for read in (layer.own, past))
        reset, update = (SIGMOID(own[gate] + before[gate]) for gate in (0, 1))
        new = TANH(own[2] + reset * before[2])
        return (1 - update) * new + update * state[t - 1, n, k]

    hidden = scan(init, fill("gru_next", state.shape, element), state, name="gru")
    return layer.outputs(hidden), layer.last("hidden", hidden)


@operator(recipe=RECIPE)
def rnn(
    x: T,
    w: T,
    u: T,
    bias: T | None = None,
    h0: T | None = None,
    *,
    activation: str = "tanh",
) -> tuple[T, T]:
    """The hidden states of all steps, and the last one: tanh, or relu, of what is added up.

    >>> hs.rnn(np.ones((3, 2, 4)), np.ones((5, 4)), np.ones((5, 5)))[0].shape
    (3, 2, 5)
    """
    function = activation_of("rnn", activation, ("tanh", "relu"))
    check_weights("rnn", 1, x, w, u, [bias])
    layer = Layer("rnn", x, w, u, (bias, None))
    init, state = layer.state("hidden", h0)
    past = layer.past(state)

    def element(at: tuple[Any, ...]) -> Any:
        return function(layer.own(at) + past(at))

    hidden = scan(init, fill("rnn_next", state.shape, element), state, name="rnn")
    return layer.outputs(hidden), layer.last("hidden", hidden)
