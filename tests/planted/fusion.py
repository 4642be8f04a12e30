"""Bugs planted in the fusion of arrays and in the planning of storage.

Each must make a chain of array statements, one of our own or a random one, give another result.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.analysis import order as array_order
from hybridjit.analysis.distances import Order
from hybridjit.arith import ranges as array_ranges
from hybridjit.frontend.arrays import memory as array_memory
from hybridjit.ir.expr import const
from hybridjit.lowering import plan_storage
from hybridjit.schedule.arrays import contract as fuse_contract
from hybridjit.schedule.arrays import epilogue as fuse_epilogue
from hybridjit.schedule.arrays import fusion, reduce_in_lanes
from hybridjit.schedule.arrays import inline as fuse_inline
from hybridjit.schedule.arrays import merge as fuse_merge
from hybridjit.schedule.arrays import unpack as fuse_unpack
from tests.arrays.check import Refused, check_program
from tests.arrays.generate import make_program
from tests.optimize import test_unpack as unpacked
from tests.planted.bugs import Bug, Check, RandomCheck, always, replaced
from tests.support.array_results import assert_agree
from tests.support.optimized import run_optimized

# Chains until a bug counts as missed.
MAX_CHAINS = 300
_PERTURB = -6  # M_PERTURB of glibc
Array = Any
RNG: Any = np.random.default_rng(11)
SMALL, LARGE = RNG.random(6), RNG.random(300)


# -- scripts ---------------------------------------------------------------------------------------


def source_changes(a: Array) -> Any:
    t = a * 2
    a[:] = 0.0
    return t + 1


def changed_in_between(a: Array, b: Array) -> Any:
    t = np.sin(a)
    a[:] = b[::-1]
    return t * t


def written_backwards(a: Array) -> None:
    t = np.sin(a)
    a[::-1] = t * t


def shorter(a: Array) -> Any:
    t = np.sin(a)
    return t[:-1] * t[:-1]


def wraps(a: Array, k: int) -> Any:
    t = a[1:] * 2
    return a * t[k]


def shift_up(a: Array) -> Any:
    a[1:] = a[:-1] * 2


def accumulated(a: Array) -> Any:
    t = np.zeros(a.shape[0])
    t += a
    t += a * a
    return t.max()


def used_after(a: Array) -> Any:
    for _ in range(2):
        x = np.sin(a) + a[::-1]
        y = np.cos(x[::-1]) + x
        a[:] = y[::-1] + y + x


def reversed_read(a: Array) -> Any:
    for _ in range(2):
        x = np.sin(a) + a[::-1]
        y = np.cos(x[::-1])
        z = np.sin(y) + y[::-1]
        a[:] = z[::-1] * 0.5 + z


def partly_set(a: Array) -> Any:
    x = np.zeros(a.shape[0])
    x[1000:] = a[:-1000]
    return x + x[::-1]


def measured_step(a: Array) -> Any:
    new = a * 0.5 + 1
    error = np.abs(new - a).mean()
    a[:] = new
    return error


def fails(a: Array, b: Array, c: Array) -> None:
    t = a // b
    c[:] = t


def product_onto_a_factor(a: Array, b: Array) -> None:
    a[:] = 2.0 * (a @ b).T


# -- checks ----------------------------------------------------------------------------------------


def agrees(script: Any, *args: Any) -> Check:
    """All ways to run the script agree."""

    def check() -> None:
        kernel: Any = hybrid.script(script)
        assert_agree(kernel, [np.copy(a) if np.ndim(a) else a for a in args])

    check.__name__ = script.__name__
    return check


def _on_used_memory(check: Check) -> Check:
    """The check, with memory that is never new: C's `malloc` fills it."""

    def run() -> None:
        ctypes.CDLL(None).mallopt(_PERTURB, 0xAA)
        check()

    run.__name__ = check.__name__
    return run


def at_random(first: int) -> RandomCheck:
    """All ways to run random chains of statements agree."""
    return RandomCheck("chains", _check_chain, first, MAX_CHAINS)


def _check_chain(number: int) -> None:
    with suppress(Refused):
        check_program(make_program(f"planted/{number}", "chain"), is_native=False)


def nothing_is_written_after_an_error() -> None:
    """A statement that fails must do so before the next one writes."""
    c = np.ones(4, dtype=np.int64)
    with pytest.raises(ZeroDivisionError, match="zero"):
        run_optimized(hybrid.script(fails), np.arange(4), np.array([1, 2, 0, 1]), c)
    assert (c == 1).all()


