"""What a Python object from around a script stands for inside it."""

from __future__ import annotations

from types import FunctionType, ModuleType

from hybridjit.frontend.builtins import find_element_type
from hybridjit.frontend.captures import ARRAY_FUNCTIONS, MODULE_FUNCTIONS, language_name
from hybridjit.frontend.kinds import (
    find_weak_type,
    is_numpy_scalar,
    is_python_number,
    is_sequence,
    weak_type,
)
from hybridjit.frontend.library.table import ELEMENTWISE, LIBRARY
from hybridjit.frontend.style import Style
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
    Scalar,
    Text,
    Value,
)
from hybridjit.ir.dtype import ScalarType, find_dtype
from hybridjit.ir.expr import Const, const
from hybridjit.ir.extern import Extern
from hybridjit.ir.intrinsics import CustomIntrinsic


def lift(value: object) -> Value:
    """What a Python object from around the script stands for inside it. Arrays stay `Foreign`."""
    number = _lift_number(value)
    if number is not None:
        return number
    match value:
        case None:
            return Nothing()
        case str():
            return Text(value)
        case Extern():
            return ExternValue(value)
        case CustomIntrinsic(name):
            return NumpyFunction(name, Style.LANGUAGE.value)
        case ModuleType():
            return Module(value)
        case _ if is_sequence(value):
            return Items(tuple(lift(item) for item in value))
        case _:
            return _lift_type(value) or _lift_function(value) or Foreign(value)


def _lift_number(value: object) -> Scalar | None:
    if is_python_number(value):
        type = weak_type(value)
        return Scalar(Const(value, type.dtype), type)
    dtype = find_dtype(value.dtype) if is_numpy_scalar(value) else None
    return None if dtype is None else Scalar(const(value, dtype), ScalarType(dtype))


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
    pyfunc = LIBRARY.get(id(value)) or getattr(value, "__hybrid_function__", value)
    if not isinstance(pyfunc, FunctionType) or _is_numpys_own(pyfunc):
        return None
    is_elementwise = pyfunc in ELEMENTWISE or getattr(value, "__hybrid_elementwise__", False)
    return Callee(pyfunc, is_elementwise)


def _is_numpys_own(pyfunc: FunctionType) -> bool:
    """True for a function in the source of NumPy: an error inside it would puzzle everybody."""
    return str(pyfunc.__module__).partition(".")[0] == "numpy"
