"""Scripts that are written by a program: from their text to a function, without running any of it.

def norm(x, y):
    out = output_tensor((x.shape[0],), "float64")
    for i0 in range(x.shape[0]):
        r0 = function(x[i0], y)
        out[i0] = float64(r0)
    return out
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping, Sequence
from types import FunctionType

from hybridjit.frontend.captures import is_language_name
from hybridjit.ir.dtype import BOOL, DType
from hybridjit.runtime.frozen_source import FrozenSource

# The name that a written script has for the function in its loops.
FUNCTION = "function"
_INDENT = "    "
# Names that written scripts use themselves.
_OWN_NAME = re.compile(r"(i|r|out|start)\d*|function|where|positions|core")


def make_function(name: str, text: str, names: Mapping[str, object]) -> FunctionType:
    """The function that `text` defines, which sees `names`; errors show its lines."""
    written = script_name(name)
    code = FrozenSource(written, f"<ufunc {name}>", 1, text).compile(())
    return FunctionType(code, {"__builtins__": builtins, **names}, written)


def script_name(name: str) -> str:
    """The name of a written script for `name`, changed where its text means something else by it.

    A function that is called `float64` or `function` would otherwise be taken to call itself.
    """
    return parameter_names([name])[0]


def parameter_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names of parameters, changed where a written script means something else by them."""
    found: list[str] = []
    for name in names:
        while is_language_name(name) or _OWN_NAME.fullmatch(name) or name in found:
            name += "_"
        found.append(name)
    return tuple(found)


def indented(lines: Sequence[str], levels: int = 1) -> list[str]:
    """Lines, further inside."""
    return [_INDENT * levels + line for line in lines]


def definition(name: str, params: Sequence[str], body: Sequence[str]) -> str:
    """The text of a function."""
    return "\n".join([f"def {script_name(name)}({', '.join(params)}):", *indented(body)]) + "\n"


def loops(sizes: Sequence[str], body: Sequence[str], kind: str = "range") -> list[str]:
    """A nest over `i0`, `i1` ...; the outermost loop is of the given kind."""
    lines = list(body)
    for axis in reversed(range(len(sizes))):
        word = kind if axis == 0 else "range"
        lines = [f"for i{axis} in {word}({sizes[axis]}):", *indented(lines)]
    return lines


def index(entries: Sequence[str]) -> str:
    """`[i0, 0]`, and `[()]` of an array without dimensions."""
    return f"[{', '.join(entries) or '()'}]"


def entries_of(shape: Sequence[int], whole: Sequence[int]) -> list[str]:
    """The indices of an array of `shape` in a nest over `whole`: where it is stretched, 0."""
    shift = len(whole) - len(shape)
    return [
        f"i{axis + shift}" if size == whole[axis + shift] else "0"
        for axis, size in enumerate(shape)
    ]


def type_word(dtype: DType) -> str:
    """The name of the conversion to a type."""
    return "bool_" if dtype is BOOL else dtype.name


def converted(text: str, found: DType, wanted: DType) -> str:
    """An expression, converted as NumPy converts elements; complex numbers lose a part."""
    if found.is_complex and not wanted.is_complex and wanted is not BOOL:
        text = f"{text}.real"
    return f"{type_word(wanted)}({text})"
