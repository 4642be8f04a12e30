"""Nodes of TVM's IR that programs write as calls: statements for te.extern, and `tir.Let`.

    te.extern((n,), [A], lambda ins, outs: tir.For(
        i, 0, n, tir.ForKind.SERIAL, tir.BufferStore(outs[0], tir.BufferLoad(ins[0], [i]), [i])))

They take what expressions are made of, numbers too, and give statements of the IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from hybridjit.errors import ArgumentError
from hybridjit.ir.dtype import INT64, ScalarType
from hybridjit.ir.expr import Buffer, Cast, Const, Expr, ExternCall, Load, Node
from hybridjit.ir.expr import Var as Variable
from hybridjit.ir.stmt import Evaluate as Evaluated
from hybridjit.ir.stmt import For as Loop
from hybridjit.ir.stmt import If, LoopKind, Stmt, Store, seq
from hybridjit.ir.stmt import Let as Named
from hybridjit.ir.stmt import While as Repeated
from hybridjit.ir.visit import rewrite, substitute
from hybridjit.scalars.conversion import convert, store_value
from hybridjit.scalars.scalar import Scalar, index
from hybridjit.tensors.expression import Expression, as_condition, as_expression, as_scalar
from hybridjit.tensors.externs import as_stmt
from hybridjit.tensors.tensor import index_expr


class ForKind(IntEnum):
    """How a loop runs, by TVM's numbers."""

    SERIAL = 0
    PARALLEL = 1
    VECTORIZED = 2
    UNROLLED = 3


_KINDS = {
    ForKind.SERIAL: LoopKind.SERIAL,
    ForKind.PARALLEL: LoopKind.PARALLEL,
    ForKind.VECTORIZED: LoopKind.VECTORIZED,
    ForKind.UNROLLED: LoopKind.UNROLLED,
}


def Evaluate(value: Any) -> Stmt:
    """A call for its effect; any other value, such as 0, is a statement that does nothing."""
    if isinstance(value, Stmt | ExternCall):
        return as_stmt(value)
    return Evaluated(as_scalar(value).expr)


def SeqStmt(stmts: Sequence[Any]) -> Stmt:
    """Statements one after the other."""
    return seq(*map(as_stmt, stmts))


def stmt_seq(*stmts: Any) -> Stmt:
    """Statements one after the other."""
    return SeqStmt(stmts)


def IfThenElse(condition: Any, then_case: Any, else_case: Any = None) -> Stmt:
    """A statement where a condition holds, and another one where it does not."""
    otherwise = None if else_case is None else as_stmt(else_case)
    return If(as_condition(condition), as_stmt(then_case), otherwise)


def While(condition: Any, body: Any) -> Stmt:
    """A statement as long as a condition holds."""
    return Repeated(as_condition(condition), as_stmt(body))


def For(loop_var: Any, min: Any, extent: Any, kind: Any, body: Any, *_: Any, **__: Any) -> Stmt:
    """A loop over `extent` values from `min` on; it counts in int64, whatever its variable is."""
    wanted = _KINDS.get(kind)
    if wanted is None:
        raise ArgumentError(f"there is no kind {kind!r} of loop", help="as in tir.ForKind.SERIAL")
    variable = _variable(loop_var)
    counter = Variable(variable.name)
    stop = index_expr(as_expression(min) + extent)

    def as_index(node: Node) -> Node | None:
        """An index that is the variable is the counter itself: proofs see which element it is."""
        return counter if isinstance(node, Cast) and node == Cast(INT64, variable) else None

    inside = _put(rewrite(as_stmt(body), as_index), variable, index(counter))
    return Loop(counter, index_expr(min), stop, Const(1), inside, wanted)


def BufferLoad(buffer: Buffer, indices: Sequence[Any]) -> Expression:
    """An element of a buffer."""
    load = Load(buffer, tuple(map(index_expr, indices)))
    return Expression(Scalar(load, ScalarType(buffer.dtype)))


def BufferStore(buffer: Buffer, value: Any, indices: Sequence[Any]) -> Stmt:
    """Write an element of a buffer."""
    stored = store_value(as_scalar(value), buffer.dtype, None)
    return Store(buffer, tuple(map(index_expr, indices)), stored)


def LetStmt(var: Any, value: Any, body: Any) -> Stmt:
    """A statement in which a variable has a value."""
    variable = _variable(var)
    return seq(Named(variable, convert(as_scalar(value), variable.dtype, None)), as_stmt(body))


def Let(var: Any, value: Any, body: Any) -> Expression:
    """A value in which a variable has another: it stands wherever the variable is named."""
    found = as_scalar(body)
    return Expression(Scalar(_put(found.expr, var, as_scalar(value)), found.type))


def _variable(var: Any) -> Variable:
    expr = var.expr if isinstance(var, Expression) else var
    if not isinstance(expr, Variable):
        raise ArgumentError(f"expected a variable, got {var!r}", help='as in tir.Var("v", "int32")')
    return expr


def _put(node: Any, var: Any, value: Scalar) -> Any:
    """A statement or an expression with a value for a variable, in the type of the variable."""
    variable = _variable(var)
    put: dict[Variable, Expr] = {variable: convert(value, variable.dtype, None)}
    found: Node = node
    return substitute(found, put)


STATEMENTS: dict[str, Any] = {
    "BufferLoad": BufferLoad,
    "BufferStore": BufferStore,
    "Evaluate": Evaluate,
    "For": For,
    "ForKind": ForKind,
    "IfThenElse": IfThenElse,
    "Let": Let,
    "LetStmt": LetStmt,
    "SeqStmt": SeqStmt,
    "While": While,
    "stmt_seq": stmt_seq,
}
