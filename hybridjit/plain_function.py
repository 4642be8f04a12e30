"""Scripts as plain Python: the functions that they were, with the names of the language."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from types import CellType, FunctionType
from typing import Any

from hybridjit.errors import ParseError
from hybridjit.kept_property import kept_property
from hybridjit.record import record
from hybridjit.scalars.builtins import BUILTINS, CALLED
from hybridjit.source import read_function
from hybridjit.syntax import nodes_of


@record
class _World:
    """What a plain function finds around it: which objects are scripts, and what others stand for.

    An object that has a stand-in, by its id, is not seen by the function nor by what it calls.
    """

    scripts: type
    stand_ins: Mapping[int, Any]


def plain_function(
    pyfunc: FunctionType, scripts: type, stand_ins: Mapping[int, Any] | None = None
) -> FunctionType:
    """A function whose names are those of the language, too.

    What it calls that is one of the `scripts` runs as plain Python as well. Wherever a name stands
    for an object that has a stand-in, by its id, the function is given that.
    """
    return _plain_function(pyfunc, _World(scripts, stand_ins or {}))


def _plain_function(pyfunc: FunctionType, world: _World) -> FunctionType:
    cells = tuple(_plain_cell(cell, world) for cell in pyfunc.__closure__ or ())
    plain = FunctionType(
        pyfunc.__code__,
        _LiveGlobals(pyfunc, world),
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

    def __init__(self, pyfunc: FunctionType, world: _World) -> None:
        names = pyfunc.__globals__
        super().__init__({"__builtins__": names.get("__builtins__", {})})
        self.pyfunc, self.names, self.world = pyfunc, names, world

    def __getitem__(self, name: str) -> Any:
        if name in self.names:
            return _plain(self.names[name], self.world)
        if name in CALLED and name in self.called:
            return CALLED[name]
        return BUILTINS[name]

    @kept_property
    def called(self) -> set[str]:
        """The names that the function calls; one whose source nobody has calls none."""
        try:
            source = read_function(self.pyfunc)
        except ParseError:
            return set()
        calls = (node.func for node in nodes_of(source.node) if isinstance(node, ast.Call))
        return {func.id for func in calls if isinstance(func, ast.Name)}


def _plain_cell(cell: CellType, world: _World) -> CellType:
    """The cell itself, which may be empty yet or change later, unless it holds a function."""
    try:
        value = cell.cell_contents
    except ValueError:
        return cell
    plain = _plain(value, world)
    return cell if plain is value else CellType(plain)


def _plain(value: Any, world: _World) -> Any:
    """In plain Python, what a script calls runs as plain Python too."""
    if id(value) in world.stand_ins:
        return world.stand_ins[id(value)]
    if isinstance(value, world.scripts):
        return functools.partial(_call_plain, value, world)
    if isinstance(value, FunctionType) and (world.stand_ins or _uses_the_language(value)):
        return _plain_function(value, world)
    return value


def _call_plain(script: Any, world: _World, *args: Any, **kwargs: Any) -> Any:
    # Made when it is called: a script may call itself.
    if world.stand_ins:
        return _plain_function(script.__hybrid_function__, world)(*args, **kwargs)
    return script.py_func(*args, **kwargs)


def _uses_the_language(function: FunctionType) -> bool:
    """True if a function reads names of the language that it has not imported."""
    own = function.__globals__
    if isinstance(own, _LiveGlobals):
        return False  # it is plain already
    return any(name in BUILTINS and name not in own for name in function.__code__.co_names)
