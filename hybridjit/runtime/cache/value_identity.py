"""What identifies a value that a script reads from around it, in every process: JSON.

Two values with the same identity mean the same to a script. What is not known to be safe has no
identity: a kernel that reads it is found on disk by its IR only, which takes parsing.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from enum import Enum
from types import BuiltinMethodType, CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from hybridjit.errors import HybridError
from hybridjit.frontend.captures import (
    ARRAY_FUNCTIONS,
    MISSING,
    MODULE_FUNCTIONS,
    has_plain_attributes,
    language_name,
)
from hybridjit.frontend.library.table import place_of
from hybridjit.ir.dtype import find_dtype
from hybridjit.runtime.cache.entry import Json
from hybridjit.scalars.builtins import ElementTypeObject, find_element_type
from hybridjit.scalars.kinds import find_weak_type
from hybridjit.scalars.specs import (
    ArraySpec,
    ConstantSpec,
    GeneratorSpec,
    ScalarSpec,
    Spec,
    TupleSpec,
)
from hybridjit.source import FunctionSource, read_function

_OWN_PACKAGE = __name__.partition(".")[0]
_LIBRARIES = ("builtins", "numpy")  # their classes are what they are called
_NUMPY_MODULES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.random")


class Unidentified(Exception):
    """A value has no identity that holds in another process."""


class Identifier:
    """Finds the identity of values around one script, `root`.

    `known` are sources of functions that were read already, and are to be taken as they were.
    """

    def __init__(self, root: FunctionSource, known: Mapping[CodeType, FunctionSource]) -> None:
        self._root = root
        self._known = known
        self._open: list[CodeType] = []

    def of_spec(self, spec: Spec) -> Json:
        """The identity of the type of an argument."""
        match spec:
            case ArraySpec(dtype, shape):
                return ["array", dtype.name, shape]
            case ScalarSpec(type):
                return ["number", type.dtype.name, type.weak]
            case TupleSpec(items, fields, records, is_list, maker):
                kind = "list" if is_list else "tuple"
                # By its name: what is read of the class, a method, is a capture.
                made = None if maker is None else [maker.__module__, maker.__qualname__]
                return [kind, [self.of_spec(item) for item in items], fields, records, made]
            case GeneratorSpec():
                return ["generator"]
            case ConstantSpec(value):
                return ["constant", self.of(value)]

    def of(self, value: object) -> Json:
        """The identity of a value; raises `Unidentified` if it has none."""
        kind: type = type(value)
        if kind in _PLAIN:
            return _PLAIN[kind](value)
        if kind is tuple or kind is list:
            items = cast("list[object]", value)
            return ["tuple" if kind is tuple else "list", [self.of(item) for item in items]]
        if value is MISSING:
            return ["missing"]
        if id(value) in MODULE_FUNCTIONS:
            return ["function", *MODULE_FUNCTIONS[id(value)]]
        builtin = language_name(value)
        if builtin is not None:
            return ["language", builtin]
        if isinstance(value, (np.generic, np.ndarray)):
            return _of_data(value)
        if isinstance(value, (type, np.dtype, ElementTypeObject)):
            return _of_type(cast("object", value))
        return self._of_object(value)

    def _of_object(self, value: object) -> Json:
        cls: type = type(value)
        if cls is ModuleType:
            return ["module", cast("ModuleType", value).__name__]
        if cls in (np.iinfo, np.finfo):
            return ["limits", cls.__name__, str(cast("Any", value).dtype)]
        if not _is_ours(cls) and has_plain_attributes(value):
            # What the script reads of it is identified by itself.
            name = value.name if isinstance(value, Enum) else None
            return ["owner", cls.__module__, cls.__qualname__, name]
        place = place_of(value)
        if place is not None:
            return ["library", *place]
        if id(value) in ARRAY_FUNCTIONS:
            return ["array function", ARRAY_FUNCTIONS[id(value)]]
        named = _name_in_numpy(value)
        if named is not None:
            return ["numpy", *named]
        function = getattr(value, "__hybrid_function__", value)
        if type(function) is FunctionType:
            is_elementwise: bool = getattr(value, "__hybrid_elementwise__", False)
            identity = self._of_function(function)
            return ["elementwise", identity] if is_elementwise else identity
        raise Unidentified(f"a {cls.__name__}")

    def _of_function(self, function: FunctionType) -> Json:
        """Its text, its place, for errors name it, and its defaults.

        What it reads from around it is identified by itself.
        """
        code = function.__code__
        if code in self._open:
            raise Unidentified("a function that is its own default")
        source = self._source(function)
        file = None if source.file == self._root.file else source.file
        place = [file, source.first_line - self._root.first_line]
        named = sorted((function.__kwdefaults__ or {}).items())
        self._open.append(code)
        try:
            defaults = [self.of(value) for value in function.__defaults__ or ()]
            named_defaults = [[name, self.of(value)] for name, value in named]
        finally:
            self._open.pop()
        return ["def", source.text, source.is_printed, place, defaults, named_defaults]

    def _source(self, function: FunctionType) -> FunctionSource:
        known = self._known.get(function.__code__)
        if known is not None:
            return known
        try:
            return read_function(function)
        except HybridError as error:
            raise Unidentified(f"the source of {function.__name__}") from error


def _name_in_numpy(value: object) -> tuple[str, str] | None:
    """The module and the name of a function of NumPy: one that somebody put there is none."""
    home = getattr(value, "__module__", None)
    if not isinstance(value, BuiltinMethodType) and str(home).partition(".")[0] != "numpy":
        return None
    name = str(getattr(value, "__name__", ""))
    for module in _NUMPY_MODULES:  # nobody has a function of a module that is not loaded
        if vars(sys.modules.get(module, np)).get(name) is value:
            return module, name
    return None


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == _OWN_PACKAGE


def _of_int(value: Any) -> Json:
    # Python does not write very long numbers in decimal.
    return value if abs(value) < 1 << 63 else ["int", hex(value)]


def _of_float(value: Any) -> Json:
    return ["float", struct.pack("<d", value).hex()]


def _of_complex(value: Any) -> Json:
    return ["complex", struct.pack("<dd", value.real, value.imag).hex()]


def _itself(value: Any) -> Json:
    return value


# Exact types only: a subclass may mean something else.
_PLAIN: dict[type, Any] = {
    bool: _itself,
    int: _of_int,
    str: _itself,
    type(None): _itself,
    float: _of_float,
    complex: _of_complex,
}


def _of_data(value: Any) -> Json:
    """A NumPy scalar or array: type, shape and every bit."""
    dtype = find_dtype(value.dtype)
    if dtype is None or type(value) not in (np.ndarray, dtype.numpy.type):
        raise Unidentified(f"a {type(value).__name__} of {value.dtype}")
    kind = "array" if type(value) is np.ndarray else "scalar"
    return [kind, dtype.name, value.shape, value.tobytes().hex()]


def _of_type(value: Any) -> Json:
    weak = find_weak_type(value)
    if weak is not None:
        return ["python type", weak.dtype.name]
    dtype = find_element_type(value)
    if dtype is not None:
        return ["element type", dtype.name]
    return _of_class(value)


def _of_class(cls: Any) -> Json:
    name = [cls.__module__, cls.__qualname__]
    if isinstance(cls, np.dtype) or issubclass(cls, (np.generic, BaseException)) or _is_ours(cls):
        raise Unidentified(f"the type {cls!r}")
    return ["class" if cls.__module__ in _LIBRARIES else "owner class", *name]
