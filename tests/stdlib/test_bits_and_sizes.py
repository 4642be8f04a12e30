"""Networks of few bits against products of whole numbers; sizes, constants, bits and slices."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import stdlib as hs
from hybridjit import te
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(17)
X: Any = RNG.normal(size=(2, 3, 64))
CUBE: Any = RNG.normal(size=(4, 5, 6))


def packed(x: Any, axis: int) -> Any:
    bits = np.moveaxis(x, axis, -1) >= 0
    words = np.packbits(bits, -1).view(">u4").astype(np.uint32)
    return np.moveaxis(words, -1, axis)


def binary(x: Any, w: Any) -> Any:
    signs = [np.unpackbits(part.astype(">u4").view(np.uint8), axis=1) * 2.0 - 1 for part in (x, w)]
    return (signs[0] @ signs[1].T).astype(np.int32)


def few_bits(x: Any, w: Any, bits: Any, is_unipolar: bool, dtype: str) -> Any:
    data, weights = (
        part.astype(np.int64) & 2**count - 1 for part, count in zip((x, w), bits, strict=True)
    )
    weights = 2 * weights - (2 ** bits[1] - 1) if is_unipolar else weights
    return (data @ weights.T).astype(dtype)


def serial_row(
    inputs: int, bits: Any, dtype: str = "int16", kind: str = "uint8", **more: Any
) -> Row:
    x, w = (RNG.integers(0, 100, (rows, inputs)).astype(kind) for rows in (3, 4))
    wanted = few_bits(x, w, bits, more.get("unipolar", True), dtype)
    return row("bitserial_dense", x, w, *bits, dtype=dtype, **more, wanted=wanted)


def sliced(x: Any, starts: Any, steps: Any, sizes: Any) -> Row:
    cut = tuple(slice(a, None, b) for a, b in zip(starts, steps, strict=True))
    part = x[cut][tuple(map(slice, sizes))]
    assert part.shape == sizes
    given = (np.array(starts, np.int32), np.array(steps, np.int8))
    return row("dynamic_strided_slice", x, *given, sizes, wanted=part, fixed=(x.ndim,))


WORDS = [RNG.integers(0, 2**32, (rows, 5), np.uint32) for rows in (3, 17)]
NUMBERS: Any = np.array([1, 2, 3, 4, 5, 7, 8, 9, 64, 65, 100, 127])
EXPONENTS: Any = np.array([0, 1, 2, 2, 3, 3, 3, 4, 6, 7, 7, 7])
POWERS: Any = 2 ** np.arange(62)
ROWS = (
    row("binarize_pack", X, wanted=packed(X, 2)),
    row("binarize_pack", X.swapaxes(0, 2), 0, wanted=packed(X.swapaxes(0, 2), 0)),
    row("binarize_pack", (X * 3).astype(np.int8), wanted=packed((X * 3).astype(np.int8), 2)),
    row("binarize_pack", X[:, :0], wanted=np.zeros((2, 0, 2), np.uint32)),
    row("binarize_pack", X[:, :, :0], wanted=np.zeros((2, 3, 0), np.uint32)),
    row("binary_dense", *WORDS, wanted=binary(*WORDS)),
    row("binary_dense", WORDS[0][:, :0], WORDS[1][:, :0], wanted=np.zeros((3, 17), np.int32)),
    *(serial_row(n, bits, unipolar=u) for n in (1, 31, 32, 70) for bits in ((2, 1), (1, 3))
      for u in (False, True)),
    serial_row(65, (7, 6), "int32", "int64"),
    serial_row(65, (8, 8), "int8"),
    serial_row(0, (2, 2)),
    *(row("ceil_log2", NUMBERS.astype(t), wanted=EXPONENTS)
      for t in ("int8", "uint8", "int32", "uint64", "int64")),
    row("ceil_log2", np.concatenate([POWERS - 1, POWERS + 1])[2:], wanted=np.concatenate(
        [np.arange(62), np.arange(62) + 1])[2:]),
    row("ceil_log2", np.array([2**64 - 1, 2**63, 2**63 + 1], np.uint64),
        wanted=np.array([64, 63, 64])),
    row("ceil_log2", np.array([0, -1, -128], np.int8), wanted=np.array([-1, -1, -1])),
    row("ceil_log2", np.array([0.25, 0.3, 1, 5], "f4"), wanted=np.array([-2, -1, 0, 3], "f4")),
    *(row("collapse_sum", CUBE, shape, wanted=total, rtol=1e-12, fixed=(4, 5, 6))
      for shape, total in (
        ((4, 5, 6), CUBE), ((5, 6), CUBE.sum(0)), ((1, 5, 1), CUBE.sum((0, 2), keepdims=True)),
        ((5, 1), CUBE.sum((0, 2))[:, None]), ((), CUBE.sum()), ((1,), CUBE.sum().reshape(1)))),
    row("collapse_sum", CUBE[:0], (5, 6), wanted=np.zeros((5, 6)), fixed=(5, 6)),
    row("collapse_sum", np.ones((3, 2), np.int8), (1, 2), wanted=np.array([[3, 3]]), fixed=(2,)),
    row("shape", CUBE, wanted=np.array([4, 5, 6])),
    row("shape", CUBE[:0, 0], "int32", wanted=np.array([0, 6], np.int32), dynamic=False),
    row("shape", np.array(1.5), wanted=np.zeros(0, np.int64), dynamic=False),
    row("size", CUBE, wanted=np.array(120)),
    row("size", CUBE[:, :0], "float32", wanted=np.array(0, np.float32)),
    sliced(CUBE, (1, 0, 2), (1, 2, 3), (3, 2, 2)),
    sliced(CUBE, (-1, -9, 99), (-1, 1, -2), (4, 5, 3)),
    sliced(CUBE, (3, 4, 0), (-3, -4, 5), (2, 2, 1)),
    sliced(CUBE[0, 0], (5,), (-1,), (0,)),
    *(row("reinterpret", CUBE.astype(old), new, wanted=CUBE.astype(old).view(new)) for old, new in (
        ("float32", "int32"), ("float64", "uint64"), ("int64", "float64"), ("int16", "float16"),
        ("int8", "uint8"))),
    row("reinterpret", CUBE.T[::2], "int64", wanted=CUBE.T[::2].copy().view(np.int64)),
    row("reinterpret", CUBE[:0], "int64", wanted=CUBE[:0].view(np.int64)),
)  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


@pytest.mark.parametrize("values", [(), (7,), (1.5, -2, 3), tuple(range(17)), (True, False)])
def test_constants(values: Any) -> None:
    compare(hs.const_vector(values), np.array(values))
    made: Any = hs.const_vector(values, like=te.placeholder((1,)))
    result = np.zeros(len(values), made.dtype.numpy)
    hj.build([made])(result)
    compare(result, np.array(values))


def test_constants_of_a_type() -> None:
    compare(hs.const_vector([1, 300], "float16"), np.array([1, 300], np.float16))


def test_nan_is_no_sign() -> None:
    compare(hs.binarize_pack(np.full(32, np.nan)), np.zeros(1, np.uint32))


@pytest.mark.parametrize("start", [(3, 1), (1, -1)])
def test_steps_that_lead_out_of_an_array(start: Any) -> None:
    starts, strides = (np.array([number]) for number in start)
    with pytest.raises(IndexError, match="out of"):
        hs.dynamic_strided_slice(np.arange(5), starts, strides, 3)


MISTAKES: dict[str, Any] = {
    "is not made of words of 32": lambda: hs.binarize_pack(CUBE),
    "must be of type uint32": lambda: hs.binary_dense(CUBE[0], CUBE[0]),
    "do not match": lambda: hs.binary_dense(WORDS[0], WORDS[1][:, 1:]),
    "there are 1 to 8 bits": lambda: hs.bitserial_dense(WORDS[0], WORDS[1], 9),
    "holds indices, which are integers|must": lambda: hs.bitserial_dense(CUBE[0], CUBE[1]),
    r"\(3, 6\) does not broadcast": lambda: hs.collapse_sum(CUBE, (3, 6)),
    r"\(1, 4, 5, 6\) does not broadcast": lambda: hs.collapse_sum(CUBE, (1, 4, 5, 6)),
    "257 numbers are too many": lambda: hs.const_vector(range(257)),
    "got 2 axes": lambda: hs.const_vector([[1]]),
    "whose bits are none of int32": lambda: hs.reinterpret(CUBE, "int32"),
    "has 3 axes, and not 1": lambda: hs.dynamic_strided_slice(CUBE, EXPONENTS, EXPONENTS, 2),
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
