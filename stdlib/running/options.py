"""Options of a call: how they become a part of the key of compiled code, and of which kinds.

An option that is annotated with numbers or words alone, `int`, `float | None`, `str`, is held
against that before the definition sees it; a sequence of one stands for what is in it. What may be
more, such as several numbers, is read by the definition itself.
"""

from __future__ import annotations

import numbers
import operator as operators
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np

from hybridjit.errors import ArgumentError
from hybridjit.interp.base_array import base_array
from hybridjit.scalars.kinds import is_array
from hybridjit.te import Expression, Tensor

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
# Options are constants of the code: what is larger is an operand that is in the wrong place.
MAX_ELEMENTS = 256


def frozen(operator: str, name: str, value: Any) -> Any:
    """An option that can be hashed; an array of a few numbers as these numbers, as in NumPy."""
    if isinstance(value, _SEQUENCE):
        items = cast("Sequence[Any]", value)
        return tuple(frozen(operator, name, item) for item in items)
    if not is_array(value):
        _check_hashed(operator, name, value)
        return value
    array = base_array(value)
    if array.dtype.kind not in "biuf" or array.size > MAX_ELEMENTS:
        raise ArgumentError(
            f"{operator}: '{name}' is an option, a part of the code, got an array of "
            f"{array.dtype} of shape {array.shape}",
            help=f"pass numbers, up to {MAX_ELEMENTS} of them",
        )
    return frozen(operator, name, array.tolist())


def _check_hashed(operator: str, name: str, value: Any) -> None:
    try:
        hash(value)
    except TypeError:
        raise ArgumentError(
            f"{operator}: '{name}' is an option, a part of the code, which cannot be a "
            f"{type(value).__name__}"
        ) from None


def single(value: Any) -> Any:
    """What is in a sequence of one."""
    if isinstance(value, _SEQUENCE) and len(cast("Sequence[Any]", value)) == 1:
        return value[0]
    return value


# -- kinds -----------------------------------------------------------------------------------------


def _is_integer(value: Any) -> bool:
    try:
        operators.index(value)
    except TypeError:
        return isinstance(value, Expression)
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, (numbers.Real, np.bool_, Expression, Tensor))


def _is_word(value: Any) -> bool:
    return isinstance(value, str)


def _is_none(value: Any) -> bool:
    return value is None


Kind = tuple[str, Callable[[Any], bool]]
"""What errors call a kind of options, and what is of it."""

_KINDS: dict[Any, Kind] = {
    int: ("an integer", _is_integer),
    float: ("a number", _is_number),
    str: ("a word", _is_word),
    type(None): ("None", _is_none),
}


def find_kinds(define: Callable[..., Any]) -> dict[str, tuple[Kind, ...]]:
    """Of which kinds the options of a definition are, where numbers and words say all."""
    hints = typing.get_type_hints(define)
    found = {name: _kinds_of(hint) for name, hint in hints.items() if name != "return"}
    return {name: kinds for name, kinds in found.items() if kinds}


def _kinds_of(hint: Any) -> tuple[Kind, ...]:
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    kinds = {_plain(part) for part in (typing.get_args(hint) if is_union else (hint,))}
    if not kinds.issubset(_KINDS):
        return ()
    return tuple(kind for plain, kind in _KINDS.items() if plain in kinds)


def _plain(hint: Any) -> Any:
    """The choice of words as a word."""
    words = typing.get_args(hint) if typing.get_origin(hint) is Literal else ()
    return str if words and all(map(_is_word, words)) else hint


def check_kinds(
    operator: str, kinds: Mapping[str, tuple[Kind, ...]], named: Mapping[str, Any]
) -> None:
    """Refuse options that are not of their kind."""
    for name, value in named.items():
        wanted = kinds.get(name, ())
        if not wanted or any(fits(value) for _, fits in wanted):
            continue
        raise ArgumentError(
            f"{operator}: {name} must be {' or '.join(text for text, _ in wanted)}, got {value!r}"
        )
