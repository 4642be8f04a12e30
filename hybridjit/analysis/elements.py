"""The elements of buffers that the statements of a part of a program touch, as relations of isl."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.instances import AffineAccess, Instances, Part
from hybridjit.arith.polyhedra import Polyhedron, load_isl
from hybridjit.ir.expr import Buffer


class Elements:
    """Relations of the instances of statements to what they touch.

    Reading text takes isl most of the time: domains and bounds are read once.
    """

    def __init__(self, part: Part) -> None:
        self.part = part
        self._isl: Polyhedron = load_isl()
        self._domains: dict[tuple[str, str], Polyhedron] = {}
        self._relations: dict[tuple[Instances, AffineAccess | None], Polyhedron] = {}
        self._bounds: dict[Buffer, Polyhedron] = {}
        self._wraps: dict[tuple[Buffer, tuple[int, ...]], Polyhedron] = {}

    def touched(self, statement: Instances, access: AffineAccess | None) -> Polyhedron:
        """The map of `S1[v0, v1] -> B[elements]`.

        An index that is negative counts from the end. One that is out of bounds touches nothing:
        it is an error. An element of a buffer made inside the part begins with the iteration that
        made it. Without an access, the one element stands for all effects.
        """
        key = (statement, access)
        if key not in self._relations:
            self._relations[key] = self._relate(statement, access)
        return self._relations[key]

    def union(self, accesses: Sequence[tuple[Instances, AffineAccess | None]]) -> Polyhedron:
        """What all of the accesses touch, as one union of maps."""
        union = self._isl.UnionMap("{ }")
        for statement, access in accesses:
            union = union.union(self._isl.UnionMap.from_map(self.touched(statement, access)))
        return union

    def may_hold(self, statement: Instances, access: AffineAccess, condition: str) -> bool:
        """Whether `condition` can be true when the access happens."""
        wanted = self._set(f"{_tuple_of(statement)} : {condition}")
        return not self._runs(statement, access).intersect(wanted).is_empty()

    def _relate(self, statement: Instances, access: AffineAccess | None) -> Polyhedron:
        runs = self._runs(statement, access)
        if access is None:
            return self._map(f"{_tuple_of(statement)} -> B[]").intersect_domain(runs)
        made_by = self.part.private.get(access.buffer, ())
        indices = (
            f"x{axis}" if index is None else index for axis, index in enumerate(access.element)
        )
        target = f"B[{', '.join((*made_by, *indices))}]"
        limits = where(access.within)
        found = self._map(f"{_tuple_of(statement)} -> {target} {limits}").intersect_domain(runs)
        wrapping = tuple(
            axis
            for axis, index in enumerate(access.element)
            if index is not None and self._may_be_negative(found, len(made_by) + axis)
        )
        if wrapping:
            found = found.apply_range(self._wrap(access.buffer, wrapping))
        return found.intersect_range(self._bounds_of(access.buffer))

    def _runs(self, statement: Instances, access: AffineAccess | None) -> Polyhedron:
        """The iterations in which the access happens."""
        condition = "" if access is None else access.condition
        key = (statement.name, condition)
        if key not in self._domains:
            facts = [*self.part.context, *filter(None, (statement.domain, condition))]
            self._domains[key] = self._set(f"{_tuple_of(statement)} {where(facts)}")
        return self._domains[key]

    def _may_be_negative(self, found: Polyhedron, position: int) -> bool:
        negative = found.upper_bound_val(self._isl.dim_type.out, position, self._isl.Val(-1))
        return not negative.is_empty()

    def _wrap(self, buffer: Buffer, axes: tuple[int, ...]) -> Polyhedron:
        """From indices as they are written to those of the elements; only those on `axes` wrap."""
        key = (buffer, axes)
        if key not in self._wraps:
            names = [f"x{axis}" for axis in range(buffer.ndim)]
            wrapped = [f"y{axis}" if axis in axes else name for axis, name in enumerate(names)]
            rules = " and ".join(self._wrap_rule(buffer, axis) for axis in axes)
            source, target = self._element(buffer, names), self._element(buffer, wrapped)
            self._wraps[key] = self._map(f"{source} -> {target} : {rules}")
        return self._wraps[key]

    def _wrap_rule(self, buffer: Buffer, axis: int) -> str:
        """What the index `y` of an element is to the index `x`: any, if the size has no text."""
        extent = self.part.names.affine(buffer.shape[axis])
        from_end = "" if extent is None else f" and y{axis} = x{axis} + {extent}"
        return f"((x{axis} >= 0 and y{axis} = x{axis}) or (x{axis} < 0{from_end}))"

    def _bounds_of(self, buffer: Buffer) -> Polyhedron:
        if buffer not in self._bounds:
            names = [f"x{axis}" for axis in range(buffer.ndim)]
            extents = [self.part.names.affine(size) for size in buffer.shape]
            limits = [
                f"0 <= {name} < {extent}"
                for name, extent in zip(names, extents, strict=True)
                if extent is not None
            ]
            self._bounds[buffer] = self._set(f"{self._element(buffer, names)} {where(limits)}")
        return self._bounds[buffer]

    def _element(self, buffer: Buffer, indices: Sequence[str]) -> str:
        return f"B[{', '.join((*self.part.private.get(buffer, ()), *indices))}]"

    def _set(self, text: str) -> Polyhedron:
        return self._isl.Set(f"{self.part.parameters} -> {{ {text} }}")

    def _map(self, text: str) -> Polyhedron:
        return self._isl.Map(f"{self.part.parameters} -> {{ {text} }}")


def _tuple_of(statement: Instances) -> str:
    return f"{statement.name}[{', '.join(statement.space)}]"


def where(constraints: Sequence[str]) -> str:
    """The constraints as they stand behind a tuple of isl."""
    return f": {' and '.join(constraints)}" if constraints else ""
