"""After which iteration of a loop the iterations of a later nest may run.

An iteration of the nest may run when the last iteration of the loop that touches what it touches,
one of them writing, is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridjit.analysis.elements import Elements, where
from hybridjit.analysis.instances import (
    Instances,
    Part,
    has_known_bounds,
    infer_instances,
    loop_bounds,
    steps_down,
)
from hybridjit.arith.from_isl import condition_of, range_of
from hybridjit.arith.polyhedra import Polyhedron, load_isl
from hybridjit.ir.expr import Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Stmt
from hybridjit.record import record


@record(eq=False)
class Completion:
    """What may run at the end of an iteration: if `condition` holds, for each loop of the nest the
    values from and up to. All of them are expressions over the loops of that iteration.

    A loop whose bounds isl cannot say has no range: all of it may run."""

    condition: Expr
    ranges: Mapping[Var, tuple[Expr, Expr]]


def find_completion(
    func: PrimFunc, scope: Stmt, loops: Sequence[For], nest: Stmt
) -> Completion | None:
    """What of `nest` each iteration of `loops`, the last inside of the others, completes.

    Both stand in `scope`, the nest behind the loops. None if they have nothing to do with each
    other.
    """
    part = infer_instances(func, scope)
    found = _Completing(part, loops)
    earlier = part.inside(loops[-1].body)
    ready = [(later, found.last(earlier, later)) for later in part.inside(nest)]
    ready = [(later, points) for later, points in ready if not points.is_empty()]
    if not ready:
        return None
    context = found.context()
    ranges: dict[Var, tuple[Expr, Expr]] = {}
    runs = ready[0][1].params()
    for later, points in ready:
        runs = runs.union(points.params())
        for loop in later.loops:
            if loop.var not in ranges and has_known_bounds(loop, part.names):
                values = found.values_of(loop, ready)
                if values.dim_is_bounded(load_isl().dim_type.set, 0):
                    ranges[loop.var] = range_of(values, context, found.variables)
    return Completion(condition_of(runs, context, found.variables), ranges)


class _Completing:
    def __init__(self, part: Part, loops: Sequence[For]) -> None:
        self.part = part
        self.loops = loops
        self.names = [f"l{position}" for position in range(len(loops))]
        self.variables = {**part.names.parameters}
        self.variables.update(
            (name, loop.var) for name, loop in zip(self.names, loops, strict=True)
        )
        self._elements = Elements(part)
        self._isl: Polyhedron = load_isl()

    def last(self, earlier: Sequence[Instances], later: Instances) -> Polyhedron:
        """The instances of `later` that an iteration completes, which is a parameter."""
        ready = self._isl.UnionMap("{ }")
        for statement in earlier:
            pairs = self._conflicts(statement, later)
            ready = ready.union(pairs.reverse().apply_range(self._iteration(statement)))
        if ready.is_empty():
            return self._isl.Set("{ [0] : false }")
        last = ready.lexmax().apply_range(self._unsigned())
        return self._as_parameters(self._isl.Map.from_union_map(last))

    def _conflicts(self, one: Instances, other: Instances) -> Polyhedron:
        maps = self._isl.UnionMap("{ }")
        for a in one.accesses:
            for b in other.accesses:
                if a.buffer is b.buffer and (a.is_write or b.is_write):
                    touched = self._elements.union([(one, a)])
                    again = self._elements.union([(other, b)])
                    maps = maps.union(touched.apply_range(again.reverse()))
        return maps

    def _iteration(self, statement: Instances) -> Polyhedron:
        """From instances to iterations of the loops, so that later ones are greater."""
        times = ", ".join(statement.time_of(loop) for loop in self.loops)
        return self._union([f"{statement.name}[{', '.join(statement.dims)}] -> [{times}]"])

    def _unsigned(self) -> Polyhedron:
        values = [
            f"-{name}" if steps_down(loop) else name
            for name, loop in zip(self.names, self.loops, strict=True)
        ]
        return self._isl.UnionMap(f"{{ [{', '.join(self.names)}] -> [{', '.join(values)}] }}")

    def _as_parameters(self, ready: Polyhedron) -> Polyhedron:
        """The domain of `ready`, its range having become parameters."""
        kinds = self._isl.dim_type
        count = ready.dim(kinds.param)
        moved = ready.move_dims(kinds.param, count, kinds.out, 0, len(self.loops))
        for position, name in enumerate(self.names):
            moved = moved.set_dim_name(kinds.param, count + position, name)
        return moved.domain()

    def values_of(self, loop: For, ready: Sequence[tuple[Instances, Polyhedron]]) -> Polyhedron:
        """The values of the variable of `loop`, around some statements of the nest."""
        kind = self._isl.dim_type.set
        found: Polyhedron = None
        for statement, points in ready:
            if loop in statement.loops:
                axis = statement.loops.index(loop)
                values = points.reset_tuple_id()
                values = values.project_out(kind, axis + 1, len(statement.loops) - axis - 1)
                values = values.project_out(kind, 0, axis)
                found = values if found is None else found.union(values)
        return found.coalesce()

    def context(self) -> Polyhedron:
        """What holds in an iteration of the loops."""
        names = self.part.names
        constraints = [*self.part.context]
        for name, loop in zip(self.names, self.loops, strict=True):
            names.texts[loop.var] = name
            constraints += loop_bounds(loop, name, names)
        parameters = ", ".join(self.variables)
        return self._isl.Set(f"[{parameters}] -> {{ : {' and '.join(constraints)} }}")

    def _union(self, maps: Sequence[str]) -> Polyhedron:
        union = self._isl.UnionMap(f"{self.part.parameters} -> {{ {'; '.join(maps)} }}")
        facts = where(self.part.context) or ":"
        return union.intersect_params(self._isl.Set(f"{self.part.parameters} -> {{ {facts} }}"))
