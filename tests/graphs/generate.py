"""Random graphs of tensors from a stream of choices, each with its values by NumPy alone."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridjit import te
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.visit import substitute, walk
from hybridjit.tensors.tensor import Placeholder, operations_of
from tests.graphs.foreign import (
    extern,
    extern_by_hand,
    extern_script,
    script,
    script_of_two,
    script_pair,
    script_total,
)
from tests.graphs.made import Array, Made, evaluate_all
from tests.graphs.operators import operator
from tests.graphs.reductions import (
    matmul,
    reduce,
    reduce_all,
    reduce_some,
    reduce_to_pair,
    scan,
    scan_in_stages,
    scan_of_two,
    windows,
)
from tests.graphs.stages import (
    Maker,
    broadcast,
    chosen,
    clamped_stencil,
    elementwise,
    gather,
    padding,
    reverse,
    stencil,
    stride,
    transpose,
    two_outputs,
)

SIZES = (1, 2, 3, 5, 7, 8, 13)
# Up to several vectors and a rest.
LONG_SIZES = (3, 8, 16, 17, 33, 40)
DTYPES = ("int64", "float32", "float32", "int32", "uint8", "float64", "int16")
MAX_STAGES = 5
MAX_TRIES = 12
# Those that are named twice come twice as often.
MAKERS: tuple[Maker, ...] = (
    elementwise,
    elementwise,
    chosen,
    two_outputs,
    broadcast,
    broadcast,
    transpose,
    reverse,
    gather,
    stencil,
    stencil,
    clamped_stencil,
    padding,
    stride,
    reduce,
    reduce,
    reduce_all,
    reduce_some,
    reduce_to_pair,
    windows,
    matmul,
    scan,
    scan_in_stages,
    scan_of_two,
    script,
    script_total,
    script_pair,
    script_of_two,
    extern,
    extern_script,
    extern_by_hand,
    operator,
    operator,
    operator,
    operator,
)


@dataclass(frozen=True, slots=True, eq=False)
class RandomGraph:
    """The tensors of a graph in the order in which they were made, and who made them.

    `outputs` are what a schedule is made for, `passed` are the parameters: the inputs, the
    outputs, and some of what is between.
    """

    made: list[Made]
    kinds: list[str]
    outputs: list[Made]
    passed: list[Made]

    @property
    def args(self) -> list[Any]:
        """The parameters."""
        return [item.tensor for item in self.passed]

    @property
    def variables(self) -> list[Var]:
        """The sizes that are known at run time only."""
        extents = [extent for item in self.passed for extent in item.tensor.buffer.shape]
        found = [node for extent in extents for node in walk(extent) if isinstance(node, Var)]
        return list(dict.fromkeys(found))

    def make_arrays(self, seed: int, *, whole: bool = True) -> list[Array]:
        """Values for the inputs, whole numbers or not; outputs hold what must not show."""
        generator = np.random.default_rng(seed)
        return [_values(generator, item, item.sizes, whole=whole) for item in self.passed]

    def make_arrays_of(self, sizes: Mapping[Var, int], seed: int) -> list[Array] | None:
        """Values for other sizes; None if some tensor would have less than no elements."""
        generator = np.random.default_rng(seed)
        named = {var.name: size for var, size in sizes.items()}
        shapes = {item: shape_at(item, named) for item in self.made}
        if any(size < 0 for shape in shapes.values() for size in shape):
            return None
        return [_values(generator, item, shapes[item], whole=True) for item in self.passed]

    def evaluate(self, arrays: Sequence[Array]) -> list[Array]:
        """What the parameters hold after a run, by NumPy alone."""
        given = zip(self.passed, arrays, strict=True)
        found = evaluate_all(self.made, {item: array for item, array in given if is_input(item)})
        return [found[item] for item in self.passed]


def shape_at(item: Made, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of a tensor where variables, which go by their names, have these values."""
    found: list[int] = []
    for extent in item.tensor.buffer.shape:
        variables = [node for node in walk(extent) if isinstance(node, Var)]
        known = simplify(substitute(extent, {var: Const(sizes[var.name]) for var in variables}))
        assert isinstance(known, Const), known
        found.append(int(known.value.real))
    return tuple(found)


def _values(
    generator: np.random.Generator, item: Made, shape: tuple[int, ...], *, whole: bool
) -> Array:
    if not is_input(item):
        return np.full(shape, 99, item.dtype)
    if whole or item.tensor.dtype.is_integer:
        return generator.integers(-9, 9, shape).astype(item.dtype)
    return generator.uniform(-1, 1, shape).astype(item.dtype)


def is_input(item: Made) -> bool:
    """Whether a tensor is given."""
    return isinstance(item.tensor.op, Placeholder)


def make_graph(
    choose: random.Random,
    makers: Sequence[Maker] = MAKERS,
    sizes: Sequence[int] = SIZES,
    dtypes: Sequence[str] = DTYPES,
) -> RandomGraph:
    """Two to five stages, each of a kind of MAKERS, over one or two inputs."""
    made = _make_inputs(choose, sizes, dtypes)
    stages = _add_stages(choose, made, makers)
    outputs = _choose_outputs(choose, made)
    used = operations_of([item.tensor for item in outputs])
    made = [item for item in made if item.tensor.op in used]
    passed = [item for item in made if _is_passed(choose, item, outputs)]
    kinds = [kind for kind, items in stages if any(item in made for item in items)]
    return RandomGraph(made, kinds, outputs, passed)


def _add_stages(
    choose: random.Random, made: list[Made], makers: Sequence[Maker]
) -> list[tuple[str, list[Made]]]:
    """Add stages to `made`; gives the kind of each, and the tensors that it makes."""
    stages: list[tuple[str, list[Made]]] = []
    count = choose.randint(2, MAX_STAGES)
    for number in range(MAX_TRIES):
        if len(stages) == count:
            break
        maker = choose.choice(makers)
        items = maker(choose, made, f"T{number}")
        if items:  # the tensors suit it
            stages.append((maker.__name__, items))
            made += items
    if not stages:
        stages.append(("elementwise", elementwise(choose, made, "T")))
        made += stages[0][1]
    return stages


def _make_inputs(choose: random.Random, known: Sequence[int], dtypes: Sequence[str]) -> list[Made]:
    dtype = choose.choice(dtypes)
    sizes = tuple(choose.choice(known) for _ in range(choose.choice([1, 2, 2, 2])))
    dims: list[Any] = [
        te.var(f"n{k}") if choose.random() < 0.25 else size for k, size in enumerate(sizes)
    ]
    names = ["A0", "A1"][: choose.choice([1, 2])]
    return [Made(te.placeholder(dims, dtype, name), sizes) for name in names]


def _choose_outputs(choose: random.Random, made: Sequence[Made]) -> list[Made]:
    """The last tensor; in some graphs another one, too."""
    computed = [item for item in made if not is_input(item)]
    outputs = [computed[-1]]
    if choose.random() < 0.15:
        outputs.append(choose.choice(computed))
    ops = {item.tensor.op for item in outputs}
    return [item for item in computed if item.tensor.op in ops]


def _is_passed(choose: random.Random, item: Made, outputs: Sequence[Made]) -> bool:
    return is_input(item) or item in outputs or choose.random() < 0.1
