"""decompose_reduction: take the init of a reduction out of its block, before a loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from hybridjit.analysis.dependence import Dependences
from hybridjit.analysis.instances import Instances, infer_instances
from hybridjit.arith.linear import linear_form
from hybridjit.arith.simplify import simplify
from hybridjit.arith.substitution import FoldingSubstitute
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import BufferRef, Const, Eq, Expr, Load, Lt, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Block, For, If, IterKind, Let, Seq, Stmt, Store, seq
from hybridjit.ir.visit import fresh_copy, substitute, walk, walk_stmts
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.nest import bounds_of, trip_count
from hybridjit.schedule.program import (
    is_left_early,
    loops_around,
    path_to,
    replace_stmt,
    the_block,
    the_loop,
    variables_in,
    variables_used,
)
from hybridjit.schedule.refusal import refuse, refuse_conflict
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
    path = _check_path(func, block, loop)
    reduced = _reduce_loops(func, block, path)
    _check_dependences(func, block, loop)

    init_name = fresh_block_name(func, f"{name}_init")
    iters = tuple(item for item in block.iters if item.kind is not IterKind.REDUCE)
    nest: Stmt = Block(init_name, iters, _init_at_start(block, path, reduced), span=block.span)
    for condition in reversed(_conditions_to_run(func, block, path, reduced)):
        nest = If(condition, nest, span=block.span)
    for around in reversed(path):
        if isinstance(around, For) and around.var not in reduced:
            nest = dataclasses.replace(around, body=nest)
    _check_names(func, block, loop, nest)
    rest = replace_stmt(func, block, dataclasses.replace(block, init=None))
    left = the_loop(rest, var)
    return bind_loops(replace_stmt(rest, left, seq(fresh_copy(nest), left))), init_name


def _check_path(func: PrimFunc, block: Block, loop: For) -> tuple[Stmt, ...]:
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
    for stmt in inside:
        match stmt:
            case For() if all(map(is_total, bounds_of(stmt))) and not is_left_early(stmt):
                pass
            case If(cond, _, None) if is_total(cond):
                pass
            case Seq():
                pass
            case _:
                raise refuse(
                    func,
                    f"decompose_reduction: block '{block.name}' may or may not run, depending on "
                    "what is only known in the loop",
                    [loop, block],
                )
    return inside


def _reduce_loops(func: PrimFunc, block: Block, path: Sequence[Stmt]) -> dict[Var, For]:
    """The loops that only the reduction runs over: the init runs in their first iteration."""
    loops = {stmt.var: stmt for stmt in path if isinstance(stmt, For)}
    outside = {around.var for around in loops_around(func, path[0])}
    spatial = _variables(block, is_reduce=False)
    reduced = {var: loop for var, loop in loops.items() if var not in spatial}
    for var in _variables(block, is_reduce=True):
        if var in outside and var not in spatial:
            raise refuse(
                func,
                f"decompose_reduction: the reduction runs over loop '{var.name}', too, which is "
                "further out",
                [var, block],
                help="take the outermost loop of the reduction, or one around it",
            )
    for var, loop in reduced.items():
        if not _starts_once(block, loop, reduced) and loop.extent != Const(1):
            raise refuse(
                func,
                f"decompose_reduction: every iteration of loop '{var.name}' starts the reduction "
                "anew",
                [loop, block],
                help="take a loop inside of it",
            )
    return reduced


def _variables(block: Block, *, is_reduce: bool) -> list[Var]:
    items = [item for item in block.iters if (item.kind is IterKind.REDUCE) is is_reduce]
    return [var for item in items for var in variables_in(item.value)]


def _starts_once(block: Block, loop: For, reduced: Mapping[Var, For]) -> bool:
    """Whether an iter of the reduction is at its start in the first iteration of `loop` only.

    A sum of loop variables is, if all of them move it the same way.
    """
    for item in block.iters:
        if item.kind is not IterKind.REDUCE:
            continue
        if item.value is loop.var and item.domain is None:
            return True
        form = linear_form(item.value)
        if form is None or loop.var not in form.terms:
            continue
        moves = [
            (reduced[var].step, factor) for var, factor in form.terms.items() if var in reduced
        ]
        if len({_sign(step) * (1 if factor > 0 else -1) for step, factor in moves} - {0}) == 1:
            return all(_sign(step) for step, _ in moves)
    return False


def _sign(step: Expr) -> int:
    """1 or -1 for a constant; 0 for a step that is not known."""
    if not isinstance(step, Const):
        return 0
    return 1 if step.value.real > 0 else -1


def _check_dependences(func: PrimFunc, block: Block, loop: For) -> None:
    """Nothing that runs in the loop before the init may mind if the init comes first."""
    assert block.init is not None
    part = infer_instances(func, loop, products=True)
    first = {found.name for found in part.inside(block.init)}

    def moved(statement: Instances) -> tuple[str, ...]:
        return ("0" if statement.name in first else "1", *statement.time)

    conflict = Dependences(part, ordered=True).find_reversed(lambda found: found.time, moved)
    if conflict is not None:
        raise refuse_conflict(
            func,
            f"decompose_reduction: the init of block '{block.name}' cannot come before loop "
            f"'{loop.var.name}'",
            conflict,
            [loop],
        )


def _conditions_to_run(
    func: PrimFunc, block: Block, path: Sequence[Stmt], reduced: Mapping[Var, For]
) -> list[Expr]:
    """What must hold for the init to run: a reduction over nothing leaves its element alone."""
    first: dict[Var, Expr] = {}
    conditions: list[Expr] = []
    for stmt in path:
        if isinstance(stmt, If):
            conditions.append(substitute(stmt.cond, first))
        elif isinstance(stmt, For) and stmt.var in reduced:
            conditions.append(Lt(Const(0), substitute(trip_count(func, stmt), first)))
            first[stmt.var] = substitute(stmt.start, first)
    for item in block.iters:
        if item.kind is IterKind.REDUCE and item.domain is not None:
            conditions.append(Eq(substitute(item.value, first), item.domain[0]))
    values = {item.var: item.value for item in block.iters}
    simple = [simplify(substitute(condition, values)) for condition in conditions]
    if any(isinstance(found, Const) and not found.value for found in simple):
        raise refuse(
            func, f"decompose_reduction: the init of block '{block.name}' never runs", [block]
        )
    return [found for found in simple if not isinstance(found, Const)]


def _init_at_start(block: Block, path: Sequence[Stmt], reduced: Mapping[Var, For]) -> Stmt:
    """The init, with what the iters of the reduction are when it runs in their place."""
    assert block.init is not None
    first: dict[Var, Expr] = {}
    for stmt in path:
        if isinstance(stmt, For) and stmt.var in reduced:
            first[stmt.var] = substitute(stmt.start, first)
    values = {
        item.var: simplify(substitute(item.value, first))
        for item in block.iters
        if item.kind is IterKind.REDUCE
    }
    return FoldingSubstitute(values).rewrite(block.init)


def _check_names(func: PrimFunc, block: Block, loop: For, nest: Stmt) -> None:
    """What the loop itself binds does not exist before it."""
    kept = {node.var for node in walk_stmts(nest) if isinstance(node, For)}
    bound = {node.var for node in walk_stmts(loop) if isinstance(node, Let | For)} - kept
    made = {node.buffer for node in walk_stmts(loop) if isinstance(node, Allocate)}
    used = [var.name for var in variables_used(nest) if var in bound]
    used += [
        node.buffer.name
        for node in walk(nest)
        if isinstance(node, Load | Store | BufferRef) and node.buffer in made
    ]
    if used:
        raise refuse(
            func,
            f"decompose_reduction: the init of block '{block.name}' needs '{used[0]}', which loop "
            f"'{loop.var.name}' makes",
            [loop, block],
            help="take a loop further in",
        )
