"""Every kind of statement, by the name that styles call it. A new one is a function and a line."""

from __future__ import annotations

from typing import Any

from tests.programs import assignments, branches, idioms, iterations, loops, rewritten, stores
from tests.programs.maker import Maker, Statement

SIMPLE: dict[str, Statement] = {
    "assign": assignments.make_assign,
    "update": assignments.make_update,
    "tuple": assignments.make_tuple,
    "chained": assignments.make_chained,
    "annotated": assignments.make_annotated,
    "temporary": assignments.make_temporary,
    "number": assignments.make_number,
    "scalar": assignments.make_scalar,
    "store": stores.make_store,
    "store update": stores.make_store_update,
    "fold": stores.make_fold,
    "swap": stores.make_swap,
    "allocate": stores.make_allocate,
    "call": stores.make_call,
    "named block": stores.make_named_block,
    "reduction": idioms.make_reduction,
    "failure": rewritten.make_failure,
    "tuple inside": rewritten.make_tuple_inside,
    "named": rewritten.make_named,
    "folded": rewritten.make_folded,
}
# These hold others, and are drawn where another level may be nested.
NESTING: dict[str, Statement] = {
    "if": branches.make_if,
    "for": loops.make_for,
    "each": loops.make_each,
    "grid": loops.make_grid,
    "while": loops.make_while,
    "expanded": loops.make_expanded,
    "independent": loops.make_independent,
    "sum": idioms.make_sum,
    "rows": idioms.make_rows,
    "stencil": idioms.make_stencil,
    "first step": idioms.make_first_step,
    "packing": idioms.make_packing,
    "search": idioms.make_search,
    "window": iterations.make_window,
    "rounds": iterations.make_rounds,
    "limits": iterations.make_limits,
    "try": rewritten.make_try,
}


def new_maker(*args: Any, **options: Any) -> Maker:
    """A maker that knows every kind of statement."""
    return Maker(*args, simple=SIMPLE, nesting=NESTING, **options)
