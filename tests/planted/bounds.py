"""Bugs planted in the proof of bounds, in refutation and in tests before loops.

Each must be noticed by comparing native code with the interpreter on a few calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.analysis import bounds, refutation
from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.forms import Forms, Range
from hybridjit.arith.linear import Linear
from hybridjit.codegen.emit import quick_index
from hybridjit.ir.stmt import If
from hybridjit.lowering import hoist_checks
from tests.codegen.test_quick_index import bins
from tests.lowering import failing_kernels as failing
from tests.lowering.test_hoist_checks import HUGE, shifted, triangle
from tests.planted.bugs import Bug, everywhere, replaced, second
from tests.planted.native_checks import compared, inner

_LoopTests: Any = vars(hoist_checks)["_LoopTests"]
_Walker: Any = vars(refutation)["_Walker"]


@hybrid.script
def quotient_past_the_end(a: Any) -> Any:
    for i in range(a.shape[0] * 2 + 1):
        a[i // 2] += 1.0


@hybrid.script
def past_the_end(a: Any) -> Any:
    for i in range(a.shape[0] + 1):
        a[i] += 1.0


@hybrid.script
def one_side_is_outside(a: Any, n: Any) -> Any:
    a[0 if n > 0 else 9] = 1.0


@hybrid.script
def times_a_number(a: Any, k: Any) -> Any:
    total = a[0]
    for i in range(a.shape[0]):
        total += a[i * k]
    return total


def all_but_the_last(self: Any, check: Any) -> Any:
    conditions = _find(self, check)
    return conditions[:-1] if conditions else conditions


_find: Any = _LoopTests.find


def one_more(self: Any, form: Linear) -> Any:
    return _test(self, form.plus(Linear({}, 1)))


_test = _LoopTests._test


def both_sides_run(self: Any, stmt: Any, path: Any, *, is_certain: bool) -> None:
    if isinstance(stmt, If):
        _visit(self, stmt.then, (*path, 1), is_certain=is_certain)
        return
    _visit(self, stmt, path, is_certain=is_certain)


_visit: Any = _Walker.visit


def is_always_certain(node: Any, doubtful: Any, is_certain: bool) -> Any:
    for place, _ in _places(node, doubtful, is_certain):
        yield place, True


_places = vars(refutation)["_places"]


def never_ends(self: Any, path: Any, counts: Any = (), found: Any = None) -> None:
    if found is not None:
        _note(self, path, counts, found)


_note = _Walker._note


def rounded_up(self: Any, x: Any, m: Any) -> Range:
    found = _quotient(self, x, m)
    if found.quotient is None:
        return found
    return Range(quotient=(x.plus(m, -1), m), least=found.least, most=found.most)


_quotient = vars(Forms)["_quotient"]


def last_is_one_less(start: Any, stop: Any, step: int) -> Any:
    last = _last(start, stop, step)
    return None if last is None else last.plus(Linear({}, -1))


_last = vars(bounds)["_last"]


def one_of_two(self: Any, options: Any, **which: Any) -> Range:
    found = _one_of(self, options, **which)
    return Range(found.lows, found.highs, found.cases[:1], None, found.least, found.most)


_one_of = vars(Forms)["_one_of"]


def without_a_sign(self: Facts, form: Linear, term: Any, var: Any) -> int:
    return 1


def quick_and_wrong(b: Any, value: Any, dtype: Any) -> Any:
    converted = _quick(b, value, dtype)
    return b.and_(converted, converted.type((1 << 63) - 1)) if converted is not None else None


_quick: Any = quick_index.emit_quick_index

_SHIFTS = [(inner(8), np.zeros(n), k) for n in (3, 6) for k in (0, 2, 5, 6, -1, HUGE - 3)]
_PLANES = [
    (np.ones((6, 10))[:n, :m], np.zeros((6, 6))[:k, :k])
    for n, m, k in ((4, 5, 4), (5, 4, 5), (5, 5, 4))
]

BUGS = (
    Bug(
        "half of the tests before a loop are dropped",
        [replaced(_LoopTests, "find", all_but_the_last)],
        compared(shifted, *_SHIFTS),
    ),
    Bug(
        "tests before a loop are off by one",
        [replaced(_LoopTests, "_test", one_more)],
        compared(triangle, *_PLANES),
    ),
    Bug(
        "tests before a loop may overflow",
        [replaced(_LoopTests, "with_assumptions", second)],
        compared(shifted, *_SHIFTS),
    ),
    Bug(
        "what stands behind a condition is refuted",
        [replaced(_Walker, "visit", both_sides_run)],
        compared(failing.behind_a_condition, (failing.LINE,), (-failing.LINE,)),
    ),
    Bug(
        "what a choice leaves out is refuted",
        [replaced(refutation, "_places", is_always_certain)],
        compared(failing.behind_a_choice, (failing.LINE,), (-failing.LINE,)),
    ),
    Bug(
        "what stands behind a return is refuted",
        [replaced(_Walker, "_note", never_ends)],
        compared(failing.behind_a_return, (failing.LINE,), (-failing.LINE,)),
    ),
    Bug(
        "quotients are rounded up",
        [replaced(Forms, "_quotient", rounded_up)],
        compared(quotient_past_the_end, *[(inner(n),) for n in (4, 5)]),
    ),
    Bug(
        "loops end one iteration earlier for the prover",
        [replaced(bounds, "_last", last_is_one_less)],
        compared(past_the_end, (inner(),), (inner(7),)),
    ),
    Bug(
        "a choice is always its first side",
        [replaced(Forms, "_one_of", one_of_two)],
        compared(one_side_is_outside, *[(inner(8), n) for n in (0, 1)]),
    ),
    Bug(
        "signs of factors are ignored",
        [replaced(Facts, "_sign", without_a_sign)],
        compared(times_a_number, *[(inner(8), k) for k in (0, 1, -3, 3)]),
    ),
    Bug(
        "floats that do not fit are taken for small indices",
        [everywhere(quick_index, "emit_quick_index", quick_and_wrong)],
        compared(bins, *[(np.array([x]), np.zeros(3, np.int64)) for x in (1.0, 1e30, np.nan)]),
        needs="sse2",
    ),
)
