"""Random loop programs as a library for C has them.

What loops do is made by tests/loops. Here, arrays have sizes that the caller says, parameters and
sizes have names that mean something in C or stand for each other, and there are results: arrays
whose sizes are computed from others, and numbers.

    def kernel(double: float64["n", "a1"], q: int64["double"], n, m, unix):
        r0 = output_tensor((max(n // 2, 1),), "float32")
        ...
        return r0, m * 2 - n
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.loops.generate import SIZES, TABLES, LoopProgram, make_program
from tests.programs import types as ty
from tests.programs.maker import Lines, indent
from tests.programs.scope import Array, Extent
from tests.support.choices import Choices

# Words and macros of C and C++, names that C or the wrapper keeps, functions that code calls, names
# that C does not have, and the halves of complex numbers and the functions beside them.
CLASHES = (
    *("double", "register", "signed", "restrict", "template", "bitand", "unix", "linux", "asm"),
    *("int64_t", "INT64_MAX", "_Bool", "__func__", "hj_record", "hj_kernel_k0", "result_0"),
    *(
        "malloc",
        "memset",
        "main",
        "k0",
        "k0_message",
        "größe",
        "gr__e",
        "a_re",
        "x_im",
        "_",
        "NULL",
    ),
)
# Sizes of results, by the sizes of others; the last may be less than nothing.
RESULT_SIZES = (
    *("{x}", "{x} // 2", "({x} + 3) // 4", "-(-{x} // 8)", "{x} % 5", "({x} - {y}) % 7 + 1"),
    *("abs({x} - {y})", "{x} if {x} > {y} else 4", "ceil_div({x}, 3)", "({x} & 6) + 1"),
    *("max({x}, {y})", "min({x}, {y})", "max({x} - {y}, 0)", "min({x} * 2 + 1, 40)"),
    *("max({x} // 3, {y} % 4)", "({x} - 9) // 4 + 4", "3", "{x} - 1"),
)
RESULT_TYPES = ("float64", "float32", "int64", "int32", "uint8", "float16", "complex128", ty.BOOL)
NUMBERS = ("n + 3", "m * 2 - n", "n < m", "(n + m) / 2", "n // 3 * m")
# In percent.
NAMED_ALIKE = 60
RENAMED = 50


@dataclass(frozen=True, slots=True)
class LibraryProgram:
    """A loop program, and numbers to be passed after its other arguments."""

    loops: LoopProgram
    numbers: tuple[Any, ...]


def make_library_program(choices: Choices) -> LibraryProgram:
    """A random program whose sizes are known when it is called, but for those that it captures."""
    loops = make_program(choices)
    head, *body = loops.text.splitlines()
    params = head[head.index("(") + 1 : -2].split(", ")
    results, filled, returned, numbers = _results(choices, loops)
    params = [*params, *numbers]
    place = 1 if loops.way == "shapes" else 0  # where n and m are known
    body = [*body[:place], *indent(results), *body[place:], *indent([*filled, *returned])]
    names = renamed(choices, params)
    sizes = renamed(choices, list(SIZES))
    types = {array.name: _annotation(choices, array, sizes, loops.way) for array in loops.arrays}
    types |= {name: f': int64["{sizes[size]}"]' for size, (name, _) in TABLES.items()}
    header = ", ".join(f"{names[param]}{types.get(param, '')}" for param in params)
    text = "\n".join([f"def kernel({header}):", *(substituted(line, names) for line in body)])
    kept = replace(loops, text=f"{text}\n", layouts=("C",) * len(loops.arrays))
    return LibraryProgram(kept, tuple(numbers.values()))


def renamed(choices: Choices, params: Sequence[str]) -> dict[str, str]:
    """A name for each parameter; some of them are not easy to have in C."""
    left = list(CLASHES)
    found = dict(zip(params, params, strict=True))
    for param in params:
        if choices.chance(RENAMED):
            found[param] = left.pop(choices.below(len(left)))
    return found


def substituted(text: str, names: Mapping[str, str]) -> str:
    """A text with other names."""
    return re.sub(r"(?<![.\w\"])[^\W\d]\w*", lambda found: names.get(found[0], found[0]), text)


def _annotation(choices: Choices, array: Array, sizes: Mapping[str, str], way: str) -> str:
    dims = [_dimension(choices, array, axis, sizes, way) for axis in range(len(array.shape))]
    return f": {array.type}[{', '.join(dims)}]"


def _dimension(
    choices: Choices, array: Array, axis: int, sizes: Mapping[str, str], way: str
) -> str:
    """A size as the name of a run-time size, one that others have, too, if that is so."""
    extent = array.shape[axis]
    is_alike = extent == Extent(0, extent.size) and way != "arguments"
    if is_alike and choices.chance(NAMED_ALIKE):
        return f'"{sizes[extent.size]}"'
    return f'"{array.name}{axis}"'


def _results(choices: Choices, loops: LoopProgram) -> tuple[Lines, Lines, Lines, dict[str, Any]]:
    """Lines that make results, that fill them and that return them; numbers that are needed."""
    made: Lines = []
    filled: Lines = []
    numbers: dict[str, Any] = {}
    names = [f"r{number}" for number in range(choices.pick((0, 1, 1, 2)))]
    for place, name in enumerate(names):
        source = choices.pick(loops.arrays)
        type = source.type if choices.chance(50) else choices.pick(RESULT_TYPES)
        sizes = [_size(choices) for _ in range(choices.pick((1, 1, 2)))]
        dtype = "bool" if type == ty.BOOL else type
        made.append(f'{name} = output_tensor(({", ".join(sizes)},), "{dtype}")')
        scalar = f"x{place}"
        numbers[scalar] = ty.scalar_of(type, 1 if type == ty.BOOL else 3)
        filled += _filling(name, len(sizes), scalar, source if source.type == type else None)
    values = [choices.pick((*NUMBERS, *numbers)) for _ in range(choices.pick((0, 0, 1, 2)))]
    returned = [*names, *values]
    return made, filled, [f"return {', '.join(returned)}"] if returned else [], numbers


def _size(choices: Choices) -> str:
    return choices.pick(RESULT_SIZES).format(x=choices.pick("nm"), y=choices.pick("nm"))


def _filling(name: str, rank: int, scalar: str, source: Array | None) -> Lines:
    """Loops that set all elements of a result: to a number, and to elements if they suit."""
    loops = ("i", "j")[:rank]
    at = ", ".join(loops)
    lines = [f"{name}[{at}] = {scalar}"]
    if source is not None and len(source.shape) == rank:
        inside = [f"{loop} < {source.name}.shape[{k}]" for k, loop in enumerate(loops)]
        lines += [f"if {' and '.join(inside)}:", *indent([f"{name}[{at}] = {source.name}[{at}]"])]
    for axis in reversed(range(rank)):
        lines = [f"for {loops[axis]} in range({name}.shape[{axis}]):", *indent(lines)]
    return lines
