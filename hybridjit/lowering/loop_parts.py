"""What loops became: the parts that they were cut into, and how those with most iterations run.

    for i in range(n):            for i in range(min(n, 2)):      2 iterations, in lanes
        b[i] = a[i] * w[i % 2]    for i in range(min(n, 2), n):   all others, one by one

What is not known is taken to be large. Parts on two sides of a condition are versions of the same,
of which one runs at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from hybridjit.analysis.loop_work import find_loop_work
from hybridjit.ir.expr import Var
from hybridjit.ir.stmt import HAS_LANES, ORIGIN, For, If, Let, Stmt
from hybridjit.ir.visit import children, walk, walk_stmts
from hybridjit.record import record

# Of sizes and numbers that only a call tells.
_LARGE = 1000.0
_CACHE = 1 << 20  # which matters for bytes only

_Branch = tuple[tuple[If, int], ...]
"""The sides of the conditions around a part."""
_Part = tuple[float | None, int]
"""How much it does, None where that depends on data, and how many lanes it has."""


@record(eq=False)
class Parts:
    """The loops that one became; `lanes` are those of where most of its iterations are."""

    loops: list[For] = field(default_factory=list[For])
    versions: dict[_Branch, list[_Part]] = field(default_factory=dict[_Branch, list[_Part]])

    @property
    def lanes(self) -> int:
        """How many lanes the heaviest part of a version has, 1 for none."""
        return max(map(_lanes_of_most, self.versions.values()), default=1)


def _lanes_of_most(parts: list[_Part]) -> int:
    known = [(weight, lanes) for weight, lanes in parts if weight is not None]
    if len(known) < len(parts):
        return max(lanes for _, lanes in parts)
    return max(known)[1]


def find_parts(body: Stmt, known: Mapping[Var, float]) -> dict[int, Parts]:
    """The parts of numbered loops; `known` are values of parameters, as far as there are any."""
    weights = find_weights(body, known)
    found: dict[int, Parts] = {}
    for loop in walk_stmts(body):
        if isinstance(loop, For) and loop.hint(ORIGIN) is not None:
            found.setdefault(loop.hint(ORIGIN), Parts()).loops.append(loop)
    for loop, branch in _outermost(body, (), frozenset()):
        version = found[loop.hint(ORIGIN)].versions.setdefault(branch, [])
        version.append((weights[loop], _lanes_of(loop)))
    return found


def find_weights(body: Stmt, known: Mapping[Var, float]) -> dict[For, float | None]:
    """How much each loop does in one call; None where that depends on data."""
    bound = {stmt.var for stmt in walk_stmts(body) if isinstance(stmt, For | Let)}
    free = {node: _LARGE for node in walk(body) if isinstance(node, Var) and node not in bound}
    works = find_loop_work(body, {**free, **known}, _CACHE)
    return {
        loop: None if work is None else work.runs * work.operations for loop, work in works.items()
    }


def _outermost(
    stmt: Stmt, branch: _Branch, inside: frozenset[int]
) -> Iterator[tuple[For, _Branch]]:
    """Numbered loops that are in no other one of their number, with the branches around them."""
    if isinstance(stmt, For):
        number: int | None = stmt.hint(ORIGIN)
        if number is not None and number not in inside:
            yield stmt, branch
            inside |= {number}
    for side, child in enumerate(children(stmt)):
        if isinstance(child, Stmt):
            around = (*branch, (stmt, side)) if isinstance(stmt, If) else branch
            yield from _outermost(child, around, inside)


def _lanes_of(part: For) -> int:
    number = part.hint(ORIGIN)
    loops = (each for each in walk_stmts(part) if isinstance(each, For))
    return max(each.hint(HAS_LANES) or 1 for each in loops if each.hint(ORIGIN) == number)
