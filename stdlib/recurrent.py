"""Recurrent layers: an LSTM, a GRU and a plain one, along sequences of a batch.

`x` has the shape (steps, batch, inputs), weights are (gates * hidden, inputs) and (gates * hidden,
hidden), biases (gates * hidden,); gates lie one after the other: input, forget, cell, output of an
LSTM; reset, update, new of a GRU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.stdlib.parts.shapes import are_equal, check_rank, fill, shown
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import const


@hybrid.script
def _run_lstm(x: Any, w: Any, u: Any, b: Any, h0: Any, c0: Any) -> Any:
    steps, batch, hidden = x.shape[0], x.shape[1], h0.shape[1]
    out = np.empty((steps, batch, hidden), x.dtype)
    h = h0.copy()
    c = c0.copy()
    for t in range(steps):
        gates = x[t] @ w.T + h @ u.T + b
        for n in range(batch):
            for k in range(hidden):
                enter = 1 / (1 + np.exp(-gates[n, k]))
                stay = 1 / (1 + np.exp(-gates[n, hidden + k]))
                cell = np.tanh(gates[n, 2 * hidden + k])
                leave = 1 / (1 + np.exp(-gates[n, 3 * hidden + k]))
                c[n, k] = stay * c[n, k] + enter * cell
                h[n, k] = leave * np.tanh(c[n, k])
                out[t, n, k] = h[n, k]
    return out, h, c


@hybrid.script
def _run_gru(x: Any, w: Any, u: Any, b: Any, d: Any, h0: Any) -> Any:
    steps, batch, hidden = x.shape[0], x.shape[1], h0.shape[1]
    out = np.empty((steps, batch, hidden), x.dtype)
    h = h0.copy()
    for t in range(steps):
        own = x[t] @ w.T + b
        past = h @ u.T + d
        for n in range(batch):
            for k in range(hidden):
                reset = 1 / (1 + np.exp(-(own[n, k] + past[n, k])))
                update = 1 / (1 + np.exp(-(own[n, hidden + k] + past[n, hidden + k])))
                new = np.tanh(own[n, 2 * hidden + k] + reset * past[n, 2 * hidden + k])
                h[n, k] = (1 - update) * new + update * h[n, k]
                out[t, n, k] = h[n, k]
    return out, h


@hybrid.script
def _run_rnn(x: Any, w: Any, u: Any, b: Any, h0: Any, activation: str) -> Any:
    steps, batch, hidden = x.shape[0], x.shape[1], h0.shape[1]
    out = np.empty((steps, batch, hidden), x.dtype)
    h = h0.copy()
    for t in range(steps):
        sums = x[t] @ w.T + h @ u.T + b
        for n in range(batch):
            for k in range(hidden):
                if activation == "tanh":
                    h[n, k] = np.tanh(sums[n, k])
                else:
                    h[n, k] = np.maximum(sums[n, k], 0)
                out[t, n, k] = h[n, k]
    return out, h


@operator(differentiable=False)
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
    (summands,) = _read("lstm", 4, x, w, u, [bias])
    hidden, cell = (_state("lstm", x, u, state) for state in (h0, c0))
    return _run_lstm(x, w, u, summands, hidden, cell)


@operator(differentiable=False)
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
    own, past = _read("gru", 3, x, w, u, [bias, hidden_bias])
    return _run_gru(x, w, u, own, past, _state("gru", x, u, h0))


@operator(differentiable=False)
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
    if activation not in ("tanh", "relu"):
        raise ArgumentValueError(f"rnn: there is no activation {activation!r}")
    (summands,) = _read("rnn", 1, x, w, u, [bias])
    return _run_rnn(x, w, u, summands, _state("rnn", x, u, h0), activation)


def _read(name: str, gates: int, x: Any, w: Any, u: Any, biases: list[Any]) -> list[Any]:
    """Biases, zeros if they are not given; shapes and types are checked."""
    check_rank(name, x, 3, "steps, batch, inputs")
    for tensor in (w, u):
        check_rank(name, tensor, 2, "gates * hidden, inputs")
    rows = u.shape[1] * gates
    fits = [(w.shape[0], rows), (u.shape[0], rows), (w.shape[1], x.shape[2])]
    if not all(are_equal(*pair) for pair in fits):
        raise ArgumentValueError(
            f"{name}: {shown(x)} and the weights {shown(w)} and {shown(u)} do not match"
        )
    _check_types(name, x, w, u, *biases)
    for bias in biases:
        if bias is not None and not (bias.ndim == 1 and are_equal(bias.shape[0], rows)):
            raise ArgumentValueError(f"{name}: {shown(bias)} has not one for each row of weights")
    return [_zeros(name, (rows,), x) if bias is None else bias for bias in biases]


def _state(name: str, x: Any, u: Any, state: Any) -> Any:
    shape = (x.shape[1], u.shape[1])
    if state is None:
        return _zeros(name, shape, x)
    _check_types(name, x, state)
    if state.ndim != 2 or not all(map(are_equal, state.shape, shape)):
        raise ArgumentValueError(f"{name}: {shown(state)} is no state: it is (batch, hidden)")
    return state


def _check_types(name: str, x: Any, *others: Any) -> None:
    if not x.dtype.is_float or any(t is not None and t.dtype is not x.dtype for t in others):
        raise ArgumentError(
            f"{name}: all operands must be of one float type, '{x.name}' is {x.dtype}"
        )


def _zeros(name: str, shape: tuple[Any, ...], x: Any) -> Any:
    return fill(f"{name}_zeros", shape, lambda at: const(0, x.dtype))
