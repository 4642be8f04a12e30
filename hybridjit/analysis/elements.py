"""The elements of buffers that the statements of a part of a program touch, as text of isl."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.instances import Access, Instances, Part
from hybridjit.arith.polyhedra import load_isl


class Elements:
    """Maps from the instances of a statement to what they touch; remembers which indices wrap."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self._can_wrap: dict[tuple[str, str, str], bool] = {}

    def map_of(self, statement: Instances, access: Access | None) -> str:
        """`S1[v0, v1] -> B[elements] : constraints`, in the syntax of isl.

        An index that is negative counts from the end. One that is out of bounds touches nothing:
        it is an error. An element of a buffer made inside the part begins with the iteration that
        made it. Without an access, the one element stands for all effects.
        """
        source = f"{statement.name}[{', '.join(statement.dims)}]"
        constraints = [statement.domain] if statement.domain else []
        if access is None:
            return f"{source} -> B[] {where(constraints)}"
        constraints += [access.condition] if access.condition else []
        target = list(self.part.private.get(access.buffer, ()))
        for axis, index in enumerate(access.element):
            extent = self.part.names.affine(access.buffer.shape[axis])
            wraps = index is not None and self.may_wrap(statement, access, index)
            if index is None or wraps:
                target.append(f"x{axis}")
            else:
                target.append(index)
            if wraps and extent is not None:
                wrapped = f"{index} < 0 and x{axis} = {index} + {extent}"
                constraints.append(f"(({index} >= 0 and x{axis} = {index}) or ({wrapped}))")
            if extent is not None:
                constraints.append(f"0 <= {target[-1]} < {extent}")
        return f"{source} -> B[{', '.join(target)}] {where(constraints)}"

    def may_wrap(self, statement: Instances, access: Access, index: str) -> bool:
        """Whether `index` can be negative, and so count from the end."""
        key = (statement.name, access.condition, index)
        if key not in self._can_wrap:
            self._can_wrap[key] = self.may_hold(statement, access, f"{index} < 0")
        return self._can_wrap[key]

    def may_hold(self, statement: Instances, access: Access, condition: str) -> bool:
        """Whether `condition` can be true when the access happens."""
        constraints = [*self.part.context, condition]
        constraints += [text for text in (statement.domain, access.condition) if text]
        dims = ", ".join(statement.dims)
        text = f"{self.part.parameters} -> {{ [{dims}] {where(constraints)} }}"
        return not load_isl().Set(text).is_empty()


def where(constraints: Sequence[str]) -> str:
    """The constraints as they stand behind a tuple of isl."""
    return f": {' and '.join(constraints)}" if constraints else ""
