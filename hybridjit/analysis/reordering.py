"""Whether a rewritten part of a program runs the same instances, each once, in a legal order.

The statements of both are found to be the same by the nodes that touch memory, and the loops by
their variables: what moves a statement into other loops keeps both.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.analysis.dependence import Conflict, Dependences
from hybridjit.analysis.elements import where
from hybridjit.analysis.instances import Instances, Part
from hybridjit.analysis.regions import context_of
from hybridjit.arith.polyhedra import Polyhedron, load_isl
from hybridjit.errors import InternalError
from hybridjit.ir.stmt import For, If
from hybridjit.record import record


@record(eq=False)
class Fault:
    """What is wrong: a statement that does not run just once, or two in the wrong order."""

    statement: Instances
    conflict: Conflict | None = None


def find_fault(old: Part, new: Part, fastmath: Sequence[str] = ()) -> Fault | None:
    """Why `new` does not do the same as `old`, a part that stood in its place; None if it does."""
    if old.names.parameters != new.names.parameters:
        raise InternalError("two versions of a part have different parameters", "reordering")
    pairs, unpaired = _pair(old, new)
    if unpaired is not None:
        return Fault(unpaired)
    for before, after in pairs:
        if not _runs_once(old, before, _same_instances(new, [(before, after)])):
            return Fault(before)
    same = _same_instances(new, pairs)
    times = _times(new)
    kept = same.reverse().apply_range(times.lex_lt_union_map(times)).apply_range(same)
    conflict = Dependences(old, fastmath).find_lost(kept)
    return None if conflict is None else Fault(conflict.first.statement, conflict)


def find_skipped(old: Part, new: Part, statements: Sequence[Instances]) -> Instances | None:
    """One of the `statements` of `old` that may have an instance which does not run in `new`."""
    if old.names.parameters != new.names.parameters:
        raise InternalError("two versions of a part have different parameters", "reordering")
    pairs, _ = _pair(Part(list(statements), old.names, old.context), new)
    partners = dict(pairs)
    for statement in statements:
        if statement not in partners:
            return statement
        same = _same_instances(new, [(statement, partners[statement])])
        if not _domain(old, statement).is_subset(same.range()):
            return statement
    return None


def _pair(old: Part, new: Part) -> tuple[list[tuple[Instances, Instances]], Instances | None]:
    """Each statement with the one that it has become, and one for which there is none."""
    found: dict[int, list[Instances]] = {}
    for statement in new.statements:
        found.setdefault(_key(statement), []).append(statement)
    pairs: list[tuple[Instances, Instances]] = []
    for statement in old.statements:
        match found.get(_key(statement)):
            case [partner] if {loop.var for loop in statement.loops} <= {
                loop.var for loop in partner.loops
            }:
                pairs.append((statement, partner))
            case _:
                return pairs, statement
    return pairs, None


def _key(statement: Instances) -> int:
    """The identity of the statement, or of what the header of a rebuilt one reads first."""
    header = isinstance(statement.node, For | If) and statement.accesses
    return id(statement.accesses[0].node if header else statement.node)


def _same_instances(new: Part, pairs: Sequence[tuple[Instances, Instances]]) -> Polyhedron:
    """The relation from the new instances to the old ones that they are."""
    maps: list[str] = []
    for before, after in pairs:
        dims = {loop.var: dim for loop, dim in zip(after.loops, after.dims, strict=True)}
        target = ", ".join(dims[loop.var] for loop in before.loops)
        domain = where([after.domain] if after.domain else [])
        source = f"N{after.name}[{', '.join(after.dims)}]"
        maps.append(f"{source} -> {before.name}[{target}] {domain}")
    relation = load_isl().UnionMap(f"{new.parameters} -> {{ {'; '.join(maps)} }}")
    return relation.intersect_params(context_of(new))


def _runs_once(old: Part, statement: Instances, same: Polyhedron) -> bool:
    is_same = same.range().is_equal(_domain(old, statement))
    return bool(is_same and same.reverse().is_single_valued())


def _domain(part: Part, statement: Instances) -> Polyhedron:
    domain = where([statement.domain] if statement.domain else [])
    text = f"{statement.name}[{', '.join(statement.dims)}] {domain}"
    found = load_isl().UnionSet(f"{part.parameters} -> {{ {text} }}")
    return found.intersect_params(context_of(part))


def _times(part: Part) -> Polyhedron:
    length = max((len(statement.time) for statement in part.statements), default=0)
    maps = [
        f"N{statement.name}[{', '.join(statement.dims)}] -> "
        f"[{', '.join((*statement.time, *['0'] * (length - len(statement.time))))}]"
        for statement in part.statements
    ]
    return load_isl().UnionMap(f"{part.parameters} -> {{ {'; '.join(maps)} }}")
