"""classify: never SPATIAL or REDUCE for a loop whose order matters, and useful labels otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given

from hybridjit.analysis import iteration, reduction
from hybridjit.analysis.context import infer_context
from hybridjit.analysis.iteration import classify
from hybridjit.analysis.recovery import IterationSpace
from hybridjit.ir.dtype import FLOAT32, INT64
from hybridjit.ir.expr import (
    Add,
    Buffer,
    BufferRef,
    Const,
    Expr,
    ExternCall,
    Gt,
    Load,
    Lt,
    Mod,
    Sub,
    Var,
)
from hybridjit.ir.extern import Extern
from hybridjit.ir.stmt import (
    Allocate,
    Block,
    Break,
    Evaluate,
    For,
    If,
    Iter,
    IterKind,
    Let,
    LoopKind,
    Print,
    Return,
    Seq,
    Stmt,
    Store,
    While,
)
from hybridjit.ir.visit import walk
from tests.analysis.nests import Nest, find_conflict, find_order_dependence, make_nest
from tests.support.choices import samples, strategy

SPATIAL, REDUCE, SCAN = IterKind.SPATIAL, IterKind.REDUCE, IterKind.SCAN
ZERO, ONE = Const(0.0, FLOAT32), Const(1.0, FLOAT32)


# --- random nests against the oracles ----------------------------------------------------------

Classifier = Callable[[Nest], Sequence[IterKind]]


def label(nest: Nest) -> Sequence[IterKind]:
    return classify(nest.stmt, nest.loops)


@given(strategy(make_nest))
def test_spatial_iterations_never_meet(nest: Nest) -> None:
    assert find_conflict(nest, label(nest)) is None


@given(strategy(make_nest))
def test_the_order_that_labels_leave_open_does_not_matter(nest: Nest) -> None:
    assert find_order_dependence(nest, label(nest)) is None


def without_lets(nest: Nest) -> Sequence[IterKind]:
    context = dataclasses.replace(infer_context(nest.loops[0]), bindings={})
    return classify(nest.stmt, nest.loops, context)


def without_guards(nest: Nest) -> Sequence[IterKind]:
    context = infer_context(nest.loops[0])
    unguarded = dataclasses.replace(context, guards=dict.fromkeys(context.guards, ()))
    return classify(nest.stmt, nest.loops, unguarded)


def as_if_all_were_local(nest: Nest) -> Sequence[IterKind]:
    context = infer_context(nest.loops[0])
    buffers = [node.buffer for node in walk(nest.stmt) if isinstance(node, Store)]
    local = dataclasses.replace(context, allocations=dict.fromkeys(buffers, nest.loops[0].var))
    return classify(nest.stmt, nest.loops, local)


def present_is_spatial(nest: Nest) -> Sequence[IterKind]:
    stores = [node for node in walk(nest.stmt) if isinstance(node, Store)]
    written = [[node for index in store.indices for node in walk(index)] for store in stores]
    return [SPATIAL if all(loop.var in nodes for nodes in written) else SCAN for loop in nest.loops]


@pytest.mark.parametrize(
    "broken", [without_lets, without_guards, as_if_all_were_local, present_is_spatial]
)
def test_the_oracles_catch_a_broken_classifier(broken: Classifier) -> None:
    assert_caught(broken)


def always(value: object) -> Callable[..., object]:
    def function(*_: object) -> object:
        return value

    return function


def ignore_other_accesses(space: IterationSpace, indices: Sequence[Expr]) -> object:
    return space.form(indices[0])


def count_all_loads(update: Stmt, buffer: Buffer) -> int:
    return sum(isinstance(node, Load) and node.buffer is buffer for node in walk(update))


Patch = tuple[object, str, object]
MUTANTS: dict[str, tuple[Patch, ...]] = {
    "radix": ((IterationSpace, "span", always(0)),),
    "stride": ((IterationSpace, "step", always(100)),),
    "bounds": ((IterationSpace, "is_never_negative", always(True)),),
    "loads": ((IterationSpace, "common_index", ignore_other_accesses),),
    # Two checks say that an update does not read what it updates: one is enough.
    "update": (
        (reduction, "_depends_on", always(False)),
        (iteration, "_count_loads", count_all_loads),
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_oracles_catch_a_broken_rule(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, replacement in MUTANTS[mutant]:
        monkeypatch.setattr(owner, name, replacement)
    assert_caught(label)


def assert_caught(broken: Classifier) -> None:
    """Fail unless a random nest shows that the classifier is wrong."""

    def is_wrong(nest: Nest) -> bool:
        kinds = broken(nest)
        return (
            find_conflict(nest, kinds) is not None or find_order_dependence(nest, kinds) is not None
        )

    assert any(is_wrong(nest) for nest in samples(make_nest, count=5000))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_many_more_nests(seed: int) -> None:
    for nest in samples(make_nest, count=200, seed=seed + 1):
        kinds = label(nest)
        assert find_conflict(nest, kinds) is None, str(nest)
        assert find_order_dependence(nest, kinds) is None, str(nest)


# --- examples ----------------------------------------------------------------------------------

i, j, k, n = Var("i"), Var("j"), Var("k"), Var("n")
EIGHT = Const(8)
CUBE = Buffer("c", FLOAT32, (EIGHT, EIGHT))
ROW = Buffer("r", FLOAT32, (EIGHT,))
SOURCE = Buffer("a", FLOAT32, (EIGHT, EIGHT))
INDEX = Buffer("index", INT64, (EIGHT,))
ELEMENT = Load(SOURCE, (i, j))


def loop(var: Var, *body: Stmt, start: int = 0, stop: Expr | int = 8, step: int = 1) -> For:
    last = stop if isinstance(stop, Expr) else Const(stop)
    return For(var, Const(start), last, Const(step), Seq(body))


def kinds_in(nest: For) -> str:
    """The labels of the loops around the innermost statement of `nest`, which is its last."""
    loops = [nest]
    while isinstance(inner := last_stmt(loops[-1].body), For):
        loops.append(inner)
    return labels(inner, loops)


def last_stmt(stmt: Stmt) -> Stmt:
    return last_stmt(stmt.stmts[-1]) if isinstance(stmt, Seq) else stmt


def labels(stmt: Stmt, loops: Sequence[For]) -> str:
    return " ".join(kind.name for kind in classify(stmt, loops))


def add_to(buffer: Buffer, indices: tuple[Expr, ...], value: Expr = ONE) -> Store:
    return Store(buffer, indices, Add(Load(buffer, indices), value))


def test_elementwise() -> None:
    assert kinds_in(loop(i, loop(j, Store(CUBE, (i, j), ELEMENT)))) == "SPATIAL SPATIAL"


def test_matmul() -> None:
    nest = loop(i, loop(j, loop(k, add_to(CUBE, (i, j), Load(SOURCE, (i, k))))))
    assert kinds_in(nest) == "SPATIAL SPATIAL REDUCE"


def test_overwriting_is_a_scan() -> None:
    assert kinds_in(loop(i, loop(j, Store(ROW, (i,), ELEMENT)))) == "SPATIAL SCAN"


def test_recurrence() -> None:
    step = Store(CUBE, (i, j), Load(CUBE, (i - 1, j)))
    assert kinds_in(loop(i, loop(j, step), start=1)) == "SCAN SPATIAL"


def test_diagonal_recurrence() -> None:
    step = Store(CUBE, (i, j), Load(CUBE, (i - 1, j + 1)))
    assert kinds_in(loop(i, loop(j, step, stop=7), start=1)) == "SCAN SCAN"


def test_the_same_index_written_differently() -> None:
    step = Store(ROW, (i + 1,), Load(ROW, (Sub(Const(2), Const(1) - i),)))
    assert kinds_in(loop(i, step, stop=7)) == "SPATIAL"


def test_convolution_into_overlapping_elements() -> None:
    assert kinds_in(loop(i, loop(j, add_to(ROW, (i + j,)), stop=4), stop=4)) == "REDUCE REDUCE"
    assert kinds_in(loop(i, loop(j, Store(ROW, (i + j,), ONE), stop=4), stop=4)) == "SCAN SCAN"


def test_histogram() -> None:
    assert kinds_in(loop(i, add_to(ROW, (Load(INDEX, (i,)),)))) == "REDUCE"


def test_histogram_that_reads_itself_as_an_index() -> None:
    assert kinds_in(loop(i, add_to(INDEX, (Load(INDEX, (i,)),), Const(1)))) == "SCAN"


def test_mixed_radix() -> None:
    flat = Buffer("f", FLOAT32, (Const(32),))
    index = i * 4 + j
    assert kinds_in(loop(i, loop(j, Store(flat, (index,), ONE), stop=4))) == "SPATIAL SPATIAL"
    assert kinds_in(loop(i, loop(j, Store(flat, (index,), ONE), stop=5))) == "SCAN SCAN"


def test_mixed_radix_of_tiles() -> None:
    nest = loop(i, loop(j, Store(ROW, (i + j,), ONE), stop=4), step=4)
    assert kinds_in(nest) == "SPATIAL SPATIAL"


def test_only_the_leading_digit_is_recovered() -> None:
    flat = Buffer("f", FLOAT32, (Const(64),))
    store = Store(flat, (i * 8 + j + k,), ONE)
    assert kinds_in(loop(i, loop(j, loop(k, store, stop=4), stop=4))) == "SPATIAL SCAN SCAN"


def test_skewed_indices() -> None:
    nest = loop(i, loop(j, Store(CUBE, (i, i + j), ONE), stop=4), stop=4)
    assert kinds_in(nest) == "SPATIAL SPATIAL"


def test_an_index_that_counts_from_the_end_may_meet_another() -> None:
    assert kinds_in(loop(i, Store(ROW, (i - 4,), ONE))) == "SPATIAL"
    assert kinds_in(loop(i, Store(ROW, (i - 4,), ONE), stop=12)) == "SCAN"


def test_reversed() -> None:
    assert kinds_in(loop(i, Store(ROW, (7 - i,), ONE))) == "SPATIAL"
    assert kinds_in(loop(i, Store(ROW, (i,), ONE), start=7, stop=-1, step=-1)) == "SPATIAL"


def test_run_time_sizes() -> None:
    row, offset = Buffer("r", FLOAT32, (n,)), Var("offset")
    assert kinds_in(loop(i, Store(row, (i,), ONE), stop=n)) == "SPATIAL"
    assert kinds_in(loop(i, Store(row, (n - 1 - i,), ONE), stop=n)) == "SPATIAL"
    assert kinds_in(loop(i, Store(row, (i + offset,), ONE), stop=n)) == "SPATIAL"
    assert kinds_in(loop(i, Store(row, (i + offset,), ONE), stop=n + 1)) == "SCAN"


def test_triangle() -> None:
    nest = loop(i, loop(j, Store(CUBE, (i, j), ONE), stop=i))
    assert kinds_in(nest) == "SPATIAL SPATIAL"


def test_an_index_that_wraps_is_not_trusted() -> None:
    assert kinds_in(loop(i, Store(ROW, (i * (1 << 62),), ONE))) == "SCAN"
    row = Buffer("r", FLOAT32, (n,))
    assert kinds_in(loop(i, Store(row, (i * (1 << 40),), ONE), stop=n)) == "SCAN"


def test_a_step_of_unknown_sign_is_not_trusted() -> None:
    nest = For(i, Const(0), EIGHT, n, Store(ROW, (i,), ONE))
    assert kinds_in(nest) == "SCAN"


def test_a_scan_loop_is_a_scan() -> None:
    nest = For(i, Const(0), EIGHT, Const(1), Store(ROW, (i,), ONE), LoopKind.SCAN)
    assert kinds_in(nest) == "SCAN"


def test_lets_are_followed() -> None:
    t, x = Var("t"), Var("x", FLOAT32)
    assert kinds_in(loop(i, Let(t, i + 1), Store(ROW, (t,), ONE), stop=7)) == "SPATIAL"
    assert kinds_in(loop(i, Let(t, Mod(i, Const(2))), Store(ROW, (i + t,), ONE))) == "SCAN"
    carried = loop(i, Let(x, Load(ROW, (i - 1,)) + Load(ROW, (i,))), Store(ROW, (i,), x), start=1)
    assert kinds_in(carried) == "SCAN"
    own = loop(i, Let(x, Load(ROW, (i,)) * Load(ROW, (i,))), Store(ROW, (i,), x))
    assert kinds_in(own) == "SPATIAL"


def test_an_update_through_a_let_that_reads_the_sum_is_a_scan() -> None:
    x = Var("x", FLOAT32)
    nest = loop(i, loop(k, Let(x, Load(ROW, (i,)) * Load(ROW, (i,))), add_to(ROW, (i,), x)))
    assert kinds_in(nest) == "SPATIAL SCAN"


def test_a_let_outside_of_the_loops_is_a_constant() -> None:
    t = Var("t")
    inner = loop(i, Store(ROW, (i + t,), ONE))
    outer = Seq((Let(t, Load(INDEX, (Const(0),))), inner))
    context = infer_context(outer)
    store = last_stmt(inner.body)
    assert classify(store, [inner], context) == (SPATIAL,)


def test_guards_that_read_the_buffer_count() -> None:
    store = Store(ROW, (i,), ONE)
    behind = If(Gt(Load(ROW, (i - 1,)), ZERO), store)
    beside = If(Gt(Load(ROW, (i,)), ZERO), store)
    assert labels(store, [loop(i, behind)]) == "SCAN"
    assert labels(store, [loop(i, beside)]) == "SPATIAL"
    assert labels(store, [loop(i, While(Gt(Load(ROW, (i - 1,)), ZERO), store))]) == "SCAN"


def test_bounds_that_read_the_buffer_count() -> None:
    store = Store(INDEX, (i,), Const(1))
    inner = loop(j, store, stop=Load(INDEX, (Const(0),)))
    assert labels(store, [loop(i, inner), inner]) == "SCAN SCAN"


def test_a_guarded_minimum_is_a_reduction() -> None:
    guarded = If(Lt(ELEMENT, Load(ROW, (i,))), Store(ROW, (i,), ELEMENT))
    assert kinds_in(loop(i, loop(j, guarded))) == "SPATIAL REDUCE"


def test_a_sum_guarded_by_itself_is_not_a_reduction() -> None:
    guarded = If(Lt(Load(ROW, (i,)), ONE), add_to(ROW, (i,), ELEMENT))
    assert kinds_in(loop(i, loop(j, guarded))) == "SPATIAL SCAN"


def test_a_loop_left_early_is_a_scan() -> None:
    store = Store(CUBE, (i, j), ONE)
    stop = If(Gt(ELEMENT, ZERO), Break())
    inner = loop(j, stop, store)
    assert labels(store, [loop(i, inner), inner]) == "SPATIAL SCAN"
    leave = loop(j, If(Gt(ELEMENT, ZERO), Return()), store)
    assert labels(store, [loop(i, leave), leave]) == "SCAN SCAN"


def test_a_break_out_of_a_while_leaves_no_loop() -> None:
    store = Store(ROW, (i,), ONE)
    nest = loop(i, While(Gt(Load(ROW, (i,)), ZERO), Break()), store)
    assert labels(store, [nest]) == "SPATIAL"


def test_effects_are_a_scan() -> None:
    extern = Extern("f", print, FLOAT32)
    call = ExternCall(extern, (BufferRef(SOURCE),))
    assert kinds_in(loop(i, Store(ROW, (i,), call))) == "SCAN"
    shown = Seq((Print(("i =", i)), Store(ROW, (i,), ONE)))
    assert labels(shown, [For(i, Const(0), EIGHT, Const(1), shown)]) == "SCAN"
    called = Evaluate(ExternCall(extern, (BufferRef(ROW),)))
    assert kinds_in(loop(i, called)) == "SCAN"


def test_a_buffer_of_each_iteration() -> None:
    local = Buffer("t", FLOAT32, (EIGHT,), "local")
    inner = loop(j, add_to(local, (Const(0),)))
    assert labels(last_stmt(inner.body), [loop(i, Allocate(local), inner), inner]) == (
        "SPATIAL REDUCE"
    )


def test_a_buffer_of_the_statement_itself_does_not_count() -> None:
    local = Buffer("t", FLOAT32, (), Buffer.REGISTER)
    body = Seq((Allocate(local, zero=False), Store(local, (), ONE), Store(ROW, (i,), Load(local))))
    assert labels(body, [For(i, Const(0), EIGHT, Const(1), body)]) == "SPATIAL"


def test_several_stores() -> None:
    def both(*stores: Stmt) -> str:
        body = Seq(stores)
        return labels(body, [For(i, Const(0), EIGHT, Const(1), body)])

    assert both(Store(ROW, (i,), ONE), Store(CUBE, (i, i), ONE)) == "SPATIAL"
    assert both(Store(ROW, (i,), ONE), Store(ROW, (i + 1,), ONE)) == "SCAN"
    assert both(add_to(ROW, (i,)), add_to(ROW, (i + 1,))) == "REDUCE"
    assert both(add_to(ROW, (Const(0),)), Store(CUBE, (i, i), Load(ROW, (Const(0),)))) == "SCAN"


def test_different_operators_on_one_element_do_not_commute() -> None:
    product = Store(ROW, (Const(0),), Load(ROW, (Const(0),)) * Load(SOURCE, (i, i)))
    body = Seq((add_to(ROW, (Const(0),)), product))
    assert labels(body, [For(i, Const(0), EIGHT, Const(1), body)]) == "SCAN"


def test_loops_inside_of_the_statement() -> None:
    def row(body: Stmt) -> str:
        return labels(body, [For(i, Const(0), EIGHT, Const(1), body)])

    flat = Buffer("f", FLOAT32, (Const(64),))
    assert row(loop(j, Store(CUBE, (i, j), ONE))) == "SPATIAL"
    assert row(loop(j, Store(flat, (i * 8 + j,), ONE))) == "SPATIAL"
    assert row(loop(j, Store(flat, (i * 7 + j,), ONE))) == "SCAN"
    assert row(loop(j, Store(ROW, (j,), ONE))) == "SCAN"


def test_blocks_inside_of_the_statement() -> None:
    x, y = Var("x"), Var("y")
    block = Block("b", (Iter(x, i), Iter(y, j)), Store(CUBE, (x, y), ONE))
    body = loop(j, block)
    assert labels(body, [For(i, Const(0), EIGHT, Const(1), body)]) == "SPATIAL"


def test_no_loops_no_labels() -> None:
    assert classify(Store(ROW, (Const(0),), ONE), []) == ()
