"""Calling Python while a kernel runs: signal handlers, so that Ctrl-C works, and callbacks.

What Python raises is taken from the interpreter and left in the first three words of the error
record: no Python error may be pending while a kernel runs on, and none may be lost on the way.
"""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.llvm_types import I8, I32, I64, Builder, Function, Module, Value

_POINTER = I8.as_pointer()
_VOID = ir.VoidType()
_ARGUMENTS = "LLL"  # as PyObject_CallFunction reads it: three numbers of 64 bits


def poll_function(module: Module) -> Function:
    """`int32 hj_poll(record)`: run pending signal handlers; 1 if one raised."""
    known = module.globals.get("hj_poll")
    if known is not None:
        return known
    function, b = _begin(module, "hj_poll", 1)
    state = _take_gil(module, b)
    status = b.call(declare_function(module, "PyErr_CheckSignals", ir.FunctionType(I32, [])), [])
    raised = b.icmp_signed("!=", status, ir.Constant(I32, 0))
    with b.if_then(raised, likely=False):
        _fetch(module, b, function.args[0])
    _leave(module, b, state, raised)
    return function


def ignore_signals(module: Module) -> None:
    """Let the kernels of `module` run without Python: nothing ever interrupts them."""
    _, b = _begin(module, "hj_poll", 1)
    b.ret(ir.Constant(I32, 0))


def callback_function(module: Module) -> Function:
    """`int32 hj_callback(record, callable, words, result)`: 1 if the Python function raised."""
    known = module.globals.get("hj_callback")
    if known is not None:
        return known
    function, b = _begin(module, "hj_callback", 4)
    record, target, words, result = function.args
    state = _take_gil(module, b)
    kind = ir.FunctionType(_POINTER, [_POINTER, _POINTER], var_arg=True)
    call = declare_function(module, "PyObject_CallFunction", kind)
    addresses = [b.ptrtoint(place, I64) for place in (words, result, record)]
    returned = b.call(call, [b.bitcast(target, _POINTER), _format(module, b), *addresses])
    raised = b.icmp_unsigned("==", returned, ir.Constant(_POINTER, None))
    with b.if_else(raised, likely=False) as (failed, worked):
        with failed:
            _fetch(module, b, record)
        with worked:
            drop = declare_function(module, "Py_DecRef", ir.FunctionType(_VOID, [_POINTER]))
            b.call(drop, [returned])
    _leave(module, b, state, raised)
    return function


def _begin(module: Module, name: str, parameters: int) -> tuple[Function, Builder]:
    kind = ir.FunctionType(I32, [I64.as_pointer()] * parameters)
    function: Function = ir.Function(module, kind, name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    return function, ir.IRBuilder(function.append_basic_block("entry"))


def _format(module: Module, b: Builder) -> Value:
    data = bytearray(_ARGUMENTS.encode() + b"\0")
    text: Value = ir.GlobalVariable(module, ir.ArrayType(I8, len(data)), "hj_callback_arguments")
    text.initializer = ir.Constant(text.value_type, data)
    text.global_constant, text.linkage = True, "internal"
    return b.bitcast(text, _POINTER)


def _take_gil(module: Module, b: Builder) -> Value:
    return b.call(declare_function(module, "PyGILState_Ensure", ir.FunctionType(I32, [])), [])


def _leave(module: Module, b: Builder, state: Value, raised: Value) -> None:
    release_type = ir.FunctionType(_VOID, [I32])
    b.call(declare_function(module, "PyGILState_Release", release_type), [state])
    b.ret(b.zext(raised, I32))


def _fetch(module: Module, b: Builder, record: Value) -> None:
    fetch_type = ir.FunctionType(_VOID, [_POINTER.as_pointer()] * 3)
    first = b.bitcast(record, _POINTER.as_pointer())
    places = [b.gep(first, [ir.Constant(I64, i)]) for i in range(3)]
    b.call(declare_function(module, "PyErr_Fetch", fetch_type), places)
