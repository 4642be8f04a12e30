"""Arrays out of numbers, triangles, grids, against NumPy's functions."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from hybridjit import te
from hybridjit.interp.run import interpret
from tests.support.operator_rows import Row, row

np: Any = numpy  # whose types say nothing of arrays that may be any
X: Any = np.reshape(np.arange(1, 25, dtype=np.float32), (2, 3, 4))
INDICES: Any = np.array([[0, 2, -1], [5, 1, -4]])
GRID: Any = (np.arange(3), np.arange(4.0), np.arange(2))
RANGES: tuple[Any, ...] = (
    (5,), (2, 9), (0,), (-3,), (9, 2, -3), (0, 1, 0.3), (2.5, 4), (1, 2, 0.1, "float32"),
    (0, 5, 0.7, "float16"), (0, 10, 3, "uint8"), (3, 3), (0, -1, 0.5), (1.5, -2, -0.5),
    (np.float32(0.5), np.float32(3)), (np.float32(2.5),), (0, 2, np.float16(0.3)), (np.int8(4),),
)  # fmt: skip


def diagonal_set(x: Any, diagonal: Any, k: int) -> Any:
    """Every matrix with a diagonal replaced."""
    found = x.copy()
    for place in range(diagonal.shape[-1]):
        found[..., place + max(-k, 0), place + max(k, 0)] = diagonal[..., place]
    return found


def hot(axis: int, dtype: Any = np.float32, on: Any = 1, off: Any = 0) -> Any:
    places = np.where(INDICES < 0, INDICES + 3, INDICES)
    found = np.where(places[..., None] == np.arange(3), on, off).astype(dtype)
    return np.moveaxis(found, -1, axis)


ROWS = (
    *(row("full", s, 2.5, wanted=np.full(s, 2.5)) for s in ((2, 3), 4, (), (0, 2))),
    row("full", (2,), 3, "int8", wanted=np.full(2, 3, "int8")),
    row("full", (2, 2), np.array(4.0), wanted=np.full((2, 2), 4.0)),
    row("full_like", X, 3, wanted=np.full_like(X, 3)),
    row("full_like", X, 300, "uint16", wanted=np.full_like(X, 300, "uint16")),
    *(row("arange", *a, wanted=np.arange(*a)) for a in RANGES),
    *(row("eye", *a, wanted=np.eye(*a)) for a in ((3,), (2, 4, 1), (4, 2, -2), (0,), (2, 2, 5))),
    row("eye", 3, dtype="int32", wanted=np.eye(3, dtype="int32")),
    *(row("tril", X, k, wanted=np.tril(X, k)) for k in (0, 1, -1, 9)),
    *(row("triu", X, k, wanted=np.triu(X, k)) for k in (0, 1, -2, -9)),
    row("triu", np.zeros((0, 3)), wanted=np.zeros((0, 3))),
    *(row("matrix_set_diag", X, X[:, :n, 0] + 50, k, dynamic=False,
          wanted=diagonal_set(X, X[:, :n, 0] + 50, k))
      for n, k in ((3, 0), (3, 1), (2, 2), (2, -1))),
    *(row("meshgrid", GRID[:n], indexing=i, wanted=np.meshgrid(*GRID[:n], indexing=i))
      for n in (1, 2, 3) for i in ("xy", "ij")),
    *(row("one_hot", INDICES, 3, axis=a, wanted=hot(a)) for a in (-1, 0, 1)),
    row("one_hot", INDICES.astype(np.int8), 3, 7, 2, dtype="int32", wanted=hot(-1, np.int32, 7, 2)),
    row("one_hot", np.array(1), 3, wanted=np.array([0, 1, 0], np.float32)),
)  # fmt: skip


OF_TENSORS = [row for row in ROWS if row.name not in ("full", "arange", "eye")]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", OF_TENSORS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


N = te.var("n")
SIZED: dict[str, Any] = {
    "full": (hs.full((N, 2), 1.5), np.full((5, 2), 1.5)),
    "arange": (hs.arange(N), np.arange(5)),
    "arange down": (hs.arange(N, 0, -2), np.arange(5, 0, -2)),
    "eye": (hs.eye(N, 3), np.eye(5, 3)),
}


@pytest.mark.parametrize("what", SIZED)
def test_sizes_that_are_expressions_make_tensors(what: str) -> None:
    made, wanted = SIZED[what]
    x = te.placeholder((N,), "float64", "x")  # which says what n is
    result, rest = np.zeros(wanted.shape, wanted.dtype), np.zeros(5)
    func = te.create_prim_func([x, made, te.compute((N,), lambda i: x[i])])
    interpret(func, [np.ones(5), result, rest])
    np.testing.assert_array_equal(result, wanted)


def test_like_a_tensor_makes_a_tensor() -> None:
    made = hs.full((2, 2), 1.0, like=te.placeholder((1,)))
    assert isinstance(made, te.Tensor)
    assert type(hs.eye(2, like=np.ones(1))) is np.ndarray


MISTAKES: dict[str, Any] = {
    "the step is not 0": lambda: hs.arange(0, 3, 0),
    "has no two axes": lambda: hs.tril(X[0, 0]),
    r"must have the shape \(2, 3\)": lambda: hs.matrix_set_diag(X, X[:, :2, 0]),
    "there is no indexing": lambda: hs.meshgrid(GRID, "yx"),  # pyright: ignore
    "must have 1 axis": lambda: hs.meshgrid((X,)),
    "which are integers, got float32": lambda: hs.one_hot(X, 3),
    "eye: k must be an integer, got 0.5": lambda: hs.eye(3, k=0.5),  # pyright: ignore
    "tril: k must be an integer, got 0.5": lambda: hs.tril(X, 0.5),  # pyright: ignore
    "triu: k must be an integer, got 0.5": lambda: hs.triu(X, 0.5),  # pyright: ignore
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
