"""Bugs planted in operators of stdlib. Each must make a random graph of them differ from NumPy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from hybridjit import te
from tests.operators.campaign import check, make_chain
from tests.operators.table import ROWS
from tests.planted.bugs import Bug, RandomCheck, replaced
from tests.stdlib import test_bytes as of_bytes

# Operators of stdlib have the names of some of these modules.
padding = import_module("hybridjit.stdlib.padding")
pooling = import_module("hybridjit.stdlib.pooling")
searching = import_module("hybridjit.stdlib.searching")
shapes = import_module("hybridjit.stdlib.shapes")
words = import_module("hybridjit.stdlib.parts.words")

# Graphs until a bug counts as missed.
MAX_GRAPHS = 40


def at_random(*names: str) -> RandomCheck:
    """Random graphs of these operators are what NumPy makes."""
    rows = [row for row in ROWS if row.name in names]

    def check_number(number: int) -> None:
        check(make_chain(random.Random(number), rows))

    return RandomCheck(", ".join(names), check_number, 0, MAX_GRAPHS)


def without_offset(x: Any, at: tuple[Any, ...]) -> Any:
    return x[at].astype("int32")


def inverted(name: str, x: Any, order: Sequence[int]) -> Any:
    return _permuted(name, x, [int(place) for place in np.argsort(order)])


def nothing(x: Any) -> Any:
    return te.const(0, x.dtype.name)


def as_it_is(name: str, x: Any, axis: int) -> Any:
    return x


_permuted: Any = vars(shapes)["_permuted"]
_PLACES: dict[str, Any] = vars(padding)["_PLACES"]

BUGS = (
    Bug(
        "transpose takes axes the other way around",
        [replaced(shapes, "_permuted", inverted)],
        at_random("transpose", "expand_dims"),
    ),
    Bug(
        "pad: reflections repeat the edge",
        [replaced(padding, "_PLACES", {**_PLACES, "reflect": _PLACES["symmetric"]})],
        at_random("pad", "roll"),
    ),
    Bug(
        "topk: the least come first",
        [replaced(searching, "_reversed", as_it_is)],
        at_random("topk", "negative"),
    ),
    Bug(
        "max_pool: what is outside counts as zero",
        [replaced(pooling, "_lowest", nothing)],
        at_random("max_pool1d", "flip"),
    ),
    Bug(
        "dense_int8: unsigned bytes are taken for signed ones",
        [replaced(words, "byte_of", without_offset)],
        lambda: of_bytes.test_dense("uint8", "int8", 66, (3, 5)),
    ),
)
