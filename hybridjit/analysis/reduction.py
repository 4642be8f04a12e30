"""Recognise a store that combines an element with a new value: `x[i] = x[i] + e`.

Recognised operators are associative and commutative, so that the order of the updates does not
matter: exactly for integers and bool, up to rounding for float `+` and `*`. Python's `min(e, x)`
on floats is left out, unlike `min(x, e)`: it forgets everything that came before a NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from hybridjit.arith.fold import wrap
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Buffer,
    BufferRef,
    Call,
    Compare,
    Const,
    Expr,
    ExternCall,
    Ge,
    Gt,
    Le,
    Load,
    Lt,
    Max,
    Min,
    Mul,
    Neg,
    Node,
    Not,
    Or,
    Select,
    Sub,
    Var,
)
from hybridjit.ir.stmt import Block, If, Seq, Store
from hybridjit.ir.visit import children, substitute
from hybridjit.record import record


class ReductionOp(Enum):
    """How a reduction combines. The value is how the language spells it."""

    ADD = "+"
    MUL = "*"
    MIN = "min"
    MAX = "max"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    AND = "and"
    OR = "or"
    BIT_AND = "&"
    BIT_OR = "|"
    BIT_XOR = "^"

    @property
    def is_python_extremum(self) -> bool:
        """True for Python's min and max, which on floats are not commutative."""
        return self in (ReductionOp.MIN, ReductionOp.MAX)


@record
class Reduction:
    """`buffer[indices] = buffer[indices] op update`, where `update` does not read `buffer`.

    `x + a + b` has the update `a + b`, which for floats regroups the sum. A variable in `update`
    stands for itself: whether its `Let` reads the buffer is for the caller to see. `is_open` if the
    block around says that the order of the updates is.
    """

    op: ReductionOp
    buffer: Buffer
    indices: tuple[Expr, ...]
    update: Expr
    is_open: bool = False


def find_reduction(store: Store) -> Reduction | None:
    """The reduction that `store` performs, if it is one.

    x[i] = x[i] + e        x[i] = e * x[i]          x[i] = x[i] + a - b
    x[i] = min(x[i], e)    x[i] = maximum(e, x[i])  x[i] = e if e < x[i] else x[i]
    """
    element = Load(store.buffer, store.indices)
    if isinstance(store.value, Select):
        found = _split_select(store.value, element)
    else:
        found = _split_operator(store.value, element)
    if found is None:
        return None
    op, update = found
    if _depends_on((update, *store.indices), store.buffer):
        return None
    return Reduction(op, store.buffer, store.indices, update)


def find_guarded_reduction(stmt: If) -> Reduction | None:
    """The reduction that a guarded store performs: `if e < x[i]: x[i] = e`."""
    store = find_guarded_store(stmt)
    if store is None:
        return None
    element = Load(store.buffer, store.indices)
    return find_reduction(replace(store, value=Select(stmt.cond, store.value, element)))


def find_guarded_store(stmt: If) -> Store | None:
    """The store that is all that `stmt` guards, in terms of what the condition speaks of."""
    inner = stmt.then
    values: dict[Var, Expr] = {}
    while not isinstance(inner, Store):
        match inner:
            case Seq((only,)):
                inner = only
            case Block(init=None):
                values |= {item.var: substitute(item.value, values) for item in inner.iters}
                inner = inner.body
            case _:
                return None
    return substitute(inner, values) if stmt.otherwise is None else None


def _depends_on(exprs: Sequence[Expr], buffer: Buffer) -> bool:
    """Whether one of `exprs` reads `buffer`, or calls something that is free to."""
    stack: list[Node] = list(exprs)
    while stack:
        node = stack.pop()
        match node:
            case Var() | Const():
                pass
            case Binary(lhs, rhs):
                stack += (lhs, rhs)
            case Load() | BufferRef() if node.buffer is buffer:
                return True
            case ExternCall():
                return True
            case _:
                stack.extend(children(node))
    return False


