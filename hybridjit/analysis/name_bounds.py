"""Name the bounds of loops whose iterations change what the bounds are read from.

    for j in range(b[0]):                  stop = b[0]
        b[j] = 3                   -->     for j in range(stop):
                                               b[j] = 3

A range is made once, before its loop. Whoever writes a bound in a second place, as a loop that is
split does in its guard, may then read it there: nothing has changed it in between.
"""

from __future__ import annotations

import dataclasses

from hybridjit.ir.expr import Buffer, BufferRef, Expr, Load, Var
from hybridjit.ir.stmt import For, Let, Stmt, Store, seq
from hybridjit.ir.visit import StmtMutator, walk


def name_changed_bounds(body: Stmt) -> Stmt:
    """`body` with loops whose bounds are the same before, in and after their iterations."""
    return _NameChangedBounds().rewrite(body)


class _NameChangedBounds(StmtMutator):
    def rewrite_For(self, node: For) -> Stmt:
        loop = self.generic(node)
        read = {name: (bound, _read(bound)) for name, bound in _bounds(loop).items()}
        if not any(buffers for _, buffers in read.values()):
            return loop
        touched = _touched(loop.body)
        lets = {
            name: Let(Var(name), bound, span=bound.span)
            for name, (bound, buffers) in read.items()
            if not touched.isdisjoint(buffers)
        }
        if not lets:
            return loop
        names = {name: let.var for name, let in lets.items()}
        return seq(*lets.values(), dataclasses.replace(loop, **names))


def _bounds(loop: For) -> dict[str, Expr]:
    return {"start": loop.start, "stop": loop.stop, "step": loop.step}


def _read(bound: Expr) -> set[Buffer]:
    return {node.buffer for node in walk(bound) if isinstance(node, Load)}


def _touched(body: Stmt) -> set[Buffer]:
    return {node.buffer for node in walk(body) if isinstance(node, Store | BufferRef)}
