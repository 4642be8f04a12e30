"""Random graphs of operators of stdlib, natively, held against NumPy. See tests/campaigns."""

from __future__ import annotations

import random
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

import hybridjit as hj
from hybridjit import stdlib, te
from tests.campaigns.drawn import Drawn
from tests.operators.table import ROWS, Row

np: Any = numpy
hs: Any = stdlib
Array = Any
SIZES = (1, 2, 3, 5, 7, 8, 16, 17, 33)
DTYPES = ("float32", "float32", "float64", "int32", "int64", "int16", "uint8")
MAX_OPERATORS = 4
MAX_ELEMENTS = 20_000
# What is left of a result, relative to the largest numbers in it, after some operators.
TOLERANCES = {"float32": 2e-3, "float64": 1e-8}
# Functions grow fast: their arguments are kept small.
LARGEST = 9


@dataclass(slots=True)
class Chain:
    """A tensor made of an input by some operators, and what NumPy makes of the input."""

    source: Any
    given: Array
    tensor: Any
    array: Array
    names: list[str]
    exact: bool = True

    def add(self, row: Row, choose: random.Random) -> bool:
        """Take one more operator; False if it does not suit."""
        if not self.array.shape or self.array.size > MAX_ELEMENTS or 0 in self.array.shape:
            return False
        kind = self.array.dtype.kind
        if row.integers and kind not in "iu":
            return False
        call = row.draw(choose, self.array.shape)
        if call is None:
            return False
        operator, function = call
        tensor, array = self._prepared(row)
        self.tensor, self.array = operator(tensor), np.asarray(function(array))
        self.names.append(row.name)
        self.exact &= row.exact
        return True

    def _prepared(self, row: Row) -> tuple[Any, Array]:
        """The operand as the operator takes it."""
        tensor, array = self.tensor, self.array
        if array.dtype.kind == "b" or (row.floats and array.dtype.kind != "f"):
            tensor, array = hs.cast(tensor, "float32"), array.astype("float32")
        if not row.exact:
            return hs.clip(tensor, -LARGEST, LARGEST), np.clip(array, -LARGEST, LARGEST)
        return tensor, array


def try_number(seed: int, number: int) -> Drawn:
    """One graph."""
    choose = random.Random(f"{seed}/{number}")
    drawn = Drawn()
    chain = make_chain(choose, ROWS)
    drawn.counts["programs"] += 1
    drawn.count("operators", chain.names)
    drawn.count("families", [stdlib.OPERATORS[name].family for name in chain.names])
    try:
        check(chain)
        drawn.counts["native"] += 1
    except Exception:
        # A crash is a find like any other, and must not end the campaign.
        drawn.failures.append(f"{traceback.format_exc()}\n{' -> '.join(chain.names)}")
    drawn.count_arrays([chain.array])
    return drawn


def make_chain(choose: random.Random, rows: Sequence[Row]) -> Chain:
    """Some operators, one after the other; after one that rounds, none that jumps."""
    dtype = choose.choice(DTYPES)
    sizes = tuple(choose.choice(SIZES) for _ in range(choose.choice([1, 2, 2, 2, 3])))
    dims = [te.var(f"n{k}") if choose.random() < 0.2 else size for k, size in enumerate(sizes)]
    generator = np.random.default_rng(choose.randrange(1 << 32))
    array = generator.integers(0 if dtype == "uint8" else -9, 9, sizes).astype(dtype)
    source = te.placeholder(dims, dtype, "A")
    chain = Chain(source, array, source, array, [])
    count = choose.randint(1, MAX_OPERATORS)
    with np.errstate(all="ignore"):
        for _ in range(4 * MAX_OPERATORS):
            known = rows if chain.exact else [row for row in rows if row.name in SMOOTH]
            if len(chain.names) == count or not known:
                break
            chain.add(choose.choice(known), choose)
    return chain


# Operators whose results change little where their operands do.
SMOOTH = frozenset(
    [
        *("absolute", "negative", "square", "add", "subtract", "multiply", "minimum", "maximum"),
        *(
            "clip",
            "relu",
            "hard_tanh",
            "exp",
            "sin",
            "cos",
            "tanh",
            "arctan",
            "sigmoid",
            "softplus",
        ),
        *("silu", "gelu", "flip", "roll", "repeat", "tile", "concatenate", "stack", "split"),
        *("expand_dims", "transpose", "pad", "dilate", "tril", "sum", "mean", "max", "min"),
        *("ravel", "matmul", "softmax", "l1_loss", "mse_loss"),
    ]
)


def check(chain: Chain) -> None:
    """Fail unless native code gives what NumPy gave: the same numbers, or nearly."""
    if not chain.names:
        return  # nothing suited the array
    found = np.full(chain.array.shape, 99, chain.tensor.dtype.numpy)
    assert found.dtype == chain.array.dtype, f"{found.dtype} is not {chain.array.dtype}"
    hj.build([chain.source, chain.tensor])(chain.given.copy(), found)
    if chain.exact:
        np.testing.assert_array_equal(found, chain.array)
        return
    usual = np.isfinite(chain.array)
    scale = np.abs(chain.array[usual]).max(initial=1e-30)
    tolerance = TOLERANCES.get(str(found.dtype), 0) * scale
    np.testing.assert_allclose(found[usual], chain.array[usual], rtol=0, atol=tolerance)
