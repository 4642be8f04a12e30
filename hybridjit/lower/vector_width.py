"""How many lanes a vector loop is cut into, and how many vectors run side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hybridjit.analysis.limits import loop_extent
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Bounded, Call, Const, Expr, Load, Node
from hybridjit.ir.stmt import Assert, For, Raise, Store
from hybridjit.ir.visit import children, walk
from hybridjit.target import Target

# Several vectors at once hide the latency of chains of operations, where registers are enough.
# The size of the body, in nodes, and for how many vectors it is small enough.
_SIZES = ((40, 4), (100, 2))
_CALL_NODES = 10


@dataclass(frozen=True, slots=True)
class Width:
    """The lanes of one vector, and of those that run at once while there are so many left."""

    lanes: int
    wide: int

    @property
    def steps(self) -> list[int]:
        """Both, the larger one first."""
        return sorted({self.lanes, self.wide}, reverse=True)


def find_width(loop: For, target: Target) -> Width:
    """As many lanes as the widest values of the loop leave room for."""
    widest = max(_value_bits(loop.body), default=64)
    lanes = max(2, target.vector_bits // widest)
    wide = lanes * _find_factor(loop)
    extent = loop_extent(loop)
    return Width(lanes, lanes if extent is not None and extent < 2 * wide else wide)


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


def _find_factor(loop: For) -> int:
    size = 0
    for node in walk(loop.body):
        if isinstance(node, For):
            return 1  # what the inner loop carries along needs the registers
        size += _CALL_NODES if isinstance(node, Call) else not isinstance(node, Const)
    return next((factor for most, factor in _SIZES if size <= most), 1)
