"""C functions and Python callbacks that a script may call."""

from __future__ import annotations

import ctypes
import importlib
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hybridjit.errors import ArgumentError, MissingSymbol
from hybridjit.interp.base_array import base_array
from hybridjit.interp.scalars import as_scalar, cast
from hybridjit.ir.dtype import DType, find_dtype
from hybridjit.ir.expr import Buffer, BufferRef
from hybridjit.ir.extern import Extern, Pointer
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.scalars.builtins import numpy_dtype

if TYPE_CHECKING:
    from hybridjit.codegen import llvm_functions
    from hybridjit.codegen.engine import Library
    from hybridjit.codegen.llvm_functions import LLVMFunction
    from hybridjit.ir import printer_names
    from hybridjit.tensors import externs as tensors
else:
    llvm_functions = lazy_module("hybridjit.codegen.llvm_functions")
    printer_names = lazy_module("hybridjit.ir.printer_names")
    tensors = lazy_module("hybridjit.tensors.externs")

_CAPSULE_POINTER = ctypes.pythonapi.PyCapsule_GetPointer
_CAPSULE_NAME = ctypes.pythonapi.PyCapsule_GetName

_NDARRAY: type[Any] = np.ndarray


@record(eq=False)
class Function(Extern):
    """An extern that plain Python can call too, with arguments converted as a script does.

    `origin` says where another process finds a C function: its symbol, and the library that has
    it, or None for the process itself.
    """

    origin: tuple[str, str | None] | None = None

    def __repr__(self) -> str:
        return f"{'Python' if self.is_packed else 'C'} function '{self.name}' for scripts"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.is_packed:
            return Function, (self.name, self.call, self.result)
        if self.text is not None:
            found = (self.name, self.symbol, self.text)
            return _read_again, (found, self.result, self.params, self.is_reentrant)
        if self.origin is None:
            raise pickle.PicklingError(
                f"cannot pickle the C function '{self.name}': its address means nothing in another "
                "process; declare it by its symbol, or as a function of a ctypes.CDLL"
            )
        return (
            _find_again,
            (self.origin, self.name, self.result, self.params, self.is_reentrant),
        )

    def __call__(self, *args: Any) -> Any:
        params = self.params
        if any(isinstance(arg, Buffer | BufferRef) for arg in args):
            return tensors.call_function(self, args)  # in the body of a te.extern
        if params is None:
            values = [arg if isinstance(arg, _NDARRAY) else as_scalar(arg) for arg in args]
        elif len(args) != len(params):
            raise ArgumentError(f"{self.name} takes {len(params)} arguments, found {len(args)}")
        else:
            values = [self._c_value(*pair) for pair in zip(args, params, strict=True)]
        result = self.call(*values)
        return None if self.result is None else cast(result, self.result)

    def _c_value(self, value: Any, param: DType | Pointer) -> object:
        if isinstance(param, DType):
            checked = type(value) is int and param.is_integer
            return cast(value, param, checked=checked).item()
        array = base_array(value) if isinstance(value, _NDARRAY) else None
        if array is None or array.dtype != param.dtype.numpy:
            raise ArgumentError(f"{self.name} takes an array of {param.dtype}, got {value!r}")
        if not array.flags.c_contiguous:
            raise ArgumentError(f"the array passed to '{self.name}' must be C-contiguous")
        return ctypes.c_void_p(array.ctypes.data)


def packed(function: Callable[..., Any], restype: Any = None, name: str | None = None) -> Function:
    """A Python function that a script calls back: arrays arrive as views of the same memory.

    It may keep them. Arrays of the script's own end with it: of those it gets a copy, and what it
    writes there is copied back when it returns.

    `restype` is the type of its result; without one it is called for its effect. An exception
    that it raises comes out of the kernel call as itself.
    """
    label = name or getattr(function, "__name__", "packed")
    result = None if restype is None else _dtype(restype, "restype")
    return Function(_identifier(label), function, result)


def extern(
    function: Any,
    restype: Any = None,
    argtypes: Sequence[Any] | None = None,
    *,
    name: str | None = None,
    reentrant: bool = False,
) -> Function:
    """A C function that a script calls: a symbol of the process, a ctypes or cffi function,
    an address, or a capsule as Cython and SciPy export them.

    Types are element types such as "float64"; "float64*" is a pointer, given an array, which
    "const float64*" only reads. With `reentrant`, you say that it touches nothing but the arrays
    that it is given, and may run on several threads at once: then parallel loops may call it.
    """
    if argtypes is None:
        raise ArgumentError(
            "extern needs the types of the arguments",
            help='write them as in extern("hypot", "float64", ["float64", "float64"])',
        )
    params = tuple(_parameter(entry) for entry in argtypes)
    result = None if restype is None else _dtype(restype, "restype")
    address, label = _address(function)
    call = _c_function(address, result, params)
    return Function(
        _identifier(name or label),
        call,
        result,
        params,
        _origin(function),
        is_reentrant=reentrant,
    )


