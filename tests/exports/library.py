"""Call a function of a library as its header says: pointers, sizes by name, places for results.

Nothing here knows how the library was made. Arrays lie between pages that nobody may touch, and
results hold what must not be seen.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy

from tests.support.guarded import GuardedArray, Side
from tests.support.oracle import Outcome

np: Any = numpy
Array = Any
_ARRAY: type[Any] = numpy.ndarray
_C_TYPES: dict[str, Any] = {
    **{"double": ctypes.c_double, "float": ctypes.c_float},
    **{f"{sign}int{bits}_t": getattr(ctypes, f"c_{sign}int{bits}")
       for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
# What C has for an element of a type that it has not, or a part of one.
_ELEMENTS = {
    **{"bool": "uint8_t", "float16": "uint16_t", "bfloat16": "uint16_t"},
    **{"float32": "float", "complex64": "float", "float64": "double", "complex128": "double"},
}
_PYTHON = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
# The beginnings of messages, and the errors of Python that they stand for.
_MESSAGES: dict[str, type[Exception]] = {
    "index out of bounds": IndexError,
    "integer division": ZeroDivisionError,
    "an integer does not fit": OverflowError,
    "integers to negative": ValueError,
    "a variable is read": UnboundLocalError,
    "a loop has the step 0": ValueError,
    "negative dimensions": ValueError,
}
_FUNCTION = re.compile(r"/\* (.*)\n((?: \*   .*\n)*) \*/\nint32_t (\w+)\((.*)\);\n")
_DESCRIBED = re.compile(r" \*   (\w+): (\w+) \[(.*)\], (\w+)\n")
_PARAMETER = re.compile(r"(const )?(\w+) (\*?)(\w+)")
_STALE = 0xA5
_UNKNOWN = np.dtype("V16")  # has room for any number


@dataclass(frozen=True, slots=True)
class Described:
    """What the header says of an array."""

    dtype: Any
    shape: str
    use: str

    def sizes(self, known: Mapping[str, int]) -> tuple[int, ...]:
        """Its shape, where sizes and numbers have these values."""
        names = {"__builtins__": {"max": max, "min": min, "abs": abs, "int64": int}}
        return tuple(eval(f"({self.shape},)" if self.shape else "()", names, dict(known)))


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a C function."""

    type: str
    name: str
    is_pointer: bool
    is_const: bool


class LibraryFunction:
    """A function of a loaded library, by its header."""

    def __init__(self, library: ctypes.CDLL, text: re.Match[str]) -> None:
        self.title, described, self.name, params = text.groups()
        self.arrays = {
            name: Described(_dtype(dtype), shape, use)
            for name, dtype, shape, use in _DESCRIBED.findall(described)
        }
        found = [_PARAMETER.fullmatch(param) for param in params.split(", ") if param != "void"]
        self.params = [
            Parameter(param[2], param[4], bool(param[3]), bool(param[1]))
            for param in found
            if param is not None
        ]
        assert len(self.params) == len(found), params
        self.call: Any = getattr(library, self.name)
        self.call.restype = ctypes.c_int32
        self.message: Any = getattr(library, f"{self.name}_message")
        self.message.restype = ctypes.c_char_p

    def run(self, args: Sequence[Any], numbers: Sequence[Any] | None, side: Side) -> Outcome:
        """What a call does that is to give numbers of the types of these, after arrays.

        None if it is to fail, so that nothing is known of its results.
        """
        return _Call(self, args, numbers, side).outcome()


def read_header(library: ctypes.CDLL, text: str) -> dict[str, LibraryFunction]:
    """The functions that a header declares, by the names that they had before."""
    found = [LibraryFunction(library, each) for each in _FUNCTION.finditer(text)]
    assert text.count("_message(int32_t status);") == len(found), text
    return {function.title: function for function in found}


