"""Bugs planted in tensor expressions and in the classic schedule.

Each must make a random graph differ from NumPy, or from itself without a schedule; or a given
graph give something else.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.arith.simplify import simplify
from hybridjit.errors import ArgumentError
from hybridjit.hybrid import output_tensor
from hybridjit.ir.expr import Expr, FloorDiv, Load, Mod, Var
from hybridjit.ir.stmt import For, LoopKind, Stmt, Store, seq
from hybridjit.schedule.classic import factoring as classic_factoring
from hybridjit.schedule.classic import graph as classic_graph
from hybridjit.schedule.classic import lower as classic_lower
from hybridjit.schedule.classic import rfactor as classic_rfactor
from hybridjit.schedule.classic.schedule import ClassicSchedule
from hybridjit.schedule.primitives import compute_at, compute_inline
from hybridjit.tensors import derivative, inlined, nests, scan_nest, written_tensors
from tests.graphs.check import ScheduledGraph, Subject, check_scheduled, choose_moves
from tests.graphs.foreign import extern_script, script_total
from tests.graphs.generate import make_graph
from tests.graphs.reductions import (
    matmul,
    reduce,
    reduce_all,
    reduce_some,
    reduce_to_pair,
    scan_of_two,
    windows,
)
from tests.graphs.reductions import scan as make_scan
from tests.graphs.stages import (
    Maker,
    clamped_stencil,
    elementwise,
    reverse,
    stencil,
    transpose,
    two_outputs,
)
from tests.planted.bugs import Bug, RandomCheck, always, first, replaced, second
from tests.planted.schedule_stages import smaller_box

# Functions of te have the names of these modules.
gradient = import_module("hybridjit.tensors.gradient")
scan = import_module("hybridjit.tensors.scan")

# Graphs until a bug counts as missed.
MAX_GRAPHS = 120


# -- checks ----------------------------------------------------------------------------------------


def at_random(first: int, *makers: Maker, moves: Sequence[str] = ()) -> RandomCheck:
    """Random graphs of the given kinds of stages are what NumPy makes, also under such steps."""
    kinds = (*(maker.__name__ for maker in makers), *moves)
    check = partial(_check_graph, makers, tuple(moves))
    return RandomCheck(", ".join(kinds), check, first, MAX_GRAPHS)


def _check_graph(makers: Sequence[Maker], moves: Sequence[str], number: int) -> None:
    choose = random.Random(number)
    subject = Subject(choose, make_graph(choose, [*makers, elementwise]))
    subject.check_against_numpy()
    if moves:
        found = ScheduledGraph(subject)
        found.take(choose_moves(choose, moves))
        check_scheduled(found, native=False)


def sums_of_nothing_are_zero() -> None:
    n = te.var("n")
    A, k = te.placeholder((3, n), "int64", "A"), te.reduce_axis((0, n), "k")
    B = te.compute((3,), lambda i: te.sum(A[i, k], axis=k), name="B")
    b = np.full(3, 9)
    hj.build([A, B]).interpret(np.zeros((3, 0), np.int64), b)
    assert b.tolist() == [0, 0, 0]


def sums_go_in_the_order_of_their_axes() -> None:
    A = te.placeholder((13, 14), "float32", "A")
    i, j = te.reduce_axis((0, 13), "i"), te.reduce_axis((0, 14), "j")
    B = te.compute((), lambda: te.sum(A[i, j], axis=[i, j]), name="B")
    a, b = np.random.default_rng(1).standard_normal((13, 14)).astype("f4"), np.zeros((), "f4")
    hj.build([A, B]).interpret(a, b)
    expected = np.float32(0)
    for value in a.ravel():
        expected += value
    assert b == expected


def a_scan_reads_earlier_steps_only() -> None:
    A, state = te.placeholder((4,), name="A"), te.placeholder((4,), name="state")
    init = te.compute((1,), lambda t: A[t])
    update = te.compute((4,), lambda t: state[t] + A[t])
    with pytest.raises(ArgumentError, match=r"\w"):
        te.scan(init, update, state)


def slopes_are_those_of_small_steps() -> None:
    """The gradient of a sum of several functions, against differences."""
    A = te.placeholder((5,), "float64", "A")
    k = te.reduce_axis((0, 4), "k")
    B = te.compute((5,), lambda i: te.cos(A[i]) - A[i] * A[i] / (A[i] + 5), name="B")
    C = te.compute((), lambda: te.sum(B[k] * B[k + 1], axis=k), name="C")
    (grad,) = te.gradient(C, A)
    a, found = np.linspace(0.5, 2.5, 5), np.zeros(5)
    hj.build([A, grad]).interpret(a, found)

    def value(x: Any) -> Any:
        b = np.cos(x) - x * x / (x + 5)
        return (b[:-1] * b[1:]).sum()

    steps = 1e-6 * np.eye(5)
    expected = [(value(a + step) - value(a - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def a_group_is_what_lies_between() -> None:
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    C = te.compute((8,), lambda i: B[i] * 2, name="C")
    D = te.compute((8,), lambda i: C[i] - A[i], name="D")
    E = te.compute((8,), lambda i: D[i] + 3, name="E")
    s = te.create_schedule(E.op)
    assert [stage.op.name for stage in s.create_group(D, B).stages] == ["C", "D"]
    assert [stage.op.name for stage in s.create_group(D, B, True).stages] == ["B", "C", "D"]


@hybrid.script
def negated(a: Any) -> Any:
    """Writes to its argument."""
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        a[i] = -a[i]
        b[i] = a[i]
    return b


def others_read_what_was_passed() -> None:
    a = te.placeholder((3,), name="A")
    b: Any = negated(a)
    c = te.compute((3,), lambda i: a[i] + b[i], name="C")
    given, found = np.ones(3, "float32"), np.ones(3, "float32")
    hj.build(te.create_prim_func([a, c])).interpret(given, found)
    assert given.tolist() == [-1, -1, -1]
    assert found.tolist() == [0, 0, 0]


def attached_to_a_fused_axis() -> None:
    """A stage follows its axis into what the axis has become."""
    A = te.placeholder((4, 6), "int64", "A")
    B = te.compute((4, 6), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((4, 6), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[1])
    s[C].fuse(*C.op.axis)
    assert str(hj.lower(s, [A, C])).count("range(24)") == 1


# -- bugs ------------------------------------------------------------------------------------------

_partial = vars(classic_rfactor)["_partial"]
_final = vars(classic_rfactor)["_final"]
_find_targets = vars(scan_nest)["_find_targets"]
_nest = vars(nests)["_nest"]
_invert = vars(compute_inline)["_invert"]


def without_condition(cond: Expr, body: Stmt) -> Stmt:
    return body


def one_after_the_other(buffers: Any, indices: Any, values: Any) -> Stmt:
    """Each value computed when those before it are stored."""
    pairs = zip(buffers, values, strict=True)
    return seq(*(Store(buffer, indices, value) for buffer, value in pairs))


def axes_turned_around(body: Stmt, loops: Sequence[Any]) -> Stmt:
    return _nest(body, [*loops][::-1])


def starts_with_what_was_given(reduction: Any, kept: Any, guards: Any) -> Any:
    made = _partial(reduction, kept, guards)
    return dataclasses.replace(made, init=reduction.init) if kept else made


def without_guards(reduction: Any, kept: Any, guards: Any) -> Any:
    return _partial(reduction, kept, ())


def starts_with_the_identity(op: Any, reduction: Any, how: Any, partials: Any) -> Any:
    return dataclasses.replace(_final(op, reduction, how, partials), init=reduction.identity)


def a_step_late(var: Var, start: Expr, stop: Expr, step: Expr, body: Stmt, kind: Any = None) -> For:
    if kind is not LoopKind.SCAN:
        return For(var, start, stop, step, body)
    return For(var, simplify(start + 1), stop, step, body, kind)


def states_swapped(op: Any) -> Any:
    turned = dataclasses.replace(op, state=op.state[::-1], outputs=op.outputs)
    return _find_targets(turned)


def turned_load(buffer: Any, indices: Any, **options: Any) -> Load:
    return Load(buffer, tuple(indices)[::-1], **options)


def no_copy(*args: Any) -> Stmt:
    return seq()


def axes_swapped(func: Any, definition: Any) -> Any:
    found = _invert(func, definition)
    last = len(definition.store.indices) - 1
    return {var: (last - axis, offset, sign) for var, (axis, offset, sign) in found.items()}


def same(x: Any) -> Any:
    return x


def the_last_part_only(self: Any, tensor: Any) -> Any:
    return self.parts[tensor][-1]


def without_conditions(value: Any, solution: Any, term: Any) -> Any:
    return _summed(value, dataclasses.replace(solution, conditions=[]), term)


_summed = vars(gradient)["_summed"]
_REDUCE = (reduce, reduce_some, matmul)
_STENCILS = (stencil, clamped_stencil, windows)

BUGS = (
    # -- graphs
    Bug(
        "a reduction takes all elements, whatever its condition",
        [replaced(nests, "If", without_condition)],
        at_random(0, reduce_some),
    ),
    Bug(
        "a reduction over nothing gives nothing",
        [replaced(nests, "_fill_empty", always([]))],
        sums_of_nothing_are_zero,
    ),
    Bug(
        "several axes are reduced in another order",
        [replaced(nests, "_nest", axes_turned_around)],
        sums_go_in_the_order_of_their_axes,
    ),
    Bug(
        "a tuple is stored while it is computed",
        [replaced(nests, "store_all", one_after_the_other)],
        at_random(0, reduce_to_pair, two_outputs),
    ),
    Bug(
        "outputs are not zero when a script adds to them",
        [replaced(inlined, "_is_overwritten", always(True))],
        at_random(0, script_total, extern_script),
    ),
    Bug(
        "a scan begins one step late",
        [replaced(scan_nest, "For", a_step_late)],
        at_random(0, make_scan, scan_of_two),
    ),
    Bug(
        "a scan forgets its first steps",
        [replaced(scan_nest, "_copy", no_copy)],
        at_random(0, make_scan),
    ),
    Bug(
        "the states of a scan are mistaken for each other",
        [replaced(scan_nest, "_find_targets", states_swapped)],
        at_random(3, scan_of_two),
    ),
    Bug(
        "a scan may read the step that it computes",
        [replaced(scan, "check_reads", always(None))],
        a_scan_reads_earlier_steps_only,
    ),
    # -- gradients
    Bug(
        "the slope of a difference has the wrong sign",
        [replaced(derivative, "_negative", same)],
        slopes_are_those_of_small_steps,
    ),
    Bug(
        "an element that is read twice counts once",
        [replaced(vars(gradient)["_Adjoints"], "result", the_last_part_only)],
        slopes_are_those_of_small_steps,
    ),
    Bug(
        "gradients at the edges of windows are not left out",
        [replaced(gradient, "_summed", without_conditions)],
        slopes_are_those_of_small_steps,
    ),
    # -- stages
    Bug(
        "compute_at: the halo is one element short",
        [replaced(compute_at, "box_around", smaller_box)],
        at_random(0, *_STENCILS, moves=["compute_at", "split"]),
    ),
    Bug(
        "compute_inline: axes are mistaken for each other",
        [replaced(compute_inline, "_invert", axes_swapped)],
        at_random(0, reverse, transpose, stencil, moves=["compute_inline", "auto_inline"]),
    ),
    Bug(
        "cache_read and cache_write turn arrays around",
        [replaced(classic_graph, "Load", turned_load)],
        at_random(0, transpose, matmul, moves=["cache_read", "cache_write"]),
    ),
    Bug(
        "rfactor: every partial result starts as the whole does",
        [replaced(classic_rfactor, "_partial", starts_with_what_was_given)],
        at_random(0, reduce_some, moves=["rfactor", "split"]),
    ),
    Bug(
        "rfactor: the start of the whole is lost",
        [replaced(classic_rfactor, "_final", starts_with_the_identity)],
        at_random(0, reduce_some, moves=["rfactor"]),
    ),
    Bug(
        "rfactor: the tail of a split axis counts",
        [replaced(classic_rfactor, "_partial", without_guards)],
        at_random(0, *_REDUCE, moves=["split", "rfactor"]),
    ),
    Bug(
        "rfactor: conditions are not kept",
        [replaced(classic_rfactor, "And", first)],
        at_random(0, reduce_some, moves=["split", "rfactor"]),
    ),
    Bug(
        "rfactor: fused axes are taken apart the wrong way",
        [
            replaced(classic_factoring, "FloorDiv", Mod),
            replaced(classic_factoring, "Mod", FloorDiv),
        ],
        at_random(0, reduce_all, moves=["fuse", "rfactor"]),
    ),
    Bug(
        "rfactor: floats are regrouped",
        [replaced(classic_rfactor, "_check_rounding", always(None))],
        at_random(26, reduce, matmul, moves=["split", "rfactor"]),
    ),
    Bug(
        "a group is everything",
        [replaced(ClassicSchedule, "_is_between", always(True))],
        a_group_is_what_lies_between,
    ),
    Bug(
        "others read what a script wrote",
        [replaced(written_tensors, "_reads", always(False))],
        others_read_what_was_passed,
    ),
    Bug(
        "what is written to a copy is lost",
        [replaced(written_tensors.WrittenCopies, "store_back", always([]))],
        others_read_what_was_passed,
    ),
    Bug(
        "attached stages lose their axis",
        [replaced(classic_lower, "_present", second)],
        attached_to_a_fused_axis,
    ),
)
