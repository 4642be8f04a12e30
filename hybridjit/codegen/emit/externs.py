"""Calls out of a kernel: C functions get addresses, Python callbacks views."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.emit.context import EmitContext
from hybridjit.codegen.emit.memory import usual_strides
from hybridjit.codegen.llvm_types import (
    HALF,
    I1,
    I64,
    Complex,
    Value,
    foreign_type,
    memory_type,
    value_type,
)
from hybridjit.codegen.sites import Failure
from hybridjit.errors import InternalError
from hybridjit.ir.dtype import INT64, DType
from hybridjit.ir.expr import BufferRef, Expr, ExternCall


class ExternEmitter(EmitContext):
    """Arguments and results of foreign functions."""

    def emit(self, expr: Expr) -> Value:
        """The value of `expr`."""
        raise NotImplementedError

    def extern(self, call: ExternCall) -> Value:
        """A call of a C function or of a Python callback; None without a result."""
        if call.callee.is_packed:
            return self._packed(call)
        args = [self._c_argument(arg, call) for arg in call.args]
        result = call.callee.result
        returns = ir.VoidType() if result is None else foreign_type(result)
        value = self.call_c(call, returns, args)
        if result is None:
            return None
        wanted = value_type(result)
        if value.type == wanted:
            return value
        return self.b.bitcast(value, wanted) if value.type == HALF else self.b.trunc(value, wanted)

    def _c_argument(self, arg: Expr, call: ExternCall) -> Value:
        if isinstance(arg, BufferRef):
            self._check_c_order(arg, call)
            return self._first_element(arg)
        value = self.emit(arg)
        if isinstance(value, Complex):
            raise InternalError("complex values cannot be passed to C", "codegen", arg.span)
        wanted = foreign_type(arg.dtype)
        if value.type == wanted:
            return value
        return self.b.bitcast(value, wanted) if wanted == HALF else self.b.zext(value, wanted)

    def _check_c_order(self, arg: BufferRef, call: ExternCall) -> None:
        """C gets an address alone: the elements have to lie one behind the other."""
        sizes = self._sizes(arg)
        shape = [size for size, _ in sizes]
        usual = usual_strides(self.b, arg.buffer.dtype, shape)
        holds, is_empty = ir.Constant(I1, 1), ir.Constant(I1, 0)
        for (size, stride), wanted in zip(sizes, usual, strict=True):
            is_single = self.b.icmp_signed("==", size, ir.Constant(I64, 1))
            is_usual = self.b.or_(is_single, self.b.icmp_signed("==", stride, wanted))
            holds = self.b.and_(holds, is_usual)
            is_none = self.b.icmp_signed("==", size, ir.Constant(I64, 0))
            is_empty = self.b.or_(is_empty, is_none)
        parts = [arg.buffer.name, call.callee.name]
        self.check(self.b.or_(holds, is_empty), Failure.STRIDES, call.span, parts)

    def _first_element(self, arg: BufferRef) -> Value:
        address = self.arrays[arg.buffer]
        if not arg.starts:
            return address.base
        # A part may be empty and begin behind the last element.
        return address.element(self.b, [self.emit(start) for start in arg.starts], inside=False)

    def _packed(self, call: ExternCall) -> Value:
        """Python gets the words of its arguments and the place for its result."""
        values: list[tuple[Value, DType]] = []
        for arg in call.args:
            if isinstance(arg, BufferRef):
                values.extend(self._array_words(arg))
            else:
                values.append((self.emit(arg), arg.dtype))
        result = call.callee.result
        slot = self.entry.alloca(
            I64 if result is None else memory_type(result), size=ir.Constant(I64, 2)
        )
        raw = self.b.bitcast(slot, I64.as_pointer())
        self.call_python(call, values, raw)
        if result is None:
            return None
        if result.is_complex:
            second = self.b.gep(slot, [ir.Constant(I64, 1)])
            return Complex(self.b.load(slot), self.b.load(second))
        value = self.b.load(slot)
        return (
            value if value.type == value_type(result) else self.b.trunc(value, value_type(result))
        )

    def _array_words(self, arg: BufferRef) -> list[tuple[Value, DType]]:
        """An array as words: address, then the size and the stride of each dimension."""
        first = self.b.ptrtoint(self._first_element(arg), I64)
        words: list[tuple[Value, DType]] = [(first, INT64)]
        for size, stride in self._sizes(arg):
            words += [(size, INT64), (stride, INT64)]
        return words

    def _sizes(self, arg: BufferRef) -> list[tuple[Value, Value]]:
        """The size and the stride of each dimension of what is passed."""
        extents = arg.extents if arg.starts else arg.buffer.shape
        pairs = zip(extents, self.arrays[arg.buffer].strides, strict=True)
        return [(self.emit(extent), stride) for extent, stride in pairs if extent is not None]