class _Call:
    """The arguments of one call, in the order of the parameters."""

    def __init__(
        self,
        function: LibraryFunction,
        args: Sequence[Any],
        numbers: Sequence[Any] | None,
        side: Side,
    ) -> None:
        self.function = function
        self.side: Side = side
        self.left = list(function.params)
        self.passed: list[Any] = []
        self.sizes: dict[str, int] = {}
        self.guarded: list[GuardedArray] = []
        self.constant: list[tuple[str, bytes, Array]] = []
        self.arguments = [self._argument(arg) for arg in args]
        while self.left and not self.left[0].is_pointer:
            param = self.left.pop(0)
            self.passed.append(ctypes.c_int64(self._size(param)))
        self.outputs = [self._output(param) for param in self._pointers(is_array=True)]
        places = self._pointers(is_array=False)
        kinds = [_UNKNOWN] * len(places) if numbers is None else map(type_of, numbers)
        pairs = zip(places, kinds, strict=True)
        self.numbers = [self._pass(param, _stale((), dtype)) for param, dtype in pairs]
        assert not self.left, f"nothing is known of {self.left}"

    def outcome(self) -> Outcome:
        """What the call does."""
        status = self.function.call(*self.passed)
        for guarded in self.guarded:
            guarded.assert_untouched()
        for name, before, after in self.constant:
            assert before == after.tobytes(), f"{name} is written, and the header says read"
        if status != 0:
            message = self.function.message(status).decode()
            return Outcome(None, _error(message), self.arguments, "")
        return Outcome([*self.outputs, *map(_element, self.numbers)], None, self.arguments, "")

    def _argument(self, arg: Any) -> Any:
        param = self.left.pop(0)
        if isinstance(arg, _ARRAY):
            described = self.function.arrays[param.name]
            assert described.use in ("read", "written"), described
            assert param.is_const == (described.use == "read"), param
            assert described.dtype == arg.dtype, f"{described} is not {arg.dtype}"
            self._learn_sizes(described, arg)
            passed = self._pass(param, arg)
            if param.is_const:
                self.constant.append((param.name, passed.tobytes(), passed))
            return passed
        dtype = type_of(arg)
        _check_type(param, dtype)
        value = np.asarray(arg, dtype)
        for number in (value.real, value.imag) if dtype.kind == "c" else (value,):
            self.passed.append(_c_number(param, number))
        if dtype.kind == "c":
            second = self.left.pop(0)
            assert (param.name[-3:], second.name[-3:]) == ("_re", "_im"), param
        elif dtype.kind in "iu":
            self.sizes[param.name] = int(arg)
        return arg

    def _learn_sizes(self, described: Described, array: Array) -> None:
        tree: Any = ast.parse(f"({described.shape},)" if array.ndim else "()", mode="eval").body
        for extent, size in zip(tree.elts, array.shape, strict=True):
            if isinstance(extent, ast.Name):
                assert self.sizes.setdefault(extent.id, size) == size, f"{extent.id} is not {size}"

    def _size(self, param: Parameter) -> int:
        assert param.type == "int64_t", param
        return self.sizes[param.name]

    def _pointers(self, *, is_array: bool) -> list[Parameter]:
        """The parameters that come next, if they are for results of a kind."""
        found: list[Parameter] = []
        while self.left and (self.left[0].name in self.function.arrays) == is_array:
            found.append(self.left.pop(0))
        return found

    def _output(self, param: Parameter) -> Array:
        described = self.function.arrays[param.name]
        assert described.use == "result", described
        # Where a size is less than nothing, the function is to say so.
        shape = [max(0, size) for size in described.sizes(self.sizes)]
        return self._pass(param, _stale(shape, described.dtype))

    def _pass(self, param: Parameter, array: Array) -> Array:
        assert param.is_pointer, param
        _check_type(param, array.dtype)
        self.guarded.append(GuardedArray(array, self.side))
        self.passed.append(ctypes.c_void_p(self.guarded[-1].array.ctypes.data))
        return self.guarded[-1].array


def type_of(number: Any) -> Any:
    """The type of a number, of Python's, too."""
    return np.dtype(_PYTHON.get(number.__class__) or number.dtype)


def _stale(shape: Sequence[int], dtype: Any) -> Array:
    """An array that holds what is not to be seen."""
    array = np.zeros(shape, dtype)
    array.reshape(-1).view(np.uint8)[...] = _STALE
    return array


def _dtype(name: str) -> Any:
    return np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)


def _check_type(param: Parameter, dtype: Any) -> None:
    if dtype == _UNKNOWN:
        return
    wanted = _ELEMENTS.get(dtype.name, f"{dtype.name}_t")
    assert param.type == wanted, f"{dtype} is passed as {param}"


def _c_number(param: Parameter, number: Array) -> Any:
    bits = number.view(np.uint16) if number.dtype.itemsize == 2 else number
    return _C_TYPES[param.type](bits.item())


def _element(array: Array) -> Any:
    return array[()]


def _error(message: str) -> Exception:
    """What the message of a status is in Python."""
    for start, kind in _MESSAGES.items():
        if message.startswith(start):
            return kind(message)
    name, _, text = message.partition(": ")
    kind = getattr(builtins, name, None)
    assert isinstance(kind, type), f"a status that says nothing: {message}"
    assert issubclass(kind, Exception), message
    return kind(text)
