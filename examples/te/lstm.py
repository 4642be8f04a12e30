"""An LSTM cell, step by step: a scan over time with two states, which read each other.

What a step computes on the way, the four gates, are stages of the scan.
"""

from __future__ import annotations

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te

STEPS, BATCH, HIDDEN = 12, 4, 32
GATES = 4  # input, forget, new, output


def lstm(inputs: te.Tensor, weight: te.Tensor):
    """Schedule, states and outputs for `inputs`, which have passed their own weights already."""
    shape = (STEPS + 1, BATCH, HIDDEN)
    cell = te.placeholder(shape, "float32", "cell")
    hidden = te.placeholder(shape, "float32", "hidden")
    zero = te.const(0, "float32")
    start = [te.compute((1, BATCH, HIDDEN), lambda *_: zero, name=name) for name in ("c0", "h0")]

    k = te.reduce_axis((0, HIDDEN), "k")
    recurrent = te.compute(
        (STEPS + 1, BATCH, GATES, HIDDEN),
        lambda t, b, g, h: te.sum(hidden[t - 1, b, k] * weight[g, k, h], axis=k),
        name="recurrent",
    )

    def gate(which: int, t, b, h):
        return inputs[t - 1, b, which, h] + recurrent[t, b, which, h]

    def next_cell(t, b, h):
        kept = te.sigmoid(gate(1, t, b, h)) * cell[t - 1, b, h]
        return kept + te.sigmoid(gate(0, t, b, h)) * te.tanh(gate(2, t, b, h))

    new_cell = te.compute(shape, next_cell, name="new_cell")
    new_hidden = te.compute(
        shape,
        lambda t, b, h: te.sigmoid(gate(3, t, b, h)) * te.tanh(new_cell[t, b, h]),
        name="new_hidden",
    )
    cells, hiddens = te.scan(start, [new_cell, new_hidden], [cell, hidden], name="lstm")

    s = te.create_schedule(cells.op, fastmath={"contract"})
    _, gates, h = recurrent.op.axis[1:]
    s[recurrent].reorder(gates, k, h)
    s[recurrent].vectorize(h)
    for stage in (new_cell, new_hidden):
        s[stage].vectorize(stage.op.axis[2])
    return s, cells, hiddens


def by_numpy(inputs: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cell, hidden = np.zeros((2, STEPS + 1, BATCH, HIDDEN), np.float32)
    for t in range(1, STEPS + 1):
        gates = inputs[t - 1] + np.einsum("bk,gkh->bgh", hidden[t - 1], weight)
        opened = 1 / (1 + np.exp(-gates))
        cell[t] = opened[:, 1] * cell[t - 1] + opened[:, 0] * np.tanh(gates[:, 2])
        hidden[t] = opened[:, 3] * np.tanh(cell[t])
    return cell, hidden


def main() -> None:
    inputs = te.placeholder((STEPS, BATCH, GATES, HIDDEN), "float32", "inputs")
    weight = te.placeholder((GATES, HIDDEN, HIDDEN), "float32", "weight")
    s, cells, hiddens = lstm(inputs, weight)
    args = [inputs, weight, cells, hiddens]
    print(hj.lower(s, args, name="lstm"))
    run = hj.build(s, args, name="lstm")

    rng = np.random.default_rng(0)
    x = rng.standard_normal((STEPS, BATCH, GATES, HIDDEN), np.float32)
    w = rng.standard_normal((GATES, HIDDEN, HIDDEN), np.float32) / 4
    found = np.empty((2, STEPS + 1, BATCH, HIDDEN), np.float32)
    run(x, w, *found)
    np.testing.assert_allclose(found, by_numpy(x, w), atol=1e-5)
    compare({"hybridjit": lambda: run(x, w, *found), "NumPy": lambda: by_numpy(x, w)})


if __name__ == "__main__":
    main()
