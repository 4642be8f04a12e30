"""Random vector loops: bodies whose iterations are independent, but for sums of integers.

Arrays `a0`... are read, `o0`... written, each at its own place; all are long enough for any index.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.bounds import make_bounds
from tests.programs.data import plain_values
from tests.programs.kinds import VECTORS
from tests.programs.loops import loop_over
from tests.programs.maker import Lines, indent
from tests.programs.program import Program
from tests.programs.scope import Array, Extent, Name, Parallel, Scope
from tests.programs.statements import new_maker
from tests.support.choices import Choices, seeded

LENGTHS = (0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 67, 131, 200)
STEPS = (1, 1, 1, 2, 3, -1, -2)
_ROOMY = Extent(6, "n", 3)
_TABLE = ("p", Extent(0, "n"))
# Where an array is written by the iteration j, and how the loop runs.
_PLACES = ("{}", "n - 1 - {}", "2 * {}")
_LOOPS = ("whole", "down", "by 2", "from 1")


def vector_program(seed: int) -> tuple[Program, list[Any]]:
    """The random vector loop number `seed`, with arguments; and others of another length."""
    choices = seeded(seed)
    palette = choices.pick(VECTORS.palettes)
    names = [f"a{k}" for k in range(choices.between(1, 3))]
    names += [f"o{k}" for k in range(choices.between(1, 2))]
    arrays = [
        Array(name, choices.pick(palette), (_ROOMY,), writable=name.startswith("o"))
        for name in names
    ]
    body = _body(choices, palette, arrays)
    header = f"def program({', '.join(names)}, p, c, d):"
    source = "\n".join([header, *indent(["n = p.shape[0]", *body])]) + "\n"
    steps = [choices.pick(STEPS) for _ in arrays]
    first, second = (
        _arguments(seed, arrays, steps, length, choices)
        for length in (choices.pick(LENGTHS), choices.pick(LENGTHS))
    )
    return Program(source, first), second


def _body(choices: Choices, palette: tuple[str, ...], arrays: list[Array]) -> Lines:
    """The loop, and perhaps a sum of integers over its iterations."""
    names = {"c": Name("float32", locked=True), "d": Name("int", 0, 3, locked=True)}
    scope = Scope(names=names, arrays={array.name: array for array in arrays})
    tables = {"n": _TABLE}
    make = new_maker(choices, VECTORS, palette, scope=scope, size_names={"n": "n"}, tables=tables)
    written = [array.name for array in arrays if array.writable]

    def body(var: str) -> Lines:
        make.scope.parallel = Parallel({a: choices.pick(_PLACES).format(var) for a in written})
        lines = make.block(3, 2)
        total = f"total += int64({make.int_expr(2).text})"
        return [*lines, total] if choices.chance(40) else lines

    bounds = make_bounds(make, choices.pick(_LOOPS), "n")
    return ["total = 0", *loop_over(make, bounds, body, word="vectorize"), "return total"]


def _arguments(
    seed: int, arrays: list[Array], steps: list[int], length: int, choices: Choices
) -> list[Any]:
    """Arrays that are long enough for every place, of strides that are the same at each length."""
    numbers = np.random.default_rng(seed)
    values: list[Any] = []
    for array, step in zip(arrays, steps, strict=True):
        size = array.shape[0].at({"n": length}) * abs(step)
        values.append(plain_values(numbers, array.type, (size,))[::step])
    return [*values, numbers.permutation(length), np.float32(1.5), choices.below(4)]
