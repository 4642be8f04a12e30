"""Bugs planted in primitives that change loops, and in the analysis that says whether they may.

Each must make a scheduled program differ from its original: a random one, with steps of the kind
that the bug is in, or a given one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from hybridjit.analysis import concurrency, dependence, instances, make_blocks
from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.context import infer_context
from hybridjit.analysis.dependence import Dependences
from hybridjit.analysis.elements import Elements
from hybridjit.analysis.instances import Instances
from hybridjit.analysis.private_reduction import PrivateReduction, find_updates
from hybridjit.analysis.reduction import ReductionOp
from hybridjit.arith.polyhedra import AffineNames
from hybridjit.arith.products import Product
from hybridjit.arith.simplify import simplify
from hybridjit.ir.expr import Buffer, Const, Expr, FloorDiv, Le, Lt, Mod, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, Stmt
from hybridjit.schedule.copies import copy_beside
from hybridjit.schedule.primitives import fission, fuse, merge, partition, reorder, split
from tests.nests.generate import make_nest, make_sized
from tests.planted import schedule_programs as programs
from tests.planted.bugs import Bug, always, replaced, second
from tests.planted.schedule_checks import at_random, refused, scheduled

_extents = vars(split)["_extents"]
_conflicts = vars(Dependences)["_conflicts"]
_condition = AffineNames.condition
_compared = Product.compared


def rounded_down(factors: Sequence[int | None], trips: Expr) -> list[Expr]:
    found = _extents(factors, trips)
    known = [factor for factor in factors if factor is not None]
    rest = simplify(FloorDiv(trips, Const(math.prod(known))))
    return [rest if factor is None else old for factor, old in zip(factors, found, strict=True)]


def writes_only(self: Dependences, buffer: Any, accesses: Any) -> Any:
    return _conflicts(self, buffer, [found for found in accesses if found[1].is_write])


def in_old_order(statement: Instances, order: Any) -> list[str]:
    return []


def one_operator(self: Any, statement: Instances, buffer: Buffer | None) -> ReductionOp | None:
    reduction = statement.reduction
    return None if reduction is None or reduction.buffer is not buffer else ReductionOp.ADD


def without_the_last(x: Expr, y: Expr) -> Lt:
    return Lt(x, y - 1)


def other_side(self: AffineNames, cond: Expr, *, holds: bool = True) -> str | None:
    return _condition(self, cond, holds=not holds)


def numbered_by_texts(self: AffineNames, var: Var) -> str:
    """A variable that had a text before does not make one more."""
    text = f"p{len(self.texts)}"
    self.texts[var] = text
    self.parameters[text] = var
    return text


def unnamed(body: Stmt) -> Stmt:
    return body


def any_update(loop: For, fastmath: Sequence[str]) -> list[PrivateReduction]:
    return [
        PrivateReduction(found.reduction.op, found.reduction.buffer, ())
        for found in find_updates(loop.body)
    ]


def one_early(func: PrimFunc, stmt: Stmt) -> Stmt:
    """A copy of a loop that ends one iteration early."""
    copy = copy_beside(func, stmt)
    if not isinstance(copy, For):
        return copy
    return dataclasses.replace(copy, stop=simplify(copy.stop - 1))


def without_rest(self: Product) -> str:
    return f"{self.remainder} = 0"


def other_way_round(self: Product, other: Product) -> str:
    return _compared(dataclasses.replace(self, scale=other.scale, text=self.text), other)


def never_left(loop: For) -> Any:
    return dataclasses.replace(infer_context(loop), left_early=frozenset())


_TAILS = ("split", "split in three", "tile")
_ORDER = ("reorder", "tile")
_SIZED = ("fuse", "split in parts", "parallel", "vectorize", "reorder")

BUGS = (
    # -- loops
    Bug("split: the guard is off by one", [replaced(split, "Lt", Le)], at_random(0, *_TAILS)),
    Bug(
        "split: the guard is missing",
        [replaced(split, "_divides", always(True))],
        at_random(0, *_TAILS),
    ),
    Bug(
        "split: the open factor is rounded down",
        [replaced(split, "_extents", rounded_down)],
        at_random(0, *_TAILS),
    ),
    Bug(
        "split: loops start at 0, whatever they did",
        [replaced(split, "_is_offset", always(False))],
        at_random(0, *_TAILS),
    ),
    Bug(
        "fuse: // and % are swapped",
        [replaced(fuse, "FloorDiv", Mod), replaced(fuse, "Mod", FloorDiv)],
        at_random(0, "fuse"),
    ),
    Bug(
        "fuse: starts and steps are forgotten",
        [replaced(fuse, "_value", second)],
        at_random(0, "fuse"),
    ),
    Bug(
        "partition: the second loop ends one early",
        [replaced(partition, "copy_beside", one_early)],
        at_random(0, "partition", "peel"),
    ),
    Bug(
        "merge: conflicts are not looked for",
        [replaced(merge, "_find_conflict", always(None))],
        at_random(0, "merge"),
    ),
    Bug(
        "merge: all loops start at the same value",
        [replaced(merge, "_same_range", always(True))],
        scheduled(programs.OFFSET, lambda s: s.merge("i", "j")),
    ),
    Bug(
        "fission: conflicts are not looked for",
        [replaced(fission, "_check_dependences", always(None))],
        at_random(0, "fission"),
    ),
    # -- the analysis
    Bug(
        "conflicts: reads do not count",
        [replaced(Dependences, "_conflicts", writes_only)],
        at_random(12, *_ORDER),
    ),
    Bug(
        "conflicts: negative indices touch nothing",
        [replaced(Elements, "_may_be_negative", always(False))],
        scheduled(programs.WRAPS, lambda s: s.fission("i", after="a")),
    ),
    Bug(
        "conflicts: the last iteration does not count",
        [replaced(instances, "Lt", without_the_last)],
        at_random(5, *_ORDER, "merge", "parallel"),
    ),
    Bug(
        "conflicts: guards hold on the other side",
        [replaced(AffineNames, "condition", other_side)],
        at_random(0, *_ORDER, "merge", "parallel"),
    ),
    Bug(
        "conflicts: two variables have one name",
        [replaced(AffineNames, "parameter", numbered_by_texts)],
        at_random(0, "vectorize", "parallel", make=make_nest),
    ),
    Bug(
        "bounds: what a loop changes is read again",
        [replaced(make_blocks, "name_changed_bounds", unnamed)],
        at_random(0, "split", make=make_nest),
    ),
    Bug(
        "conflicts: loops never count down",
        [replaced(instances, "steps_down", always(False))],
        scheduled(programs.DOWN, lambda s: s.reorder("j", "i")),
    ),
    Bug(
        "conflicts: sums of floats are the same in any order",
        [replaced(dependence, "may_reorder", always(True))],
        scheduled(programs.TOTAL, lambda s: s.reorder("j", "i")),
    ),
    Bug(
        "conflicts: different reductions commute",
        [replaced(Dependences, "_commutes", one_operator)],
        scheduled(programs.MIXED, lambda s: s.fission("i", after="s")),
    ),
    Bug(
        "reorder: the new order is not asked about",
        [replaced(reorder, "_times", in_old_order)],
        at_random(0, "reorder"),
    ),
    Bug(
        "parallel: all updates are independent",
        [replaced(concurrency, "find_private_reductions", any_update)],
        at_random(6, "parallel", "vectorize"),
    ),
    Bug(
        "parallel: conflicts are not looked for",
        [replaced(Dependences, "find_carried", always(None))],
        at_random(0, "parallel", "vectorize"),
    ),
    Bug(
        "parallel: scans are taken for loops",
        [replaced(concurrency, "LoopKind", SimpleNamespace(SCAN=None))],
        refused(programs.SCAN, lambda s: s.parallel("i"), "a scan carries state"),
    ),
    Bug(
        "parallel: loops are never left early",
        [replaced(concurrency, "infer_context", never_left)],
        refused(programs.LEAVES, lambda s: s.parallel("i"), "break or return may leave it early"),
    ),
    # -- sizes known at run time only
    Bug(
        "products: a division leaves no rest",
        [replaced(Product, "division", property(without_rest))],
        at_random(48, *_SIZED, make=make_sized),
    ),
    Bug(
        "products: all with one factor are equal",
        [replaced(Product, "compared", other_way_round)],
        at_random(10, *_SIZED, make=make_sized),
    ),
    Bug(
        "products: none wraps around",
        [replaced(Facts, "is_exact", always(True))],
        refused(programs.STRIDE, lambda s: s.parallel("i"), "cannot be parallel"),
    ),
)
