"""The body of a function of the IR with tensors in the place of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.expr import Buffer, Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.ir.signature import ArrayResult, ConstantArray, ScalarResult
from hybridjit.ir.stmt import Block, Return, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import fresh_copy, substitute, walk
from hybridjit.record import record
from hybridjit.tensors.sizes import same_size

Argument = Buffer | Expr


@record(eq=False)
class Substituted:
    """A body over the arguments; `results` are the buffers that the function makes, in order.

    Some of these may be arguments that it gives back: `copied` says which.
    """

    body: Stmt
    results: tuple[Buffer, ...]
    constants: tuple[ConstantArray, ...]
    copied: Mapping[Buffer, Buffer]


def substitute_arguments(
    func: PrimFunc, args: Sequence[Argument], written: Sequence[Buffer] = ()
) -> Substituted:
    """The body of `func` with `args` for its parameters; it may write to those in `written`.

    Scalar results become results without dimensions. A parameter that is returned becomes a
    result that starts as a copy of the argument.
    """
    _check_results(func)
    variables, buffers = _bind(func, args)
    returned = {
        param: replace(param, shape=buffers[param].shape)
        for param in dict.fromkeys(func.returns or ())
        if isinstance(param, Buffer) and param in buffers
    }
    _check_writes(func, {**buffers, **returned}, (*written, *returned.values()))
    made = {
        buffer: replace(buffer, shape=tuple(substitute(e, variables) for e in buffer.shape))
        for buffer in func.outputs
    }
    constants = {item.buffer: replace(item.buffer) for item in func.constants}
    scalars = [
        Buffer(f"{func.name}_{place}", result.dtype, ())
        for place, result in enumerate(func.returns or ())
        if isinstance(result, ScalarResult)
    ]
    body = _without_return(func, fresh_copy(func.body), scalars)
    body = substitute(body, variables, {**buffers, **returned, **made, **constants})
    return Substituted(
        body,
        _results(func, {**made, **returned}, scalars),
        tuple(ConstantArray(constants[item.buffer], item.data) for item in func.constants),
        {result: buffers[param] for param, result in returned.items()},
    )


def _check_results(func: PrimFunc) -> None:
    """Refuse results that are not there before the function runs."""
    if any(isinstance(result, ArrayResult) for result in func.returns or ()):
        raise ArgumentError(
            f"the size of a result of '{func.name}' is computed while it runs; a tensor needs one",
            help="call it on arrays, or return an array of the largest size and a count",
        )


def sized_like(func: PrimFunc, args: Sequence[Buffer], params: Sequence[Buffer]) -> list[Buffer]:
    """Buffers for `params`, whose sizes follow from `args`, the first arguments of `func`."""
    variables: dict[Var, Expr] = {}
    for param, arg in zip(func.params, args, strict=False):
        if isinstance(param, Buffer):
            _bind_sizes(param, arg, variables)
    return [
        replace(param, shape=tuple(substitute(extent, variables) for extent in param.shape))
        for param in params
    ]


def _bind(func: PrimFunc, args: Sequence[Argument]) -> tuple[dict[Var, Expr], dict[Buffer, Buffer]]:
    if len(args) != len(func.params):
        raise ArgumentValueError(
            f"'{func.name}' takes {len(func.params)} arguments, found {len(args)}"
        )
    variables: dict[Var, Expr] = {}
    buffers: dict[Buffer, Buffer] = {}
    for param, arg in zip(func.params, args, strict=True):
        if isinstance(param, Buffer) and isinstance(arg, Buffer):
            _bind_sizes(param, arg, variables)
            buffers[param] = arg
        elif not isinstance(param, Buffer) and not isinstance(arg, Buffer):
            variables[param.var] = arg
        else:
            needed = "an array" if isinstance(param, Buffer) else "a number"
            raise ArgumentError(f"parameter '{param.name}' of '{func.name}' is {needed}")
    _check_sizes(func, variables, buffers)
    return variables, buffers


def _bind_sizes(param: Buffer, arg: Buffer, variables: dict[Var, Expr]) -> None:
    if param.dtype is not arg.dtype or param.ndim != arg.ndim:
        raise ArgumentError(
            f"parameter '{param.name}' is {param.dtype} of {param.ndim} dimensions, "
            f"'{arg.name}' is {arg.dtype} of {arg.ndim}"
        )
    for extent, size in zip(param.shape, arg.shape, strict=True):
        if isinstance(extent, Var):
            variables.setdefault(extent, size)


def _check_sizes(func: PrimFunc, variables: dict[Var, Expr], buffers: dict[Buffer, Buffer]) -> None:
    for param, arg in buffers.items():
        for axis, (extent, size) in enumerate(zip(param.shape, arg.shape, strict=True)):
            needed = substitute(extent, variables)
            if not same_size(needed, size):
                raise ArgumentValueError(
                    f"axis {axis} of '{arg.name}' is {format_expr(size)}, '{func.name}' needs "
                    f"{format_expr(needed)} there"
                )


def _check_writes(
    func: PrimFunc, buffers: Mapping[Buffer, Buffer], written: Sequence[Buffer]
) -> None:
    targets = list(buffers.values())
    for node in walk(func.body):
        if not isinstance(node, Store) or node.buffer not in buffers:
            continue
        target = buffers[node.buffer]
        if target not in written:
            raise ArgumentValueError(
                f"'{func.name}' writes to its parameter '{node.buffer.name}', and a tensor "
                "does not change",
                node.span,
                help="let it write to an output_tensor(shape, dtype) and return that",
            )
        if targets.count(target) > 1:
            raise ArgumentValueError(
                f"'{func.name}' writes to its parameter '{node.buffer.name}', which is another "
                f"one, too: both are '{target.name}'",
                node.span,
                help="pass a te.compute that copies it for one of them",
            )


def _without_return(func: PrimFunc, body: Stmt, scalars: Sequence[Buffer]) -> Stmt:
    """The body without the `return` at its end; scalar results are stored."""
    stmts = flat_stmts(body)
    stores: list[Stmt] = []
    last = stmts[-1] if stmts else None
    if isinstance(last, Return):
        stmts.pop()
        stores = [
            Block(buffer.name, (), Store(buffer, (), value))
            for buffer, value in zip(scalars, last.values, strict=True)
        ]
    for node in (node for stmt in stmts for node in walk(stmt)):
        if isinstance(node, Return):
            raise ArgumentError(
                f"'{func.name}' returns before its end, and an operation on tensors cannot",
                node.span,
                help="put what follows into an else branch",
            )
    return seq(*stmts, *stores)


def _results(
    func: PrimFunc, made: Mapping[Buffer, Buffer], scalars: Sequence[Buffer]
) -> tuple[Buffer, ...]:
    left = list(scalars)
    found: list[Buffer] = []
    for result in func.returns or ():
        if isinstance(result, ScalarResult):
            found.append(left.pop(0))
        else:
            assert isinstance(result, Buffer)
            found.append(made[result])
    return tuple(found)
