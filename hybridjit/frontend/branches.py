"""Branches that give one name different arrays: what follows is translated once for each.

    if c:                       if c:
        x = a                       x = a
    else:                           use(x)
        x = b          -->      else:
    use(x)                          x = b
                                    use(x)

A number can be a variable that both branches store to, and so can arrays of one shape and type.
Other arrays cannot: a name stands for one of them when the script is translated.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from hybridjit.frontend.assignments import declare
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.carried import leave_round
from hybridjit.frontend.frame import LoopEnd, Path, Resizable, Segment, Variable
from hybridjit.frontend.resized import as_view
from hybridjit.frontend.values import Value
from hybridjit.frontend.variables import Web
from hybridjit.ir.expr import Const, Eq, Expr, Load
from hybridjit.ir.stmt import If, Stmt


def divide_with(build: Builder, stmt: ast.With, rest: Sequence[Segment]) -> bool:
    """Translate a `with` that has no block of its own as if what follows it stood in it."""
    return _run_chain(build, [(stmt.body, 0), *rest])


def divide(build: Builder, stmt: ast.If, cond: Expr, rest: Sequence[Segment], web: Web) -> bool:
    """Translate an `if`, and what follows it, for each branch on its own."""
    if isinstance(cond, Const):  # what is to be divided stands in the branch that is taken
        return _run_chain(build, [(stmt.body if cond.value else stmt.orelse, 0), *rest])
    blocks = ([(stmt.body, 0), *rest], [(stmt.orelse, 0), *rest])
    sides, goes_on = _divided(build, blocks, [{}, {}], stmt, [web])
    build.emit(If(cond, sides[0], sides[1], span=build.span(stmt)))
    return goes_on


def divide_after(build: Builder, stmt: ast.stmt, end: LoopEnd, rest: Sequence[Segment]) -> bool:
    """Translate what follows a loop for each state in which it may have ended."""
    webs, states = end.carry.webs, [end.carry.states[k] for k in end.exits]
    stood = [{web: _stood(build, v) for web, v in zip(webs, s, strict=True)} for s in states]
    sides, goes_on = _divided(build, [rest] * len(states), stood, stmt, webs)
    body = sides[-1]
    for position, side in reversed(list(zip(end.exits[:-1], sides[:-1], strict=True))):
        test = Eq(Load(end.carry.register), Const(position))
        body = If(test, side, body, span=build.span(stmt))
    build.emit(body)
    return goes_on


def _stood(build: Builder, value: Value | Variable | Resizable) -> Value | Variable:
    return as_view(build, value) if isinstance(value, Resizable) else value


def _divided(
    build: Builder,
    chains: Sequence[Sequence[Segment]],
    stood: Sequence[Mapping[Web, Value | Variable]],
    stmt: ast.stmt,
    webs: Sequence[Web],
) -> tuple[list[Stmt], bool]:
    """Blocks to the end, with what names stand for in each; whether an end can be reached."""
    bindings, homes, home = build.frame.bindings, dict(build.homes), build.body
    blocks = build.carries[-1].blocks if build.carries else []
    ends_round = any(block is home for block in blocks)
    sides: list[Stmt] = []
    goes_on = False
    for chain, known in zip(chains, stood, strict=True):
        build.frame.bindings, build.homes = {**bindings, **known}, dict(homes)
        with build.collect() as stmts:
            build.depth += 1
            for web in webs:
                _settle(build, web, home, stmt)
            if ends_round:
                blocks.append(stmts)
            side_goes_on = _run_chain(build, chain)
            if side_goes_on and ends_round:
                leave_round(build)
                side_goes_on = False
            goes_on = goes_on or side_goes_on
            build.depth -= 1
            sides.append(build.close(stmts))
            _keep_first_arrays(build, bindings, homes, home)
    build.frame.bindings, build.homes = bindings, homes
    return sides, goes_on


def _keep_first_arrays(
    build: Builder,
    bindings: dict[Web, Value | Variable],
    homes: Mapping[tuple[Path, Web], list[Stmt]],
    home: list[Stmt],
) -> None:
    """Names from further out that got their first array in a branch have it after it, too."""
    for web, bound in bindings.items():
        is_new = isinstance(bound, Variable) and build.frame.bindings[web] is not bound
        if is_new and homes.get((build.frame.path, web)) is not home:
            bindings[web] = build.frame.bindings[web]


def _settle(build: Builder, web: Web, home: list[Stmt], stmt: ast.stmt) -> None:
    """Make names live in the branch that is being translated; they keep what they stand for."""
    for key, block in build.homes.items():
        if block is home:
            build.homes[key] = build.body
    bound = build.frame.bindings[web]
    if isinstance(bound, Variable) and bound.buffer is None:
        declare(build, web, stmt)


def _run_chain(build: Builder, segments: Sequence[Segment]) -> bool:
    """Translate blocks one after the other; an `if` that is divided takes what follows it."""
    outer, build.chain = build.chain, segments
    goes_on = True
    while goes_on and build.chain:
        (block, first), build.chain = build.chain[0], build.chain[1:]
        goes_on = build.run_block(block, first)
    build.chain = outer
    return goes_on
