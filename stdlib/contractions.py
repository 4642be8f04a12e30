"""Products of tensors, added up over axes that letters name: NumPy's einsum and its kin."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import BOOL, DType
from hybridjit.record import record
from hybridjit.stdlib.parts.accumulation import convert, meeting_type
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_rank,
    fill,
    flatten,
    normalize_axis,
    read_integers,
    show_size,
    shown,
)
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import in_tiles
from hybridjit.te import any as is_any
from hybridjit.te import reduce_axis
from hybridjit.te import sum as added

RECIPE = scheduled_by(in_tiles, fastmath=("contract", "reassoc"))
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


@operator(recipe=RECIPE)
def einsum(subscripts: str, xs: Sequence[T]) -> T:
    """Products of elements of xs, added up over the axes that the result does not have.

    `subscripts` names the axes, as in NumPy: "ij,jk->ik" is a product of matrices, "ii" a trace,
    "...i,...i" one of vectors in any number of batches.

    >>> hs.einsum("ij,j->i", (np.array([[1, 2], [3, 4]]), np.array([5, 6])))
    array([17, 39])
    """
    found, output = _read_subscripts(subscripts, xs)
    dtype = _meeting_type(found)
    while len(found) > 2:
        later = {letter for _, letters in found[2:] for letter in letters}
        kept = [*dict.fromkeys([*found[0].letters, *found[1].letters])]
        names = [name for name in kept if name in later or name in output]
        part = _contract("einsum_part", found[:2], names, dtype)
        found = [_Factor(part, tuple(names)), *found[2:]]
    return convert("einsum", _contract("einsum", found, output, dtype), dtype)


@record
class _Factor:
    """A tensor, and the names of its axes."""

    tensor: Any
    letters: tuple[str, ...]

    def __iter__(self) -> Any:
        return iter((self.tensor, self.letters))


def contract(name: str, factors: Sequence[_Factor], output: Sequence[str]) -> Any:
    """The products of elements of factors, added up over the axes that the output does not name."""
    dtype = _meeting_type(factors)
    return convert(name, _contract(name, factors, output, dtype), dtype)


def _meeting_type(factors: Sequence[_Factor]) -> DType:
    return meeting_type(*(factor.tensor[(0,) * factor.tensor.ndim] for factor in factors))


def _contract(name: str, factors: Sequence[_Factor], output: Sequence[str], dtype: DType) -> Any:
    """The same for a result of type `dtype`, not yet rounded to half."""
    sizes = _sizes_of(name, factors)
    reduced = {
        letter: reduce_axis((0, size), f"k{place}")
        for place, (letter, size) in enumerate(sizes.items())
        if letter not in output
    }
    working = working_type(dtype)

    def element(at: tuple[Any, ...]) -> Any:
        places = {**dict(zip(output, at, strict=True)), **reduced}
        product: Any = None
        for factor in factors:
            value = _element_at(factor, places).astype(working)
            product = value if product is None else call("*", product, value)
        if not reduced:
            return product
        axes = list(reduced.values())
        return is_any(product, axis=axes) if dtype is BOOL else added(product, axis=axes)

    return fill(name, [sizes[letter] for letter in output], element)


def _element_at(factor: _Factor, places: dict[str, Any]) -> Any:
    """An axis of size 1 is repeated along one that is larger."""
    return factor.tensor[
        tuple(
            0 if are_equal(size, 1) else places[letter]
            for size, letter in zip(factor.tensor.shape, factor.letters, strict=True)
        )
    ]


def _sizes_of(name: str, factors: Sequence[_Factor]) -> dict[str, Any]:
    sizes: dict[str, Any] = {}
    for tensor, letters in factors:
        _check_diagonals(name, tensor, letters)
        for size, letter in zip(tensor.shape, letters, strict=True):
            known = sizes.get(letter, 1)
            if not (are_equal(known, size) or are_equal(known, 1) or are_equal(size, 1)):
                raise ArgumentValueError(
                    f"{name}: axis {letter!r} of {shown(tensor)} has the size {show_size(size)}, "
                    f"and before {show_size(known)}"
                )
            sizes[letter] = size if are_equal(known, 1) else known
    return sizes


def _check_diagonals(name: str, tensor: Any, letters: Sequence[str]) -> None:
    """Refuse one letter for axes of different sizes of one tensor: 1 is not repeated there."""
    own: dict[str, Any] = {}
    for size, letter in zip(tensor.shape, letters, strict=True):
        if not are_equal(own.setdefault(letter, size), size):
            raise ArgumentValueError(
                f"{name}: {shown(tensor)} has no diagonal {letter!r}: its axes differ"
            )


def _read_subscripts(subscripts: str, xs: Sequence[Any]) -> tuple[list[_Factor], list[str]]:
    text = subscripts.replace(" ", "")
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(xs):
        raise ArgumentValueError(
            f"einsum: {subscripts!r} is for {len(terms)} operands, got {len(xs)}"
        )
    dots = max(_count_dots(term, x) for term, x in zip(terms, xs, strict=True))
    factors = [_Factor(x, _axes_of(term, x, dots)) for term, x in zip(terms, xs, strict=True)]
    if arrow:
        return factors, _output_axes(subscripts, result, dots, factors)
    letters = inputs.replace(",", "").replace(".", "")
    once = sorted(letter for letter in set(letters) if letters.count(letter) == 1)
    return factors, [*_dotted(dots, dots), *once]


def _dotted(count: int, most: int) -> list[str]:
    """Names for the axes that dots stand for, the last ones of all."""
    return [f".{place}" for place in range(most - count, most)]


def _count_dots(term: str, x: Any) -> int:
    return x.ndim - len(term.replace("...", "")) if "..." in term else 0


def _axes_of(term: str, x: Any, dots: int) -> tuple[str, ...]:
    count = _count_dots(term, x)
    before, is_dotted, after = term.partition("...")
    names = [*before, *_dotted(count, dots), *after] if count >= 0 else []
    plain = before + after
    if len(names) != x.ndim or any(name not in string.ascii_letters for name in plain):
        raise ArgumentValueError(
            f"einsum: {term!r} does not name the axes of {shown(x)}",
            help="a letter for each, or '...' for those that are left",
        )
    del is_dotted
    return tuple(names)


def _output_axes(subscripts: str, result: str, dots: int, factors: Sequence[_Factor]) -> list[str]:
    before, is_dotted, after = result.partition("...")
    names = [*before, *(_dotted(dots, dots) if is_dotted else []), *after]
    known = {letter for factor in factors for letter in factor.letters}
    if len(set(names)) < len(names) or not known.issuperset(names) or (dots and not is_dotted):
        raise ArgumentValueError(
            f"einsum: the result of {subscripts!r} must name axes of the operands, each once"
        )
    return names


@operator(recipe=RECIPE)
def tensordot(x: T, y: T, axes: int | Sequence[Any] = 2) -> T:
    """Products of x and y, added up over the last axes of x and the first of y, so many of them.

    Or over those that two lists of axes name.

    >>> hs.tensordot(np.ones((2, 3)), np.ones((3, 4)), 1).shape
    (2, 4)
    """
    mine, others = _read_pairs(x, y, axes)
    names = list(string.ascii_letters)
    left = tuple(names[place] for place in range(x.ndim))
    right = [names[x.ndim + place] for place in range(y.ndim)]
    if any(len(set(places)) < len(places) for places in (mine, others)):
        raise ArgumentValueError(f"tensordot: an axis is named twice, got {axes!r}")
    for a, b in zip(mine, others, strict=True):
        if not are_equal(x.shape[a], y.shape[b]):
            raise ArgumentValueError(f"tensordot: {shown(x)} and {shown(y)} do not match")
        right[b] = left[a]
    kept = [name for name in (*left, *right) if (name in left) != (name in right)]
    return contract("tensordot", [_Factor(x, left), _Factor(y, tuple(right))], kept)


def _read_pairs(x: Any, y: Any, axes: Any) -> tuple[list[int], list[int]]:
    if not isinstance(axes, _SEQUENCE):
        (count,) = read_integers("tensordot", "axes", axes)
        if not 0 <= count <= min(x.ndim, y.ndim):
            raise ArgumentValueError(f"tensordot: {shown(x)} and {shown(y)} have no {count} axes")
        return list(range(x.ndim - count, x.ndim)), list(range(count))
    pair = list(axes)
    found = [
        [
            normalize_axis("tensordot", tensor, axis)
            for axis in read_integers("tensordot", "axes", a)
        ]
        for tensor, a in zip((x, y), pair, strict=False)
    ]
    if len(pair) != 2 or len(found[0]) != len(found[1]):
        raise ArgumentValueError(f"tensordot: there must be as many axes of each, got {axes!r}")
    return found[0], found[1]


@operator(recipe=RECIPE)
def outer(x: T, y: T) -> T:
    """The product of every element of x with every element of y; both are flattened.

    >>> hs.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    left, right = (v if v.ndim == 1 else flatten("outer_flat", v) for v in (x, y))
    return contract("outer", [_Factor(left, ("i",)), _Factor(right, ("j",))], "ij")