def llvm(
    text: str,
    restype: Any = None,
    argtypes: Sequence[Any] = (),
    *,
    name: str | None = None,
    reentrant: bool = True,
) -> Function:
    """A function given as LLVM text, which becomes a part of the scripts that call it.

    It is inlined, kept on disk and exported with them. `name` chooses one of several functions of
    the text. That the processor has the instructions which the text asks for is up to the caller,
    and so is that it is `reentrant`: that it touches nothing but the arrays that it is given.
    """
    params = tuple(_parameter(entry) for entry in argtypes)
    result = None if restype is None else _dtype(restype, "restype")
    found = llvm_functions.read_function(text, name, result, params)
    call = _Loaded(found, result, params)
    label = _identifier(found.name)
    return Function(
        label,
        call,
        result,
        params,
        symbol=found.symbol,
        text=found.text,
        is_reentrant=reentrant,
    )


class _Loaded:
    """A function of LLVM as plain Python calls it; compiled when it is called first."""

    def __init__(
        self,
        function: LLVMFunction,
        result: DType | None,
        params: Sequence[DType | Pointer],
    ) -> None:
        self._function, self._result, self._params = function, result, params
        self._library: Library | None = None

    def __call__(self, *args: Any) -> Any:
        if self._library is None:
            self._library = llvm_functions.load_function(self._function)
        address = self._library.addresses[self._function.symbol]
        return _c_function(address, self._result, self._params)(*args)


def _c_function(address: int, result: DType | None, params: Sequence[DType | Pointer]) -> Any:
    ctype = None if result is None else np.ctypeslib.as_ctypes_type(result.numpy)
    return ctypes.CFUNCTYPE(ctype, *(_ctype(param) for param in params))(address)


def _origin(function: Any) -> tuple[str, str | None] | None:
    """The symbol and the library of a C function, if it was given by them."""
    if isinstance(function, str):
        return function, None
    # ctypes keeps the library of a function alive there; other functions have none.
    kept: Mapping[str, object] = getattr(function, "_objects", None) or {}
    library = kept.get("0")
    if not isinstance(library, ctypes.CDLL):
        return None
    return function.__name__, library._name


def _find_again(
    origin: tuple[str, str | None],
    name: str,
    result: DType | None,
    params: tuple[DType | Pointer, ...],
    is_reentrant: bool,
) -> Function:
    """The C function that another process declared."""
    symbol, library = origin
    call = _c_function(_pointer(getattr(ctypes.CDLL(library), symbol)), result, params)
    return Function(name, call, result, params, origin, is_reentrant=is_reentrant)


def _read_again(
    found: tuple[str, str, str],
    result: DType | None,
    params: tuple[DType | Pointer, ...],
    is_reentrant: bool,
) -> Function:
    """The function of LLVM that another process declared."""
    name, symbol, text = found
    call = _Loaded(llvm_functions.LLVMFunction(*found), result, params)
    return Function(name, call, result, params, symbol=symbol, text=text, is_reentrant=is_reentrant)


def _address(function: Any) -> tuple[int, str]:
    if isinstance(function, int):
        return function, f"extern_{function:x}"
    if isinstance(function, str):
        try:
            symbol = getattr(ctypes.CDLL(None), function)
        except AttributeError:
            raise MissingSymbol(
                f"there is no C function '{function}' in this process",
                help="load its library with ctypes.CDLL and pass lib.function",
            ) from None
        return _pointer(symbol), function
    if type(function).__name__ == "PyCapsule":
        return _capsule(function), "capsule"
    if hasattr(function, "argtypes"):
        return _pointer(function), getattr(function, "__name__", "extern")
    return _cffi_address(function), "extern"


def _pointer(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _capsule(capsule: Any) -> int:
    _CAPSULE_NAME.restype, _CAPSULE_NAME.argtypes = ctypes.c_char_p, [ctypes.py_object]
    _CAPSULE_POINTER.restype = ctypes.c_void_p
    _CAPSULE_POINTER.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(_CAPSULE_POINTER(capsule, _CAPSULE_NAME(capsule)))


def _cffi_address(function: Any) -> int:
    try:
        backend = importlib.import_module("_cffi_backend")  # only if the user has it
        return int(backend.FFI().cast("intptr_t", function))
    except (ImportError, TypeError):
        raise ArgumentError(
            f"cannot take a C function from {function!r}",
            help="pass a symbol name, a ctypes or cffi function, an address or a capsule",
        ) from None


def _parameter(entry: Any) -> DType | Pointer:
    if isinstance(entry, str) and entry.endswith("*"):
        name = entry[:-1].strip()
        element = name.removeprefix("const ").strip()
        return Pointer(_dtype(element, "argtypes"), is_const=element != name)
    return _dtype(entry, "argtypes")


def _dtype(entry: Any, what: str) -> DType:
    try:
        found = find_dtype(numpy_dtype(entry))
    except TypeError:
        found = None
    if found is None:
        raise ArgumentError(f"{what}: {entry!r} is not an element type", help='as in "float64"')
    return found


def _ctype(param: DType | Pointer) -> Any:
    if isinstance(param, Pointer):
        return ctypes.c_void_p
    return np.ctypeslib.as_ctypes_type(param.numpy)


def _identifier(name: str) -> str:
    if not name.isidentifier():
        return "extern"
    # It has to be told from our own.
    return f"extern_{name}" if name in printer_names.RESERVED else name
