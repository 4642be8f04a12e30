"""Whether the indices of a buffer are known to lie inside of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridjit.analysis.instances import Access, Instances, Part
from hybridjit.arith.polyhedra import Polyhedron, load_isl
from hybridjit.ir.expr import Buffer


def find_outside(part: Part, buffer: Buffer, axes: Sequence[int] | None = None) -> Access | None:
    """An access of `part` with an index of `buffer` that is not proved to be in [0, extent).

    A negative index, which counts from the end, is outside in this sense. With `axes`, only the
    indices of these axes are looked at.
    """
    wanted = range(buffer.ndim) if axes is None else axes
    for statement, access in accesses_to(part, buffer):
        if not all(is_inside(part, statement, access, axis) for axis in wanted):
            return access
    return None


def accesses_to(part: Part, buffer: Buffer) -> Iterator[tuple[Instances, Access]]:
    """The accesses of `part` to `buffer`, each with its statement."""
    for statement in part.statements:
        for access in statement.accesses:
            if access.buffer is buffer:
                yield statement, access


def is_inside(part: Part, statement: Instances, access: Access, axis: int) -> bool:
    """Whether the index of `access` along `axis` is surely in [0, extent)."""
    index, extent = access.element[axis], part.names.affine(access.buffer.shape[axis])
    if index is None or extent is None:
        return False
    outside = f"({index} < 0 or {index} >= {extent})"
    constraints = [*part.context, *filter(None, [statement.domain]), outside]
    return is_empty(part, statement.dims, constraints)


def is_empty(part: Part, dims: Sequence[str], constraints: Sequence[str]) -> bool:
    """Whether no values of `dims` and of the parameters of `part` meet all `constraints`."""
    isl: Polyhedron = load_isl()
    # Read the parameters last: writing the constraints may have added some.
    text = f"{part.parameters} -> {{ [{', '.join(dims)}] : {' and '.join(constraints)} }}"
    return bool(isl.Set(text).is_empty())
