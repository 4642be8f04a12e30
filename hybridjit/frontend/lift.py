"""What a Python object from around a script stands for inside it."""

from __future__ import annotations

from types import FunctionType, ModuleType

from hybridjit.frontend.captures import ARRAY_FUNCTIONS, MODULE_FUNCTIONS, language_name
from hybridjit.frontend.library.table import find_in_library, is_elementwise
from hybridjit.frontend.values import (
    ArrayFunction,
    Builtin,
    Callee,
    ElementType,
    ExternValue,
    Foreign,
    Items,
    Module,
    Nothing,
    NumpyFunction,
    PythonType,
    Text,
    Value,
)
from hybridjit.ir.extern import Extern, ExternFamily
from hybridjit.ir.intrinsics import CustomIntrinsic
from hybridjit.scalars.builtins import find_element_type
from hybridjit.scalars.kinds import (
    field_names,
    find_weak_type,
    is_sequence,
)
from hybridjit.scalars.scalar import lift_number
from hybridjit.scalars.style import Style


def lift(value: object) -> Value:
    """What a Python object from around the script stands for inside it. Arrays stay `Foreign`."""
    number = lift_number(value)
    if number is not None:
        return number
    match value:
        case None:
            return Nothing()
        case str():
            return Text(value)
        case Extern() | ExternFamily():
            return ExternValue(value)
        case CustomIntrinsic(name):
            return NumpyFunction(name, Style.LANGUAGE.value)
        case ModuleType():
            return Module(value)
        case _ if is_sequence(value):
            items = tuple(lift(item) for item in value)
            return Items(items, isinstance(value, list), field_names(value))
        case _:
            return _lift_type(value) or _lift_function(value) or Foreign(value)


def _lift_type(value: object) -> PythonType | ElementType | None:
    weak = find_weak_type(value)
    if weak is not None:
        return PythonType(weak)
    dtype = find_element_type(value)
    return None if dtype is None else ElementType(dtype)


def _lift_function(value: object) -> NumpyFunction | ArrayFunction | Builtin | Callee | None:
    if id(value) in MODULE_FUNCTIONS:
        module, name = MODULE_FUNCTIONS[id(value)]
        return NumpyFunction(name, module)
    if id(value) in ARRAY_FUNCTIONS:
        return ArrayFunction(ARRAY_FUNCTIONS[id(value)])
    builtin = language_name(value)
    if builtin is not None:
        return Builtin(builtin)
    # A script is inlined as its function, a function of NumPy as the one that stands for it.
    pyfunc = find_in_library(value) or getattr(value, "__hybrid_function__", value)
    if not isinstance(pyfunc, FunctionType) or _is_numpys_own(pyfunc):
        return None
    by_element = is_elementwise(value) or getattr(value, "__hybrid_elementwise__", False)
    return Callee(pyfunc, by_element)


def _is_numpys_own(pyfunc: FunctionType) -> bool:
    """True for a function in the source of NumPy: an error inside it would puzzle everybody."""
    return str(pyfunc.__module__).partition(".")[0] == "numpy"
