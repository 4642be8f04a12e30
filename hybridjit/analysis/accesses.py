"""Every place where a statement reads or writes an element, and what is known of it there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridjit.ir.expr import Buffer, Expr, Load, Node, Not, Var
from hybridjit.ir.stmt import Allocate, Block, For, If, Let, Seq, Stmt, Store, While
from hybridjit.ir.visit import children, substitute, walk
from hybridjit.record import record

Scope = tuple[For | Let | Expr, ...]
"""The loops and names that a place is in, and the conditions that it is under, outermost first.

The iteration variables of blocks are names for their values.
"""


@record(eq=False)
class Access:
    """A load or a store, and what stands around it, from the statement on that was looked at."""

    node: Load | Store
    scope: Scope = ()

    @property
    def buffer(self) -> Buffer:
        """The buffer of the element."""
        return self.node.buffer

    @property
    def indices(self) -> tuple[Expr, ...]:
        """Where the element is."""
        return self.node.indices

    @property
    def is_write(self) -> bool:
        """True for a store."""
        return isinstance(self.node, Store)


def find_accesses(*roots: Node, scope: Scope = ()) -> list[Access]:
    """Every access in `roots`, which stand in `scope`, in the order of the text."""
    collector = _Collector([], list(scope))
    for root in roots:
        collector.visit(root)
    return collector.found


@record(frozen=False)
class _Collector:
    found: list[Access]
    scope: list[For | Let | Expr]

    def visit(self, node: Node) -> None:
        match node:
            case Seq() | For() | If() | While() | Block():
                self._compound(node)
            case Allocate(buffer):
                self._expressions(buffer.shape)
            case _:
                self._expressions([node])

    def _compound(self, stmt: Stmt) -> None:
        known = len(self.scope)
        # The bounds of a loop are evaluated outside of it, and so are conditions.
        self._expressions([child for child in children(stmt) if not isinstance(child, Stmt)])
        for inner, items in parts_of(stmt):
            self.scope.extend(items)
            if inner is not None:
                self.visit(inner)
                del self.scope[len(self.scope) - len(items) :]
        del self.scope[known:]

    def _expressions(self, roots: Sequence[Node]) -> None:
        scope = tuple(self.scope)
        for root in roots:
            nodes = (node for node in walk(root) if isinstance(node, Load | Store))
            self.found.extend(Access(node, scope) for node in nodes)


def parts_of(stmt: Stmt) -> Iterator[tuple[Stmt | None, Scope]]:
    """The statements in a compound one, each with what holds in it alone.

    None stands for no statement: what comes with it holds for the rest.
    """
    match stmt:
        case Seq(stmts):
            for inner in stmts:
                yield inner, ()
                if isinstance(inner, Let):
                    yield None, (inner,)
        case For(body=body):
            yield body, (stmt,)
        case While(body=body):
            yield body, ()
        case If(cond, then, otherwise):
            yield then, (cond,)
            if otherwise is not None:
                yield otherwise, (Not(cond),)
        case Block(iters=iters, body=body, init=init):
            yield None, tuple(Let(item.var, item.value) for item in iters)
            if init is not None:
                yield init, ()
            yield body, ()
        case _:
            pass


def scopes_of_loops(root: Stmt) -> dict[Var, Scope]:
    """What stands around each loop in `root`, by the loop's variable."""
    return {stmt.var: scope for stmt, scope in _scopes(root) if isinstance(stmt, For)}


def scope_of(root: Stmt, wanted: Stmt) -> Scope:
    """What stands around a statement in `root`."""
    return next(scope for stmt, scope in _scopes(root) if stmt is wanted)


def _scopes(root: Stmt) -> Iterator[tuple[Stmt, Scope]]:
    stack: list[tuple[Stmt, Scope]] = [(root, ())]
    while stack:
        stmt, scope = stack.pop()
        yield stmt, scope
        for inner, items in parts_of(stmt):
            if inner is None:
                scope = (*scope, *items)
            else:
                stack.append((inner, (*scope, *items)))


def in_another_iteration(access: Access) -> tuple[Scope, tuple[Expr, ...]]:
    """The scope and indices of an access once more: all that an iteration binds has new names."""
    names: dict[Var, Expr] = {}
    scope: list[For | Let | Expr] = []
    for item in access.scope:
        if isinstance(item, Expr):
            scope.append(substitute(item, names))
            continue
        fresh = Var(item.var.name, item.var.of)
        scope.append(_with_name(item, fresh, names))
        names[item.var] = fresh
    return tuple(scope), tuple(substitute(index, names) for index in access.indices)


def _with_name(item: For | Let, var: Var, names: dict[Var, Expr]) -> For | Let:
    if isinstance(item, Let):
        return Let(var, substitute(item.value, names))
    start, stop = substitute(item.start, names), substitute(item.stop, names)
    return For(var, start, stop, substitute(item.step, names), item.body)
