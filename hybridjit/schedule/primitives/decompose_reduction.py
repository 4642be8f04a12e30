"""decompose_reduction: take the init of a reduction out of its block, before a loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import And, Const, Expr, Load, Lt, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, If, Iter, IterKind, Stmt, Store, seq
from hybridjit.ir.visit import fresh_copy, walk
from hybridjit.schedule.program import (
    path_to,
    replace_stmt,
    replace_stmts,
    the_block,
    the_loop,
    variables_in,
)
from hybridjit.schedule.refusal import refuse
from hybridjit.schedule.staging import fresh_block_name


def decompose_reduction(func: PrimFunc, name: str, var: Var) -> tuple[PrimFunc, str]:
    """Run the init of block `name` in a nest of its own, right before the loop over `var`.

        for i in range(n):                    for i in range(n):
            for k in range(m):                    with block("c_init", i):
                with block("c", i, k):               c[i] = 0
                    with init():         -->      for k in range(m):
                        c[i] = 0                      with block("c", i, reduce(k)):
                    c[i] += a[i, k]                       c[i] += a[i, k]

    The loop stands around the block, and all loops of the reduction are in it or are it.
    """
    block, loop = the_block(func, name), the_loop(func, var)
    path = _check(func, block, loop)
    reduced = _reduce_loops(block, path)
    _check_alone(func, block, loop)

    init_name = fresh_block_name(func, f"{name}_init")
    iters = tuple(item for item in block.iters if item.kind is not IterKind.REDUCE)
    assert block.init is not None
    nest: Stmt = Block(init_name, iters, block.init, span=block.span)
    for around in reversed(path):
        if isinstance(around, For) and around.var not in reduced:
            nest = dataclasses.replace(around, body=nest)
        elif isinstance(around, If) and not _is_tail(around, block, reduced):
            nest = dataclasses.replace(around, then=nest)
    runs = _condition_to_run(func, block, path, reduced)
    nest = nest if runs is None else If(runs, nest, span=loop.span)
    rest = replace_stmts(func, {block: dataclasses.replace(block, init=None)})
    return replace_stmt(
        rest, the_loop(rest, var), seq(fresh_copy(nest), the_loop(rest, var))
    ), init_name


def _check(func: PrimFunc, block: Block, loop: For) -> tuple[Stmt, ...]:
    """The statements from `loop` down to `block`, which is not among them."""
    if block.init is None:
        raise refuse(func, f"decompose_reduction: block '{block.name}' has no init", [block])
    path = path_to(func, block)[:-1]
    if loop not in path:
        raise refuse(
            func,
            f"decompose_reduction: loop '{loop.var.name}' is not around block '{block.name}'",
            [loop, block],
        )
    inside = path[path.index(loop) :]
    outside = [stmt.var for stmt in path[: path.index(loop)] if isinstance(stmt, For)]
    for item in block.iters:
        if item.kind is IterKind.REDUCE and any(v in outside for v in variables_in(item.value)):
            raise refuse(
                func,
                f"decompose_reduction: loop '{loop.var.name}' is inside a loop of the reduction",
                [loop, block],
                help="take the outermost loop of the reduction, or one around it",
            )
    if any(isinstance(stmt, If) and stmt.otherwise is not None for stmt in inside):
        raise refuse(func, "decompose_reduction: the block stands in one side of an if", [block])
    return inside


def _reduce_loops(block: Block, path: Sequence[Stmt]) -> set[Var]:
    """The variables of the loops that only the reduction runs over."""
    spatial = {
        var
        for item in block.iters
        if item.kind is not IterKind.REDUCE
        for var in variables_in(item.value)
    }
    return {stmt.var for stmt in path if isinstance(stmt, For) and stmt.var not in spatial}


def _check_alone(func: PrimFunc, block: Block, loop: For) -> None:
    """Nothing else in the loop may touch what the init sets."""
    assert block.init is not None
    written = {node.buffer for node in walk(block.init) if isinstance(node, Store)}
    own = {node for node in walk(block)}
    for node in walk(loop):
        if isinstance(node, Load | Store) and node not in own and node.buffer in written:
            raise refuse(
                func,
                f"decompose_reduction: '{node.buffer.name}' is used in loop '{loop.var.name}' "
                f"besides block '{block.name}'",
                [loop],
            )


def _is_tail(guard: If, block: Block, reduced: set[Var]) -> bool:
    """Whether `guard` only keeps a split loop of the reduction inside its range."""
    if not any(var in reduced for var in variables_in(guard.cond)):
        return False
    return any(
        item.domain is not None and guard.cond == Lt(item.value, item.domain[1])
        for item in block.iters
        if item.kind is IterKind.REDUCE
    )


def _condition_to_run(
    func: PrimFunc, block: Block, path: Sequence[Stmt], reduced: set[Var]
) -> Expr | None:
    """A reduction over nothing leaves its element alone: there the init must not run."""
    for stmt in path:
        if not isinstance(stmt, If) or _is_tail(stmt, block, reduced):
            continue
        if any(var in reduced for var in variables_in(stmt.cond)):
            raise refuse(func, "decompose_reduction: a guard depends on the reduction", [stmt])
    ranges = [_range(item, path) for item in block.iters if item.kind is IterKind.REDUCE]
    conditions = [simplify(Lt(start, stop)) for start, stop in ranges]
    if any(isinstance(cond, Const) and not cond.value for cond in conditions):
        raise refuse(func, "decompose_reduction: the reduction runs over nothing", [block])
    result: Expr | None = None
    for condition in conditions:
        if not is_total(condition) or any(var in reduced for var in variables_in(condition)):
            raise refuse(
                func, "decompose_reduction: whether the reduction runs is not known before", [block]
            )
        if not isinstance(condition, Const):
            result = condition if result is None else And(result, condition)
    return result


def _range(item: Iter, path: Sequence[Stmt]) -> tuple[Expr, Expr]:
    """What an iter of the reduction ranges over."""
    if item.domain is not None:
        return item.domain
    loop = next(stmt for stmt in path if isinstance(stmt, For) and stmt.var is item.value)
    ascending = isinstance(loop.step, Const) and loop.step.value.real > 0
    return (loop.start, loop.stop) if ascending else (loop.stop, loop.start)
