"""Check that an intrinsic touches nothing but what its description says."""

from __future__ import annotations

from hybridjit.analysis.elements import Elements
from hybridjit.analysis.inside import accesses_to, find_outside
from hybridjit.analysis.instances import Part, infer_instances
from hybridjit.arith.polyhedra import Polyhedron
from hybridjit.arith.totality import is_total
from hybridjit.errors import ArgumentValueError
from hybridjit.ir.expr import Buffer, BufferRef
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import If
from hybridjit.ir.visit import walk


def check_touched(name: str, description: PrimFunc, implementation: PrimFunc) -> None:
    """Refuse an implementation that reads or writes elements which the description does not.

    In a program, the elements around those of the description belong to others, or do not exist.
    Foreign code is given no others.
    """
    if any(isinstance(node, If) and not is_total(node.cond) for node in walk(description.body)):
        raise ArgumentValueError(
            f"intrinsic '{name}': what the description touches must not depend on data"
        )
    parts = [infer_instances(func, func.body) for func in (description, implementation)]
    for ours, theirs in zip(description.buffers, implementation.buffers, strict=True):
        for part, buffer in zip(parts, (ours, theirs), strict=True):
            if find_outside(part, buffer) is not None:
                raise ArgumentValueError(
                    f"intrinsic '{name}': an index of '{buffer.name}' is not proved to be between "
                    "0 and its size"
                )
        for only_writes in (False, True):
            said, done = (
                _touched(part, buffer, only_writes=only_writes)
                for part, buffer in zip(parts, (ours, theirs), strict=True)
            )
            if not done.is_subset(said):
                verb = "writes" if only_writes else "touches"
                raise ArgumentValueError(
                    f"intrinsic '{name}': the implementation {verb} elements of '{theirs.name}' "
                    "that the description does not"
                )


def _touched(part: Part, buffer: Buffer, *, only_writes: bool) -> Polyhedron:
    accesses = [
        (statement, access)
        for statement, access in accesses_to(part, buffer)
        if (access.is_write or not only_writes) and not isinstance(access.node, BufferRef)
    ]
    return Elements(part).union(accesses).range()
