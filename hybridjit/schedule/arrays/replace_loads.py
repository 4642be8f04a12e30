"""Put values in the place of reads of an array, so that the IR stays as it should be."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hybridjit.arith.ranges import tidy
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Neg, Node, Var, const
from hybridjit.ir.stmt import If, Let, Seq, Stmt, Store, seq
from hybridjit.ir.visit import Mutator, Substitute, rewrite


def folded(expr: Expr) -> Expr:
    """An expression in which constants took the place of variables, as the IR wants it."""

    def rule(node: Node) -> Node | None:
        match node:
            case Neg(Const(value, dtype)) if dtype.is_inexact:
                return const(-value, dtype)
            case _:
                return None

    return rewrite(simplify(expr), rule)


class _AtIndices(Substitute):
    """Put indices in the place of variables, and keep the indices of what is read tidy."""

    def rewrite_Load(self, node: Load) -> Expr:
        done: Load = self.generic(node)
        return done if done is node else replace(done, indices=tuple(map(tidy, done.indices)))


def element_at(
    places: Mapping[Var, Expr], lets: Sequence[Let], value: Expr
) -> tuple[list[Let], Expr]:
    """A value at some indices: what must be computed first, with names of its own, and it."""
    put_in = _AtIndices(places)
    needed: list[Let] = []
    for let in lets:
        inner = folded(put_in.rewrite(let.value))
        put_in.variables[let.var] = inner
        if not isinstance(inner, (Const, Var)):
            var = Var(let.var.name, let.var.of, span=let.var.span)
            needed.append(Let(var, inner, span=let.span))
            put_in.variables[let.var] = var
    return needed, put_in.rewrite(value)


class ReplaceLoads(Mutator):
    """Replace the reads of `buffer` by `value_of` them; `lets` go before the statement.

    `known` are names that turn out to stand for a constant or for another name.
    """

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.lets: list[Let] = []
        self.known: dict[Var, Expr] = {}

    def value_of(self, load: Load) -> Expr:
        """What stands in the place of a read."""
        raise NotImplementedError

    def rewrite_Seq(self, node: Seq) -> Stmt:
        done = [self.rewrite(stmt) for stmt in node.stmts]
        return node if all(map(operator.is_, done, node.stmts)) else seq(*done)

    def rewrite_If(self, node: If) -> Stmt:
        cond = self._value(node.cond)
        needed = self._taken()
        then = self.rewrite(node.then)
        otherwise = None if node.otherwise is None else self.rewrite(node.otherwise)
        if not isinstance(cond, Const):
            if (cond, then, otherwise) == (node.cond, node.then, node.otherwise):
                return node
            return seq(*needed, replace(node, cond=cond, then=then, otherwise=otherwise))
        chosen = then if cond.value else otherwise
        return seq(*needed, Seq(()) if chosen is None else chosen)

    def rewrite_Let(self, node: Let) -> Stmt:
        value = self._value(node.value)
        if isinstance(value, (Const, Var)):
            self.known[node.var] = value
            return seq(*self._taken())
        if value is node.value:
            return node
        return seq(*self._taken(), replace(node, value=value))

    def rewrite_Store(self, node: Store) -> Stmt:
        value = self._value(node.value)
        indices = tuple(map(self._value, node.indices))
        if value is node.value and all(map(operator.is_, indices, node.indices)):
            return node
        return seq(*self._taken(), replace(node, value=value, indices=indices))

    def rewrite_Load(self, node: Load) -> Expr:
        done: Load = self.generic(node)
        return self.value_of(done) if done.buffer is self.buffer else done

    def rewrite_Var(self, node: Var) -> Expr:
        return self.known.get(node, node)

    def _value(self, expr: Expr) -> Expr:
        done = self.rewrite(expr)
        return done if done is expr else folded(done)

    def _taken(self) -> list[Let]:
        taken, self.lets = self.lets, []
        return taken
