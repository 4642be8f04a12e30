"""Kinds of stages for random graphs: operators of stdlib, of those that NumPy computes exactly."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy

from tests.graphs.made import Array, Made
from tests.graphs.stages import Maker, recent
from tests.operators.table import ROWS, Row

np: Any = numpy  # whose types say nothing of arrays that may be any
# Other kinds of stages take matrices; the campaign `operators` has more axes.
MOST_AXES = 2


def operator_of(rows: Sequence[Row]) -> Maker:
    """A maker of operators of a table, one that suits the type of a tensor."""

    def operator(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
        del name
        source = recent(choose, made)
        if source is None or 0 in source.sizes:
            return []
        row = choose.choice([row for row in rows if _suits(row, source)])
        call = row.draw(choose, source.sizes)
        if call is None:
            return []
        apply, function = call

        def evaluate(x: Array) -> Array:
            return np.asarray(function(x))

        with np.errstate(all="ignore"):
            sizes = evaluate(np.zeros(source.sizes, source.dtype)).shape
        if len(sizes) > MOST_AXES:
            return []
        tensor = apply(source.tensor)
        return [Made(tensor, sizes, (source,), evaluate)] if tensor.dtype.name != "bool" else []

    return operator


def _suits(row: Row, source: Made) -> bool:
    dtype = source.tensor.dtype
    return not (row.integers and not dtype.is_integer) and not (row.floats and not dtype.is_float)


operator = operator_of([row for row in ROWS if row.exact])
