"""Statements of the source, translated to statements of the IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hybridjit.errors import BoundsError, HybridError, ParseError, ShapeMismatch
from hybridjit.frontend.assignments import declare
from hybridjit.frontend.builder import Builder, Never
from hybridjit.frontend.carried import (
    forget_others,
    is_carried,
    leave_round,
    prepare_loop,
    run_loop,
)
from hybridjit.frontend.expressions import condition
from hybridjit.frontend.frame import Enclosing, LoopScope, Skip
from hybridjit.frontend.inner_functions import bound_names
from hybridjit.frontend.noted_names import note_step
from hybridjit.frontend.values import GrowingList, Items
from hybridjit.ir.dtype import BOOL, WEAK_BOOL
from hybridjit.ir.expr import Const, Expr
from hybridjit.ir.stmt import (
    Break,
    Continue,
    If,
    Raise,
    Stmt,
    While,
)
from hybridjit.lazy import lazy_module
from hybridjit.scalars.operators import logical_not
from hybridjit.scalars.scalar import Scalar
from hybridjit.syntax import children_of

if TYPE_CHECKING:
    from hybridjit.frontend import branches, list_methods, refusals
else:
    branches = lazy_module("hybridjit.frontend.branches")
    list_methods = lazy_module("hybridjit.frontend.list_methods")
    refusals = lazy_module("hybridjit.frontend.refusals")


# A function of MAX_NODES has fewer; only expanded loops and inlined calls get this far. Measured on
# a busy machine: 18,000 stores are accepted in 14 s. Most of what is too large is seen to be so
# before it is expanded (`hybridjit.frontend.expansion_size`), the rest is refused after 0.7 to 7 s.
MAX_STATEMENTS = 20_000


def run_block(build: Builder, body: Sequence[ast.stmt], first: int = 0) -> bool:
    """Translate the statements of a block, from `first` on; True if its end can be reached."""
    chain, build.chain = build.chain, ()
    for position, stmt in enumerate(body):
        if position < first:
            continue
        for web in build.frame.variables.mutable_at(body, position):
            declare(build, web, stmt)
        webs = build.knowledge.divided_at((build.frame.path, stmt))
        rest = [(body, position + 1), *chain]
        if webs and isinstance(stmt, ast.With):
            return branches.divide_with(build, stmt, rest)
        if not webs or not isinstance(stmt, ast.If):
            goes_on = _guarded(build, stmt, partial(build.run_statement, stmt))
        else:
            found: list[Expr] = []
            goes_on = _guarded(build, stmt, partial(_find_condition, build, stmt, found))
            if found:
                return branches.divide(build, stmt, found[0], rest, webs[0])
        end, build.divided_end = build.divided_end, None
        if end is not None:
            return branches.divide_after(build, stmt, end, rest)
        if not goes_on:
            build.frame.unreached.update(bound_names(body[position:]))
            return False
    build.chain = chain
    return True


def _find_condition(build: Builder, stmt: ast.If, found: list[Expr]) -> None:
    cond = condition(build, stmt.test)
    _note_way(build, stmt, cond)
    found.append(cond)


def nested(build: Builder, body: Sequence[ast.stmt], first: int = 0) -> tuple[Stmt, bool]:
    """A block inside another statement, and whether its end can be reached."""
    with build.collect() as stmts:
        build.depth += 1
        known = set(build.frame.bindings)
        goes_on = run_block(build, body, first)
        forget_others(build, known)
        build.depth -= 1
        return build.close(stmts), goes_on


def _guarded(build: Builder, stmt: ast.stmt, run: Callable[[], bool | None]) -> bool:
    """Run a statement; one that fails is noted, and what it would have assigned is poisoned."""
    build.around.append(Enclosing(build.body, stmt, build.frame.path))
    try:
        return _run_or_note(build, stmt, run)
    finally:
        build.around.pop()


def _run_or_note(build: Builder, stmt: ast.stmt, run: Callable[[], bool | None]) -> bool:
    loops, depth, open_loops = len(build.frame.loops), build.depth, build.unit.open_loops
    _count(build, stmt)
    note_step(build, stmt)
    try:
        if isinstance(stmt, (ast.For, ast.While)):
            prepare_loop(build, stmt)
        return run() is not False
    except (ShapeMismatch, BoundsError) as error:
        if build.tries and error is not build.unsure:
            del build.frame.loops[loops:]
            build.depth, build.unit.open_loops = depth, open_loops
            kind = "IndexError" if isinstance(error, BoundsError) else "ValueError"
            build.emit(Raise(kind, (error.message,), span=error.span))
            return False
        build.unit.errors.append(error)
    except HybridError as error:
        if build.unit.statements > MAX_STATEMENTS:
            raise
        build.unit.errors.append(error)
    except Skip as skip:
        build.unit.skipped += 1
        build.unit.unresolved = build.unit.unresolved or skip.unless_known
    except Never as never:
        for ending in never.ending:
            build.emit(ending)
        return False
    del build.frame.loops[loops:]
    build.depth, build.unit.open_loops = depth, open_loops
    _poison(build, stmt)
    return stmt not in build.frame.variables.last


def _count(build: Builder, stmt: ast.stmt) -> None:
    """Stop before copies of copies of code fill the memory."""
    build.unit.statements += 1
    if build.unit.statements > MAX_STATEMENTS:
        raise refuse_growth(build, stmt)


def refuse_growth(build: Builder, stmt: ast.stmt) -> ParseError:
    """The error for a script that becomes too large."""
    return ParseError(
        f"'{build.root.name}' grows to more than {MAX_STATEMENTS} statements: expanded loops "
        "and inlined calls copy their body",
        build.unit.copied_at or build.span(stmt),
        help="use range(...) in place of const_range(...), and call the function fewer times",
    )


def _poison(build: Builder, stmt: ast.stmt) -> None:
    """What a failed statement would have defined is not to be complained about later."""
    for name in bound_names([stmt]):
        web = build.frame.variables.writes.get(name)
        if web is not None:
            build.frame.poisoned.add(web)
    match stmt:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            build.frame.undefined.add(stmt.name)
        case ast.Import() | ast.ImportFrom():
            names = [alias.asname or alias.name.partition(".")[0] for alias in stmt.names]
            build.frame.undefined.update(names)
        case _:
            pass


def run_pass(build: Builder, stmt: ast.Pass) -> None:
    """Nothing."""


def run_delete(build: Builder, stmt: ast.Delete) -> None:
    """A name that is deleted has no value in what follows: see `Flow`. Items leave their list."""
    for target in stmt.targets:
        owner = build.evaluate(target.value) if isinstance(target, ast.Subscript) else None
        match target, owner:
            case ast.Name(), _:
                pass
            case ast.Subscript(), GrowingList() | Items(is_list=True):
                list_methods.delete_item(build, owner, target)
            case _:
                raise refusals.refusal(stmt, build.span(stmt))


# control


def run_if(build: Builder, stmt: ast.If) -> bool:
    try:
        cond = condition(build, stmt.test)
    except Skip:
        _learn_from_sides(build, stmt)
        raise
    _note_way(build, stmt, cond)
    if isinstance(cond, Const):
        return run_block(build, stmt.body if cond.value else stmt.orelse)
    then, then_goes_on = nested(build, stmt.body)
    otherwise, otherwise_goes_on = nested(build, stmt.orelse)
    span = build.span(stmt)
    build.emit(If(cond, then, otherwise if stmt.orelse else None, span=span))
    return then_goes_on or otherwise_goes_on


def _note_way(build: Builder, stmt: ast.If, cond: Expr) -> None:
    """Note which way an `if` goes. If another call or an earlier round went one way only, the other
    side is not known to this round: the next one knows both.
    """
    way = bool(cond.value) if isinstance(cond, Const) else None
    build.unit.branches.setdefault(stmt, set()).add(way)
    if build.knowledge.taken.get(stmt, way) is not way:
        raise Skip


def _learn_from_sides(build: Builder, stmt: ast.If) -> None:
    """Look at what a condition guards that this round cannot tell: it may give the condition what
    it needs, as in `if i == 0 or x[i] > top: top = x[i]`. Whether it is right, later rounds see.
    """
    errors = len(build.unit.errors)
    for way, side in ((True, stmt.body), (False, stmt.orelse)):
        if build.knowledge.taken.get(stmt, way) is way:
            nested(build, side)
    del build.unit.errors[errors:]


def run_while(build: Builder, stmt: ast.While) -> bool:
    test, needed = build.reached(partial(condition, build, stmt.test), is_sure=True)
    if test is None:
        build.body.extend(needed)
        raise Never
    span = build.span(stmt)
    if isinstance(test, Const) and not test.value:
        return True
    is_plain = not needed and not is_carried(build, stmt)
    is_endless = isinstance(test, Const) and (is_plain or isinstance(stmt.test, ast.Constant))
    head = test if is_plain else Const(True, BOOL, span=span)

    def once() -> bool:
        build.depth += 1
        goes_on = is_plain or is_endless or _go_on_if(build, stmt)
        goes_on = goes_on and run_block(build, stmt.body)
        build.depth -= 1
        return goes_on

    build.frame.loops.append(LoopScope(None, "while"))
    run_loop(build, stmt, once, lambda body: While(head, body, span=span), may_not_run=False)
    build.frame.loops.pop()
    return not is_endless or has_break(stmt.body)


def _go_on_if(build: Builder, stmt: ast.While) -> bool:
    """Leave a loop whose condition needs statements, or is another in each state.

    True if it may go on.
    """
    span = build.span(stmt)
    test = condition(build, stmt.test)
    if isinstance(test, Const) and test.value:
        return True
    with build.collect() as stmts:
        leave_round(build, and_loop=True)
        build.emit(Break(span=span))
    if isinstance(test, Const):
        build.body.extend(stmts)
        return False
    stop = logical_not(Scalar(test, WEAK_BOOL), span).expr
    build.emit(If(stop, build.close(stmts), span=span))
    return True


def leave_loop(build: Builder, stmt: ast.Break | ast.Continue) -> bool:
    word = "break" if isinstance(stmt, ast.Break) else "continue"
    if not build.frame.loops:
        raise build.refuse(f"{word} outside a loop", stmt)
    loop = build.frame.loops[-1]
    if loop.is_expanded:
        raise build.refuse(
            f"{word} in a {loop.word} loop: it is expanded while the script is read",
            stmt,
            help="loop over range(...), or put the rest of the body under an if",
        )
    if word == "break" and loop.is_grid:
        raise build.refuse(
            "break in a grid loop would have to leave several loops at once",
            stmt,
            help="write the loops one by one with range(...)",
        )
    if word == "break" and loop.kind is not None and loop.kind.is_concurrent:
        raise build.refuse(
            f"break in a {loop.word} loop: its iterations have no order",
            stmt,
            help="loop over range(...)",
        )
    leave_round(build, and_loop=word == "break")
    build.emit((Break if word == "break" else Continue)(span=build.span(stmt)))
    return False


def has_break(body: Sequence[ast.stmt]) -> bool:
    """True if a `break` in `body` leaves the loop that `body` belongs to."""
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Break):
            return True
        if not isinstance(node, (ast.For, ast.While)):
            stack.extend(children_of(node))
    return False
