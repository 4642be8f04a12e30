"""Whether what a value was computed from is still there where the value is used."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.elements import Elements
from hybridjit.analysis.instances import Instances, Part
from hybridjit.analysis.regions import context_of
from hybridjit.arith.polyhedra import Polyhedron, load_isl
from hybridjit.ir.expr import Buffer
from hybridjit.record import record


@record(eq=False)
class Overwriting:
    """`writer` may change an element of `buffer` before `user` uses what was computed from it."""

    buffer: Buffer
    writer: Instances
    user: Instances


def find_overwriting(
    part: Part, store: Instances, inputs: Sequence[Instances], users: Sequence[Instances]
) -> Overwriting | None:
    """A write in `users` that comes before a use, there, of what `store` has stored.

    `inputs` are the statements around the store, itself among them, that read what the value is
    computed from; the loops around each of them are the outermost ones around the store.
    """
    flow = _Flow(part)
    target = next(access.buffer for access in store.accesses if access.is_write)
    stored = flow.touched(store, target, writes=True)
    for user in users:
        used = stored.apply_range(flow.touched(user, target, writes=False).reverse())
        if used.is_empty():
            continue
        for source in inputs:
            needed = flow.outer(store, source).reverse().apply_range(used)
            for buffer in dict.fromkeys(a.buffer for a in source.accesses if not a.is_write):
                read = flow.touched(source, buffer, writes=False)
                for writer in users:
                    written = flow.touched(writer, buffer, writes=True)
                    pairs = written.apply_range(read.reverse()).apply_range(needed)
                    if not pairs.intersect(flow.before(writer, user)).is_empty():
                        return Overwriting(buffer, writer, user)
    return None


class _Flow:
    def __init__(self, part: Part) -> None:
        self.part = part
        self._elements = Elements(part)
        self._isl: Polyhedron = load_isl()
        self._length = max(len(statement.time) for statement in part.statements)

    def touched(self, statement: Instances, buffer: Buffer, *, writes: bool) -> Polyhedron:
        """From the instances of a statement to the elements that they read, or write."""
        return self._elements.union(
            [
                (statement, access)
                for access in statement.accesses
                if access.buffer is buffer and access.is_write is writes
            ]
        )

    def outer(self, inner: Instances, outer: Instances) -> Polyhedron:
        """From the instances of a statement to those of one in fewer loops that lead to them."""
        dims = ", ".join(inner.dims)
        shared = ", ".join(inner.dims[: len(outer.dims)])
        return self._union([f"{inner.name}[{dims}] -> {outer.name}[{shared}]"])

    def before(self, first: Instances, later: Instances) -> Polyhedron:
        """From the instances of one statement to those of another that run later."""
        return self._time(first).lex_lt_union_map(self._time(later))

    def _time(self, statement: Instances) -> Polyhedron:
        time = ", ".join((*statement.time, *["0"] * (self._length - len(statement.time))))
        return self._union([f"{statement.name}[{', '.join(statement.dims)}] -> [{time}]"])

    def _union(self, maps: Sequence[str]) -> Polyhedron:
        union = self._isl.UnionMap(f"{self.part.parameters} -> {{ {'; '.join(maps)} }}")
        return union.intersect_params(context_of(self.part))
