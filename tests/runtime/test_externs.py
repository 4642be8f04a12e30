"""C functions and Python callbacks: where they come from, what they take, how they fail."""

import ctypes
import importlib.util
import math
import traceback
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.codegen.llvm_functions import load_function, read_function
from hybridjit.errors import ArgumentError, HybridError
from hybridjit.hybrid import extern, output_tensor, packed
from hybridjit.ir.dtype import BOOL, FLOAT32, FLOAT64, INT8, INT16, INT32, UINT8, UINT16, DType
from hybridjit.ir.extern import Pointer
from tests.frontend.from_text import script_from_text
from tests.support.oracle import run_interpreted, run_native, run_plain_and_interpreted

Array = Any
Number = Any

LIBRARY = ctypes.CDLL(None)
HYPOT_ADDRESS = ctypes.cast(LIBRARY.hypot, ctypes.c_void_p).value


def hypot_from(source: Any) -> Any:
    """A script that calls the C function `hypot`, taken from `source`."""
    hypot_of_c = extern(source, "float64", ["float64", "float64"])
    text = "def f(x, y):\n    return hypot_of_c(x, y)\n"
    return script_from_text(text, {"hypot_of_c": hypot_of_c})


def make_capsule(address: int, name: bytes | None) -> Any:
    """A capsule as Cython makes one for each function that it exports."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address, name, None)


@ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64)
def c_sum(pointer: int, count: int) -> float:
    return sum((ctypes.c_double * count).from_address(pointer))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double)
def c_set_first(pointer: int, value: float) -> None:
    ctypes.c_double.from_address(pointer).value = value


# Where a C function comes from


def test_a_symbol_of_the_process() -> None:
    assert hypot_from("hypot").interpret(3, 4) == 5


def test_a_ctypes_function() -> None:
    assert hypot_from(LIBRARY.hypot).interpret(3, 4) == 5


def test_an_address() -> None:
    assert hypot_from(HYPOT_ADDRESS).interpret(3, 4) == 5


NAME = b"double (double, double)"


@pytest.mark.parametrize("name", [NAME, None])
def test_a_capsule(name: bytes | None) -> None:
    assert HYPOT_ADDRESS is not None
    assert hypot_from(make_capsule(HYPOT_ADDRESS, name)).interpret(3, 4) == 5


@pytest.mark.skipif(importlib.util.find_spec("cffi") is None, reason="cffi is not installed")
def test_a_cffi_function() -> None:
    cffi: Any = importlib.import_module("cffi")
    ffi = cffi.FFI()
    ffi.cdef("double hypot(double, double);")
    assert hypot_from(ffi.dlopen(None).hypot).interpret(3, 4) == 5


def test_a_symbol_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ArgumentError, match="there is no C function 'no_such_function'"):
        extern("no_such_function", "float64", ["float64"])


@pytest.mark.parametrize("source", [None, 1.5, math.hypot, object()])
def test_what_is_no_c_function_is_refused(source: object) -> None:
    with pytest.raises(ArgumentError, match="cannot take a C function from"):
        extern(source, "float64", ["float64"])


def test_types_of_arguments_are_needed() -> None:
    with pytest.raises(ArgumentError, match="extern needs the types of the arguments"):
        extern("hypot", "float64")


@pytest.mark.parametrize("entry", ["nonsense", "object", "<f8,f8", "O"])
def test_a_type_that_is_no_element_type_is_refused(entry: str) -> None:
    with pytest.raises(ArgumentError, match=f"argtypes: '{entry}' is not an element type"):
        extern("hypot", "float64", [entry])


def test_the_types_of_a_signature() -> None:
    function = extern("hypot", np.float64, ["int32", "float32*", np.float32, float])
    assert function.result is FLOAT64
    assert function.params == (INT32, Pointer(FLOAT32), FLOAT32, FLOAT64)


# Calls of C functions


def test_arguments_are_converted_to_the_types_of_c() -> None:
    fabs = extern("fabs", "float64", ["float64"])

    @hybrid.script
    def f(a: Array) -> Number:
        return fabs(a[0])

    result: object = f.interpret(np.array([-3], np.int8))
    assert (type(result), result) == (np.float64, 3.0)


def test_an_integer_result() -> None:
    absolute = extern("labs", "int64", ["int64"])

    @hybrid.script
    def f(n: Number) -> Number:
        return absolute(n)

    assert f.interpret(-7) == 7


@pytest.mark.parametrize("dtype", [BOOL, INT8, UINT8, INT16, UINT16])
def test_narrow_integers_are_passed_as_numbers_of_32_bits(dtype: DType) -> None:
    """What compilers such as clang rely on: they widen no argument that is said to be wide."""
    kind = f"i{dtype.bits}"
    how, said = ("sext", "signext") if dtype.name.startswith("int") else ("zext", "zeroext")
    text = f"""
