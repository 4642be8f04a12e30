"""Random convolutions in nests of loops: what may run in packed tiles, and what must not.

    for o, y, x in some order:                     the element set to zero, to something else, or
        for c, k, l in some order:                 not at all
            r[o, y, x] += f[o, c, k, l] * a[c, y + k, 2 * x + l]

Windows may be far apart, dilated, turned around, and as wide as one element; images have some
elements around what is read, or none, or one too few.
"""

from __future__ import annotations

from tests.programs.maker import Lines, indent
from tests.programs.scope import Array, Extent
from tests.support.choices import Choices

TYPES = ("float64", "float32")
WIDTHS = (1, 2, 3, 3, 3, 5)
STEPS = (1, 1, 1, 2, 3)
COLUMNS = (4, 8, 17, 32)
FILTERS, CHANNELS = (2, 5, 8, 17), (1, 2, 3, 7)
OUTSIDE = ("oyx", "oyx", "yxo", "yox", "oxy")
INSIDE = ("ckl", "ckl", "ckl", "kcl", "klc", "clk")
START = ("0.0", "0.0", "0.5", "r[o, y, 0]", "")


def make_convolution(choices: Choices) -> tuple[Lines, list[Array]]:
    """The statements of a program, and its arrays: of `m` columns and few rows, or of `n` rows."""
    high, wide = choices.pick(WIDTHS), choices.pick(WIDTHS)
    stride, dilation = choices.pick(STEPS), choices.pick(STEPS)
    filters, channels = choices.pick(FILTERS), choices.pick(CHANNELS)
    rows, size = (choices.between(1, 4), "") if choices.chance(60) else (0, "n")
    missing = choices.pick((0, 0, 0, 0, 1))
    around = (wide - 1) * dilation + 1 - stride - missing
    columns, width = Extent(0, "m"), Extent(around, "m", stride)
    if size and choices.chance(60):  # rows of a known length
        length = choices.pick(COLUMNS)
        columns, width = Extent(length), Extent(around + length * stride)
    shapes = {
        "a": (Extent(channels), Extent(rows + high - 1, size), width),
        "f": (Extent(filters), Extent(channels), Extent(high), Extent(wide)),
        "r": (Extent(filters), Extent(rows, size), columns),
    }
    dtype = choices.pick(TYPES)
    arrays = [Array(name, dtype, shape) for name, shape in shapes.items()]
    along = f"{stride} * x" if stride > 1 else "x"
    beside = f"{dilation} * l" if dilation > 1 else "l"
    place = f"c, y + k, {along} + {beside}"
    if choices.chance(10):
        place = f"c, y + k, {along} + {beside.replace('l', f'({wide - 1} - l)')}"
    factors = [f"a[{place}]", "f[o, c, k, l]"]
    if choices.chance(20):
        factors[0] = f"(2 * {factors[0]})"
    if choices.chance(50):
        factors.reverse()
    extents = {"o": filters, "y": rows, "x": "r.shape[2]", "c": channels, "k": high, "l": wide}
    if size:
        extents["y"] = "r.shape[1]"
    heads = {name: f"for {name} in range({extent}):" for name, extent in extents.items()}
    start, term = choices.pick(START), " * ".join(factors)
    if start and choices.chance(40):
        inner = _loops(heads, choices.pick(INSIDE), [f"total += {term}"])
        body = [f"total = {start} + 0.0", *inner, "r[o, y, x] = total"]
    else:
        body = [f"r[o, y, x] = {start}"] if start else []
        body += _loops(heads, choices.pick(INSIDE), [f"r[o, y, x] += {term}"])
    return _loops(heads, choices.pick(OUTSIDE), body), arrays


def _loops(heads: dict[str, str], order: str, body: Lines) -> Lines:
    for name in reversed(order):
        body = [heads[name], *indent(body)]
    return body
