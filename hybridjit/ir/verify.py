"""The verifier: refuses IR that breaks a rule of the language, at the stage it should be in.

Run after the front end and after every pass. The rules, besides those of types in
verify_exprs.py: every Var and Buffer is bound once and used in scope; `Let` and `Allocate` bind
for the rest of their `Seq`; a block sees the loop variables around it only through its iters and
those of the blocks around it (the value of an iter stands outside of its block), but `Let`s and
buffers directly; nothing leaves a parallel or vectorized loop half way; what a constant can say is
not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from hybridjit.errors import InternalError
from hybridjit.ir import stmt as ir
from hybridjit.ir.dtype import BOOL, INT64
from hybridjit.ir.expr import Bounded, Buffer, BufferRef, Const, Expr, ExternCall, Load, Node, Var
from hybridjit.ir.fastmath import FASTMATH_FLAGS
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.raisable import RAISABLE
from hybridjit.ir.signature import ArrayResult, ConstantArray, ScalarParam
from hybridjit.ir.stmt import Iter, LoopKind, Seq, Stmt
from hybridjit.ir.texts import count_values
from hybridjit.ir.verify_exprs import ExprVerifier, Fault
from hybridjit.ir.visit import NODE_CLASSES, walk
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.ir import printer
else:
    printer = lazy_module("hybridjit.ir.printer")  # for what is shown, and for errors


class Stage(Enum):
    """How far a function has been lowered, which says what may stand in it."""

    BLOCKS = "blocks"  # what the front ends make and schedules rewrite
    LOOPS = "loops"  # plain loops: no Block, and so no Iter and no init


_ALL = frozenset(NODE_CLASSES.values())
STAGE_NODES: dict[Stage, frozenset[type[Node]]] = {
    Stage.BLOCKS: _ALL - {Bounded},
    Stage.LOOPS: _ALL - {ir.Block, ir.Iter},
}


def verify(func: PrimFunc, stage: Stage = Stage.BLOCKS, pass_name: str | None = None) -> None:
    """Raise InternalError, with the printed IR as a note, unless `func` obeys every rule."""
    verifier = FuncVerifier(func, STAGE_NODES[stage])
    try:
        verifier.run()
    except Fault as fault:
        place = verifier.place
        marks = () if place is None else (place,)
        span = place.span if isinstance(place, Node) else None
        raise InternalError(
            f"the IR is not valid at stage {stage.name}: {fault}",
            pass_name,
            span,
            notes=(f"the function is\n{printer.print_func(func, marks)}",),
        ) from None


class FuncVerifier:
    """One walk over one function."""

    def __init__(self, func: PrimFunc, allowed: frozenset[type[Node]]) -> None:
        self.place: Stmt | None = None  # the statement being checked, for the report
        self._func = func
        self._exprs = ExprVerifier(allowed)
        self._scope = self._exprs.scope
        self._checks = {cls: check for cls, check in self.CHECKS.items() if cls in allowed}
        self._constants = {constant.buffer for constant in func.constants}
        self._results = [r for r in func.returns or () if not isinstance(r, Buffer)]
        self._innermost: LoopKind | None = None  # SERIAL stands for a While too
        self._is_concurrent = False

    def run(self) -> None:
        """Check the signature, then the body."""
        self._check_params()
        for constant in self._func.constants:
            self._check_constant(constant)
        for output in self._func.outputs:
            self._check_output(output)
        self._check_results()
        self._check_fastmath()
        self._body(self._func.body)

    def _check_params(self) -> None:
        for dimension in self._func.dimensions:
            self._scope.bind(dimension)
            _check_index(dimension)
        for param in self._func.params:
            self._scope.bind(param.var if isinstance(param, ScalarParam) else param)
        for buffer in self._func.buffers:
            self._check_argument_shape(buffer)

    def _check_argument_shape(self, buffer: Buffer) -> None:
        """Check a buffer from outside, whose shape is known before the function runs."""
        if buffer.scope != "global":
            raise Fault(f"buffer '{buffer.name}' comes from outside but is {buffer.scope}")
        self._exprs.shape(buffer)
        for extent in buffer.shape:
            if any(isinstance(node, Load | ExternCall) for node in walk(extent)):
                raise Fault(
                    f"the shape of buffer '{buffer.name}' depends on more than the sizes and "
                    f"scalars passed: {printer.format_expr(extent)}"
                )

    def _check_output(self, output: Buffer) -> None:
        self._scope.bind(output)
        self._check_argument_shape(output)

    def _check_constant(self, constant: ConstantArray) -> None:
        buffer, data = constant.buffer, constant.data
        self._scope.bind(buffer)
        self._check_argument_shape(buffer)
        if buffer.shape != tuple(Const(extent) for extent in data.shape):
            raise Fault(f"constant '{buffer.name}' holds data of shape {data.shape}")
        if buffer.dtype.numpy != data.dtype:
            raise Fault(f"constant '{buffer.name}' of {buffer.dtype} holds {data.dtype}")

    def _check_results(self) -> None:
        if self._func.returns is None and self._func.returns_tuple:
            raise Fault("a function without results returns a tuple")
        for result in self._func.returns or ():
            if isinstance(result, Buffer) and result not in self._func.params + self._func.outputs:
                raise Fault(f"result '{result.name}' is neither a parameter nor an output")

    def _check_fastmath(self) -> None:
        flags = self._func.fastmath
        if flags != tuple(flag for flag in FASTMATH_FLAGS if flag in flags):
            raise Fault(f"fastmath flags are unknown or out of order: {flags}")

    def _body(self, body: Stmt) -> None:
        """Check a statement that is a scope of its own."""
        stmts = body.stmts if isinstance(body, Seq) else (body,)
        ended: list[Var | Buffer] = []
        for stmt in stmts:
            if isinstance(stmt, Seq):
                self._body(stmt)
                continue
            self.place = stmt
            check = self._checks.get(type(stmt))
            if check is None:
                raise Fault(f"{type(stmt).__name__} is not a statement of this stage")
            bound = check(self, stmt)
            if bound is not None:
                ended.append(bound)
        self._scope.visible.difference_update(ended)

    def _for(self, loop: ir.For) -> None:
        for bound in (loop.start, loop.stop, loop.step):
            self._exprs.typed(bound, INT64, "a bound of loop", loop.var.name)
        if (loop.kind is LoopKind.BOUND) != (loop.thread is not None):
            raise Fault(f"loop '{loop.var.name}' is {loop.kind.name} with thread {loop.thread}")
        self._scope.claim(loop.var)
        _check_index(loop.var)
        self._scope.loops[loop.var] = True
        self._loop_body(loop.kind, loop.body)
        del self._scope.loops[loop.var]

    def _while(self, loop: ir.While) -> None:
        if loop.cond != Const(True, BOOL):
            self._exprs.condition(loop.cond, "the condition of a While")
        self._loop_body(LoopKind.SERIAL, loop.body)

    def _loop_body(self, kind: LoopKind, body: Stmt) -> None:
        outside = self._innermost, self._is_concurrent
        self._innermost = kind
        self._is_concurrent = self._is_concurrent or kind.is_concurrent
        self._body(body)
        self._innermost, self._is_concurrent = outside

    def _if(self, branch: ir.If) -> None:
        self._exprs.condition(branch.cond, "the condition of an If")
        self._body(branch.then)
        if branch.otherwise is not None:
            self._body(branch.otherwise)

    def _store(self, store: ir.Store) -> None:
        buffer = store.buffer
        if buffer in self._constants:
            raise Fault(f"store to constant '{buffer.name}'")
        self._exprs.element(buffer, store.indices)
        self._exprs.typed(store.value, buffer.dtype, "the value stored to", buffer.name)

    def _let(self, let: ir.Let) -> Var:
        if isinstance(let.value, Const | Var):
            raise Fault(
                f"Let '{let.var.name}' only renames {printer.format_expr(let.value)}: substitute it"
            )
        self._exprs.typed(let.value, let.var.of, "the value of Let", let.var.name)
        self._scope.bind(let.var)
        return let.var

    def _allocate(self, allocate: ir.Allocate) -> Buffer:
        buffer = allocate.buffer
        if buffer.is_register and allocate.zero:
            raise Fault(f"register '{buffer.name}' is allocated as zero: store the zero instead")
        if buffer.is_growing and allocate.zero:
            raise Fault(f"growing buffer '{buffer.name}' is allocated as zero: it has no elements")
        self._exprs.shape(buffer)
        self._scope.bind(buffer)
        return buffer

    def _reserve(self, stmt: ir.Reserve) -> None:
        array = stmt.array
        if not isinstance(array, BufferRef) or array.starts or not array.buffer.is_growing:
            raise Fault("Reserve for something else than a growing buffer")
        if self._is_concurrent:
            raise Fault("Reserve in a loop whose iterations may run at the same time")
        self._scope.check_visible(array.buffer)
        self._exprs.typed(stmt.size, INT64, "the size of a Reserve")

    def _block(self, block: ir.Block) -> None:
        outside = self._scope.loops
        for item in block.iters:
            self._check_iter_value(item, f"an iter of block '{block.name}'")
        self._scope.loops = dict(outside)
        for item in block.iters:
            self._bind_iter(item)
        self._scope.loops = {
            var: False for var, is_loop in self._scope.loops.items() if not is_loop
        }
        if block.init is not None:
            self._body(block.init)
        self._body(block.body)
        self._scope.loops = outside

    def _check_iter_value(self, item: Iter, role: str) -> None:
        self._exprs.typed(item.value, INT64, role)
        is_loop = isinstance(item.value, Var) and self._scope.loops.get(item.value, False)
        if is_loop and item.domain is not None:
            raise Fault(
                f"{role} is bound to loop '{printer.format_expr(item.value)}' and "
                "has a domain besides"
            )
        if not is_loop and item.domain is None:
            raise Fault(
                f"{role} is bound to {printer.format_expr(item.value)}, no loop, and has no domain"
            )

    def _bind_iter(self, item: Iter) -> None:
        for bound in item.domain or ():
            self._exprs.typed(bound, INT64, "the domain of iter", item.var.name)
        self._scope.claim(item.var)
        _check_index(item.var)
        self._scope.loops[item.var] = False

    def _assert(self, check: ir.Assert) -> None:
        self._exprs.typed(check.cond, BOOL, "the condition of an Assert")
        if len(check.message) > 1 and not check.is_tuple:
            raise Fault("an Assert has one message, or a tuple")
        self._message(check)

    def _raise(self, stmt: ir.Raise) -> None:
        if stmt.error not in RAISABLE:
            raise Fault(f"'{stmt.error}' is not an exception that can be raised")
        self._message(stmt)

    def _message(self, stmt: ir.Assert | ir.Raise | ir.Print) -> None:
        for item in stmt.message:
            if not isinstance(item, str):
                self._exprs.expr(item)
        if isinstance(stmt, ir.Assert) or not stmt.is_text:
            return
        template, *values = stmt.message or ("",)
        if not isinstance(template, str) or count_values(template) != len(values):
            raise Fault(f"{template!r} is no text for {len(values)} values")

    def _evaluate(self, stmt: ir.Evaluate) -> None:
        if isinstance(stmt.value, ExternCall):
            self._exprs.arguments(stmt.value)
        else:
            self._exprs.expr(stmt.value)

    def _break(self, stmt: ir.Break) -> None:
        self._continue(stmt)
        if self._innermost is not None and self._innermost.is_concurrent:
            raise Fault("Break out of a loop whose iterations may run at the same time")

    def _continue(self, stmt: ir.Break | ir.Continue) -> None:
        if self._innermost is None:
            raise Fault(f"{type(stmt).__name__} outside of a loop")

    def _return(self, stmt: ir.Return) -> None:
        if self._is_concurrent:
            raise Fault("Return out of a loop whose iterations may run at the same time")
        if len(stmt.values) != len(self._results):
            raise Fault(
                f"Return of {len(stmt.values)} values in a function with {len(self._results)}"
            )
        for value, result in zip(stmt.values, self._results, strict=True):
            if isinstance(result, ArrayResult):
                self._given_away(value, result)
            else:
                self._exprs.typed(value, result.dtype, "a result")

    def _given_away(self, value: Expr, result: ArrayResult) -> None:
        """An array that leaves with a `Return`: whole, and made by the function."""
        if not isinstance(value, BufferRef) or value.starts:
            raise Fault("Return of something else where an array is a result")
        buffer = value.buffer
        self._scope.check_visible(buffer)
        own = (*self._func.params, *self._func.outputs, *self._constants)
        if buffer.is_register or buffer.is_growing or buffer in own:
            raise Fault(f"Return gives away '{buffer.name}', which the function does not make")
        if (buffer.dtype, buffer.ndim) != (result.dtype, result.ndim):
            raise Fault(f"Return gives '{buffer.name}' for an array of {result.dtype}")

    # A check returns what its statement binds for the rest of the Seq, or None.
    CHECKS: ClassVar[Mapping[type[Node], Callable[[Any, Any], Var | Buffer | None]]] = {
        ir.For: _for,
        ir.While: _while,
        ir.If: _if,
        ir.Store: _store,
        ir.Let: _let,
        ir.Allocate: _allocate,
        ir.Reserve: _reserve,
        ir.Block: _block,
        ir.Assert: _assert,
        ir.Raise: _raise,
        ir.Print: _message,
        ir.Evaluate: _evaluate,
        ir.Break: _break,
        ir.Continue: _continue,
        ir.Return: _return,
    }


def _check_index(var: Var) -> None:
    if var.of is not INT64:
        raise Fault(f"variable '{var.name}' counts but has type {var.of}, not int64")
