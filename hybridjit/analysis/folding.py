"""Whether what is done with the elements of a buffer may be done as soon as they are stored."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.dependence import Conflict, Dependences
from hybridjit.analysis.elements import Elements
from hybridjit.analysis.instances import AffineAccess, Instances, Part
from hybridjit.arith.polyhedra import Polyhedron, load_isl


def find_hindrance(
    part: Part,
    store: tuple[Instances, AffineAccess],
    users: Sequence[Instances],
    element: Sequence[str],
    fastmath: Sequence[str] = (),
) -> Conflict | None:
    """A conflict that would be turned around if `users` ran right after the `store`.

    Each element is stored once; `element` has the indices, over the loops of `users`, of the one
    that an iteration of them uses.
    """
    times = _FoldedTimes(part, store, users, element).times()
    return Dependences(part, fastmath).find_lost(times.lex_lt_union_map(times))


class _FoldedTimes:
    """When the statements run: users at the time of the store of their element, and then theirs."""

    def __init__(
        self,
        part: Part,
        store: tuple[Instances, AffineAccess],
        users: Sequence[Instances],
        element: Sequence[str],
    ) -> None:
        self.part = part
        self.store, self.write = store
        self.users = users
        self.element = element
        self.length = max(len(statement.time) for statement in part.statements)
        self._isl: Polyhedron = load_isl()

    def times(self) -> Polyhedron:
        """From all instances to vectors that are compared from the left."""
        union = self._isl.UnionMap("{ }")
        for statement in self.part.statements:
            if statement in self.users:
                time, rank = self._time_of_store(statement), "1"
            else:
                time, rank = self._time(statement), "0"
            then = self._map(statement, f"[{rank}]").flat_range_product(self._time(statement))
            union = union.union(self._isl.UnionMap.from_map(time.flat_range_product(then)))
        return union

    def _time_of_store(self, user: Instances) -> Polyhedron:
        made_by = self.part.private.get(self.write.buffer, ())
        used = self._map(user, f"B[{', '.join((*made_by, *self.element))}]")
        stored = Elements(self.part).touched(self.store, self.write)
        return used.apply_range(stored.reverse()).apply_range(self._time(self.store))

    def _time(self, statement: Instances) -> Polyhedron:
        padding = ["0"] * (self.length - len(statement.time))
        return self._map(statement, f"[{', '.join((*statement.time, *padding))}]")

    def _map(self, statement: Instances, target: str) -> Polyhedron:
        source = f"{statement.name}[{', '.join(statement.dims)}]"
        return self._isl.Map(f"{self.part.parameters} -> {{ {source} -> {target} }}")
