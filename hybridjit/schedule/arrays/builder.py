"""Build loops around statements that are made by functions: for code that is cut into blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from hybridjit.arith.ranges import ONE, ZERO, constant, minus
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, Const, Expr, Var
from hybridjit.ir.stmt import Allocate, Annotations, For, If, Let, LoopKind, Stmt, seq

Body = Callable[[Expr], None]


class Builder:
    """A list of statements that is being written."""

    def __init__(self) -> None:
        self._stmts: list[Stmt] = []

    def emit(self, stmt: Stmt) -> None:
        """Add a statement."""
        self._stmts.append(stmt)

    @contextmanager
    def collect(self) -> Generator[list[Stmt]]:
        """Statements emitted inside go to a list of their own."""
        outer, self._stmts = self._stmts, []
        try:
            yield self._stmts
        finally:
            self._stmts = outer

    @property
    def made(self) -> Stmt:
        """All statements so far, as one."""
        return seq(*self._stmts)

    def let(self, value: Expr, name: str) -> Expr:
        """`value` evaluated here, once; constants and variables stand for themselves."""
        if isinstance(value, Const | Var):
            return value
        var = Var(name, value.dtype, span=value.span)
        self.emit(Let(var, value, span=value.span))
        return var

    def either(self, cond: Expr, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Emit what is done where `cond` holds, and where it does not."""
        if isinstance(cond, Const):
            (then if cond.value else otherwise)()
            return
        with self.collect() as inside:
            then()
        with self.collect() as beyond:
            otherwise()
        self.emit(If(cond, seq(*inside), seq(*beyond)))

    def each(
        self,
        name: str,
        stop: Expr | int,
        body: Body,
        *,
        start: Expr = ZERO,
        step: int = 1,
        kind: LoopKind = LoopKind.SERIAL,
        marks: Annotations = (),
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
        self.emit(For(var, start, end, by, seq(*stmts), kind, annotations=marks))

    def unrolled(self, name: str, stop: int, body: Body) -> None:
        """Emit one copy of the body for each iteration."""
        self.each(name, stop, body, kind=LoopKind.UNROLLED)

    def lanes(self, name: str, stop: Expr | int, body: Body) -> None:
        """Emit a loop whose iterations are the lanes of vectors."""
        self.each(name, stop, body, kind=LoopKind.VECTORIZED)

    def nest(
        self,
        names: Sequence[str],
        shape: Sequence[Expr],
        body: Callable[[list[Expr]], None],
        marks: Annotations = (),
    ) -> None:
        """Emit one loop for each size, the first one outermost."""

        def inner(place: list[Expr]) -> None:
            axis = len(place)
            if axis == len(shape):
                body(place)
                return
            self.each(names[axis], shape[axis], lambda at: inner([*place, at]), marks=marks)

        inner([])

    def only_if(self, cond: Expr | None, body: Callable[[], None]) -> None:
        """Emit what `body` emits, under a condition if there is one."""
        if cond is None:
            body()
            return
        with self.collect() as stmts:
            body()
        self.emit(If(cond, seq(*stmts)))

    def local(self, name: str, dtype: DType, *shape: int) -> Buffer:
        """A small array for partial results, not yet set."""
        return self.array(name, dtype, tuple(map(Const, shape)), "local")

    def array(
        self, name: str, dtype: DType, shape: tuple[Expr, ...], scope: str = "global"
    ) -> Buffer:
        """A new array, not yet set."""
        buffer = Buffer(name, dtype, shape, scope)
        self.emit(Allocate(buffer, zero=False))
        return buffer

    def register(self, name: str, dtype: DType) -> Buffer:
        """A new variable, not yet set."""
        return self.array(name, dtype, (), Buffer.REGISTER)
