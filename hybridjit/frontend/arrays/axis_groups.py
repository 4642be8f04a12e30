"""Which axes of a shape hold the elements of which axes of another one.

    (n, m, k)  as  (n * m, k)          i, j   -->   [i // m, i % m], [j]
    (n, m)     as  (n // 2, 2, m)      i, j, k  -->   [i * 2 + j], [k]

In row-major order, axes whose sizes have the same product stand for each other. An index is looked
for within its group, so that what stays the same takes no division.
"""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.arith.ranges import ZERO, Ranges, plus, tidy, times
from hybridjit.arith.sizes import factors, product, quotient
from hybridjit.ir.expr import Expr, FloorDiv, Mod
from hybridjit.record import record


@record
class Group:
    """Sizes of axes next to each other, before and after; those after begin with axis `first`."""

    old: tuple[Expr, ...]
    new: tuple[Expr, ...]
    first: int

    def find(self, indices: Sequence[Expr]) -> list[Expr]:
        """The old indices of the element at `indices`, which are those along all new axes."""
        own = indices[self.first : self.first + len(self.new)]
        return _unflat(_flat(own, self.new), self.old)


def groups_of_axes(ranges: Ranges, old: Sequence[Expr], new: Sequence[Expr]) -> list[Group]:
    """The axes of two shapes of as many elements, in groups that are as small as can be told.

    Sizes n // 2 and 2 stand for n: their product is at most n, and as the product of all sizes is
    that of the others (or zero: then there is no element), no group has fewer elements than before.
    """
    groups, is_known = _matched(ranges, old, new)
    if not is_known and not all(_same(ranges, group) for group in groups[:-1]):
        return [Group(tuple(old), tuple(new), 0)]
    return groups


def _matched(ranges: Ranges, old: Sequence[Expr], new: Sequence[Expr]) -> tuple[list[Group], bool]:
    """Groups, and whether the last one is known to match, too: else it is what is left."""
    groups: list[Group] = []
    i = j = 0
    while i < len(old) and j < len(new):
        found = _next(ranges, old[i:], new[j:], j)
        if found is None:
            break
        groups.append(found)
        i, j = i + len(found.old), j + len(found.new)
    if i == len(old) and j == len(new):
        return groups, True
    return [*groups, Group(tuple(old[i:]), tuple(new[j:]), j)], False


def _next(ranges: Ranges, old: Sequence[Expr], new: Sequence[Expr], first: int) -> Group | None:
    """The least axes from the beginning that stand for each other."""
    ends = [(i, j) for i in range(1, len(old) + 1) for j in range(1, len(new) + 1)]
    for i, j in sorted(ends, key=sum):
        group = Group(tuple(old[:i]), tuple(new[:j]), first)
        if _same(ranges, group) or _is_cut(ranges, group):
            return group
    return None


def _same(ranges: Ranges, group: Group) -> bool:
    """Whether the products of the sizes are sure to be equal."""
    old, new = product(group.old), product(group.new)
    return ranges.same(old, new) or quotient(old, new) == product(())


def _is_cut(ranges: Ranges, group: Group) -> bool:
    """Whether the new sizes are those of an old one that is cut: (n // 2, 2), or (3, n // 3)."""
    new = product(group.new)
    return any(
        isinstance(factor, FloorDiv)
        and ranges.same(factor.lhs, product(group.old))
        and quotient(new, factor) == factor.rhs
        for factor in factors(new)[1]
    )


def _flat(indices: Sequence[Expr], shape: Sequence[Expr]) -> Expr:
    flat: Expr = ZERO
    for position, size in zip(indices, shape, strict=True):
        flat = position if flat == ZERO else plus(times(flat, size), position)
    return flat


def _unflat(flat: Expr, shape: Sequence[Expr]) -> list[Expr]:
    """The indices of the element at a place in row-major order."""
    indices: list[Expr] = []
    for axis in reversed(range(len(shape))):
        is_first = axis == 0
        indices.append(flat if is_first else tidy(Mod(flat, shape[axis])))
        flat = flat if is_first else tidy(FloorDiv(flat, shape[axis]))
    return indices[::-1]
