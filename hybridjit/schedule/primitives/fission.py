"""fission: a loop over several statements becomes several loops."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hybridjit.analysis.accesses import scopes_of_loops
from hybridjit.analysis.dependence import Dependences
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.instances import Instances, infer_instances
from hybridjit.arith.totality import is_total
from hybridjit.ir.expr import Buffer, BufferRef, Load, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Continue, For, Let, LoopKind, Stmt, Store, flat_stmts, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.schedule.program import (
    is_left_early,
    jumps,
    replace_stmt,
    the_block,
    the_loop,
    variables_used,
)
from hybridjit.schedule.refusal import refuse, refuse_conflict


def fission(
    func: PrimFunc, var: Var, after: str, *, unsafe: bool = False
) -> tuple[PrimFunc, tuple[Var, Var]]:
    """Cut the body of the loop over `var` after the statement with the block called `after`.

        for i in range(n):            for i in range(n):
            a(i)               -->        a(i)
            b(i)                      for i in range(n):
                                          b(i)

    Legal if nothing that `a` does in an iteration depends on an earlier iteration of `b`.
    """
    check_fission(func, var, after, unsafe=unsafe)
    return make_fission(func, var, after)


def check_fission(func: PrimFunc, var: Var, after: str, *, unsafe: bool = False) -> None:
    """Refuse parts that share more than names, or, unless `unsafe`, depend on each other."""
    loop = the_loop(func, var)
    stmts = flat_stmts(loop.body)
    cut = _find_cut(func, loop, stmts, after)
    _find_shared(func, loop, stmts[:cut], stmts[cut:])
    _check_loop(func, loop)
    if not unsafe:
        _check_dependences(func, loop, stmts, cut)


def make_fission(func: PrimFunc, var: Var, after: str) -> tuple[PrimFunc, tuple[Var, Var]]:
    """`func` with two loops in the place of one, and their variables."""
    loop = the_loop(func, var)
    stmts = flat_stmts(loop.body)
    cut = _find_cut(func, loop, stmts, after)
    shared = _find_shared(func, loop, stmts[:cut], stmts[cut:])
    first = dataclasses.replace(loop, body=seq(*stmts[:cut]))
    rest = dataclasses.replace(loop, body=seq(*shared, *stmts[cut:]))
    second = Var(var.name, var.of)
    # Every variable is bound once: the second loop has its own, and its own names for indices.
    renamed = {let.var: Var(let.var.name, let.var.of) for let in shared}
    body = substitute(rest.body, {var: second, **renamed})
    body = seq(*(_rename(stmt, renamed) for stmt in flat_stmts(body)))
    rest = dataclasses.replace(rest, var=second, body=body)
    return replace_stmt(func, loop, seq(first, rest)), (var, second)


def _rename(stmt: Stmt, renamed: dict[Var, Var]) -> Stmt:
    if isinstance(stmt, Let) and stmt.var in renamed:
        return dataclasses.replace(stmt, var=renamed[stmt.var])
    return stmt


def _find_cut(func: PrimFunc, loop: For, stmts: Sequence[Stmt], after: str) -> int:
    block = the_block(func, after)
    for position, stmt in enumerate(stmts):
        if any(node is block for node in walk(stmt)):
            if position + 1 == len(stmts):
                raise refuse(
                    func, f"fission: block '{after}' is the last in loop '{loop.var.name}'", [loop]
                )
            return position + 1
    raise refuse(func, f"fission: block '{after}' is not in loop '{loop.var.name}'", [loop])


def _find_shared(
    func: PrimFunc, loop: For, first: Sequence[Stmt], rest: Sequence[Stmt]
) -> list[Let]:
    """The names of the first part that the second needs too and can compute for itself."""
    nodes = [node for stmt in rest for node in walk(stmt)]
    used = {var for stmt in rest for var in variables_used(stmt)}
    touched = {node.buffer for node in nodes if isinstance(node, Load | Store | BufferRef)}
    shared: list[Let] = []
    for stmt in reversed(first):
        if isinstance(stmt, Allocate) and stmt.buffer in touched:
            raise _refuse_shared(func, loop, stmt.buffer)
        if isinstance(stmt, Let) and stmt.var in used:
            if not is_total(stmt.value):
                raise _refuse_shared(func, loop, stmt.var)
            shared.append(stmt)
            used |= {node for node in walk(stmt.value) if isinstance(node, Var)}
    return shared[::-1]


def _refuse_shared(func: PrimFunc, loop: For, what: Buffer | Var) -> Exception:
    marks: list[Node] = [loop.var]
    return refuse(
        func,
        f"fission: '{what.name}' belongs to one iteration of loop '{loop.var.name}', and both "
        "parts use it",
        marks,
        help="store it in an array with one element for each iteration",
    )


def _check_loop(func: PrimFunc, loop: For) -> None:
    if loop.kind not in (LoopKind.SERIAL, LoopKind.SCAN):
        raise refuse(func, f"loop '{loop.var.name}' is {loop.kind.value} already", [loop])
    if is_left_early(loop) or jumps(loop.body, Continue):
        raise refuse(
            func,
            f"fission: break, continue or return may leave the body of loop '{loop.var.name}'",
            [loop],
        )
    if not all(is_total(bound) for bound in (loop.start, loop.stop, loop.step)):
        raise refuse(
            func, f"fission: the bounds of loop '{loop.var.name}' read memory or may fail", [loop]
        )


def _check_dependences(func: PrimFunc, loop: For, stmts: Sequence[Stmt], cut: int) -> None:
    independence = Independence.at(func, scopes_of_loops(func.body)[loop.var])
    named = [stmt for stmt in stmts[:cut] if isinstance(stmt, Let)]
    rest = seq(*named, *stmts[cut:])
    if independence.prove_first_goes_ahead(loop, seq(*stmts[:cut]), rest):
        return
    part = infer_instances(func, loop, products=True)
    early = {id(node) for stmt in stmts[:cut] for node in walk(stmt)}

    def separated(statement: Instances) -> tuple[str, ...]:
        return ("0" if id(statement.node) in early else "1", *statement.time)

    conflict = Dependences(part, func.fastmath).find_reversed(lambda found: found.time, separated)
    if conflict is not None:
        raise refuse_conflict(
            func,
            f"fission of loop '{loop.var.name}' would turn a dependence around",
            conflict,
            [loop],
        )
