"""Which statements do nothing but compute: nobody sees when they run, or in which order."""

from __future__ import annotations

from collections.abc import Collection

from hybridjit.arith.totality import may_fail
from hybridjit.ir.expr import Buffer, Const, Expr, Load, Node
from hybridjit.ir.stmt import Allocate, For, If, Let, Seq, Stmt, Store, While
from hybridjit.ir.visit import walk


def is_plain(stmt: Stmt, own: Collection[Buffer] = (), *, may_wait: bool = False) -> bool:
    """True if nothing in `stmt` can fail, leave it, or be seen from outside but for arrays.

    It may set its `own` variables, and those that it makes; and make arrays that are its `own`.
    Loops may go on until something happens if it `may_wait`.
    """
    nodes = list(walk(stmt))
    made = {node.buffer for node in nodes if isinstance(node, Allocate) and node.buffer.is_register}
    made.update(own)
    return all(
        _is_plain_node(node, made) or (may_wait and isinstance(node, While)) for node in nodes
    )


def _is_plain_node(node: Node, made: set[Buffer]) -> bool:
    match node:
        case Load() | Seq() | Let() | If() | For(step=Const()):
            return True
        case Store(buffer):
            return buffer in made or not buffer.is_register
        case Allocate(buffer):
            return buffer in made
        case Expr():
            return not may_fail(node)
        case _:
            return False


def find_variables_read(stmt: Stmt) -> set[Buffer]:
    """The variables that `stmt` reads and that are made outside of it."""
    nodes = list(walk(stmt))
    made = {node.buffer for node in nodes if isinstance(node, Allocate)}
    read = {node.buffer for node in nodes if isinstance(node, Load) and node.buffer.is_register}
    return read - made
