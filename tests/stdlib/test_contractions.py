"""einsum and its kin, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridjit import stdlib as hs
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(0)
FEW = settings(max_examples=max(settings().max_examples // 4, 1))
A: Any = RNG.integers(-4, 5, (3, 4))
B: Any = RNG.integers(-4, 5, (4, 5))
C: Any = RNG.random((5, 3))
X: Any = RNG.random((2, 3, 4)).astype(np.float32)
Y: Any = RNG.random((2, 4, 5)).astype(np.float32)
Z: Any = RNG.random(4) + 1j * RNG.random(4)
EINSUMS: tuple[Any, ...] = (
    ("ij,jk->ik", A, B),
    ("ij,jk", A, B),
    ("ij->ji", A),
    ("ij->", A),
    ("ij->j", A),
    ("ii", A[:, :3]),
    ("ii->i", A[:, :3]),
    ("ij,jk,kl->il", A, B, C),
    ("ij,jk,ki", A, B, C),
    ("bij,bjk->bik", X, Y),
    ("...ij,...jk->...ik", X, Y),
    ("...i->...", X),
    ("ij,...j->...i", A[:, :4], X),
    ("i,j->ij", C[0], Z),
    ("i,i", Z, Z),
    (" ij , kj -> ik ", A, B.T),
    ("a...b->b...", X),
    ("ij,ij->ij", A > 0, A > 1),
    ("ij,jk->ik", A > 0, B > 1),
    ("ij,j->i", A, Z),
    ("i,i,i->", C[0], C[1], C[2]),
    (",i->i", Z[0:1].reshape(()), Z),
    ("bij,jk->bik", X[:, :, :0], B[:0]),
    ("ij,jk->ik", A[:, :1], B),
)
DOTS: tuple[Any, ...] = (
    (X, B, 1),
    (X, X, 0),
    (A[None], X[0].T, 1),
    (Y, X[:, 0] @ np.ones((4, 5)), ((0, 2), (0, 1))),
    (A, C, 0),
    (X, Y, ([2], [1])),
    (X, Y, ((0, 2), (0, 1))),
    (X, B, ((-1,), (0,))),
)
ROWS = (
    *(row("einsum", text, tuple(xs), wanted=np.einsum(text, *xs), rtol=1e-5)
      for text, *xs in EINSUMS),
    *(row("tensordot", x, y, a, wanted=np.tensordot(x, y, a), rtol=1e-5) for x, y, a in DOTS),
    row("outer", A[0], Z, wanted=np.outer(A[0], Z), rtol=1e-12),
    row("outer", A, Z[:, None], wanted=np.outer(A, Z), rtol=1e-12),
    row("outer", A, Z[:1].reshape(()), wanted=np.outer(A, Z[:1]), rtol=1e-12),
    row("vecdot", A, A[:1], wanted=np.einsum("ij,j->i", A, A[0])),
    row("vecdot", Z, Z * 2, wanted=np.vdot(Z, Z * 2), rtol=1e-12),
    *(row("batch_matmul", X if not tx else X.swapaxes(1, 2), Y if not ty else Y.swapaxes(1, 2),
          transpose_x=tx, transpose_y=ty, wanted=X @ Y, rtol=1e-5)
      for tx in (False, True) for ty in (False, True)),
    row("batch_matmul", X[:1], Y, transpose_y=False, wanted=X[:1] @ Y, rtol=1e-5),
    row("dense_packed", A, np.reshape(B[:, :4].T, (2, 2, 4)).swapaxes(1, 2), wanted=A @ B[:, :4]),
)  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


@FEW
@given(st.data())
def test_random_subscripts(data: st.DataObject) -> None:
    sizes = {"i": 2, "j": 3, "k": 1, "l": 4}
    terms = data.draw(st.lists(st.text("ijkl", max_size=3), min_size=1, max_size=3))
    letters = sorted(set("".join(terms)))
    output = "".join(data.draw(st.permutations(letters)))[: data.draw(st.integers(0, len(letters)))]
    xs = tuple(RNG.random([sizes[letter] for letter in term]) for term in terms)
    text = f"{','.join(terms)}->{output}"
    xs = tuple(np.asarray(x) for x in xs)
    compare(hs.einsum(text, xs), np.asarray(np.einsum(text, *xs)), 1e-12)


def test_the_type_is_that_of_all_operands() -> None:
    x, y = np.array([100, 5], np.int8), np.array([3, 5], np.int8)
    for last in (np.array([1, 2], np.float32), np.array([1, 2], np.int32), x):
        compare(hs.einsum("i,i,i->i", (x, y, last)), np.einsum("i,i,i->i", x, y, last))
    half = np.array([300.0], np.float16)
    found = hs.einsum("i,i,i->i", (half, half, half / 300 / 300))
    np.testing.assert_allclose(found, [300], rtol=1e-2)


MISTAKES: dict[str, Any] = {
    "is for 2 operands, got 1": lambda: hs.einsum("ij,jk", (A,)),
    "does not name the axes": lambda: hs.einsum("ijk", (A,)),
    "'i1' does not name": lambda: hs.einsum("i1", (A,)),
    "axis 'j' of 'xs1'": lambda: hs.einsum("ij,jk", (A, A)),
    "must name axes of the operands": lambda: hs.einsum("ij->iz", (A,)),
    "tensordot: 'x' of shape": lambda: hs.tensordot(A, A, 1),
    "tensordot: axes must be integers": lambda: hs.tensordot(A, A, None),  # pyright: ignore
    "an axis is named twice": lambda: hs.tensordot(A[0], A[:, :1] @ A[:1], ((0, 0), (0, 1))),
    "has no diagonal 'i'": lambda: hs.einsum("ii->i", (A[:1],)),
    "there must be as many axes": lambda: hs.tensordot(A, A, ((0, 1), (0,))),
    "the inputs of both": lambda: hs.dense_packed(A, X),
    "batch_matmul: 'x' of shape": lambda: hs.batch_matmul(A, B),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
