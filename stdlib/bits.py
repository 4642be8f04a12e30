"""Networks of few bits: numbers of one bit, 1 or -1, and of several, multiplied 32 at a time."""

from __future__ import annotations

from typing import Any

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import INT32, UINT32
from hybridjit.stdlib.parts.requirements import multiple_of
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_integers,
    check_rank,
    fill,
    normalize_axis,
    read_dtype,
    read_integers,
    replaced,
    shown,
)
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import const, if_then_else, popcount, reduce_axis
from hybridjit.te import sum as added

WORD = 32


@operator(differentiable=False)
def binarize_pack(x: T, axis: int = -1) -> T:
    """Whether elements along an axis are 0 or more, 32 of them as the bits of a uint32.

    The first one is the highest bit; NaN is none.

    >>> hs.binarize_pack(np.where(np.arange(32) < 30, -1.0, 1.0))
    array([3], dtype=uint32)
    """
    place = normalize_axis("binarize_pack", x, axis)
    _check_words(x, place)
    guard = multiple_of("binarize_pack", x.shape[place], WORD, f"no words of {WORD} signs")
    bit = reduce_axis((0, WORD), "bit")

    def element(at: tuple[Any, ...]) -> Any:
        value: Any = guard(x[replaced(at, place, at[place] * WORD + bit)])
        return added((value >= 0).astype(UINT32) << (WORD - 1 - bit).astype(UINT32), axis=bit)

    return fill("binarize_pack", replaced(x.shape, place, x.shape[place] // WORD), element)


def _check_words(x: Any, axis: int) -> None:
    size = x.shape[axis]
    if x.dtype.is_complex or (isinstance(size, int) and size % WORD):
        raise ArgumentValueError(
            f"binarize_pack: {shown(x)}, {x.dtype}, is not made of words of {WORD} signs "
            f"along axis {axis}"
        )


@operator(differentiable=False)
def binary_dense(x: T, w: T) -> T:
    """x times the transpose of w, whose bits stand for 1 and -1, as binarize_pack makes them.

    >>> hs.binary_dense(np.array([[0]], np.uint32), np.array([[0], [7]], np.uint32))
    array([[32, 26]], dtype=int32)
    """
    for tensor in (x, w):
        check_rank("binary_dense", tensor, 2, "rows, words")
        _check_signs(tensor)
    _check_inputs("binary_dense", x, w)
    apart = _count_differences(x, w)
    words = x.shape[1]
    count = words if isinstance(words, int) else words.astype(INT32)
    return fill(
        "binary_dense", apart.shape, lambda at: (count * WORD - apart[at] * 2).astype(INT32)
    )


def _check_signs(x: Any) -> None:
    if x.dtype is not UINT32:
        raise ArgumentError(f"binary_dense: '{x.name}' must be of type uint32, got {x.dtype}")


def _count_differences(x: Any, w: Any) -> Any:
    """How many bits of each row of `x` are other ones than those of each row of `w`."""
    k = reduce_axis((0, x.shape[1]), "k")
    return fill(
        "binary_dense_apart",
        (x.shape[0], w.shape[0]),
        lambda at: added(popcount(x[at[0], k] ^ w[at[1], k]).astype(INT32), axis=k),
    )


@operator(differentiable=False)
def bitserial_dense(
    x: T,
    w: T,
    data_bits: int = 2,
    weight_bits: int = 1,
    *,
    unipolar: bool = True,
    dtype: Any = "int16",
) -> T:
    """x times the transpose of w, both of a few bits, by counting the bits that they share.

    Numbers are what their lowest bits say, up to 8 of them. With unipolar=True each bit of w that
    is not set stands for -1: 3 bits are -7, -5 up to 7. Sums are of type dtype, and wrap.

    >>> hs.bitserial_dense(np.array([[3, 1]], np.uint8), np.array([[1, 0]], np.uint8))
    array([[2]], dtype=int16)
    """
    name = "bitserial_dense"
    for tensor in (x, w):
        check_rank(name, tensor, 2, "rows, inputs")
    check_integers(name, x, w)
    _check_inputs(name, x, w)
    counts = read_integers(name, "data_bits and weight_bits", [data_bits, weight_bits], 2)
    wanted = read_dtype(name, dtype)
    if min(counts) < 1 or max(counts) > 8 or not wanted.is_integer:
        raise ArgumentValueError(f"{name}: there are 1 to 8 bits, got {counts}, in {wanted}")
    data, weights = (
        _packed(f"{name}_{what}", tensor, count)
        for what, tensor, count in zip(("data", "weights"), (x, w), counts, strict=True)
    )
    k = reduce_axis((0, data.shape[2]), "k")
    i, j = (reduce_axis((0, count), letter) for count, letter in zip(counts, "ij", strict=True))

    def element(at: tuple[Any, ...]) -> Any:
        own, factor = data[at[0], i, k], weights[at[1], j, k]
        shared = popcount(own & factor).astype(wanted)
        if unipolar:
            shared = shared - popcount(own & (factor ^ ALL_BITS)).astype(wanted)
        return added(shared << (i + j).astype(wanted), axis=[j, i, k])

    return fill(name, (x.shape[0], w.shape[0]), element)


ALL_BITS = const(2**WORD - 1, UINT32)


def _packed(name: str, x: Any, count: int) -> Any:
    """(rows, bits, words): one bit of 32 numbers in a word; those that are missing are 0."""
    size = x.shape[1]
    place = reduce_axis((0, WORD), "place")

    def element(at: tuple[Any, ...]) -> Any:
        index = at[2] * WORD + place
        bit = (x[at[0], index].astype(UINT32) >> at[1].astype(UINT32)) & const(1, UINT32)
        own = if_then_else(index < size, bit, const(0, UINT32))
        return added(own << place.astype(UINT32), axis=place)

    return fill(name, (x.shape[0], count, (size + WORD - 1) // WORD), element)


def _check_inputs(name: str, x: Any, w: Any) -> None:
    if not are_equal(x.shape[1], w.shape[1]):
        raise ArgumentValueError(f"{name}: the inputs of {shown(x)} and {shown(w)} do not match")
