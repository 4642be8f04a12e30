"""Operators that move elements to other shapes, against NumPy's functions."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import stdlib as hs
from hybridjit import te
from tests.support.operator_rows import Row, row

np: Any = numpy  # whose types say nothing of arrays that may be any
X: Any = np.reshape(np.arange(24, dtype=np.float32), (2, 3, 4))
Y = X.astype(np.int16)
EMPTY: Any = np.zeros((0, 3))
SCALAR: Any = np.array(7.0)
SLICES: tuple[Any, ...] = (
    ([0], [2], None, [1]),
    ([1, 0], [2, 3], [1, 2], None),
    ([None], [None], [-1], [2]),
    ([-1], [-9], [-2], [1]),
    ([5], [1], [1], [2]),
    ([-3], [100], [3], [-1]),
)


def sliced(begin: Any, end: Any, strides: Any, axes: Any) -> Any:
    index: list[Any] = [slice(None)] * 3
    for place, (start, stop) in enumerate(zip(begin, end, strict=True)):
        step = 1 if strides is None else strides[place]
        index[place if axes is None else axes[place]] = slice(start, stop, step)
    return X[tuple(index)]


ROWS = (
    *(row("reshape", X, s, wanted=X.reshape(s), dynamic=False) for s in ((4, 6), 24, (2, 1, 12))),
    *(row("reshape", X, s, wanted=X.reshape(s)) for s in ((-1, 4), (3, -1), -1)),
    row("reshape", EMPTY, (3, 0), wanted=EMPTY.reshape(3, 0), dynamic=False),
    row("reshape", SCALAR, (1, 1), wanted=SCALAR.reshape(1, 1)),
    row("reshape", np.ones((1, 1)), (), wanted=np.ones(())),
    *(row("ravel", a, wanted=a.ravel()) for a in (X, EMPTY, SCALAR, X[0, 0])),
    *(row("flatten_from", X, a, wanted=X.reshape(s)) for a, s in ((0, (1, 24)), (1, (2, 12)),
       (-1, (6, 4)), (3, (24, 1)))),
    *(row("transpose", Y, a, wanted=Y.transpose(a)) for a in (None, (1, 0, 2), (-1, 0, 1))),
    row("transpose", SCALAR, wanted=SCALAR),
    row("transpose", EMPTY, wanted=EMPTY.T),
    row("swapaxes", X, 0, -1, wanted=X.swapaxes(0, -1)),
    row("swapaxes", X, 1, 1, wanted=X),
    *(row("moveaxis", X, s, d, wanted=np.moveaxis(X, s, d))
      for s, d in ((0, -1), (2, 0), ((0, 1), (-1, -2)), ([2, 0], [0, 1]))),
    row("squeeze", X[:1, :, :1], wanted=X[:1, :, :1].squeeze()),
    row("squeeze", X[:1, :, :1], (-1,), wanted=X[:1, :, :1].squeeze(-1)),
    row("squeeze", np.ones((1, 1)), wanted=np.array(1.0)),
    *(row("expand_dims", X, a, wanted=np.expand_dims(X, a)) for a in (0, -1, (0, -1), [1, 2])),
    row("expand_dims", SCALAR, 0, wanted=SCALAR[None]),
    row("broadcast_to", X[:, :1], (2, 5, 4), wanted=np.broadcast_to(X[:, :1], (2, 5, 4)),
        dynamic=False),
    row("broadcast_to", SCALAR, 3, wanted=np.full(3, 7.0)),
    row("broadcast_to", np.ones((1, 2)), (0, 2), wanted=np.ones((0, 2)), dynamic=False),
    *(row("concatenate", (X, X + 100, X - 5), a, wanted=np.concatenate((X, X + 100, X - 5), a))
      for a in (0, 1, -1)),
    row("concatenate", (X, Y[:, :1]), axis=1, wanted=np.concatenate((X, Y[:, :1]), 1)),
    row("concatenate", (EMPTY, np.ones((2, 3))), wanted=np.ones((2, 3))),
    row("concatenate", (Y[0, 0] > 1,), wanted=Y[0, 0] > 1),
    row("concatenate", [np.ones(2, np.uint8), np.ones(3, np.int8)], wanted=np.ones(5, np.int16)),
    *(row("stack", (X, X + 1), a, wanted=np.stack((X, X + 1), a)) for a in (0, 2, -1)),
    row("stack", (X, Y), wanted=np.stack((X, Y))),
    row("stack", (SCALAR, np.array(8.0)), wanted=np.array([7.0, 8.0])),
    row("split", X, 2, 2, wanted=np.split(X, 2, 2)),
    row("split", X, np.int64(2), 2, wanted=np.split(X, 2, 2)),
    row("split", X, [1, 2], 1, wanted=np.split(X, [1, 2], 1)),
    row("split", X, (3, -1, 9), 2, wanted=np.split(X, [3, -1, 9], 2), dynamic=False),
    row("split", EMPTY, 3, 1, wanted=np.split(EMPTY, 3, 1)),
    *(row("flip", X, a, wanted=np.flip(X, a)) for a in (None, 0, (1, -1))),
    row("flip", EMPTY, wanted=EMPTY),
    *(row("roll", X, s, a, wanted=np.roll(X, s, a))
      for s, a in ((5, None), (-1, 1), ((1, 2), (0, 2)), (9, (0, 1)), ((1, 2), (1, 1)), (0, 0))),
    row("roll", EMPTY, 1, 0, wanted=EMPTY),
    row("roll", EMPTY, 1, wanted=EMPTY),
    *(row("tile", X[0], r, wanted=np.tile(X[0], r)) for r in (2, (2, 1), (3, 1, 2), (0, 1), ())),
    row("tile", SCALAR, 3, wanted=np.tile(SCALAR, 3)),
    *(row("repeat", X, r, a, wanted=np.repeat(X, r, a))
      for r, a in ((2, None), (3, 1), (0, 0), (1, -1))),
    row("repeat", SCALAR, 2, wanted=np.repeat(SCALAR, 2)),
    *(row("strided_slice", X, *s, wanted=sliced(*s)) for s in SLICES),
    row("sliding_window", X, 1, (2, 3), (1, 1),
        wanted=np.lib.stride_tricks.sliding_window_view(X, (2, 3), (1, 2))),
    row("sliding_window", X, 2, [2], 2,
        wanted=np.lib.stride_tricks.sliding_window_view(X, 2, 2)[:, :, ::2]),
)  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


N, M = te.var("n"), te.var("m")


@pytest.mark.parametrize("shape", [(M, N), (M * N,), (N * M,), (M, 1, N)])
def test_sizes_in_another_order_are_as_many_elements(shape: Any) -> None:
    x = te.placeholder((N, M), "float64", "x")
    made = hs.reshape(x, shape)
    sizes = {1: (6,), 2: (3, 2), 3: (3, 1, 2)}[len(shape)]
    result = np.zeros(sizes)
    hj.build([x, made])(np.arange(6.0).reshape(2, 3), result)
    np.testing.assert_array_equal(result.ravel(), np.arange(6.0))


MISTAKES: dict[str, Any] = {
    "does not fit into the shape": lambda: hs.reshape(X, (5, -1)),
    r"each of which\s+stands once": lambda: hs.transpose(X, (0, 0, 1)),
    "has not the size 1": lambda: hs.squeeze(X, 0),
    "does not broadcast to": lambda: hs.broadcast_to(X, (3, 4)),
    "do not broadcast": lambda: hs.broadcast_to(X, (5, 3, 4)),
    "do not match": lambda: hs.concatenate((X, X[0]), 0),
    "must be a tuple or a list": lambda: hs.stack(X),  # pyright: ignore
    "neither an array nor a tensor": lambda: hs.stack(()),
    "are not 5 equal parts": lambda: hs.split(X, 5, 2),
    "a stride is not 0": lambda: hs.strided_slice(X, [0], [2], [0]),
    "an axis is given twice": lambda: hs.expand_dims(X, (0, 0)),
    "strided_slice: an axis is given twice": lambda: hs.strided_slice(
        X, [0, 1], [1, 2], None, [0, -3]
    ),
    "split: parts must be integers": lambda: hs.split(X, 1.5),  # pyright: ignore
    "must be integers": lambda: hs.tile(X, 1.5),  # pyright: ignore
    "is out of bounds": lambda: hs.swapaxes(X, 0, 3),
    "moves to a place of its own": lambda: hs.moveaxis(X, (0, 0), (1, 2)),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