@operator(recipe=RECIPE)
def vecdot(x: T, y: T) -> T:
    """Products of vectors along the last axes, added up; the first of complex ones conjugated.

    >>> hs.vecdot(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3, 7])
    """
    _check_vectors(x, y)
    left: Any = x
    if left.dtype.is_complex:
        left = fill("vecdot_conjugate", x.shape, lambda at: call("conj", x[at]))
    rank = max(x.ndim, y.ndim)
    names = [*_dotted(rank - 1, rank - 1), "k"]
    factors = [
        _Factor(left, tuple(names[rank - x.ndim :])),
        _Factor(y, tuple(names[rank - y.ndim :])),
    ]
    return contract("vecdot", factors, names[:-1])


def _check_vectors(x: Any, y: Any) -> None:
    if x.ndim == 0 or y.ndim == 0 or not are_equal(x.shape[-1], y.shape[-1]):
        raise ArgumentValueError(f"vecdot: {shown(x)} and {shown(y)} do not match")


@operator(recipe=RECIPE)
def dense_packed(x: T, w: T) -> T:
    """x times weights in blocks of outputs: their shape is (outputs / block, inputs, block).

    >>> hs.dense_packed(np.ones((1, 3)), np.ones((2, 3, 4))).shape
    (1, 8)
    """
    check_rank("dense_packed", x, 2, "rows, inputs")
    check_rank("dense_packed", w, 3, "blocks, inputs, outputs of a block")
    if not are_equal(x.shape[1], w.shape[1]):
        raise ArgumentValueError("dense_packed: the inputs of both do not match")
    factors = [_Factor(x, ("m", "k")), _Factor(w, ("b", "k", "n"))]
    made = contract("dense_packed_blocks", factors, "mbn")
    block = w.shape[2]
    return fill(
        "dense_packed",
        (x.shape[0], w.shape[0] * block),
        lambda at: made[at[0], at[1] // block, at[1] % block],
    )
