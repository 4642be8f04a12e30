"""Small integers, four in a word: what processors multiply and add up at once.

value = byte + offset         the bytes are signed, so that of unsigned ones the offset is 128
"""

from __future__ import annotations

from typing import Any

from hybridjit.ir.dtype import INT8, INT32, UINT8
from hybridjit.stdlib.parts.shapes import are_equal, fill
from hybridjit.te import if_then_else

OFFSETS = {INT8: 0, UINT8: 128}
"""The types whose elements are bytes, and what they are more than the bytes are."""

_BYTES = 4


def in_words(name: str, x: Any, axis: int) -> Any:
    """`x` with the bytes of four elements along an axis in each word, zeros after the last one."""
    size = x.shape[axis]
    sizes = list(x.shape)
    sizes[axis] = (size + _BYTES - 1) // _BYTES
    is_whole = are_equal(size % _BYTES, 0)

    def element(at: tuple[Any, ...]) -> Any:
        parts: list[Any] = []
        for number in range(_BYTES):
            place = at[axis] * _BYTES + number
            byte = byte_of(x, (*at[:axis], place, *at[axis + 1 :]))
            parts.append(byte if is_whole else if_then_else(place < size, byte, 0))
        return as_word(parts)

    return fill(name, sizes, element)


def byte_of(x: Any, at: tuple[Any, ...]) -> Any:
    """The signed byte of an element, as an int32."""
    return x[at].astype(INT32) - OFFSETS[x.dtype]


def as_word(parts: list[Any]) -> Any:
    """Four bytes in a word, the first one in its low bits."""
    word = parts[0] & 255
    for number, part in enumerate(parts[1:], 1):
        word = word | ((part & 255) << (8 * number))
    return word
