"""Random numbers that are a function of a key and a place: the same on any number of threads.

A key is two numbers of type uint32. Numbers are made by Threefry-2x32 of 20 rounds, of the key and
the place of an element, so that no state is carried along; take another key for other numbers,
from `random_split`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import FLOAT32, FLOAT64, UINT32, UINT64, DType
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    count_elements,
    fill,
    flat_place,
    flatten,
    read_dtype,
    read_integers,
    read_shape,
    shown,
)
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import Expression, const
from hybridjit.tensors.expression import as_scalar

# Threefry-2x32: how far the second word is rotated in each round, and what makes the third key.
ROTATIONS = np.array([13, 15, 26, 6, 17, 29, 16, 24], np.uint32)
PARITY = np.uint32(0x1BD11BDA)
ADDITIONS = 5  # of words of the key, one after every four rounds


def _keys_of(key: Any) -> Any:
    """The two words of a key and the third one that they make, in turn: what is added when."""
    keys = np.empty(ADDITIONS + 2, np.uint32)
    keys[0] = key[0]
    keys[1] = key[1]
    keys[2] = key[0] ^ key[1] ^ PARITY
    for turn in range(3, ADDITIONS + 2):
        keys[turn] = keys[turn - 3]
    return keys


def _words_of(keys: Any, number: Any) -> Any:
    """Two random words for a place."""
    place: Any = np.int64(number)  # its words, without a check that they fit
    left: Any = (place >> 32).astype(np.uint32) + keys[0]
    right: Any = place.astype(np.uint32) + keys[1]
    for turn in range(1, ADDITIONS + 1):
        for step in hybrid.const_range(4):
            by = ROTATIONS[(turn + 1) % 2 * 4 + step]
            left = left + right
            right = ((right << by) | (right >> (np.uint32(32) - by))) ^ left
        left = left + keys[turn]
        right = right + keys[turn + 1] + np.int64(turn).astype(np.uint32)
    return left, right


@hybrid.script
def _threefry(key: Any, count: Any) -> Any:
    """Two random words for each place, as one number of type uint64."""
    keys, bits = _keys_of(key), np.empty(count, np.uint64)
    for i in range(count):
        left, right = _words_of(keys, i)
        bits[i] = (np.uint64(left) << np.uint64(32)) | np.uint64(right)
    return bits


@hybrid.script
def _low_words(key: Any, count: Any) -> Any:
    """The second of the two words for each place."""
    keys, bits = _keys_of(key), np.empty(count, np.uint32)
    for i in range(count):
        bits[i] = _words_of(keys, i)[1]
    return bits


@hybrid.script
def _units(key: Any, count: Any, is_double: bool) -> Any:
    """A number from 0 up to 1 for each place, of as many of the upper bits as its type holds."""
    keys, found = _keys_of(key), np.empty(count, np.float64 if is_double else np.float32)
    for i in range(count):
        left, right = _words_of(keys, i)
        if is_double:
            found[i] = (np.uint64(left) << np.uint64(21) | np.uint64(right >> 11)) * 2.0**-53
        else:
            found[i] = (left >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    return found


def _bits(name: str, key: Any, shape: Sequence[Any], words: Any = _threefry) -> Any:
    """A number of type uint64 for each place, or what else `words` makes."""
    _check_key(name, key)
    sizes = tuple(shape)
    flat: Any = words(key, count_elements(sizes, range(len(sizes))))
    return fill(f"{name}_bits", sizes, lambda at: flat[flat_place(sizes, at)])


def _check_key(name: str, key: Any) -> None:
    if key.dtype is not UINT32:
        raise ArgumentError(
            f"{name}: a key is two numbers of type uint32, got {key.dtype}",
            help="as in np.array([0, 42], np.uint32)",
        )
    if key.ndim != 1 or not are_equal(key.shape[0], 2):
        raise ArgumentValueError(f"{name}: a key is two numbers of type uint32, got {shown(key)}")


@operator(differentiable=False)
def random_bits(key: T, shape: int | Sequence[Any]) -> T:
    """Random numbers of type uint32, all of them equally likely.

    >>> hs.random_bits(np.array([0, 42], np.uint32), 2).dtype
    dtype('uint32')
    """
    return _bits("random_bits", key, read_shape("random_bits", shape), _low_words)


@operator(differentiable=False)
def random_split(key: T, count: int = 2) -> T:
    """As many new keys, a row for each.

    >>> hs.random_split(np.array([0, 42], np.uint32), 3).shape
    (3, 2)
    """
    (rows,) = read_integers("random_split", "count", count, 1, least=0)
    bits = _bits("random_split", key, (rows,))

    def element(at: tuple[Any, ...]) -> Any:
        shift = (1 - at[1]).astype(UINT64) * const(32, UINT64)
        return (bits[at[0]] >> shift).astype(UINT32)

    return fill("random_split", (rows, 2), element)


@operator(differentiable=False)
def random_uniform(
    key: T,
    shape: int | Sequence[Any],
    low: T | Number = 0.0,
    high: T | Number = 1.0,
    dtype: Any = "float32",
) -> T:
    """Random numbers from low up to high, which is not among them but for rounding.

    >>> hs.random_uniform(np.array([0, 42], np.uint32), (2, 3)).shape
    (2, 3)
    """
    wanted = _float("random_uniform", dtype)
    _check_key("random_uniform", key)
    sizes = read_shape("random_uniform", shape)
    units: Any = _units(key, count_elements(sizes, range(len(sizes))), wanted is FLOAT64)
    if len(sizes) == 1 and isinstance(low, int | float) and (low, high) == (0.0, 1.0):
        return units
    start, stop = (Expression(as_scalar(value)).astype(wanted) for value in (low, high))
    return fill(
        "random_uniform",
        sizes,
        lambda at: start + units[flat_place(sizes, at)] * (stop - start),
    )


@operator(differentiable=False)
def random_normal(
    key: T,
    shape: int | Sequence[Any],
    mean: T | Number = 0.0,
    deviation: T | Number = 1.0,
    dtype: Any = "float32",
) -> T:
    """Random numbers around a mean, distributed normally.

    >>> hs.random_normal(np.array([0, 42], np.uint32), (2, 3)).shape
    (2, 3)
    """
    wanted = _float("random_normal", dtype)
    bits = _bits("random_normal", key, read_shape("random_normal", shape))
    middle, width = (Expression(as_scalar(value)).astype(wanted) for value in (mean, deviation))

    def element(at: tuple[Any, ...]) -> Any:
        # Box and Muller: a distance out of the upper word, which is not 0, and an angle.
        upper = (bits[at] >> const(32, UINT64)).astype(FLOAT64) + 1.0
        angle = (bits[at] & const(2**32 - 1, UINT64)).astype(FLOAT64) * (2 * math.pi / 2**32)
        distance = call("sqrt", call("log", upper * 2.0**-32) * -2.0)
        return middle + (distance * call("cos", angle)).astype(wanted) * width

    return fill("random_normal", bits.shape, element)


@operator(differentiable=False)
def random_multinomial(key: T, probabilities: T, count: int) -> T:
    """`count` places along the last axis, each as likely as its probability says.

    Probabilities need not add up to 1, but one of them is above 0.

    >>> hs.random_multinomial(np.array([0, 42], np.uint32), np.array([0.0, 3.0]), 4)
    array([1, 1, 1, 1])
    """
    (size,) = read_integers("random_multinomial", "count", count, 1, least=0)
    _check_key("random_multinomial", key)
    _check_chances(probabilities)
    outer, places = probabilities.shape[:-1], probabilities.shape[-1]
    chances = fill(
        "random_multinomial_chances",
        probabilities.shape,
        lambda at: probabilities[at].astype(FLOAT64),
    )
    rows = count_elements(outer, range(len(outer)))
    flat = flatten("random_multinomial_rows", chances)
    found: Any = _draw_places(flat, _units(key, rows * size, True), rows, places, size)
    shape = (*outer, size)
    return fill("random_multinomial", shape, lambda at: found[flat_place(shape, at)])


@hybrid.script
def _draw_places(chances: Any, units: Any, rows: Any, places: Any, count: Any) -> Any:
    """For each unit the first place up to which more than that share of its row is added up."""
    found = np.empty(rows * count, np.int64)
    sums = np.empty(places)
    for i in range(rows):
        largest = 0.0
        last = 0
        for k in range(places):
            chance = chances[i * places + k]
            if not 0.0 <= chance < math.inf:
                raise ValueError(f"random_multinomial: {chance} is no probability")
            if chance > 0.0:
                largest = max(largest, chance)
                last = k
        if largest == 0.0:
            raise ValueError("random_multinomial: no probability is above 0")
        total = 0.0
        for k in range(places):
            total += chances[i * places + k] / largest
            sums[k] = total
        for j in range(count):
            wanted = units[i * count + j] * total
            low = 0
            high = last
            while low < high:
                middle = (low + high) // 2
                if sums[middle] <= wanted:
                    low = middle + 1
                else:
                    high = middle
            found[i * count + j] = low
    return found


def _check_chances(x: Any) -> None:
    if x.ndim == 0 or are_equal(x.shape[-1], 0):
        raise ArgumentValueError(f"random_multinomial: {shown(x)} has no probabilities")


def _float(name: str, dtype: Any) -> DType:
    found = read_dtype(name, dtype)
    if found not in (FLOAT32, FLOAT64):
        raise ArgumentError(f"{name}: random numbers are of type float32 or float64, got {found}")
    return found
