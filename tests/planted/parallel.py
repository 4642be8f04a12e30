"""Bugs planted in parallel loops: in lowering, code generation and the pool.

Each must be noticed by comparing a few parallel loops with the interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from llvmlite import ir

from hybridjit import Kernel, hybrid, threads
from hybridjit.analysis import private_reduction
from hybridjit.analysis.distances import Distances
from hybridjit.analysis.independence import Independence
from hybridjit.analysis.private_reduction import PrivateReduction
from hybridjit.analysis.reduction import ReductionOp
from hybridjit.codegen.emit import allocation
from hybridjit.codegen.pool import run as pool
from hybridjit.codegen.pool.layout import Pool
from hybridjit.codegen.pool.words import PoolWords
from hybridjit.hybrid import allocate, parallel
from hybridjit.ir.expr import Const, Expr, Le, Lt, Min, const
from hybridjit.ir.stmt import For, If, Stmt, Store, seq
from hybridjit.lowering import (
    blocks,
    chunks,
    parallelize,
    privatize_reductions,
    split_histograms,
    split_selections,
)
from hybridjit.runtime import pool as runtime_pool
from tests.lowering import test_blocks_of_columns as columns
from tests.lowering import test_hand_out_blocks as lanes_on_threads
from tests.lowering import test_parallelize as automatic
from tests.planted.bugs import Bug, Check, always, replaced
from tests.support import parallel_programs as programs
from tests.support.oracle import fresh
from tests.support.parallel_programs import AnyKernel, check, eager

_SIZE = 257
_COUNTS = (1, 2, 3) * 10


@hybrid.script
def refuses(a: Any, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        k = 0
        while k < 500_000:
            k += 1
            out[i] = out[i] * 0.5 + a[i]
        if a[i] < 0:
            raise ValueError("negative", a[i])


def refused() -> tuple[Any, ...]:
    """The last iteration of the first chunk fails, but before that the first one of the second."""
    a = np.ones(64)
    a[3:5] = -1, -2
    return a, np.zeros(64)


@hybrid.script
def slow(out: Any, steps: Any) -> Any:
    for i in parallel(out.shape[0]):
        k = 0
        x = 0.0
        while k < steps:
            k += 1
            x = x * 0.5 + 1.0
        out[i] = x


def compared(kernel: AnyKernel) -> Check:
    """A parallel loop agrees with the interpreter, again and again."""

    def run() -> None:
        runtime_pool.clear()
        make = next(program.make for program in programs.PROGRAMS if program.kernel is kernel)
        with eager():
            check(fresh(kernel), make(_SIZE), *_COUNTS)

    run.__name__ = kernel.__name__
    return run


def sums_end_where_they_should() -> None:
    """Nobody adds what lies behind an array."""
    runtime_pool.clear()
    with eager():
        check(fresh(programs.integer_sums), (np.arange(1, 2 * _SIZE)[:_SIZE], np.full(1, 7)), 1, 2)


def by_themselves(kernel: AnyKernel) -> Check:
    """A script with `parallel=True` agrees with the interpreter."""

    def run() -> None:
        runtime_pool.clear()
        with eager():
            automatic.check(fresh_parallel(kernel), *automatic.arrays(_SIZE))

    run.__name__ = kernel.__name__
    return run


def fresh_parallel(kernel: AnyKernel) -> AnyKernel:
    return Kernel(kernel.__hybrid_function__, parallel=True)


def stays_serial(kernel: AnyKernel) -> Check:
    """A loop stays on one thread: what it computes on several ones is a matter of luck."""

    def run() -> None:
        automatic.test_which_loops(fresh_parallel(kernel), False)

    run.__name__ = kernel.__name__
    return run


def nothing_is_selected() -> None:
    """Of NaNs none is the least."""
    with eager():
        kernel = fresh_parallel(automatic.last_of_least)
        automatic.check(kernel, np.full(_SIZE, np.nan), np.zeros(2))


def errors_agree() -> None:
    """The error of the lowest iteration is the one reported."""
    runtime_pool.clear()
    with eager():
        made = fresh(refuses)
        for _ in range(10):
            with threads(2), pytest.raises(ValueError, match="negative") as caught:
                made(*refused())
            assert caught.value.args == ("negative", -1.0)


def nobody_is_late() -> None:
    """When a call returns, its loop is done."""
    runtime_pool.clear()
    with eager():
        for _ in range(30):
            out = np.zeros(3)
            with threads(3):
                slow(out, 1_000_000)
            assert (out == 2.0).all()


@hybrid.script
def counts(out: Any, steps: Any) -> Any:
    for i in parallel(out.shape[0]):
        tmp = allocate((5,), "float64", "local")
        for k in range(steps):
            tmp[(k * 7 + i) % 5] += 1.0
        for j in range(5):
            out[i] += tmp[j]


def scratch_is_private() -> None:
    """No iteration sees the scratch of another one."""
    runtime_pool.clear()
    with eager():
        for _ in range(20):
            out = np.zeros(16)
            with threads(3):
                counts(out, 100_000)
            assert (out == 100_000).all()


# -- bugs ----------------------------------------------------------------------------------------

_write, _least, _is_less = PoolWords.write, PoolWords.least, PoolWords.is_less
_combine = PrivateReduction.combine
_combine_arrays = vars(split_histograms)["_combine"]


def starts_late(w: PoolWords, value: Any, place: Pool) -> None:
    _write(w, 2 if place is Pool.NEXT else value, place)


def one_less(w: PoolWords, a: Any, b: Any) -> Any:
    least = _least(w, a, b)
    return w.b.sub(least, w.word(1)) if w.function.name == "work" else least


def first_in_time(w: PoolWords, a: Any, b: Any) -> Any:
    is_failure = w.function.name == "fail" and a is w.args[0]
    return w.is_equal(b, (1 << 63) - 1) if is_failure else _is_less(w, a, b)


def nothing(*args: Any) -> None:
    """Do not even try."""


def common_array(entry: Any, size: int, name: str) -> Any:
    kind = ir.ArrayType(ir.IntType(8), size)
    memory: Any = ir.GlobalVariable(entry.module, kind, entry.module.get_unique_name(name))
    memory.initializer, memory.linkage, memory.align = ir.Constant(kind, None), "internal", 64
    return entry.bitcast(memory, ir.IntType(8).as_pointer())


def without_constants(*stmts: Stmt) -> Stmt:
    return seq(*(s for s in stmts if not (isinstance(s, Store) and isinstance(s.value, Const))))


def always_zero(reduction: PrivateReduction, fastmath: Sequence[str] = ()) -> Const:
    return Const(0, reduction.buffer.dtype)


def twice(reduction: PrivateReduction, value: Expr) -> Stmt:
    return seq(_combine(reduction, value), _combine(reduction, value))


def combined_twice(*args: Any) -> Stmt:
    return seq(_combine_arrays(*args), _combine_arrays(*args))


def if_not_worse(cond: Any, then: Any, *others: Any, **named: Any) -> Any:
    """The comparison of partial results takes equal ones, too."""
    return If(Le(cond.lhs, cond.rhs) if isinstance(cond, Lt) else cond, then, *others, **named)


def zero(_: ReductionOp, dtype: Any, *__: Any) -> Const:
    return const(0, dtype)


def shorter(a: Expr, b: Expr) -> Expr:
    return Min(a, b - 1)


def longer(a: Expr, b: Expr) -> Expr:
    return a


def first_block_only(loop: For, *, multiple: int = 1) -> For:
    """As if there were one block, of as many iterations as run side by side."""
    return replace(loop, stop=loop.start + multiple)


def blocks_of_lanes() -> None:
    with eager():
        made: AnyKernel = lanes_on_threads.row_sums.with_schedule(lanes_on_threads.lanes_first)
        check(made, lanes_on_threads.arrays(_SIZE), 1, 3)


BUGS = (
    Bug(
        "the first iterations are lost",
        [replaced(PoolWords, "write", starts_late)],
        compared(programs.scaled),
    ),
    Bug(
        "the last iteration of a chunk is lost",
        [replaced(PoolWords, "least", one_less)],
        compared(programs.scaled),
    ),
    Bug(
        "the caller does not wait for its workers",
        [replaced(pool, "_wait", nothing)],
        nobody_is_late,
    ),
    Bug(
        "the failure that is first in time wins",
        [replaced(PoolWords, "is_less", first_in_time)],
        errors_agree,
    ),
    Bug(
        "threads share their scratch",
        [replaced(allocation, "stack_array", common_array)],
        scratch_is_private,
    ),
    Bug(
        "private copies are not initialised",
        [replaced(privatize_reductions, "seq", without_constants)],
        compared(programs.integer_sums),
    ),
    Bug(
        "private copies start as zero",
        [replaced(PrivateReduction, "identity", always_zero)],
        compared(programs.integer_sums),
    ),
    Bug(
        "partial results are combined twice",
        [replaced(PrivateReduction, "combine", twice)],
        compared(programs.integer_sums),
    ),
    Bug(
        "the last chunk is too short",
        [replaced(chunks, "Min", shorter)],
        compared(programs.integer_sums),
    ),
    Bug(
        "the last chunk is too long",
        [replaced(chunks, "Min", longer)],
        sums_end_where_they_should,
    ),
    Bug(
        "all loops are independent",
        [replaced(Independence, "prove_independent", always(True))],
        stays_serial(automatic.running),
    ),
    Bug(
        "iterations that meet are the same",
        [replaced(Distances, "is_same", True)],
        stays_serial(automatic.running),
    ),
    Bug(
        "loops that break run to their end",
        [replaced(parallelize, "is_candidate", always(True))],
        stays_serial(automatic.up_to_a_large_one),
    ),
    Bug(
        "the last block is too short",
        [replaced(blocks, "Min", shorter)],
        by_themselves(automatic.rows),
    ),
    Bug(
        "blocks of lanes are taken for all of the loop",
        [replaced(blocks, "make_blocks", first_block_only)],
        blocks_of_lanes,
    ),
    Bug(
        "blocks of columns that read each other",
        [replaced(Independence, "prove_independent_along", always(True))],
        lambda: columns.test_values_do_not_depend_on_the_threads(columns.read_back),
    ),
    Bug(
        "bounds that are names of the nest",
        [replaced(parallelize, "has_own_bounds", always(True))],
        lambda: columns.test_values_do_not_depend_on_the_threads(columns.triangle),
    ),
    Bug(
        "floats are added in any order",
        [replaced(private_reduction, "may_regroup", always(True))],
        by_themselves(automatic.float_sum),
    ),
    Bug(
        "histograms start with what was there before",
        [replaced(PrivateReduction, "identity", always(Const(3)))],
        by_themselves(automatic.histogram),
    ),
    Bug(
        "histograms are combined twice",
        [replaced(split_histograms, "_combine", combined_twice)],
        by_themselves(automatic.histogram),
    ),
    Bug(
        "of equal extrema the last one counts",
        [replaced(split_selections, "If", if_not_worse)],
        by_themselves(automatic.place_of_least),
    ),
    Bug(
        "extrema start as zero",
        [replaced(split_selections, "find_identity", zero)],
        by_themselves(automatic.place_of_least),
    ),
    Bug(
        "any comparison selects the first",
        [replaced(split_selections, "find_order", always(ReductionOp.MIN))],
        nothing_is_selected,
    ),
)
