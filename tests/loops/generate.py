"""Random loop programs at real sizes, as people write them: guards, windows, triangles, strides.

Extents go from 0 to several vectors and a rest. All of what makes vector code hard is frequent:
loops with conditions in their bodies, short inner loops that a compiler unrolls, several stores,
elements that earlier iterations wrote, types of several widths. Programs are plain Python over
NumPy arrays, and that is what they are held against. What loops do is made by tests/programs, in
the styles "neat", "long" and "alone"; here are their arrays, and how they come to know their sizes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.loops.products import make_product
from tests.loops.rows import make_rows
from tests.loops.windows import make_convolution
from tests.programs.kinds import ALONE, LONG, NEAT
from tests.programs.loops import nested_loops
from tests.programs.maker import Lines, Maker, indent
from tests.programs.scope import Array, Extent, Name, Scope
from tests.programs.statements import new_maker
from tests.support.choices import Choices

STYLES = (*((NEAT,) * 5), *((LONG,) * 3), *((ALONE,) * 2))
LAYOUTS = ("C", "C", "C", "C", "C", "C", "F", "strided", "reversed")
# The axes of arrays: each of n or m, more or less.
NEAT_SHAPES = (("m",), ("nm",), ("nm",), ("nm", "nm", "m"))
NEAT_PADS = (0, 0, -1, -1, -1, -2, 1)
LONG_SHAPES = ("m", "m", "n", "nm", "nm", "nm", "mm", "mn", "nnm")
LONG_PADS = (0, 0, 0, 0, -1, 1, 2, 3)
# Arrays that hold n and m indices below n and m, for indirect access.
TABLES = {"n": ("p", Extent(0, "n")), "m": ("q", Extent(0, "m"))}
SIZES = {"n": "n", "m": "m"}
# Programs in a hundred that are rows with their sums.
ROWS = 8
# Of a hundred nests in which iterations are alone, loops over rows or columns that threads share.
PRANGES = 40
# What may stand alone, without a loop around it.
IDIOMS = ("packing", "packing", "search", "first step", "rows", "window", "rounds", "limits")
# Programs in a hundred that are sums of products.
PRODUCTS = 12
# How sizes come to the program: as constants of it, from the shapes of arrays, as arguments.
WAYS = ("captured", "captured", "shapes", "arguments", "arguments")


@dataclass(frozen=True, slots=True)
class LoopProgram:
    """The text of a function `kernel`, its arrays, and how it learns of `n` and `m`.

    `order` is the largest number of loops over m that stand inside each other; `kinds` are those
    of its statements.
    """

    text: str
    arrays: tuple[Array, ...]
    layouts: tuple[str, ...]
    way: str
    order: int
    kinds: Mapping[str, int]


def make_program(choices: Choices, *, may_share: bool = False) -> LoopProgram:
    """A random program. Iterations that are alone `may_share` threads, if not in all sizes."""
    if choices.chance(PRODUCTS):
        return _product(choices)
    if choices.chance(ROWS):
        return _rows(choices)
    style = choices.pick(STYLES)
    is_neat = style is not LONG
    palette, way = choices.pick(style.palettes), choices.pick(WAYS)
    shapes = choices.pick(NEAT_SHAPES) if is_neat else LONG_SHAPES
    pads = NEAT_PADS if is_neat else LONG_PADS
    arrays = [
        _array(choices, name, palette, shapes, pads) for name in "abcd"[: choices.between(3, 4)]
    ]
    if is_neat and choices.chance(70):
        arrays = _parted(choices, arrays)
    names = {size: Name("int", 0, 0, locked=True, size=size) for size in SIZES}
    scope = Scope(names=names, arrays={array.name: array for array in arrays})
    make = new_maker(choices, style, palette, scope=scope, size_names=SIZES, tables=TABLES)
    lines: Lines = []
    for _ in range(choices.pick((1, 1, 1, 2))):
        nest = _nest(make, max(shapes, key=len) if is_neat else "")
        is_given = may_share and style is ALONE and choices.chance(PRANGES)
        lines += [_on_threads(line) for line in nest] if is_given else nest
    layouts = ["C" if is_neat and choices.chance(70) else choices.pick(LAYOUTS) for _ in arrays]
    text = _text(arrays, way, lines)
    return LoopProgram(text, tuple(arrays), tuple(layouts), way, make.order, make.drawn)


def _on_threads(line: str) -> str:
    """A loop up to a size as one whose iterations threads share; any other line as it is."""
    return re.sub(r" in range\((.*[nm].*)\):$", r" in prange(\1):", line)


def _product(choices: Choices) -> LoopProgram:
    """Sums of products: of known sizes, or those that the shapes of arrays have."""
    kind = "convolution" if choices.chance(25) else "product"
    lines, arrays = (make_convolution if kind == "convolution" else make_product)(choices)
    way = choices.pick((*(("captured",) * (9 if kind == "convolution" else 1)), "shapes", *WAYS))
    layouts = tuple(choices.pick(LAYOUTS) for _ in arrays)
    text = _text(arrays, way, lines)
    order = 1  # of a convolution, only columns are many
    if kind == "product":
        order += sum(len(array.shape) - 1 for array in arrays[:2])  # rows, terms, columns
    return LoopProgram(text, tuple(arrays), layouts, way, order, {kind: 1})


def _rows(choices: Choices) -> LoopProgram:
    """Rows that are summed, and then used with their sums."""
    lines, arrays = make_rows(choices)
    way = choices.pick(("captured", "captured", "captured", *WAYS))
    layouts = tuple(choices.pick(LAYOUTS) for _ in arrays)
    text = _text(arrays, way, lines)
    return LoopProgram(text, tuple(arrays), layouts, way, 2, {"rows": 1})


def _text(arrays: Sequence[Array], way: str, lines: Lines) -> str:
    params = [*(array.name for array in arrays), *(name for name, _ in TABLES.values())]
    head = f"def kernel({', '.join(params)}{', n, m' if way == 'arguments' else ''}):"
    sizes = ["n, m = p.shape[0], q.shape[0]"] if way == "shapes" else []
    return "\n".join([head, *indent([*sizes, *lines])]) + "\n"


def _array(
    choices: Choices,
    name: str,
    palette: tuple[str, ...],
    shapes: tuple[str, ...],
    pads: tuple[int, ...],
) -> Array:
    shape = [
        Extent(choices.pick(pads), size, 2 if choices.chance(12) else 1)
        for size in choices.pick(shapes)
    ]
    return Array(name, choices.pick(palette), tuple(shape))


def _parted(choices: Choices, arrays: list[Array]) -> list[Array]:
    """Where nothing is read that is written, iterations are independent."""
    written = choices.between(1, 2)
    return [
        replace(array, writable=position < written, readable=position >= written)
        for position, array in enumerate(arrays)
    ]


def _nest(make: Maker, sizes: str) -> Lines:
    """A loop for each axis and in the innermost what there is to do for an element; or any loop."""
    is_any = make.style is not ALONE and make.choices.chance(25)
    idiom = make.make(make.choices.pick(IDIOMS), 1) if is_any else None
    if idiom is not None:
        return idiom
    if sizes:
        return nested_loops(make, sizes, lambda: make.block(make.style.block, 1))
    return make.make("for", make.choices.pick((2, 3, 3, 4))) or []
