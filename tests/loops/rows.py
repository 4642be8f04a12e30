"""Random loops over rows that are summed, and then used with their sums.

Some rows may be summed before the rest of earlier ones, and some must not.

    for i in range(n):
        s = 0.0
        for j in range(m):
            s += a[i, j] * x[j]                one sum, or a second one that needs the first
        y[0] += s                              perhaps, where there are columns
        for j in range(m):
            y[j] = y[j] * 0.5 + s * a[i, j]    what the sums of later rows read, or something else
"""

from __future__ import annotations

from tests.programs.maker import Lines, indent
from tests.programs.scope import Array, Extent
from tests.support.choices import Choices

TYPES = ("float64", "float32", "float64", "float32", "complex64")
PADS = (0, 0, 0, 1, 3)
START = ("0.0", "0.0", "0.5", "x[0] * 2.0", "y[0] + 1.5")
TERMS = (
    *("a[i, j] * x[j]", "a[i, j] * x[j]", "a[i, j]", "a[i, j] * a[i, j]", "a[i, j] * y[j]"),
    *("a[i, j] * x[a.shape[1] - 1 - j]", "o[i, j] - a[i, j]", "x[j] * i"),
)
SECOND = ("(a[i, j] - s) * x[j]", "a[i, j] * s", "a[i, j] * 0.5")
BETWEEN = ("s *= 0.5", "s = s * 0.5 + i", "y[0] += s", "o[i, 0] = s", "h = s * 0.5 + x[0]")
REST = (
    *("y[j] = y[j] * 0.5 + s * a[i, j]", "y[j] += s * a[i, j]", "o[i, j] = a[i, j] * 0.5 - s"),
    *("a[i, j] = a[i, j] * 0.5 + s", "a[min(i + 1, a.shape[0] - 1), j] += s", "x[j] -= s"),
    *("o[i, j] = a[i, j] * x[j] + t", "y[j] += t - s", "a[max(i - 1, 0), j] += s", "s += o[i, j]"),
)
BOUNDS = ("{}", "{}", "{}", "1, {}", "max({} - 2, 0)")


def make_rows(choices: Choices) -> tuple[Lines, list[Array]]:
    """The statements of a program, and its arrays."""
    rows, columns = (Extent(choices.pick(PADS), "m") for _ in range(2))
    dtype = choices.pick(TYPES)
    shapes = {"a": (rows, columns), "o": (rows, columns), "x": (columns,), "y": (columns,)}
    body = [f"s = {choices.pick(START)}", *_along_row(choices, f"s += {choices.pick(TERMS)}")]
    body.append("t = 0.25")
    if choices.chance(35):
        body += _along_row(choices, f"t -= {choices.pick(SECOND)}")
    if choices.chance(40):
        body += [choices.pick(BETWEEN)]
    if choices.chance(10):
        body += ["if s == 0.5:", f"    {choices.pick(('continue', 'break'))}"]
    for _ in range(choices.pick((1, 1, 2))):
        body += _along_row(choices, choices.pick(REST))
    stop = "a.shape[0]" if choices.chance(95) else "a.shape[0] + 1"
    nest = [f"for i in range({choices.pick(BOUNDS).format(stop)}):", *indent(body)]
    # Where there are no columns, there is no first element.
    lines = ["if a.shape[1] > 0:", *indent(nest)]
    return lines, [Array(name, dtype, shape) for name, shape in shapes.items()]


def _along_row(choices: Choices, stmt: str) -> Lines:
    stop = "a.shape[1]" if choices.chance(96) else "a.shape[1] + 1"
    lines = [stmt]
    if choices.chance(15):
        lines = ["if a[i, j] != 0.25:", *indent(lines)]
    return [f"for j in range({choices.pick(BOUNDS).format(stop)}):", *indent(lines)]
