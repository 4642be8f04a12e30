"""Random loop nests for schedules: their arrays and arguments. tests/programs makes what loops do.

Nests are small (extents up to 5, unless long ones are asked for), so that running every iteration
of many orders is cheap. Others have arrays of run-time sizes: a fused loop over n * m iterations,
or a split into so many parts, has indices that are not affine. What may run at the same time then
is a question of its own (hybridjit/arith/products.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridjit.frontend.parse import parse_text
from hybridjit.ir.func import PrimFunc
from tests.programs.assignments import name_number
from tests.programs.bounds import make_bounds
from tests.programs.data import plain_values
from tests.programs.kinds import NEST, NEST_LONG, SIZED
from tests.programs.loops import loop_over, make_body, nested_loops
from tests.programs.maker import Lines, Maker, indent
from tests.programs.scope import Array, Extent, Name, Scope, constant_shape
from tests.programs.statements import new_maker
from tests.support.choices import Choices, Choose
from tests.support.oracle import fresh_copies

# The scalar n that loops may run to is at most so large; a table of indices has four.
MAX_SIZE = 4
TABLE = Array("t", "int64", constant_shape(4))
LONG_ROWS = (17, 20, 34, 40)
# The run-time sizes, as programs write them, how large they are, and which are tried later.
SIZES = {"n": "a.shape[0]", "m": "a.shape[1]"}
MAX_RUN_TIME_SIZE = 5
VARIATIONS = ((0, 3), (2, 0), (1, 1), (2, 5), (6, 3))
# `a` and `b` have rows and columns; `c` and `d` have one for each row, for each column.
SHAPES = {"a": "nm", "b": "nm", "c": "n", "d": "m"}


@dataclass(frozen=True, slots=True)
class Nest:
    """A program, and arguments for it."""

    text: str
    func: PrimFunc
    args: tuple[Any, ...]

    def fresh_args(self) -> list[Any]:
        """Arguments that a run may write to."""
        return fresh_copies(self.args)

    def variations(self) -> Iterator[tuple[Any, ...]]:
        """Arguments with every size that the program takes, and other indices in its table."""
        *arrays, table, _ = self.args
        for size in range(MAX_SIZE + 1):
            for shift in range(3):
                yield *arrays, (table * (shift + 1) + shift) % 9, size


class SizedNest(Nest):
    """A program over arrays of any size."""

    def variations(self) -> Iterator[tuple[Any, ...]]:
        """Arguments of several sizes: nothing, one, more rows than columns and the other way."""
        for sizes in VARIATIONS:
            generator = np.random.default_rng(sum(sizes))
            arrays = sized_arrays(str(self.args[0].dtype))
            yield arguments(generator, arrays, dict(zip(SIZES, sizes, strict=True)))


def make_nest(choose: Choose, *, is_long: bool = False) -> Nest:
    """A program and its arguments; a long one has loops of several vectors and a rest."""
    choices = Choices(choose)
    style = NEST_LONG if is_long else NEST
    palette, names = choices.pick(style.palettes), dict[str, Name]()
    if choices.below(3) == 0:
        names["n"] = Name("int", 0, MAX_SIZE, locked=True)
    arrays = [
        _small_array(choices, position, palette, is_long)
        for position in range(choices.between(2, 3))
    ]
    scope = Scope(names=names, arrays={array.name: array for array in arrays})
    tables = {"": (TABLE.name, TABLE.shape[0])}
    make = new_maker(choices, style, palette, scope=scope, tables=tables)
    generator = np.random.default_rng(choices.below(1 << 16))
    table = generator.integers(0, 9, 4)
    args = (*arguments(generator, arrays), table, choices.below(MAX_SIZE + 1))
    return Nest(*parsed("nest", [*arrays, TABLE], ["n: int"], _neighbours(make)), args)


def _small_array(choices: Choices, position: int, palette: Sequence[str], is_long: bool) -> Array:
    shape = [choices.between(3, 6) for _ in range(choices.between(1, 2))]
    if is_long:
        shape[-1] = choices.pick(LONG_ROWS)
    type = palette[0] if position == 0 else choices.pick(palette)
    is_written = position == 0 or choices.below(3) > 0
    return Array("abc"[position], type, constant_shape(*shape), writable=is_written)


def _neighbours(make: Maker) -> Lines:
    """One loop or two: neighbours that run the same iterations can be merged."""
    lines: Lines = name_number(make) if make.choices.chance(25) else []
    bounds = make_bounds(make)
    for _ in range(make.choices.between(1, 2)):
        lines += loop_over(make, bounds, lambda _: make_body(make, 3))
        bounds = make_bounds(make) if make.choices.chance(25) else bounds
    return lines


def make_sized(choose: Choose) -> SizedNest:
    """A program over arrays of run-time sizes, and its arguments."""
    choices = Choices(choose)
    palette = choices.pick(SIZED.palettes)
    arrays = sized_arrays(palette[0])
    scope = Scope(arrays={array.name: array for array in arrays})
    make = new_maker(choices, SIZED, palette, scope=scope, size_names=SIZES)
    lines: Lines = []
    for _ in range(1 + (choices.below(3) == 0)):
        lines += nested_loops(make, _order(choices), lambda: make.block(SIZED.block, 1))
    sizes = {size: choices.between(1, MAX_RUN_TIME_SIZE) if choose(12) else 0 for size in SIZES}
    generator = np.random.default_rng(choices.below(1 << 16))
    args = arguments(generator, arrays, sizes)
    return SizedNest(*parsed("sized", arrays, [], lines), args)


def sized_arrays(type: str) -> list[Array]:
    return [
        Array(name, type, tuple(Extent(0, size) for size in shape))
        for name, shape in SHAPES.items()
    ]


def _order(choices: Choices) -> str:
    """The sizes of loops, the outermost first."""
    first = choices.pick(("nm", "nm", "nm", "nm", "mn"))
    return first + choices.pick(("", "n", "m", ""))


def parsed(
    name: str, arrays: Sequence[Array], scalars: Sequence[str], lines: Lines
) -> tuple[str, PrimFunc]:
    """The text of a function with these parameters, and the program that it is."""
    names = {size: f'"{size}"' for size in SIZES}
    shapes = [", ".join(extent.text(names) for extent in array.shape) for array in arrays]
    params = [f"{a.name}: {a.type}[{shape}]" for a, shape in zip(arrays, shapes, strict=True)]
    text = "\n".join([f"def {name}({', '.join([*params, *scalars])}):", *indent(lines)])
    return text, parse_text(text)


def arguments(
    generator: np.random.Generator, arrays: Sequence[Array], sizes: Mapping[str, int] | None = None
) -> tuple[Any, ...]:
    """Values for arrays at some sizes."""
    shapes = [tuple(extent.at(sizes or {}) for extent in array.shape) for array in arrays]
    return tuple(
        plain_values(generator, array.type, shape)
        for array, shape in zip(arrays, shapes, strict=True)
    )
