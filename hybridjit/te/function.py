"""create_prim_func: a graph of tensors as a function of the IR, one loop nest per operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from hybridjit.arith.simplify import simplify
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Buffer, Const, Expr, Le, Load, Or, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import Param, ScalarParam
from hybridjit.ir.stmt import Allocate, Block, For, If, Iter, IterKind, Let, Stmt, Store, seq
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import substitute
from hybridjit.te.expression import Expression
from hybridjit.te.reduction import Reduction
from hybridjit.te.tensor import Axis, Compute, Operation, Placeholder, Tensor

MAIN = "main"


def create_prim_func(args: Sequence[Any], name: str = MAIN) -> PrimFunc:
    """The function that computes the tensors in `args` which are not placeholders.

    Its parameters are `args`, in order: placeholders are read, other tensors are written. Tensors
    that are not among them are made on the way. `te.var`s may be parameters, too.
    """
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    order = operations_of(tensors)
    _check_arguments(args, order)
    passed = {tensor.buffer for tensor in tensors}
    stmts: list[Stmt] = []
    names = _BlockNames()
    for op in order:
        stmts += [
            Allocate(tensor.buffer, zero=False)
            for tensor in op.outputs
            if tensor.buffer not in passed and not isinstance(op, Placeholder)
        ]
        stmts += make_nest(op, names)
    func = PrimFunc(name, tuple(map(_param, args)), seq(*stmts))
    verify(func, Stage.BLOCKS, "te")
    return func


class _BlockNames:
    """Names of blocks, each once."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def fresh(self, base: str) -> str:
        """`base`, or the first of `base_1`, `base_2` ... that is free."""
        name, count = base, 0
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name


def operations_of(tensors: Sequence[Tensor]) -> list[Operation]:
    """The operations that `tensors` are made by, directly or not, each after its inputs."""
    order: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [(tensor.op, False) for tensor in reversed(tensors)]
    while stack:
        op, is_ready = stack.pop()
        if op in order:
            continue
        if is_ready:
            order[op] = None
            continue
        stack.append((op, True))
        stack += [(tensor.op, False) for tensor in reversed(op.input_tensors)]
    return list(order)


def _check_arguments(args: Sequence[Any], order: Sequence[Operation]) -> None:
    given: list[Any] = []
    for arg in args:
        if not isinstance(arg, Tensor) and not _is_variable(arg):
            raise ArgumentError(f"an argument is a tensor or a te.var, got {arg!r}")
        given.append(arg.op if isinstance(arg, Tensor) else arg)
    for op in order:
        if isinstance(op, Placeholder) and op not in given:
            raise ArgumentValueError(
                f"placeholder '{op.name}' is read but is not among the arguments",
                help=f"pass it, as in create_prim_func([{op.name}, ...])",
            )


def _is_variable(arg: object) -> bool:
    return isinstance(arg, Expression) and isinstance(arg.expr, Var)


def _param(arg: Any) -> Param:
    if isinstance(arg, Tensor):
        return arg.buffer
    variable = cast("Expression", arg).expr
    assert isinstance(variable, Var)
    return ScalarParam(variable, weak=variable.of is INT64)


# -- nests -----------------------------------------------------------------------------------------

Make = Callable[[Any, _BlockNames], list[Stmt]]


def make_nest(op: Operation, names: _BlockNames) -> list[Stmt]:
    """The statements that compute the outputs of `op`."""
    for kind, make in MAKERS.items():
        if isinstance(op, kind):
            return make(op, names)
    raise ArgumentError(f"{op!r} cannot be part of a function")


def _make_placeholder(op: Placeholder, names: _BlockNames) -> list[Stmt]:
    return []


def _make_compute(op: Compute, names: _BlockNames) -> list[Stmt]:
    if isinstance(op.body, Reduction):
        return _make_reduction(op, op.body, names)
    loops = [_Loop(axis, IterKind.SPATIAL) for axis in op.axis]
    indices = tuple(loop.item.var for loop in loops)
    values = [loop_values(scalar.expr, loops) for scalar in op.body]
    body = store_all([tensor.buffer for tensor in op.outputs], indices, values)
    block = Block(names.fresh(op.name), tuple(loop.item for loop in loops), body)
    return [_nest(block, loops)]