# -- bugs ------------------------------------------------------------------------------------------


def all_before(_: Any, stmts: Any, first: int, second: int) -> Any:
    return stmts[first + 1 : second], []


def place_of_the_loop(_: Any, stmts: Any, packed: Any) -> int:
    return stmts.index(packed.loop)


def nothing(_: Any, dtype: Any) -> Any:
    return const(0, dtype)


BUGS = (
    Bug(
        "a source that is written meanwhile",
        [replaced(fuse_inline, "_sources_stay", always(True))],
        agrees(source_changes, SMALL),
    ),
    Bug(
        "statements that must not swap",
        [replaced(fusion.Fusion, "may_swap", always(True))],
        agrees(changed_in_between, SMALL, SMALL + 1),
    ),
    Bug(
        "what comes after the loops before them",
        [replaced(fuse_merge, "part", all_before)],
        agrees(changed_in_between, SMALL, SMALL + 1),
    ),
    Bug(
        "loops of another order",
        [replaced(fuse_merge, "_keeps_order", always(True))],
        agrees(written_backwards, SMALL),
    ),
    Bug(
        "accesses that are taken for others",
        [replaced(array_order.Iterations, "meet", always(Order.SAME))],
        agrees(written_backwards, SMALL),
    ),
    Bug(
        "an index that counts from the end",
        [replaced(fuse_inline, "_is_in_bounds", always(True))],
        agrees(wraps, SMALL, -1),
    ),
    Bug(
        "an assignment that reads what it wrote",
        [replaced(array_memory, "_needs_copy", always(False))],
        agrees(shift_up, SMALL),
    ),
    Bug(
        "loops over different ranges",
        [replaced(array_ranges.Ranges, "same", always(True))],
        agrees(shorter, SMALL),
    ),
    Bug(
        "a value before its first",
        [replaced(fuse_contract, "_is_set_by", always(True))],
        agrees(accumulated, SMALL),
    ),
    Bug(
        "a product stored where a factor is",
        [replaced(fuse_epilogue, "_is_apart", always(True))],
        agrees(product_onto_a_factor, RNG.random((26, 26)), RNG.random((26, 26))),
    ),
    Bug(
        "memory that is still used",
        [replaced(plan_storage, "_last_use", always(0))],
        agrees(used_after, LARGE),
    ),
    Bug(
        "in place though not element by element",
        [replaced(plan_storage, "_is_in_place", always(True))],
        agrees(reversed_read, LARGE),
    ),
    Bug(
        "a fold that reads what its loop has changed",
        [replaced(reduce_in_lanes, "_overwrite", always(False))],
        agrees(measured_step, LARGE),
    ),
    Bug(
        "zeros that are needed",
        [replaced(plan_storage, "prove_sets_all", always(True))],
        _on_used_memory(agrees(partly_set, RNG.random(4000))),
    ),
    Bug(
        "what was packed is written meanwhile",
        [replaced(fuse_unpack, "_sources_stay", always(True))],
        agrees(unpacked.source_changes, *unpacked.arguments(33)),
    ),
    Bug(
        "others are packed than were counted",
        [replaced(fuse_unpack, "_find_counter", place_of_the_loop)],
        agrees(unpacked.fewer_than_counted, *unpacked.arguments(33)),
    ),
    Bug(
        "what is left out of a product counts",
        [replaced(fuse_unpack, "find_identity", nothing)],
        agrees(unpacked.product, 2 * LARGE[:33], LARGE[:33] + 0.5),
    ),
    Bug(
        "random chains: sources",
        [replaced(fuse_inline, "_sources_stay", always(True))],
        at_random(28),
    ),
    Bug(
        "random chains: order", [replaced(fuse_merge, "_keeps_order", always(True))], at_random(49)
    ),
    Bug("random chains: swaps", [replaced(fusion.Fusion, "may_swap", always(True))], at_random(14)),
    Bug(
        "random chains: copies",
        [replaced(array_memory, "_needs_copy", always(False))],
        at_random(49),
    ),
    Bug(
        "errors in another order",
        [replaced(fuse_merge, "_fails_alike", always(True))],
        nothing_is_written_after_an_error,
    ),
)
