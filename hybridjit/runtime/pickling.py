"""Kernels in other processes: by name where they can be imported, else with all that they need.

    freeze(kernel)  -->  (FrozenFunction, ...)  -->  thaw  -->  kernel

A frozen function is data: its text, its options, and the values of the names that it reads. A
function that it calls is another entry, named by its number; modules and names of the language go
by name. What is left is a matter of the pickler. Thawing compiles texts and runs none of them.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CellType, FunctionType, ModuleType
from typing import Annotated, Any, cast

import numpy as np

from hybridjit.errors import ParseError
from hybridjit.record import record
from hybridjit.runtime.externs import Function
from hybridjit.runtime.frozen_source import FrozenSource, names_in
from hybridjit.scalars.builtins import BUILTINS, ElementTypeObject
from hybridjit.scalars.specs import ArraySpec, ScalarSpec

# Modules that are something else in another process.
_MAIN = ("__main__", "__mp_main__")
# What an annotation can say to a script.
_SPEAKING = (ModuleType, ElementTypeObject, ArraySpec, ScalarSpec, np.dtype, int, str)
_LANGUAGE = {id(value): name for name, value in BUILTINS.items()}

# Kernels that came from other processes, which send the same ones again and again.
_restored: dict[bytes, Any] = {}
_MAX_RESTORED = 256

MakeKernel = Callable[[FunctionType, Mapping[str, Any]], Any]


@record
class _Number:
    """Stands for another function that is frozen along."""

    index: int


@record
class _ModuleName:
    name: str


@record
class _LanguageName:
    name: str


@record
class FrozenFunction:
    """A function, or with `options` the kernel made of it. Its values are frozen, too."""

    source: FrozenSource
    qualname: str
    module: str
    defaults: Any
    keyword_defaults: Any
    names: dict[str, Any]
    free: tuple[str, ...]
    closure: dict[str, Any]
    options: Any = None


Frozen = tuple[FrozenFunction, ...]


def is_importable(value: Any) -> bool:
    """True if `value` is what its name stands for in a module that others can import."""
    module = getattr(value, "__module__", None)
    if module is None or module in _MAIN:
        return False
    found: Any = sys.modules.get(module)
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


def freeze(kernel: Any) -> Frozen:
    """A kernel, and the functions that it uses, as data; the kernel comes first."""
    try:
        freezer = _Freezer()
        freezer.number_of(kernel)
        return freezer.finish()
    except ParseError as error:
        raise pickle.PicklingError(f"cannot pickle '{kernel.__name__}': {error}") from None


class _Freezer:
    def __init__(self) -> None:
        self.functions: list[Any] = []
        self.numbers: dict[int, _Number] = {}

    def finish(self) -> Frozen:
        """Freeze all functions, those that come up on the way included."""
        frozen: list[FrozenFunction] = []
        while len(frozen) < len(self.functions):
            frozen.append(self._freeze_function(self.functions[len(frozen)]))
        return tuple(frozen)

    def number_of(self, function: Any) -> _Number:
        if id(function) not in self.numbers:
            self.numbers[id(function)] = _Number(len(self.functions))
            self.functions.append(function)
        return self.numbers[id(function)]

    def _freeze_function(self, function: Any) -> FrozenFunction:
        pyfunc: FunctionType = getattr(function, "__hybrid_function__", function)
        options = getattr(function, "options", None)
        return FrozenFunction(
            FrozenSource.of(pyfunc),
            pyfunc.__qualname__,
            pyfunc.__module__,
            pyfunc.__defaults__,
            pyfunc.__kwdefaults__,
            self._names(pyfunc),
            pyfunc.__code__.co_freevars,
            self._closure(pyfunc),
            None if options is None else self.freeze(dict(options)),
        )

    def _names(self, pyfunc: FunctionType) -> dict[str, Any]:
        read, annotated = names_in(pyfunc)
        have = pyfunc.__globals__
        wanted = [name for name in sorted(read) if name in have]
        wanted += [name for name in sorted(annotated) if name in have and _speaks(have[name])]
        return {name: self.freeze(have[name]) for name in wanted}

    def _closure(self, pyfunc: FunctionType) -> dict[str, Any]:
        cells = zip(pyfunc.__code__.co_freevars, pyfunc.__closure__ or (), strict=True)
        return {name: self.freeze(cell.cell_contents) for name, cell in cells if _is_full(cell)}

    def freeze(self, value: Any) -> Any:
        """`value` as something that a pickler can take, if possible."""
        if id(value) in _LANGUAGE:
            return _LanguageName(_LANGUAGE[id(value)])
        if isinstance(value, ModuleType):
            return _ModuleName(value.__name__)
        if _has_text(value):
            return value if is_importable(value) else self.number_of(value)
        return _with_items(value, self.freeze)


def _speaks(value: object) -> bool:
    is_known_type = isinstance(value, type) and is_importable(value)
    return isinstance(value, _SPEAKING) or is_known_type or value is Annotated


def _is_full(cell: CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _has_text(value: Any) -> bool:
    """True for kernels and functions, except those that pickle or nobody can take."""
    pyfunc = getattr(value, "__hybrid_function__", value)
    if not isinstance(pyfunc, FunctionType):
        return False
    try:
        FrozenSource.of(pyfunc)
    except ParseError:
        return hasattr(value, "__hybrid_function__")  # is reported
    return True


def thaw(frozen: Frozen, make_kernel: MakeKernel) -> Any:
    """The kernel that was frozen. Functions first, then what they read, which may be themselves."""
    functions = [_make_function(entry) for entry in frozen]
    made: list[Any] = list(functions)
    for index, entry in enumerate(frozen):
        if entry.options is not None:
            made[index] = make_kernel(functions[index], _thaw_value(entry.options, made))
    for function, entry in zip(functions, frozen, strict=True):
        function.__globals__.update(_thaw_value(entry.names, made))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            if name in entry.closure:
                cell.cell_contents = _thaw_value(entry.closure[name], made)
    return made[0]


def restore(digest: bytes | None, frozen: Frozen, make_kernel: MakeKernel) -> Any:
    """The kernel that was frozen, made once for each digest: it keeps what it has compiled."""
    if digest is None:
        return thaw(frozen, make_kernel)
    if digest not in _restored:
        if len(_restored) >= _MAX_RESTORED:
            clear()
        _restored[digest] = thaw(frozen, make_kernel)
    return _restored[digest]


def clear() -> None:
    """Forget the kernels that came from other processes."""
    _restored.clear()


def _make_function(entry: FrozenFunction) -> FunctionType:
    """The function, with names and cells still to be filled."""
    code = entry.source.compile(entry.free)
    names = {"__name__": entry.module, "__builtins__": builtins}
    cells = tuple(CellType() for _ in code.co_freevars)
    made = FunctionType(code, names, entry.source.name, entry.defaults, cells)
    made.__kwdefaults__ = entry.keyword_defaults
    made.__qualname__ = entry.qualname
    return made


def _thaw_value(value: Any, made: Sequence[Any]) -> Any:
    match value:
        case _Number(index):
            return made[index]
        case _ModuleName(name):
            return importlib.import_module(name)
        case _LanguageName(name):
            return BUILTINS[name]
        case _:
            return _with_items(value, lambda item: _thaw_value(item, made))


def _with_items(value: Any, change: Callable[[Any], Any]) -> Any:
    """A container with its items changed; the same object if none of them does change."""
    if isinstance(value, Function):
        call = change(value.call) if value.is_packed else value.call
        return value if call is value.call else Function(value.name, call, value.result)
    if type(value) is dict:
        items = cast("dict[Any, Any]", value)
        changed = {key: change(item) for key, item in items.items()}
        return items if all(changed[key] is items[key] for key in items) else changed
    if type(value) in (tuple, list):
        listed = [change(item) for item in value]
        is_same = all(new is old for new, old in zip(listed, value, strict=True))
        return value if is_same else type(value)(listed)
    return value


def digest_of(frozen: Frozen) -> bytes | None:
    """A name for what was frozen: equal ones are the same kernel. None if it cannot be had."""
    try:
        return hashlib.sha256(pickle.dumps(frozen)).digest()
    except (pickle.PicklingError, TypeError, AttributeError):  # another pickler may know better
        return None