define i32 @widened({kind} {said} %x) {{
  %y = {how} {kind} %x to i32
  ret i32 %y
}}
"""
    function = read_function(text, None, INT32, [dtype])
    library = load_function(function)
    widened = extern(library.addresses[function.symbol], "int32", [dtype.name], name="widened")

    @hybrid.script
    def f(a: Array, b: Array, found: Array) -> None:
        for i in range(a.shape[0]):
            found[i] = widened(a[i] ^ b[i])

    a, b = (np.arange(300, dtype=np.int64)[::step].astype(dtype.numpy) for step in (1, -1))
    found = np.zeros(300, np.int32)
    f(a, b, found)
    assert found.tolist() == (a ^ b).tolist()


def test_an_array_is_passed_as_a_pointer() -> None:
    total = extern(c_sum, "float64", ["float64*", "int64"])

    @hybrid.script
    def f(a: Array) -> Number:
        return total(a, a.shape[0])

    assert f.interpret(np.arange(5.0)) == 10


def test_a_c_function_writes_to_the_array() -> None:
    set_first = extern(c_set_first, None, ["float64*", "float64"])

    @hybrid.script
    def f(a: Array) -> None:
        set_first(a, 7)

    a = np.zeros(3)
    f.interpret(a)
    assert a.tolist() == [7, 0, 0]


def test_an_array_that_a_c_function_may_write_must_be_writable() -> None:
    total = extern(c_sum, "float64", ["float64*", "int64"])

    @hybrid.script
    def f(a: Array) -> Number:
        return total(a, a.shape[0])

    a = np.zeros(3)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="'a' is written, but it is read-only"):
        f.interpret(a)


def test_an_array_that_is_not_contiguous_is_refused() -> None:
    total = extern(c_sum, "float64", ["float64*", "int64"])

    @hybrid.script
    def f(a: Array) -> Number:
        return total(a, a.shape[0])

    with pytest.raises((TypeError, ValueError), match="contiguous"):
        f.interpret(np.zeros(6)[::2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("total(a)", "total takes 2 arguments, found 1"),
        (
            "total(1.0, 2)",
            "an argument of this call must be an array of float64, found a Python float value",
        ),
        ("total(a, a)", "an argument of this call must be int64, found the array 'a'"),
        (
            "total(b, 1)",
            "an argument of this call must be an array of float64, found the array 'b'",
        ),
        ("total(a, 1j)", "an argument of this call must be int64, found Python complex"),
        ("total(a, n=1)", "total takes no argument .n=."),
    ],
)
def test_arguments_that_do_not_fit_are_refused(call: str, message: str) -> None:
    total = extern(c_sum, "float64", ["float64*", "int64"], name="total")
    kernel = script_from_text(f"def f(a, b):\n    return {call}\n", {"total": total})
    with pytest.raises(HybridError, match=message):
        kernel.interpret(np.zeros(2), np.zeros(2, np.float32))


# Callbacks


def test_a_callback_with_a_result() -> None:
    def cube(x: Any) -> Any:
        return x**3

    packed_cube = packed(cube, "float64")

    @hybrid.script
    def f(a: Array) -> Array:
        b = output_tensor(a.shape, "float64")
        for i in range(a.shape[0]):
            b[i] = packed_cube(a[i])
        return b

    run_plain_and_interpreted(f, [np.arange(4.0)])


def test_a_callback_sees_the_memory_of_the_array() -> None:
    seen: list[Any] = []

    def change(a: Any, x: Any) -> None:
        seen.append(a)
        a[1] = x

    packed_change = packed(change)

    @hybrid.script
    def f(a: Array) -> Number:
        a[0] = 5
        packed_change(a, 7)
        return a[1]

    array = np.zeros(3)
    result: object = f.interpret(array)
    assert (result, array.tolist()) == (7, [5, 7, 0])
    assert np.shares_memory(seen[0], array)


@pytest.mark.parametrize("dtype", [np.bool_, np.float16, ml_dtypes.bfloat16, np.complex64])
def test_a_callback_sees_the_type_of_the_array(dtype: Any) -> None:
    seen: list[Any] = []
    packed_note = packed(seen.append, name="note")

    @hybrid.script
    def f(a: Array) -> None:
        packed_note(a)

    array: Any = np.arange(6).astype(dtype)
    f(array[::-2])
    assert seen[0].dtype == array.dtype
    assert seen[0].tolist() == array[::-2].tolist()
    assert np.shares_memory(seen[0], array)


def test_scalars_reach_a_callback_as_numpy_scalars() -> None:
    seen: list[type] = []

    def record(*values: Any) -> None:
        seen.extend(map(type, values))

    packed_record = packed(record)

    @hybrid.script
    def f(a: Array, n: Number) -> None:
        packed_record(a[0], n, 1.5, True)

    f.interpret(np.zeros(1, np.float32), 3)
    assert seen == [np.float32, np.int64, np.float64, np.bool_]


def test_a_callback_is_called_once_for_each_call_in_order() -> None:
    seen: list[int] = []

    def note(i: Any) -> Any:
        seen.append(int(i))
        return i

    packed_note = packed(note, "int64")

    @hybrid.script
    def f(n: Number) -> Number:
        return packed_note(n) * 10 + packed_note(n + 1) * packed_note(n + 2)

    f.interpret(1)
    assert seen == [1, 2, 3]


def test_the_result_of_a_callback_is_converted() -> None:
    answer = packed(lambda: 42, "float32", name="answer")

    @hybrid.script
    def f() -> Number:
        return answer()

    result: object = f.interpret()
    assert (type(result), result) == (np.float32, 42)


def test_a_callback_without_a_result_has_no_value() -> None:
    nothing = packed(lambda: None, name="nothing")
    kernel = script_from_text("def f():\n    return nothing() + 1\n", {"nothing": nothing})
    with pytest.raises(HybridError, match="expected a number, found None"):
        kernel.interpret()


class CustomError(Exception):
    """One that the language does not know."""


ERRORS = [CustomError("boom"), KeyboardInterrupt("boom"), StopIteration("boom")]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("way", [run_interpreted, run_native])
def test_an_exception_comes_out_as_itself(way: Any, error: BaseException) -> None:
    def fail() -> None:
        raise error

    packed_fail = packed(fail)

    @hybrid.script
    def f(a: Array) -> None:
        a[0] = 1
        packed_fail()
        a[0] = 2

    array = np.zeros(1)
    with pytest.raises(type(error), match="boom") as caught:
        way(f, array)
    assert caught.value is error
    assert array[0] == 1


def test_the_traceback_of_an_exception_shows_the_callback() -> None:
    def failing_callback() -> None:
        raise CustomError("boom")

    packed_fail = packed(failing_callback)

    @hybrid.script
    def f() -> None:
        packed_fail()

    with pytest.raises(CustomError, match="boom") as caught:
        f.interpret()
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-1] == "failing_callback"


def test_a_callback_in_a_branch_that_is_not_taken_is_not_called() -> None:
    calls: list[int] = []
    count = packed(lambda: calls.append(1) or 1, "int64", name="count")

    @hybrid.script
    def f(n: Number) -> Number:
        return count() if n > 0 else 0

    f.interpret(0)
    assert calls == []


def test_a_name_that_is_no_identifier_is_replaced() -> None:
    assert packed(lambda: None).name.isidentifier()


def test_a_printed_call_reads_back() -> None:
    answer = packed(lambda: 42, "int64", name="answer")

    @hybrid.script
    def f() -> Number:
        return answer()

    assert "answer()" in str(f.prim_func())


def test_a_callback_writes_to_an_argument_that_it_is_not_given() -> None:
    """The caller has the array, too: what is loaded before the call is not what is there after."""
    known: list[Any] = []

    def double() -> None:
        known[-1][:] *= 2

    change = packed(double)

    @hybrid.script
    def f(a: Array, b: Array) -> Any:
        total = a[0]
        for i in range(b.shape[0]):
            b[i] = a[1]
            change()
        return total + a[0]

    for way in (f.py_func, f.interpret, f, f, f):
        known.append(np.array([1.0, 3.0]))
        b = np.zeros(3)
        assert way(known[-1], b) == 9.0
        assert b.tolist() == [3.0, 6.0, 12.0]
