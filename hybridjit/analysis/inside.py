"""Whether the indices of a buffer are known to lie inside of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hybridjit.analysis.accesses import Access, Scope
from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.elements import Elements
from hybridjit.analysis.independence import enter
from hybridjit.analysis.instances import AffineAccess, Instances, Part
from hybridjit.ir.expr import And, Buffer, BufferRef, Const, Le, Lt
from hybridjit.ir.func import PrimFunc


def find_outside(
    part: Part,
    buffer: Buffer,
    axes: Sequence[int] | None = None,
    statements: Iterable[Instances] | None = None,
) -> AffineAccess | None:
    """An access of `part` with an index of `buffer` that is not proved to be in [0, extent).

    A negative index, which counts from the end, is outside in this sense. With `axes`, only the
    indices of these axes are looked at; with `statements`, only their accesses.
    """
    elements = Elements(part)
    wanted = range(buffer.ndim) if axes is None else axes
    for statement, access in accesses_to(part, buffer, statements):
        if not all(_is_inside(elements, statement, access, axis) for axis in wanted):
            return access
    return None


def prove_inside(func: PrimFunc, around: Scope, access: Access) -> bool:
    """True if all indices of an access, in a place that `around` stands around, are in bounds.

    The quick proof, without isl: by the ranges of loops and the conditions around.
    """
    facts = facts_in(func, (*around, *access.scope))
    sizes = access.buffer.shape
    return all(
        facts.prove(And(Le(Const(0), index), Lt(index, size)))
        for index, size in zip(access.indices, sizes, strict=True)
    )


def facts_in(func: PrimFunc, scope: Scope) -> Facts:
    """What is known in a place, from the loops, names and conditions around it."""
    facts = Facts.of(func)
    for item in scope:
        enter(facts, item)
    return facts


def accesses_to(
    part: Part, buffer: Buffer, statements: Iterable[Instances] | None = None
) -> Iterator[tuple[Instances, AffineAccess]]:
    """The accesses of `part`, or of some of its statements, to `buffer`."""
    for statement in part.statements if statements is None else statements:
        for access in statement.accesses:
            if access.buffer is buffer:
                yield statement, access


def _is_inside(elements: Elements, statement: Instances, access: AffineAccess, axis: int) -> bool:
    if isinstance(access.node, BufferRef) and not access.node.starts:
        return True  # the whole buffer
    index, count, names = access.element[axis], "1", elements.part.names
    if isinstance(access.node, BufferRef):
        length = access.node.extents[axis]
        if length is not None:  # a part, of which there is no one element
            index, count = names.affine(access.node.starts[axis]), names.affine(length)
    extent = names.affine(access.buffer.shape[axis])
    if index is None or count is None or extent is None:
        return False
    outside = f"({index} < 0 or {count} < 0 or {index} + {count} > {extent})"
    return not elements.may_hold(statement, access, outside)
