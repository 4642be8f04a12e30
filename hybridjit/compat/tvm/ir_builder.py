"""`tvm.tir.ir_builder`: statements for the body of a te.extern, written down one by one.

ib = tvm.tir.ir_builder.create()
A, B = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
with ib.for_range(0, n, name="i") as i:
    B[i] = A[i] + 1.0
return ib.get()
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from hybridjit.arith.simplify import simplify
from hybridjit.errors import ArgumentError
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Var
from hybridjit.ir.stmt import Allocate, For, If, Let, LoopKind, Stmt, Store, While, seq
from hybridjit.scalars.conversion import store_value
from hybridjit.scalars.scalar import Scalar, index
from hybridjit.tensors.buffers import usual_strides
from hybridjit.tensors.compute import as_shape
from hybridjit.tensors.expression import Expression, as_condition, as_scalar, dtype_of
from hybridjit.tensors.externs import as_stmt
from hybridjit.tensors.tensor import index_expr

KINDS = {
    "serial": LoopKind.SERIAL,
    "parallel": LoopKind.PARALLEL,
    "vectorize": LoopKind.VECTORIZED,
    "vectorized": LoopKind.VECTORIZED,
    "unroll": LoopKind.UNROLLED,
    "unrolled": LoopKind.UNROLLED,
}


class BufferVar:
    """A buffer to read and to write; one index counts its elements in C order."""

    def __init__(self, builder: IRBuilder, buffer: Buffer) -> None:
        self._builder = builder
        self.buffer = buffer

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return self.buffer.dtype

    def __getitem__(self, place: Any) -> Expression:
        load = Load(self.buffer, self._indices(place))
        return Expression(Scalar(load, ScalarType(self.buffer.dtype)))

    def __setitem__(self, place: Any, value: Any) -> None:
        stored = store_value(as_scalar(value), self.buffer.dtype, None)
        self._builder.emit(Store(self.buffer, self._indices(place), stored))

    def _indices(self, place: Any) -> tuple[Expr, ...]:
        is_several = isinstance(place, (tuple, list))
        items = cast("Sequence[Any]", place) if is_several else (place,)
        found = tuple(index_expr(item) for item in items)
        if len(found) == 1 and self.buffer.ndim != 1:
            return self._unfolded(found[0])
        return found

    def _unfolded(self, place: Expr) -> tuple[Expr, ...]:
        indices: list[Expr] = []
        for stride in usual_strides(self.buffer):
            indices.append(simplify(place // stride))
            place = simplify(place % stride)
        return tuple(indices)


class IRBuilder:
    """Collects statements; `get` gives them as one."""

    def __init__(self) -> None:
        self._open: list[list[Stmt]] = [[]]

    def emit(self, stmt: Any) -> None:
        """Add a statement, or a call for its effect."""
        self._open[-1].append(as_stmt(stmt))

    def get(self) -> Stmt:
        """All that was written down."""
        return seq(*self._open[-1])

    @contextmanager
    def for_range(
        self, begin: Any, end: Any, name: str = "i", dtype: Any = None, kind: str = "serial"
    ) -> Generator[Expression]:
        """A loop from `begin` up to, not including, `end`."""
        del dtype  # loops count in int64
        if kind not in KINDS:
            raise ArgumentError(f"there is no kind {kind!r} of loop", help=f"one of {[*KINDS]}")
        var = Var(name)
        body = self._enter()
        yield Expression(index(var))
        bounds = index_expr(begin), index_expr(end), Const(1)
        self._leave(For(var, *bounds, seq(*body), KINDS[kind]))

    @contextmanager
    def while_loop(self, condition: Any) -> Generator[None]:
        """A loop that runs as long as the condition holds."""
        body = self._enter()
        yield
        self._leave(While(as_condition(condition), seq(*body)))

    @contextmanager
    def new_scope(self) -> Generator[None]:
        """What belongs together: names and memory in it are not seen after it."""
        body = self._enter()
        yield
        self._leave(seq(*body))

    @contextmanager
    def if_scope(self, condition: Any) -> Generator[None]:
        """What is done if the condition holds."""
        body = self._enter()
        yield
        self._leave(If(as_condition(condition), seq(*body)))

    @contextmanager
    def else_scope(self) -> Generator[None]:
        """What is done if the condition of the if_scope just before does not hold."""
        last = self._open[-1][-1] if self._open[-1] else None
        if not isinstance(last, If) or last.otherwise is not None:
            raise ArgumentError("else_scope must follow an if_scope")
        body = self._enter()
        yield
        self._open.pop()
        self._open[-1][-1] = If(last.cond, last.then, seq(*body))

    def scope_attr(self, node: Any, attr_key: str, value: Any) -> None:
        """A hint for what follows: none of them is for this processor."""

    def let(self, name: str, value: Any) -> Expression:
        """A name for a value that is computed once."""
        scalar = as_scalar(value)
        var = Var(name, scalar.type.dtype)
        self._open[-1].append(Let(var, scalar.expr))
        return Expression(Scalar(var, scalar.type))

    def allocate(
        self, dtype: Any, shape: Any, name: str = "buf", scope: str = "", **options: Any
    ) -> BufferVar:
        """Memory of its own."""
        del scope, options
        buffer = Buffer(name, dtype_of(dtype), as_shape(shape))
        self._open[-1].append(Allocate(buffer))
        return BufferVar(self, buffer)

    def buffer_ptr(self, buffer: Buffer, shape: Any = None) -> BufferVar:
        """A buffer of the extern, to read and to write."""
        del shape
        return BufferVar(self, buffer)

    def likely(self, condition: Any) -> Any:
        """The condition itself."""
        return condition

    def _enter(self) -> list[Stmt]:
        self._open.append([])
        return self._open[-1]

    def _leave(self, stmt: Stmt) -> None:
        self._open.pop()
        self._open[-1].append(stmt)


def create() -> IRBuilder:
    """A builder without statements."""
    return IRBuilder()
