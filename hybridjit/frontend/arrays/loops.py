"""Single loops around statements that are made by functions: for code that is cut into blocks."""

from __future__ import annotations

from collections.abc import Callable

from hybridjit.arith.ranges import ONE, ZERO, constant, minus
from hybridjit.errors import Span
from hybridjit.frontend.arrays.calls import ArrayCalls
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, Const, Expr, Var
from hybridjit.ir.stmt import Allocate, For, If, LoopKind, Store

Body = Callable[[Expr], None]


class ArrayLoops(ArrayCalls):
    """Loops, conditions and memory of the code that array expressions become."""

    def each(
        self,
        name: str,
        stop: Expr | int,
        body: Body,
        *,
        start: Expr = ZERO,
        step: int = 1,
        kind: LoopKind = LoopKind.SERIAL,
        span: Span | None = None,
    ) -> None:
        """Emit `for name in range(start, stop, step)`; no loop for one iteration, or none."""
        end = Const(stop) if isinstance(stop, int) else stop
        known = constant(minus(end, start))
        if known is not None and known <= step:
            if known > 0:
                body(start)
            return
        var = Var(name)
        with self.collect() as stmts:
            body(var)
        by = ONE if step == 1 else Const(step)
        self.emit(For(var, start, end, by, self.close(stmts), kind, span=span))

    def unrolled(self, name: str, stop: int, body: Body) -> None:
        """Emit one copy of the body for each iteration."""
        self.each(name, stop, body, kind=LoopKind.UNROLLED)

    def lanes(self, name: str, stop: Expr | int, body: Body) -> None:
        """Emit a loop whose iterations are the lanes of vectors."""
        self.each(name, stop, body, kind=LoopKind.VECTORIZED)

    def only_if(self, cond: Expr | None, body: Callable[[], None]) -> None:
        """Emit what `body` emits, under a condition if there is one."""
        if cond is None:
            body()
            return
        with self.collect() as stmts:
            body()
        self.emit(If(cond, self.close(stmts)))

    def local(self, name: str, dtype: DType, *shape: int) -> Buffer:
        """A small array for partial results, not yet set."""
        buffer = Buffer(name, dtype, tuple(map(Const, shape)), "local")
        self.emit(Allocate(buffer, zero=False))
        return buffer

    def register(self, name: str, start: Expr, span: Span | None) -> Buffer:
        """A new variable in a register, set to `start`."""
        buffer = self.new_register(name, start.dtype, span)
        self.emit(Store(buffer, (), start, span=span))
        return buffer

    def new_register(self, name: str, dtype: DType, span: Span | None) -> Buffer:
        """A new variable in a register, not yet set."""
        buffer = Buffer(name, dtype, (), Buffer.REGISTER)
        self.emit(Allocate(buffer, zero=False, span=span))
        return buffer
