"""Bugs planted where loops get lanes: in the proof that they may, in their rests, terms and loads.

Each must be noticed by a comparison of native code with the interpreter on guarded arrays.
"""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir

from hybridjit import Kernel
from hybridjit.analysis import lane_order, packing
from hybridjit.analysis.distances import Order
from hybridjit.codegen.emit import calls, packed_stores
from hybridjit.codegen.emit.load_groups import LoadGroups
from hybridjit.codegen.emit.vector_memory import Access
from hybridjit.codegen.llvm_types import I64
from hybridjit.ir.dtype import BOOL
from hybridjit.ir.expr import Const, Lt
from hybridjit.ir.stmt import While
from hybridjit.lowering import (
    cut_loops,
    free_iterations,
    hoist_divisions,
    hoist_inits,
    join_branches,
    private_lanes,
    select_in_lanes,
    unwrap_indices,
    vectorize_inner,
)
from hybridjit.lowering.free_iterations import FreeIterations
from hybridjit.lowering.ordered_sums import OrderedSums
from tests.codegen import test_math_pairs as pairs
from tests.lowering import test_extrema_in_lanes as extrema
from tests.lowering import test_free_iterations as free
from tests.lowering import test_hoist_divisions as divisions
from tests.lowering import test_hoist_inits as inits
from tests.lowering import test_join_branches as branches
from tests.lowering import test_packing as packing_kernels
from tests.lowering import test_select_in_lanes as searches
from tests.lowering import test_unwrap_indices as around
from tests.lowering import test_vectorize_inner as inner
from tests.planted.bugs import Bug, Check, always, everywhere, replaced
from tests.support.guarded import check_guarded
from tests.support.oracle import fresh

SIZES = (40, 45, 19, 3)


def at_sizes(kernel: Kernel[..., Any], arrays: Any = inner.arrays) -> Check:
    """The first size is part of the code; the others are known at run time."""

    def check() -> None:
        anew = fresh(kernel)
        for size in SIZES:
            check_guarded(anew, arrays(size, np.float64))

    check.__name__ = kernel.__name__
    return check


def selected() -> None:
    searches.test_same_as_one_by_one(searches.largest, "float64")


def summed() -> None:
    anew = fresh(inner.logarithms)
    for size in SIZES:
        a = inner.numbers(size)
        terms = [anew(a[i : i + 1]) for i in range(size)]
        np.testing.assert_allclose(anew(a), np.sum(terms), rtol=1e-12)


def paired() -> None:
    pairs.changed_between.clear()
    pairs.test_what_is_changed_or_masked_in_between_is_computed_anew()


# -- the bugs --------------------------------------------------------------------------------------

_masked_rest = vars(cut_loops)["_masked_rest"]
_unmasked_rest = vars(cut_loops)["_unmasked_rest"]
_elements_beside = vars(LoadGroups)["elements_beside"]


OTHER_WAY = SimpleNamespace(AFTER=Order.BEFORE, BEFORE=Order.AFTER)
WITHOUT_TURNS = SimpleNamespace(AFTER=Order.AFTER, BEFORE=Order.NEVER)


def one_too_few(loop: Any, width: Any, first: Any, trips: Any) -> Any:
    return _masked_rest(loop, width, first, trips - 1)


def without_last(loop: Any, width: Any, first: Any, end_of: Any) -> Any:
    return _unmasked_rest(loop, width, first, end_of)[:-1]


def next_element(groups: Any, load: Any) -> Any:
    before, after = _elements_beside(groups, load)
    return (after, before)


def all_in_one(self: Any, place: Any, stmt: Any) -> Any:
    made = _at(self, place, stmt)
    return made if made is stmt else dataclasses.replace(made, indices=(place * 0,))


_at = vars(OrderedSums)["_at"]
_Earlier = vars(free_iterations)["_Earlier"]
VectorizeInner = vars(vectorize_inner)["VectorizeInner"]


def of_this_iteration(self: Any, buffer: Any) -> Any:
    return self.ends[buffer]


def any_mask(self: Any) -> Any:
    return (self.b.block,)


def keeps_pairs(self: Any, stored: Any = None) -> None:
    pass


