"""Scripts as plain Python: the functions that they were, with the names of the language."""

from __future__ import annotations

import functools
from types import CellType, FunctionType
from typing import Any

from hybridjit.scalars.builtins import BUILTINS


def plain_function(pyfunc: FunctionType, scripts: type) -> FunctionType:
    """A function whose names are those of the language, too.

    What it calls that is one of the `scripts` runs as plain Python as well.
    """
    cells = tuple(_plain_cell(cell, scripts) for cell in pyfunc.__closure__ or ())
    plain = FunctionType(
        pyfunc.__code__,
        _LiveGlobals(pyfunc.__globals__, scripts),
        pyfunc.__name__,
        pyfunc.__defaults__,
        cells,
    )
    plain.__kwdefaults__ = pyfunc.__kwdefaults__
    functools.update_wrapper(plain, pyfunc)
    # Where a script is wanted, it stands for the function that it was made of: its globals are not
    # those of a module.
    named: Any = plain
    named.__hybrid_function__ = getattr(pyfunc, "__hybrid_function__", pyfunc)
    return plain


class _LiveGlobals(dict[str, Any]):
    """The globals of a function, read as they are now, with the names of the language behind."""

    def __init__(self, names: dict[str, Any], scripts: type) -> None:
        super().__init__({"__builtins__": names.get("__builtins__", {})})
        self.names, self.scripts = names, scripts

    def __getitem__(self, name: str) -> Any:
        if name in self.names:
            return _plain(self.names[name], self.scripts)
        return BUILTINS[name]


def _plain_cell(cell: CellType, scripts: type) -> CellType:
    """The cell itself, which may be empty yet or change later, unless it holds a function."""
    try:
        value = cell.cell_contents
    except ValueError:
        return cell
    plain = _plain(value, scripts)
    return cell if plain is value else CellType(plain)


def _plain(value: Any, scripts: type) -> Any:
    """In plain Python, what a script calls runs as plain Python too."""
    if isinstance(value, scripts):
        return functools.partial(_call_plain, value)
    if isinstance(value, FunctionType) and _uses_the_language(value):
        return plain_function(value, scripts)
    return value


def _call_plain(script: Any, *args: Any, **kwargs: Any) -> Any:
    return script.py_func(*args, **kwargs)  # made when it is called: a script may call itself


def _uses_the_language(function: FunctionType) -> bool:
    """True if a function reads names of the language that it has not imported."""
    own = function.__globals__
    if isinstance(own, _LiveGlobals):
        return False  # it is plain already
    return any(name in BUILTINS and name not in own for name in function.__code__.co_names)
