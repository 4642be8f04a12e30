"""Random sums of products in nests of loops: what may run in packed tiles, and what must not.

    for i, j, k in some order:                     the element set to zero, to something else, or
        c[i, j] += 1.5 * a[i, k] * b[k, j]         not at all, inside, in a variable, or in a nest

Terms of integers are those of four bytes each, `dot_bytes(a[i, k], b[k, j])`. Rows may be scaled,
or read other rows, before the terms of each come; factors may be transposed, windows, or parts of
the result. Columns may be the pixels of images: two axes that lie as one in memory, or not quite.
"""

from __future__ import annotations

import re

from tests.programs.maker import Lines, indent
from tests.programs.scope import Array, Extent
from tests.support.choices import Choices

TYPES = ("float64", "float32", "float64", "float32", "int32")
PADS = (0, 0, 0, 1, 3)
IMAGE_PADS = (0, 0, 0, 1)
LEFT = ("a[{i}, {k}]", "a[{i}, {k}]", "1.5 * a[{i}, {k}]", "(a[{i}, {k}] + b[0, 0])")
RIGHT = ("b[{k}, {j}]", "b[{k}, {j}]", "b[{k}, {j}]", "(b[{k}, {j}] - c[0, {j}])")
ORDERS = ("ijk", "ikj", "kij", "jik", "jki", "kji")
# What stands before the terms of a row, in the loop over rows.
BEFORE = (
    "c[i, j] *= 0.5",
    "c[i, j] = a[i, 0] - c[i, 0]",
    "c[i, j] += 0.5 * c[max(i - 1, 0), j]",
    "c[i, j] += c[min(i + 1, c.shape[0] - 1), j]",
    "b[0, j] += 1",
)
AFTER = ("c[i, j] *= 0.5", "c[i, j] = c[i, j] - c[i, 0]")
START = ("0.0", "0.0", "0.5", "c[i, 0]")


def make_product(choices: Choices) -> tuple[Lines, list[Array]]:
    """The statements of a program, and its arrays."""
    rows, terms, columns = (Extent(choices.pick(PADS), "m") for _ in range(3))
    dtype = choices.pick(TYPES)
    shapes: dict[str, tuple[Extent, ...]] = {"a": (rows, terms)}
    shapes |= {"b": (terms, columns), "c": (rows, columns)}
    if choices.chance(15):
        shapes["a"] = (terms, rows)
    is_of_images = choices.chance(25)
    if is_of_images:
        widths = [Extent(choices.pick(IMAGE_PADS), "m") for _ in "bc"]
        widths.sort(key=lambda width: width.pad, reverse=True)  # c is not wider
        shapes["b"], shapes["c"] = (terms, columns, widths[0]), (rows, columns, widths[1])
    arrays = [Array(name, dtype, shape) for name, shape in shapes.items()]
    extents = {"i": "c.shape[0]", "j": "c.shape[1]", "k": "b.shape[0]"}
    if is_of_images:
        extents["l"] = "c.shape[2]"
    if choices.chance(15):  # a part of the result, or of the terms
        name = choices.pick(list(extents))
        extents[name] = f"max({extents[name]} - 2, 0)"
    elif choices.chance(6):  # it leaves its arrays
        name = choices.pick(list(extents))
        extents[name] = f"{extents[name]} + 1"
    heads = {name: f"for {name} in range({extent}):" for name, extent in extents.items()}
    left = choices.pick(LEFT) if shapes["a"][0] is rows else "a[{k}, {i}]"
    factors = [text.format(i="i", j="j", k="k") for text in (left, choices.pick(RIGHT))]
    if choices.chance(20):
        factors.reverse()
    term = f"dot_bytes({', '.join(factors)})" if dtype == "int32" else " * ".join(factors)
    shape = choices.weighted({"plain": 3, "inside": 3, "variable": 2, "row": 4, "nest": 3})
    lines = _lines(choices, shape, heads, term)
    if dtype == "int32":
        lines = [re.sub(r"\b(1\.5|0\.5)\b", "3", line).replace("0.0", "0") for line in lines]
    return _with_pixels(lines) if is_of_images else lines, arrays


def _lines(choices: Choices, shape: str, heads: dict[str, str], term: str) -> Lines:
    add = [f"c[i, j] += {term}"]
    start = choices.pick(START)
    match shape:
        case "plain":
            return _loops(heads, choices.pick(ORDERS), add)
        case "nest":
            value = "0.0" if start == "c[i, 0]" else start
            first = _loops(heads, choices.pick(("ij", "ji")), [f"c[i, j] = {value}"])
            return [*first, *_loops(heads, choices.pick(ORDERS), add)]
        case "inside":
            inner = [f"c[i, j] = {start}", *_loops(heads, "k", add)]
            return _loops(heads, choices.pick(("ij", "ji")), inner)
        case "variable":
            inner = [
                f"total = {start} + 0.0",
                *_loops(heads, "k", [f"total += {term}"]),
                "c[i, j] = total",
            ]
            return _loops(heads, choices.pick(("ij", "ji")), inner)
        case _:
            rows = _loops(heads, "j", [choices.pick(BEFORE)])
            rows += _loops(heads, choices.pick(("kj", "jk")), add)
            if choices.chance(15):
                rows += _loops(heads, "j", [choices.pick(AFTER)])
            return _loops(heads, "i", rows)


def _loops(heads: dict[str, str], order: str, body: Lines) -> Lines:
    """Loops around `body`; where there are images, two of them run over pixels."""
    if "l" in heads and "j" in order:
        order = order.replace("j", "jl")
    for name in reversed(order):
        body = [heads[name], *indent(body)]
    return body


def _with_pixels(lines: Lines) -> Lines:
    """Columns as pixels: `b[k, j]` is `b[k, j, l]`."""
    text = "\n".join(lines)
    text = text.replace(", j]", ", j, l]")
    return re.sub(r"\b([bc]\[[i0], 0)\]", r"\1, 0]", text).split("\n")
