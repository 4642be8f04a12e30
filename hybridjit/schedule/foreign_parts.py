"""What foreign code in an intrinsic gets where the intrinsic is used: a part of a larger array."""

from __future__ import annotations

from collections.abc import Mapping

from hybridjit.arith.simplify import simplify
from hybridjit.intrinsics.registry import Intrinsic, element_strides
from hybridjit.ir.expr import Buffer, BufferRef, Const, ExternCall, Node
from hybridjit.ir.stmt import Stmt
from hybridjit.ir.visit import rewrite, substitute, walk
from hybridjit.schedule.matching import Place


def pass_parts(stmt: Stmt, places: Mapping[Buffer, Place], intrinsic: Intrinsic) -> Stmt:
    """`stmt` with the buffers that are passed on replaced by parts of those that they lie in.

    A buffer with strides of its own is passed as the address of its first element.
    """
    addressed = {buffer for buffer, _ in intrinsic.strides.values()}

    def rule(node: Node) -> BufferRef | None:
        if not isinstance(node, BufferRef) or node.buffer not in places:
            return None
        place = places[node.buffer]
        starts = node.starts or (Const(0),) * node.buffer.ndim
        extents = node.extents if node.starts else node.buffer.shape
        if node.buffer in addressed:
            extents = (None,) * len(extents)
        outside = (None,) * (place.buffer.ndim - len(extents))
        return BufferRef(place.buffer, place.indices(starts), (*outside, *extents), span=node.span)

    strides = {
        var: element_strides(places[buffer].buffer)[axis - buffer.ndim]
        for var, (buffer, axis) in intrinsic.strides.items()
    }
    return substitute(rewrite(stmt, rule), strides)


def find_scattered(stmt: Stmt) -> BufferRef | None:
    """A part that goes to C, where only the address is known, and is not one piece of memory."""
    for call in walk(stmt):
        if isinstance(call, ExternCall) and not call.callee.is_packed:
            for arg in call.args:
                if isinstance(arg, BufferRef) and not _is_one_piece(arg):
                    return arg
    return None


def _is_one_piece(part: BufferRef) -> bool:
    is_whole = True  # all of the later axes
    for extent, size in reversed(list(zip(part.extents, part.buffer.shape, strict=False))):
        if not is_whole and extent is not None and extent != Const(1):
            return False
        is_whole = is_whole and extent is not None and simplify(extent) == simplify(size)
    return True