def in_little_room(size: int, dtype: Any) -> list[Any]:
    a, out, other = packing_kernels.arrays(size, dtype)
    return [a, out[: size // 8], other]


def all_lanes(_: Any, flags: Any) -> Any:
    return ir.Constant(I64, flags.type.count)


def one_by_one(least: int, loop: Any) -> Any:
    return dataclasses.replace(loop, start=loop.start + 1)


def own_array(load: Any) -> set[Any]:
    return {load.buffer}


def divided_by_zero() -> None:
    divisions.test_as_in_python(fresh(divisions.row_by_a_number), (4, 0), 0)


# As processors without the instruction do it.
BY_TABLE = replaced(packed_stores, "_compress", vars(packed_stores)["_permute"])


def as_they_are(_: Any, value: Any, mask: Any, words: int) -> Any:
    return value


def periodic(kernel: Kernel[..., Any]) -> Check:
    def arrays(size: int, _: Any) -> list[Any]:
        return around.arrays(size)

    return at_sizes(kernel, arrays)


_come_around = vars(unwrap_indices)["_first"]


def one_late(wrap: Any, turn: int) -> Any:
    return _come_around(wrap, turn) + 1


def going_down() -> None:
    inits.test_loops_that_go_down_or_nowhere(fresh(inits.down_to_zero), 4)


BUGS = (
    Bug(
        "what a loop begins with is left out if it goes down",
        [replaced(hoist_inits, "Gt", Lt)],
        going_down,
    ),
    Bug(
        "an index comes around one iteration late",
        [replaced(unwrap_indices, "_first", one_late)],
        periodic(around.next_one),
    ),
    Bug(
        "parts of a loop go on after its end",
        [replaced(unwrap_indices, "Break", While)],
        periodic(around.up_to_a_large_one),
    ),
    Bug(
        "a division stands before a loop where it fails",
        [replaced(hoist_divisions.Facts, "prove_non_negative", always(True))],
        divided_by_zero,
    ),
    Bug(
        "active lanes are not moved to the front",
        [BY_TABLE, replaced(packed_stores, "_active_first", as_they_are)],
        at_sizes(packing_kernels.positive, packing_kernels.arrays),
        needs="avx2",
    ),
    Bug(
        "lanes meet in elements",
        [replaced(vectorize_inner, "prove_lane_order", always(True))],
        at_sizes(inner.early),
    ),
    Bug(
        "lanes read what later ones have written",
        [replaced(lane_order, "Order", OTHER_WAY)],
        at_sizes(inner.carried_along),
    ),
    Bug(
        "loops inside take no turns",
        [replaced(lane_order, "Order", WITHOUT_TURNS)],
        at_sizes(inner.in_turns),
    ),
    Bug(
        "the masked rest is one too short",
        [replaced(cut_loops, "_masked_rest", one_too_few)],
        at_sizes(inner.doubled),
        needs="avx2",
    ),
    Bug(
        "the last iterations are left out",
        [replaced(cut_loops, "_unmasked_rest", without_last)],
        at_sizes(inner.plain),
    ),
    Bug(
        "few iterations of a reduction begin late",
        [replaced(private_lanes, "at_most", one_by_one)],
        at_sizes(inner.totals),
        needs="avx2",
    ),
    Bug(
        "of zeros among extrema any may count",
        [replaced(private_lanes, "Eq", always(Const(False, BOOL)))],
        lambda: extrema.test_as_plain_python(extrema.both, "float64"),
    ),
    Bug(
        "elements between each other are mixed up",
        [replaced(LoadGroups, "elements_beside", next_element)],
        at_sizes(inner.strides),
    ),
    Bug(
        "every array is taken for our own",
        [replaced(Access, "_is_own", always(True))],
        at_sizes(inner.chosen),
        needs="avx2",
    ),
    Bug(
        "what is handed on comes from the iteration itself",
        [replaced(_Earlier, "_value", of_this_iteration)],
        at_sizes(free.differences, arrays=free.arrays),
    ),
    Bug(
        "no iteration gets what comes from before the loop",
        [replaced(FreeIterations, "_first", always(()))],
        at_sizes(free.second_differences, arrays=free.arrays),
    ),
    Bug(
        "nothing is left behind",
        [replaced(VectorizeInner, "_live_around", always(set()))],
        at_sizes(free.left_behind, arrays=free.arrays),
    ),
    Bug(
        "sides read what they have changed",
        [replaced(join_branches, "_set_early", always(()))],
        at_sizes(branches.twice),
        needs="avx2",
    ),
    Bug(
        "elements under a condition are loaded without it",
        [replaced(join_branches, "_loads", always(False))],
        at_sizes(branches.neighbours),
    ),
    Bug(
        "indices that have changed are taken for the same",
        [replaced(join_branches, "_read_for", own_array)],
        branches.test_an_element_at_another_place_is_loaded_anew,
    ),
    Bug(
        "of equals in lanes, any is the first",
        [replaced(select_in_lanes.Maker, "is_equal", always(Const(False, BOOL)))],
        selected,
    ),
    Bug(
        "what a search sets may be read elsewhere",
        [replaced(select_in_lanes, "_is_alone", always(True))],
        searches.test_loops_that_do_more_stay_as_they_are,
    ),
    Bug("all terms are one", [replaced(OrderedSums, "_at", all_in_one)], summed),
    Bug(
        "pairs outlive a store",
        [everywhere(calls, "forget_pairs", keeps_pairs)],
        paired,
    ),
    Bug(
        "pairs outlive their mask",
        [replaced(calls, "_place", any_mask)],
        paired,
        needs="avx2",
    ),
    Bug(
        "places are not checked",
        [replaced(packed_stores, "_check", always(None))],
        at_sizes(packing_kernels.positive, in_little_room),
        needs="avx2",
    ),
    Bug(
        "lanes that are off take places, too",
        [replaced(packed_stores, "count_flags", all_lanes)],
        at_sizes(packing_kernels.positive, packing_kernels.arrays),
        needs="avx2",
    ),
    Bug(
        "what is packed may be read",
        [replaced(packing, "_is_apart", always(True))],
        at_sizes(packing_kernels.reads_from_it, packing_kernels.arrays),
        needs="avx2",
    ),
    Bug(
        "places are checked after other stores",
        [replaced(packing, "_is_checked_first", always(True))],
        at_sizes(packing_kernels.stores_before, in_little_room),
        needs="avx2",
    ),
)
