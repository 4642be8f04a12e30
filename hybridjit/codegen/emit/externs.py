"""Calls out of a kernel: C functions get addresses, Python callbacks views."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.interrupt import callback_function
from hybridjit.codegen.emit.memory import usual_strides
from hybridjit.codegen.llvm_types import (
    HALF,
    I1,
    I32,
    I64,
    Complex,
    LLVMType,
    Value,
    foreign_type,
    is_signed,
    memory_type,
    value_type,
)
from hybridjit.codegen.sites import Failure
from hybridjit.errors import InternalError
from hybridjit.ir.dtype import BOOL, INT64, DType
from hybridjit.ir.expr import BufferRef, Expr, ExternCall
from hybridjit.ir.stmt import Print


def call_extern(emitter: Emitter, call: ExternCall) -> Value:
    """A call of a C function or of a Python callback; None without a result."""
    if call.callee.is_packed:
        return _call_packed(emitter, call)
    args = [_c_argument(emitter, arg, call) for arg in call.args]
    result = call.callee.result
    returns = ir.VoidType() if result is None else foreign_type(result)
    value = _call_c(emitter, call, returns, args)
    if result is None:
        return None
    wanted = value_type(result)
    if value.type == wanted:
        return value
    return (
        emitter.b.bitcast(value, wanted) if value.type == HALF else emitter.b.trunc(value, wanted)
    )


def _c_argument(emitter: Emitter, arg: Expr, call: ExternCall) -> Value:
    if isinstance(arg, BufferRef):
        _check_c_order(emitter, arg, call)
        return _first_element(emitter, arg)
    value = emitter.emit(arg)
    if isinstance(value, Complex):
        raise InternalError("complex values cannot be passed to C", "codegen", arg.span)
    wanted = foreign_type(arg.dtype)
    if value.type == wanted:
        return value
    return emitter.b.bitcast(value, wanted) if wanted == HALF else emitter.b.zext(value, wanted)


def _check_c_order(emitter: Emitter, arg: BufferRef, call: ExternCall) -> None:
    """C gets an address alone: the elements have to lie one behind the other."""
    sizes = _sizes(emitter, arg)
    shape = [size for size, _ in sizes]
    usual = usual_strides(emitter.b, arg.buffer.dtype, shape)
    holds, is_empty = ir.Constant(I1, 1), ir.Constant(I1, 0)
    for (size, stride), wanted in zip(sizes, usual, strict=True):
        is_single = emitter.b.icmp_signed("==", size, ir.Constant(I64, 1))
        is_usual = emitter.b.or_(is_single, emitter.b.icmp_signed("==", stride, wanted))
        holds = emitter.b.and_(holds, is_usual)
        is_none = emitter.b.icmp_signed("==", size, ir.Constant(I64, 0))
        is_empty = emitter.b.or_(is_empty, is_none)
    parts = [arg.buffer.name, call.callee.name]
    emitter.check(emitter.b.or_(holds, is_empty), Failure.STRIDES, call.span, parts)


def _first_element(emitter: Emitter, arg: BufferRef) -> Value:
    address = emitter.arrays[arg.buffer]
    if not arg.starts:
        return address.start(emitter.b)
    # A part may be empty and begin behind the last element.
    return address.element(emitter.b, [emitter.emit(start) for start in arg.starts], inside=False)


def _call_packed(emitter: Emitter, call: ExternCall) -> Value:
    """Python gets the words of its arguments and the place for its result."""
    values: list[tuple[Value, DType]] = []
    for arg in call.args:
        if isinstance(arg, BufferRef):
            values.extend(_array_words(emitter, arg))
        else:
            values.append((emitter.emit(arg), arg.dtype))
    result = call.callee.result
    slot = emitter.entry.alloca(
        I64 if result is None else memory_type(result), size=ir.Constant(I64, 2)
    )
    raw = emitter.b.bitcast(slot, I64.as_pointer())
    call_python(emitter, call, values, raw)
    if result is None:
        return None
    if result.is_complex:
        second = emitter.b.gep(slot, [ir.Constant(I64, 1)])
        return Complex(emitter.b.load(slot), emitter.b.load(second))
    value = emitter.b.load(slot)
    return value if value.type == value_type(result) else emitter.b.trunc(value, value_type(result))


def _array_words(emitter: Emitter, arg: BufferRef) -> list[tuple[Value, DType]]:
    """An array as words: address, then the size and the stride of each dimension."""
    first = emitter.b.ptrtoint(_first_element(emitter, arg), I64)
    words: list[tuple[Value, DType]] = [(first, INT64)]
    for size, stride in _sizes(emitter, arg):
        words += [(size, INT64), (stride, INT64)]
    return words


def _sizes(emitter: Emitter, arg: BufferRef) -> list[tuple[Value, Value]]:
    """The size and the stride of each dimension of what is passed."""
    extents = arg.extents if arg.starts else arg.buffer.shape
    pairs = zip(extents, emitter.arrays[arg.buffer].strides, strict=True)
    return [(emitter.emit(extent), stride) for extent, stride in pairs if extent is not None]


def _call_c(emitter: Emitter, call: ExternCall, returns: LLVMType, args: list[Value]) -> Value:
    """Call a C function of the user's, or a function of LLVM."""
    function_type = ir.FunctionType(returns, [arg.type for arg in args])
    callee = call.callee
    if callee.text is not None:
        emitter.functions[callee.symbol] = callee.text
        emitter.known.update(callee.uses)
    elif callee.is_known:
        emitter.known.add(callee.symbol)
    name = callee.symbol or _callback_name(emitter, call)
    function = declare_function(emitter.module, name, function_type)
    return emitter.b.call(function, args, arg_attrs=_extensions(call))


def _extensions(call: ExternCall) -> dict[int, tuple[str]]:
    """How narrow integers are passed, by their places: as numbers of 32 bits.

    Compilers such as clang rely on the caller for that, others do it again.
    """
    narrow = {
        place: arg.dtype
        for place, arg in enumerate(call.args)
        if not isinstance(arg, BufferRef) and arg.dtype.bits < I32.width
    }
    return {
        place: ("signext" if is_signed(dtype) else "zeroext",)
        for place, dtype in narrow.items()
        if dtype.is_integer or dtype is BOOL
    }


def call_python(
    emitter: Emitter, call: ExternCall | Print, values: Sequence[tuple[Value, DType]], result: Value
) -> None:
    """Call a Python function with the words of `values` and the place for its result."""
    target = ir.GlobalVariable(emitter.module, I64, _callback_name(emitter, call))
    words = _words_on_stack(emitter, values)
    status = emitter.b.call(
        callback_function(emitter.module), [emitter.error, target, words, result]
    )
    emitter.check_python(status, call.span)


def _words_on_stack(emitter: Emitter, values: Sequence[tuple[Value, DType]]) -> Value:
    """The words that report `values`, in an array of the stack frame."""
    words = [word for value, dtype in values for word in emitter.words(value, dtype)]
    array = emitter.entry.alloca(I64, size=ir.Constant(I64, max(1, len(words))))
    for position, word in enumerate(words):
        emitter.b.store(word, emitter.b.gep(array, [ir.Constant(I64, position)], inbounds=True))
    return array


def _callback_name(emitter: Emitter, call: ExternCall | Print) -> str:
    """The name by which the linker knows what is called."""
    name = f"hj_callback_{len(emitter.callbacks)}"
    emitter.callbacks[name] = call
    return name
