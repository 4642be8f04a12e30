"""What a kernel was at when it failed: `kernel.explain(error, ...)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from hybridjit.errors import ArgumentValueError
from hybridjit.html_text import preformatted
from hybridjit.interp.failure import find_failure
from hybridjit.ir.func import PrimFunc
from hybridjit.record import record
from hybridjit.runtime.plain_failure import run_again
from hybridjit.source import FunctionSource
from hybridjit.syntax import nodes_of

_ARRAY: type[Any] = np.ndarray
_MOST_ELEMENTS = 8  # of an array, that are shown


@record(eq=False)
class Explanation:
    """An error, and what the variables of the script held when it came about."""

    error: Exception
    values: Mapping[str, Any]

    def __str__(self) -> str:
        notes: Sequence[str] = getattr(self.error, "__notes__", ())
        width = max(map(len, self.values), default=0)
        lines = (f"  {name:{width}} = {_text(value)}" for name, value in self.values.items())
        head = f"{type(self.error).__name__}: {self.error}"
        return "\n".join([head, *notes, "there, the variables of the script were", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def explain_failure(
    func: PrimFunc,
    source: FunctionSource,
    args: Sequence[Any],
    error: BaseException,
    plain_values: Callable[[Exception], Mapping[str, Any] | None],
) -> Explanation:
    """Run the script again in the interpreter, on arguments that it may change, until it fails.

    `plain_values` tells what its variables hold in plain Python, if that fails in the same way.
    """
    with run_again():
        found = find_failure(func, args)
    if found is None:
        raise ArgumentValueError(
            f"with these arguments, '{func.name}' does not fail: it gave {type(error).__name__}",
            help="pass the arguments as they were before the call that failed",
        )
    if not (isinstance(error, type(found.error)) or isinstance(found.error, type(error))):
        raise ArgumentValueError(
            f"with these arguments, '{func.name}' fails with {type(found.error).__name__}, "
            f"not with {type(error).__name__}",
            help="pass the error, and the arguments as they were before the call that raised it",
        )
    held = plain_values(found.error)
    names = _names_in(source)
    values = {n: v for n, v in (found.values if held is None else held).items() if n in names}
    return Explanation(found.error, dict(sorted(values.items(), key=lambda item: names[item[0]])))


def _names_in(source: FunctionSource) -> dict[str, int]:
    """The names of a script, by where they first stand."""
    nodes = [node for node in nodes_of(source.node) if isinstance(node, ast.arg | ast.Name)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    found = dict.fromkeys(node.arg if isinstance(node, ast.arg) else node.id for node in nodes)
    return {name: place for place, name in enumerate(found)}


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return _text_of_items(cast("Sequence[Any]", value))
    if not isinstance(value, _ARRAY) or value.ndim == 0:
        return repr(value.item() if hasattr(value, "item") else value)
    shape = ", ".join(map(str, value.shape))
    shown = np.array2string(value, threshold=_MOST_ELEMENTS, edgeitems=3, separator=", ")
    return f"{value.dtype}[{shape}] {' '.join(shown.split())}"


def _text_of_items(value: Sequence[Any]) -> str:
    """A tuple, a NamedTuple or a list; of a long one, the beginning and the last item."""
    items = [_text(item) for item in value]
    fields: Sequence[str] = getattr(value, "_fields", ())
    if fields:
        shown = (f"{name}={item}" for name, item in zip(fields, items, strict=True))
        return f"{type(value).__name__}({', '.join(shown)})"
    if len(items) > _MOST_ELEMENTS:
        items[3:-1] = ["..."]
    text = ", ".join(items)
    if isinstance(value, list):
        return f"[{text}]"
    return f"({text},)" if len(items) == 1 else f"({text})"
