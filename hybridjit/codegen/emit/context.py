"""The state of emitting one kernel: the builder, what variables and buffers are, how to fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from hybridjit.analysis.limits import Limits
from hybridjit.codegen.emit.casts import declare, emit_cast
from hybridjit.codegen.emit.float_builder import FloatBuilder
from hybridjit.codegen.emit.interrupt import callback_function, poll_function
from hybridjit.codegen.emit.memory import ArrayAddress, Register, call_free
from hybridjit.codegen.llvm_types import (
    I32,
    I64,
    Block,
    Builder,
    Function,
    LLVMType,
    Module,
    Value,
)
from hybridjit.codegen.sites import MAX_WORDS, Failure, Site
from hybridjit.errors import Span
from hybridjit.ir.dtype import BOOL, FLOAT64, INT64, UINT64, DType
from hybridjit.ir.expr import Buffer, Expr, ExternCall, Var
from hybridjit.ir.stmt import Print

# How much more often a check passes than it fails.
_LIKELY, _UNLIKELY = 1 << 20, 1
# A kernel looks for signals every so many simple statements: a few milliseconds of work.
POLL_WORK = 1 << 22


@dataclass(frozen=True, slots=True)
class LoopTargets:
    """Where `break` and `continue` go, and how many heap arrays were live outside the loop."""

    leave: Block
    again: Block
    live: int


class EmitContext:
    """The part of the emitter that everything else builds on."""

    # How much work may be done before the code looks for signals.
    poll_work = POLL_WORK

    def __init__(self, function: Function, error: Value, fastmath: Sequence[str] = ()) -> None:
        self.function = function
        self.module: Module = function.module
        self.entry: Builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.b: Builder = FloatBuilder(function.append_basic_block("start"), fastmath)
        self.error = error
        self.values: dict[Var, Value] = {}
        self.arrays: dict[Buffer, ArrayAddress] = {}
        self.registers: dict[Buffer, Register] = {}
        self.sites: list[Site] = []
        self.callbacks: dict[str, ExternCall | Print] = {}
        self.functions: dict[str, str] = {}  # of LLVM, by their symbols
        self.factors: dict[Var, int] = {}  # numbers that divide variables
        self.meanings: dict[Var, Expr] = {}  # the values of names
        self.limits: dict[Var, Limits] = {}  # the least and the largest value of variables
        self.loop_vars: list[Var] = []
        self.loops: list[LoopTargets] = []
        self.heap: list[Value] = []
        self._leaves: dict[Block, Block] = {}
        self._fuel: Value | None = None

    # -- failing -------------------------------------------------------------------------------

    def check(
        self,
        holds: Value,
        failure: Failure,
        span: Span | None,
        parts: Sequence[str | tuple[Value, DType]] = (),
    ) -> None:
        """Go on if `holds`, else leave the kernel with an error."""
        passed, failed = self.fork(holds)
        self.b.position_at_end(failed)
        self.fail(failure, span, parts)
        self.b.position_at_end(passed)

    def fork(self, holds: Value) -> tuple[Block, Block]:
        """End the block: go to the first of two new ones if `holds`, as almost always."""
        passed = self.function.append_basic_block("passed")
        failed = self.function.append_basic_block("failed")
        self.b.cbranch(holds, passed, failed).set_weights([_LIKELY, _UNLIKELY])
        return passed, failed

    def fail(
        self,
        failure: Failure,
        span: Span | None,
        parts: Sequence[str | tuple[Value, DType]] = (),
    ) -> None:
        """Leave the kernel with an error; the block ends here."""
        loops = [var for var in self.loop_vars if var in self.values]
        values = [part for part in parts if isinstance(part, tuple)]
        values += [(self.values[var], INT64) for var in loops]
        words = [word for value, dtype in values for word in self._words(value, dtype)]
        for position, word in enumerate(words[:MAX_WORDS]):
            address = self.b.gep(self.error, [ir.Constant(I64, position)], inbounds=True)
            self.b.store(word, address)
        described = tuple(part if isinstance(part, str) else part[1] for part in parts)
        self.sites.append(Site(failure, span, described, tuple(var.name for var in loops)))
        self.leave(len(self.sites))

    def leave(self, status: int) -> None:
        """Free what is on the heap and return."""
        self.free_from(0)
        self.b.ret(ir.Constant(I32, status))

    def free_from(self, live: int) -> None:
        """Free the heap arrays made since there were `live` of them."""
        for pointer in reversed(self.heap[live:]):
            call_free(self.b, pointer)

    def _words(self, value: Value, dtype: DType) -> list[Value]:
        """A value as the 64-bit words that report it."""
        if dtype.is_complex:
            parts = [self._words(part, dtype.component) for part in value]
            return [word for words in parts for word in words]
        if dtype.is_float:
            return [self.b.bitcast(emit_cast(self.b, value, dtype, FLOAT64), I64)]
        if dtype is BOOL:
            return [self.b.zext(value, I64)]
        return [emit_cast(self.b, value, dtype, UINT64 if dtype is UINT64 else INT64)]

    # -- signals and calls ---------------------------------------------------------------------

    def spend(self, work: Value) -> None:
        """Note that so much work is done; now and then, let Python handle signals."""
        if self._fuel is None:
            self._fuel = self.entry.alloca(I64, name="fuel")
            self.entry.store(ir.Constant(I64, self.poll_work), self._fuel)
        left = self.b.sub(self.b.load(self._fuel), work)
        self.b.store(left, self._fuel)
        goes_on, poll = self.fork(self.b.icmp_signed(">=", left, ir.Constant(I64, 0)))
        self.b.position_at_end(poll)
        self.b.store(ir.Constant(I64, self.poll_work), self._fuel)
        status = self.b.call(self.poll_function(), [self.error])
        self._check_python(status, None)
        self.b.branch(goes_on)
        self.b.position_at_end(goes_on)

    def poll_function(self) -> Function:
        """The function that looks for signals; 1 if the kernel is to end, with Python's error."""
        return poll_function(self.module)

    def call_python(
        self, call: ExternCall | Print, values: Sequence[tuple[Value, DType]], result: Value
    ) -> None:
        """Call a Python function with the words of `values` and the place for its result."""
        target = ir.GlobalVariable(self.module, I64, self._callback_name(call))
        words = self.words_on_stack(values)
        status = self.b.call(callback_function(self.module), [self.error, target, words, result])
        self._check_python(status, call.span)

    def _check_python(self, status: Value, span: Span | None) -> None:
        """Go on unless Python raised something, which is in the error record."""
        passed, failed = self.fork(self.b.icmp_signed("==", status, ir.Constant(I32, 0)))
        self.b.position_at_end(failed)
        self.sites.append(Site(Failure.PYTHON, span))
        self.leave(len(self.sites))
        self.b.position_at_end(passed)

    # -- building blocks -----------------------------------------------------------------------

    @property
    def is_closed(self) -> bool:
        """True if the current block already ends in a jump: what follows is never run."""
        return self.b.block.is_terminated

    def jump(self, block: Block) -> None:
        """Go to `block`, unless the current block has ended."""
        if not self.is_closed:
            self.b.branch(block)

    def words_on_stack(self, values: Sequence[tuple[Value, DType]]) -> Value:
        """The words that report `values`, in an array of the stack frame."""
        words = [word for value, dtype in values for word in self._words(value, dtype)]
        array = self.entry.alloca(I64, size=ir.Constant(I64, max(1, len(words))))
        for position, word in enumerate(words):
            self.b.store(word, self.b.gep(array, [ir.Constant(I64, position)], inbounds=True))
        return array

    def call_c(self, call: ExternCall, returns: LLVMType, args: list[Value]) -> Value:
        """Call a C function of the user's, or a function of LLVM."""
        function_type = ir.FunctionType(returns, [arg.type for arg in args])
        callee = call.callee
        if callee.text is None:
            name = self._callback_name(call)
        else:
            name = callee.symbol
            self.functions[name] = callee.text
        return self.b.call(declare(self.module, name, function_type), args)

    def _callback_name(self, call: ExternCall | Print) -> str:
        """The name by which the linker knows what is called."""
        name = f"hj_callback_{len(self.callbacks)}"
        self.callbacks[name] = call
        return name