def _make_reduction(op: Compute, reduction: Reduction, names: _BlockNames) -> list[Stmt]:
    spatial = [_Loop(axis, IterKind.SPATIAL) for axis in op.axis]
    reduced = [_Loop(axis, IterKind.REDUCE) for axis in reduction.axes]
    loops = [*spatial, *reduced]
    buffers = [tensor.buffer for tensor in op.outputs]
    indices = tuple(loop.item.var for loop in spatial)
    start = [loop_values(value, loops) for value in reduction.init]
    step = _combine(reduction, buffers, indices, loops)
    block = Block(
        names.fresh(op.name),
        tuple(loop.item for loop in loops),
        step,
        store_all(buffers, indices, start),
    )
    return [*_fill_empty(op, reduction, names), _nest(block, loops)]


def _combine(
    reduction: Reduction,
    buffers: Sequence[Buffer],
    indices: tuple[Expr, ...],
    loops: Sequence[_Loop],
) -> Stmt:
    """One step: combine what is there with the next values, where the condition holds."""
    replaced: dict[Var, Expr] = {
        var: Load(buffer, indices) for var, buffer in zip(reduction.left, buffers, strict=True)
    }
    for var, source in zip(reduction.right, reduction.sources, strict=True):
        replaced[var] = loop_values(source, loops)
    values = [substitute(value, replaced) for value in reduction.combined]
    step = store_all(buffers, indices, values)
    if reduction.where is None:
        return step
    return If(loop_values(reduction.where, loops), step)


def _fill_empty(op: Compute, reduction: Reduction, names: _BlockNames) -> list[Stmt]:
    """A reduction over nothing gives its starting value; the loop nest would not run at all."""
    empty: Expr | None = None
    for axis in reduction.axes:
        is_empty = simplify(Le(axis.stop, axis.start))
        if isinstance(is_empty, Const) and not is_empty.value:
            continue
        empty = is_empty if empty is None else ir_or(empty, is_empty)
    if empty is None:
        return []
    loops = [_Loop(axis, IterKind.SPATIAL) for axis in op.axis]
    indices = tuple(loop.item.var for loop in loops)
    start = [loop_values(value, loops) for value in reduction.init]
    body = store_all([tensor.buffer for tensor in op.outputs], indices, start)
    block = Block(names.fresh(f"{op.name}_empty"), tuple(loop.item for loop in loops), body)
    nest = _nest(block, loops)
    if isinstance(empty, Const):
        return [nest]
    return [If(empty, nest)]


def ir_or(a: Expr, b: Expr) -> Expr:
    """`a or b`; a constant decides by itself."""
    for side, other in ((a, b), (b, a)):
        if isinstance(side, Const):
            return side if side.value else other
    return Or(a, b)


class _Loop:
    """A loop over an axis, and the iter of the block that is bound to it."""

    def __init__(self, axis: Axis, kind: IterKind) -> None:
        self.axis = axis
        self.var = Var(axis.name)
        self.item = Iter(Var(axis.name), self.var, kind)


def loop_values(expr: Expr, loops: Sequence[_Loop]) -> Expr:
    """`expr` over the iters of a block in the place of the axes."""
    return substitute(expr, {loop.axis.var: loop.item.var for loop in loops})


def _nest(body: Stmt, loops: Sequence[_Loop]) -> Stmt:
    outside = {loop.axis.var: loop.var for loop in loops}
    for loop in reversed(loops):
        start, stop = (substitute(bound, outside) for bound in loop.axis.dom)
        body = For(loop.var, start, stop, Const(1), body)
    return body


def store_all(buffers: Sequence[Buffer], indices: tuple[Expr, ...], values: Sequence[Expr]) -> Stmt:
    """Store values that are all computed before the first is stored."""
    if len(buffers) == 1:
        return Store(buffers[0], indices, values[0])
    stmts: list[Stmt] = []
    stores: list[Stmt] = []
    for buffer, value in zip(buffers, values, strict=True):
        if not isinstance(value, Const | Var):
            name = Var(f"{buffer.name}_value", buffer.dtype)
            stmts.append(Let(name, value))
            value = name
        stores.append(Store(buffer, indices, value))
    return seq(*stmts, *stores)


MAKERS: dict[type[Operation], Make] = {Placeholder: _make_placeholder, Compute: _make_compute}
"""How each kind of operation becomes statements."""
