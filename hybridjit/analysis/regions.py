"""The box of a buffer's elements that a part of a program touches.

    for i in range(i_0 * 32, min(i_0 * 32 + 32, n)):      t: 34 elements at the most, from
        c[i] = t[i] + t[i + 1] + t[i + 2]                 i_0 * 32 to min(i_0 * 32 + 34, n + 2)

The bounds are expressions over what is bound outside of the part. They are exact for affine
accesses: the least and the greatest index on each axis. An axis with an index that is not affine
counts as touched from end to end.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from hybridjit.analysis.elements import Elements
from hybridjit.analysis.instances import AffineAccess, Instances, Part
from hybridjit.arith.from_isl import range_of
from hybridjit.arith.polyhedra import Polyhedron, load_isl, within_limit
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr
from hybridjit.record import record


@record(eq=False)
class AxisRange:
    """The indices from `start` up to `stop`, not included, of one axis.

    They mean nothing where no element is touched at all. `limit` is a number that stop - start
    never exceeds, if there is one. `is_whole` says that the range was not worked out: it goes
    from 0 to the end of the axis.
    """

    start: Expr
    stop: Expr
    extent: Expr
    limit: int | None
    is_whole: bool = False


@record(eq=False)
class Region:
    """A box of elements of `buffer`."""

    buffer: Buffer
    axes: tuple[AxisRange, ...]


def _may_read(access: AffineAccess) -> bool:
    return not access.is_write or isinstance(access.node, BufferRef)


def touched_elements(
    part: Part,
    buffer: Buffer,
    *,
    reads: bool = True,
    writes: bool = True,
    statements: Iterable[Instances] | None = None,
) -> Polyhedron | None:
    """The elements of `buffer` that are touched, as a set of isl; None if there is no access.

    For a buffer made inside of loops of the part it is what is touched of any of its copies.
    Memory handed to a callee is written, and may be read.
    """
    elements, isl = Elements(part), load_isl()
    pieces = [
        elements.touched(statement, access).range()
        for statement in (part.statements if statements is None else statements)
        for access in statement.accesses
        if access.buffer is buffer
        and ((writes and access.is_write) or (reads and _may_read(access)))
    ]
    if not pieces:
        return None
    union = pieces[0]
    for piece in pieces[1:]:
        union = union.union(piece)
    private = len(part.private.get(buffer, ()))
    shown = union.project_out(isl.dim_type.set, 0, private).reset_tuple_id()
    return shown.intersect_params(context_of(part)).coalesce()


def context_of(part: Part) -> Polyhedron:
    """What holds around the part, as a set of parameters."""
    facts = " and ".join(part.context)
    return load_isl().Set(f"{part.parameters} -> {{ : {facts} }}")


def box_around(part: Part, buffer: Buffer, touched: Polyhedron) -> Region:
    """The smallest box around a set of elements of `buffer`."""
    axes = (
        within_limit(partial(_axis_range, part, buffer, touched, axis))
        for axis in range(buffer.ndim)
    )
    return Region(
        buffer,
        tuple(
            _whole_axis(size) if found is None else found
            for found, size in zip(axes, buffer.shape, strict=True)
        ),
    )


def _axis_range(part: Part, buffer: Buffer, touched: Polyhedron, axis: int) -> AxisRange:
    kind = load_isl().dim_type.set
    points = touched.project_out(kind, axis + 1, buffer.ndim - axis - 1)
    points = points.project_out(kind, 0, axis).coalesce()
    if points.is_empty():
        return AxisRange(Const(0), Const(0), Const(0), 0)
    if not points.dim_is_bounded(kind, 0):
        return _whole_axis(buffer.shape[axis])
    start, stop = range_of(points, context_of(part), part.names.parameters)
    least, most = _extremes_of_extent(points)
    extent = Const(most) if most is not None and least == most else simplify(stop - start)
    return AxisRange(start, stop, extent, most)


def _whole_axis(size: Expr) -> AxisRange:
    limit = size.value if isinstance(size, Const) and isinstance(size.value, int) else None
    return AxisRange(Const(0), size, size, limit, is_whole=True)


def _extremes_of_extent(points: Polyhedron) -> tuple[int | None, int | None]:
    """The least and the greatest number of indices in the range, over all parameters."""
    isl = load_isl()
    extent = points.dim_max(0).sub(points.dim_min(0)).add_constant_val(isl.Val(1)).coalesce()
    values = isl.Set.from_pw_aff(extent)
    values = values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))
    least, most = values.dim_min_val(0), values.dim_max_val(0)
    return (
        least.to_python() if least.is_int() else None,
        most.to_python() if most.is_int() else None,
    )
