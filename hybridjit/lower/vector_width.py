"""How many lanes a vector loop is cut into."""

from __future__ import annotations

from collections.abc import Iterator

from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Bounded, Expr, Load, Node
from hybridjit.ir.stmt import Assert, For, Raise, Store
from hybridjit.ir.visit import children
from hybridjit.target import Target


def find_width(loop: For, target: Target) -> int:
    """The lanes of one vector, as wide as the widest values of the loop are."""
    widest = max(_value_bits(loop.body), default=64)
    return max(2, target.vector_bits // widest)


def _value_bits(node: Node) -> Iterator[int]:
    """The sizes of the values that are computed; indices count only as far as they are data."""
    match node:
        case Load():
            yield node.dtype.component.bits
            return
        case Bounded() | Assert() | Raise():
            return
        case Store():
            yield node.buffer.dtype.component.bits
            yield from _value_bits(node.value)
            return
        case For():
            yield from _value_bits(node.body)
            return
        case Expr() if node.dtype is not INT64:
            yield node.dtype.component.bits
        case _:
            pass
    for child in children(node):
        yield from _value_bits(child)