_OPERATORS: dict[type[Expr], ReductionOp] = {
    Add: ReductionOp.ADD,
    Sub: ReductionOp.ADD,
    Mul: ReductionOp.MUL,
    Min: ReductionOp.MIN,
    Max: ReductionOp.MAX,
    And: ReductionOp.AND,
    Or: ReductionOp.OR,
    BitAnd: ReductionOp.BIT_AND,
    BitOr: ReductionOp.BIT_OR,
    BitXor: ReductionOp.BIT_XOR,
}
_CALLS = {"minimum": ReductionOp.MINIMUM, "maximum": ReductionOp.MAXIMUM}


# One step on the way up from the element: the operator met, and its other operand.
_Step = tuple[Expr, Expr]


def _split_operator(expr: Expr, element: Load) -> tuple[ReductionOp, Expr] | None:
    """`expr`, a chain of one operator with `element` among its leaves, as `element op update`."""
    op = _operator(expr)
    if op is None:
        return None
    path = _find_path(expr, op, element)
    if path is None:
        return None
    if op.is_python_extremum and expr.dtype.is_float and not _is_single_update(path):
        return None
    return op, _combine(path)


def _find_path(expr: Expr, op: ReductionOp, element: Load) -> list[_Step] | None:
    """The steps from `element` up to `expr`, through nodes of one operator only."""
    if _operator(expr) is not op:
        return [] if expr == element else None
    lhs, rhs = _operands(expr)
    path = _find_path(lhs, op, element)
    if path is not None:
        path.append((expr, rhs))
        return path
    if isinstance(expr, Sub):
        return None
    path = _find_path(rhs, op, element)
    if path is not None:
        path.append((expr, lhs))
    return path


def _is_single_update(path: list[_Step]) -> bool:
    """Whether the chain is `element op update`, in this order and with nothing more."""
    (node, operand), *rest = path
    return not rest and _operands(node)[1] is operand


def _operator(expr: Expr) -> ReductionOp | None:
    return _CALLS.get(expr.name) if isinstance(expr, Call) else _OPERATORS.get(type(expr))


def _operands(expr: Expr) -> tuple[Expr, Expr]:
    if isinstance(expr, Binary):
        return expr.lhs, expr.rhs
    assert isinstance(expr, Call)
    return expr.args[0], expr.args[1]


def _combine(path: list[_Step]) -> Expr:
    """The one update that does what the operands do one after the other, nearest first."""
    (node, operand), *rest = path
    update = _negate(operand) if isinstance(node, Sub) else operand
    for node, operand in rest:
        if isinstance(node, Call):
            update = Call(node.name, (update, operand))
        elif isinstance(node, Binary):
            update = type(node)(update, operand)
    return update


def _negate(expr: Expr) -> Expr:
    """`-expr`; a constant is negated on the spot, since the IR has no `Neg` of one."""
    if not isinstance(expr, Const):
        return Neg(expr)
    dtype: DType = expr.of
    value = -expr.value
    return Const(wrap(value, dtype) if isinstance(value, int) else value, dtype)


_PICKS_SMALLER: dict[type[Expr], bool] = {Lt: True, Le: True, Gt: False, Ge: False}


def _split_select(select: Select, element: Load) -> tuple[ReductionOp, Expr] | None:
    """`e if e < x else x`, in every spelling, as `x min e`.

    On floats only the spellings that give exactly what `min(x, e)` gives count: e is taken when
    it is strictly less, and not when either is NaN.
    """
    cond, then, otherwise = select.cond, select.then, select.otherwise
    while isinstance(cond, Not):
        cond, then, otherwise = cond.value, otherwise, then
    if not isinstance(cond, Compare) or type(cond) not in _PICKS_SMALLER:
        return None
    update = otherwise if then == element else then
    sides = (element, update)
    if not _same_pair((then, otherwise), sides) or not _same_pair((cond.lhs, cond.rhs), sides):
        return None
    exact = then == update and isinstance(cond, (Lt, Gt))
    if update.dtype.is_float and not exact:
        return None
    # The comparison picks its left operand as the smaller or as the larger one.
    smaller = _PICKS_SMALLER[type(cond)] == (cond.lhs == then)
    return (ReductionOp.MIN if smaller else ReductionOp.MAX), update


def _same_pair(a: tuple[Expr, Expr], b: tuple[Expr, Expr]) -> bool:
    """Whether the two pairs hold the same expressions, in either order."""
    return a in (b, b[::-1])
