"""What random array scripts are like: their arguments, statements and expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

DTYPES = (
    *("float64", "float64", "float32", "float32", "float16", "int64", "int64", "int32", "int16"),
    *("int8", "uint8", "uint8", "uint16", "uint32", "uint64", "bool", "bool"),
    *("complex64", "complex128"),
)
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7)


@dataclass(frozen=True, slots=True)
class Style:
    """How scripts of a kind are drawn.

    `make` draws the arguments: of which `sizes` and types, how often one is a part of another, how
    often odd numbers like NaN are among the elements, how often there are matrices among arrays
    that are alike. Arrays have at most `most` elements. `statements` and `writers` of expressions
    are drawn as often as they stand there, `counts` says how many statements. Operands are one of
    the newest names as often as `newest` says, and all of an array as often as `whole` says, at
    least; with `shifts`, parts are a place or two shorter.
    `begin` writes the first lines. Loops and branches are nested up to a `depth`.
    Names that are made in them are read after them as often as `late` says, though they may have
    no value then.

    A script that `is_sized` knows the sizes of its arguments, and is called with no others; others
    have several `calls`.
    """

    make: Callable[..., Any]
    statements: Sequence[Callable[..., bool]]
    writers: Sequence[Callable[..., Any]] = ()
    begin: Callable[..., Any] | None = None
    counts: Sequence[int] = (0, 1, 1, 2, 2, 3, 4)
    sizes: Sequence[int] = SIZES
    dtypes: Sequence[str] = DTYPES
    sharing: float = 0.08
    special: float = 0.2
    planes: float = 0.7
    most: int = 1 << 20
    newest: float = 0.0
    whole: float = 0.3
    shifts: bool = False
    is_sized: bool = True
    calls: int = 3
    depth: int = 2
    late: float = 0.0
