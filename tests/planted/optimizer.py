"""Bugs planted in the optimiser: in marks, products, tiles, lanes, unroll and jam.

Each must make the optimised program differ from the one as written, or from NumPy. Those of fusion
are in fusion.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard
from unittest.mock import patch

import numpy as np

import hybridjit as hj
import hybridjit.stdlib as hs
from hybridjit import ScheduleError, hybrid, te
from hybridjit.arith.simplify import simplify
from hybridjit.frontend.parse import parse_text
from hybridjit.interp.run import interpret
from hybridjit.ir import hints
from hybridjit.ir.expr import Expr, FloorDiv, Load, Mod, Var, const
from hybridjit.ir.stmt import IN_LANES, For, LoopKind, Seq, Stmt, Store
from hybridjit.ir.visit import fresh_copy, walk_stmts
from hybridjit.lowering import vectorize_inner
from hybridjit.lowering.pipeline import lower
from hybridjit.optimize import optimize, products, reduce_rows
from hybridjit.optimize.fuse import merge_folds
from hybridjit.schedule.arrays import (
    choose_tile,
    gemm,
    marks,
    reduce_in_lanes,
    sink,
    split_init,
    squares,
    sums_first,
    unroll_and_jam,
    vector_product,
    version_product,
)
from hybridjit.schedule.arrays.gemm import TiledProduct
from hybridjit.schedule.arrays.lanes import Lanes
from hybridjit.schedule.arrays.left_factor import (
    RowsAt,
    RowsSideBySide,
    WindowSpans,
    kept_rows,
)
from hybridjit.schedule.arrays.matrix_product import Product
from hybridjit.schedule.arrays.tile import Factors
from hybridjit.schedule.primitives import array_fusion, array_products
from hybridjit.schedule.schedule import Schedule
from tests.optimize import test_merge_folds as folds
from tests.optimize import test_pack_pixels as pixels
from tests.optimize import test_pack_products as packed
from tests.optimize import test_pack_windows as windows
from tests.optimize import test_sums_first as rows
from tests.optimize import test_transpose_tiles as transposes
from tests.optimize import test_version_products as versions
from tests.planted.bugs import Bug, Check, always, first, replaced
from tests.support.array_results import assert_agree
from tests.support.optimized import for_vectors
from tests.support.oracle import fresh
from tests.support.small_machine import small_machine

Array = Any
RNG: Any = np.random.default_rng(17)


# -- programs --------------------------------------------------------------------------------------

STRICT_SUM = """
def strict_sum(a: float64[40]) -> float64:
    s: float64
    s = 0.0
    for i in range(40):
        with block("s", reduce(i), annotations={"array": 1}):
            s = s + a[i]
    t = s
    return t
"""

RUNNING_TOTAL = """
def running_total(a: float64[40], b: float64[40]):
    s: float64
    s = 0.0
    for i in range(40):
        with block("s", reduce(i), annotations={"array": 1, "reassociate": True}):
            s = s + a[i]
        with block("b", i, annotations={"array": 1}):
            b[i] = s
"""

ADDED_TO_WHAT_IS_THERE = """
def added(a: float64[40, 30], b: float64[30, 20], c: float64[40, 20]):
    for i in range(40):
        for j in range(20):
            for k in range(30):
                with block("c", i, j, reduce(k), annotations={"array": 3, "reassociate": True}):
                    c[i, j] = c[i, j] + a[i, k] * b[k, j]
"""


NEIGHBOURS = """
def neighbours(c: float64[9]):
    for i in range(8):
        with block("c", i, annotations={"array": 1}):
            c[i] = 1.0
        with block("c_1", i, annotations={"array": 1}):
            c[i + 1] = c[i] + 2.0
"""


def total(a: Array) -> Any:
    return a.sum()


def product(a: Array, b: Array) -> Array:
    return a @ b


def by_its_transpose(a: Array) -> Array:
    return a @ a.T


def behind_the_diagonal(self: Any, i: Expr, j: Expr) -> Expr:
    return _first_panel(self, i, j) + 1


_first_panel = vars(TiledProduct)["_first_panel"]


def terms_outside(s: Schedule) -> None:
    i, j, k = s.loops("product")
    s.reorder(k, i, j)


# -- checks ----------------------------------------------------------------------------------------


def stays(text: str, *shapes: tuple[int, ...], bits: bool = False) -> Check:
    """A program computes after optimisation what it did before: in every bit, or nearly."""

    def check() -> None:
        func = parse_text(text)
        args = [RNG.random(shape) for shape in shapes]
        outcomes: list[Any] = []
        for program in (func, optimize.optimize(func, for_vectors(512)).func):
            copies = [arg.copy() for arg in args]
            outcomes.append([interpret(program, copies), *copies])
        for before, after in zip(*outcomes, strict=True):
            if before is None:
                continue
            np.testing.assert_allclose(after, before, rtol=0.0 if bits else 1e-12)

    return check


def agrees(function: Any, *shapes: tuple[int, ...]) -> Check:
    """NumPy, the interpreter, before and after optimisation, and native code agree."""

    def check() -> None:
        kernel: Any = hybrid.script(function)
        assert_agree(kernel, [RNG.random(shape) for shape in shapes])

    check.__name__ = function.__name__
    return check


def in_shallow_panels(check: Check) -> Check:
    """With fewer terms summed at once: with the depth of a release, products of several panels
    keep the interpreter busy.
    """

    def checked() -> None:
        with patch.multiple(choose_tile, DEPTH=16, MAX_DEPTH=16):
            check()

    return checked


def an_order_by_hand_stays() -> None:
    kernel: Any = hybrid.script(product).with_schedule(terms_outside)
    text = kernel.inspect("optimized", RNG.random((40, 30)), RNG.random((30, 20)))
    assert text.index("for k") < text.index("for i") < text.index("for j")


def rows_at_once_are_rows() -> None:
    kernel: Any = hybrid.script(product)
    args: list[Any] = [RNG.random((9, 80)), RNG.random(80)]
    func = kernel.prim_func(*args)
    found: list[Any] = [
        interpret(program, args)
        for program in (func, optimize.optimize(func, for_vectors(512)).func)
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def a_step_changes_nothing(text: str, step: str, place: str, *shapes: tuple[int, ...]) -> Check:
    """A step by hand is refused, or gives the same."""

    def check() -> None:
        s = Schedule(parse_text(text))
        try:
            getattr(s, step)(place)
        except ScheduleError:
            return
        before = [RNG.random(shape) for shape in shapes]
        after = [array.copy() for array in before]
        interpret(s.original, before)
        interpret(s.func, after)
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, other)

    return check


# -- bugs ------------------------------------------------------------------------------------------


def keep_out(out: Load, _: Load) -> Store:
    """The sums of the terms before are forgotten."""
    return Store(out.buffer, out.indices, out)


def of_one_block(code: Any, factors: Any, tile: Any, left: Any, at: Any) -> Any:
    """Rows that are kept in the place of those of all other terms."""
    i, _, j = at
    return kept_rows(code, factors, tile, left, (i, const(0, i.dtype), j))


def at_the_first_row(loop: For, _: Expr) -> Stmt:
    return fresh_copy(loop.body)


def never_cleared(*_: Any, **__: Any) -> Stmt:
    return Seq(())


def first_of_block(self: RowsAt, term: Sequence[Expr]) -> tuple[Expr, ...]:
    return (self.k, *term[1:])


def in_short_rows(self: Product, number: Expr) -> dict[Var, Expr]:
    """Pixels as if an image had as many columns as it has rows."""
    size = self.extent(self.columns[0])
    places = (FloorDiv(number, size), Mod(number, size)) if len(self.columns) == 2 else (number,)
    return dict(zip(self.columns, places, strict=True))


def windows_are_added() -> None:
    """A convolution in tiles is what it was."""
    x, w = (
        te.placeholder((1, 3, 6, 7), "float64", "x"),
        te.placeholder((2, 3, 2, 2), "float64", "w"),
    )
    func = te.create_prim_func([x, w, hs.conv2d(x, w)], "windows")
    s = Schedule(replace(func, fastmath=("reassoc",)))
    s.gemm("conv2d", rows=4, vectors=1, lanes=2)
    args = [RNG.random(x.shape), RNG.random(w.shape)]
    outcomes = [np.empty((1, 2, 5, 6)) for _ in range(2)]
    for program, out in zip((func, s.func), outcomes, strict=True):
        interpret(program, [*args, out])
    np.testing.assert_allclose(outcomes[1], outcomes[0], rtol=1e-12)


def on_a_small_machine(test: Any, *args: Any, by_element: bool | None = None) -> Check:
    """A test whose products are large there."""

    def check() -> None:
        with small_machine(by_element=by_element):
            test(*args)

    return check


def always_the_first(_: Any, r: Expr) -> Expr:
    """The first row of a tile in the place of all others."""
    return const(0, r.dtype)


def beyond_the_last(self: Any, rows: RowsAt, at: Sequence[Expr], e: Expr, _: Expr) -> None:
    """Elements of windows of rows that are not there."""
    _copy_of_span(self, rows, at, e, e)


_copy_of_span = vars(WindowSpans)["_copy"]


def sums_of_no_known_terms_stay() -> None:
    """What te declares is taken for an array statement only if there are terms."""
    n = te.var("n")
    a, k = te.placeholder((8, n), "int64", "a"), te.reduce_axis((0, n), "k")
    c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * a[j, k], axis=k), "c")
    s = Schedule(te.create_prim_func([a, c], "declared"))
    try:
        s.gemm("c")
    except ScheduleError:
        return
    raise AssertionError("a sum of perhaps no terms was taken")


@hybrid.script
def row_by_row(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2.0


@hybrid.script
def running(a: Array) -> None:
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1]


def lanes_are_told() -> None:
    """The hints of a receipt stand at the loops that have lanes."""
    a = RNG.random((40, 64))
    loops = [s for s in walk_stmts(row_by_row.auto_schedule(a, a.copy()).func.body) if is_loop(s)]
    assert [loop.hint(IN_LANES) is not None for loop in loops] == [False, True]


def is_loop(stmt: Stmt) -> TypeGuard[For]:
    return isinstance(stmt, For)


def hints_are_no_promises() -> None:
    """A loop that needs what it has stored stays as it is."""
    a = np.ones(40)
    func = running.prim_func(a)
    s = Schedule(func)
    s.in_lanes("i", 8, if_possible=True)
    lowered = lower(s.func, for_vectors(512), may_reorder=True, may_vectorize=True)
    assert not any(
        is_loop(stmt) and stmt.kind is LoopKind.VECTORIZED for stmt in walk_stmts(lowered.body)
    )


@hybrid.script
def diagonals(a: Array) -> None:
    for k in range(1, a.shape[2]):
        for i in range(a.shape[0] - 1):
            for j in range(a.shape[1]):
                a[i, j, k] = 0.5 * a[i + 1, j, k - 1]


@hybrid.script
def two_cubes(a: Array, b: Array) -> None:
    for k in range(a.shape[2]):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j, k] = b[i, j, k]


def planes_that_meet_stay() -> None:
    """An element is read in a row before it is stored in the next one."""
    a = RNG.random((6, 5, 8))
    expected = a.copy()
    diagonals.py_func(expected)
    diagonals.with_schedule(lambda s: None)(a)
    np.testing.assert_array_equal(a, expected)


def indices_that_may_be_outside_stay() -> None:
    """The elements before the first error are those of the planes before it."""
    func = two_cubes.prim_func(hj.f64["n", "m", "l"], hj.f64["n", "m", "o"])
    assert optimize.optimize(func, for_vectors(512)).func is func


def numbered_before(numbers: Any) -> None:
    numbers.count = -1


def squares_of_any_size() -> None:
    transposes.check_sizes(fresh(transposes.transposed))


def squares_that_meet_are_refused() -> None:
    transposes.test_refusals(transposes.in_place, "what its iterations touch is not proved")


def sums_of_any_size() -> None:
    rows.test_results_stay(rows.normalised)


def sums_of_what_changes_are_refused() -> None:
    rows.test_refusals(rows.feeds_back, "what earlier iterations set is not proved to be apart")


def sums_that_may_fail_are_refused() -> None:
    rows.test_refusals(rows.may_fail, "an index in it is not proved")


def whole_and_more(loop: Any, size: int, _: Any) -> Any:
    return simplify(loop.start + (loop.safe_extent + size - 1) // size * size)


def between_goes_first(_: Any, stmts: Any, first: int, second: int) -> Any:
    """As if what stands between two loops could always go before both."""
    return [*stmts[first + 1 : second]], []


def folds_of_what_changes() -> None:
    folds.check(folds.written_between)


BUGS = (
    Bug(
        "what is written between two folds goes before both",
        [replaced(merge_folds, "part", between_goes_first)],
        folds_of_what_changes,
    ),
    Bug(
        "the numbers of loops are off by one",
        [replaced(hints._NumberLoops, "__init__", numbered_before)],  # pyright: ignore[reportPrivateUsage]
        lanes_are_told,
    ),
    Bug(
        "loops are sunk whose iterations meet",
        [replaced(sink.Independence, "prove_independent", always(True))],
        planes_that_meet_stay,
    ),
    Bug(
        "squares go over the edge",
        [replaced(squares, "_whole", whole_and_more)],
        squares_of_any_size,
    ),
    Bug(
        "what sums leave is not kept for the rest",
        [replaced(sums_first, "_find_taken", always(list[Any]()))],
        sums_of_any_size,
    ),
    Bug(
        "rows are summed before earlier ones change them",
        [replaced(sink.Independence, "prove_first_goes_ahead", always(True))],
        sums_of_what_changes_are_refused,
    ),
    Bug(
        "rows are summed ahead that may fail",
        [replaced(sink, "has_unproved", always(False))],
        sums_that_may_fail_are_refused,
    ),
    Bug(
        "loops run in squares whose iterations meet",
        [replaced(sink.Independence, "prove_independent", always(True))],
        squares_that_meet_are_refused,
    ),
    Bug(
        "loops are sunk that may fail",
        [replaced(sink, "find_unproved", always(set[Any]()))],
        indices_that_may_be_outside_stay,
    ),
    Bug(
        "what a hint wants is not proved",
        [replaced(vectorize_inner, "prove_lane_order", always(True))],
        hints_are_no_promises,
    ),
    Bug(
        "terms of windows are all the first one",
        [replaced(RowsAt, "term", first_of_block)],
        windows_are_added,
    ),
    Bug(
        "rows of a tile are all the first one",
        [replaced(RowsSideBySide, "_there", always_the_first)],
        on_a_small_machine(
            *(packed.test_every_bit, packed.in_a_variable, (23, 33, 31), "float64"),
            by_element=True,
        ),
    ),
    Bug(
        "windows of rows that are not there are packed",
        [replaced(WindowSpans, "_copy", beyond_the_last)],
        on_a_small_machine(
            *(windows.test_every_bit, windows.channels_first, (17, 2, 11, 19), "float64"),
            by_element=True,
        ),
    ),
    Bug(
        "a sum of nothing is zero",
        [replaced(split_init, "_has_terms", always(True))],
        sums_of_no_known_terms_stay,
    ),
    Bug(
        "a sum in order begins with zero in each block of terms",
        [replaced(TiledProduct, "_has_totals", always(False))],
        on_a_small_machine(packed.test_every_bit, packed.in_a_variable, (23, 33, 31), "float64"),
    ),
    Bug(
        "a product in loops overwrites what it is added to",
        [replaced(array_products, "find_zero", never_cleared)],
        on_a_small_machine(
            packed.test_every_bit, packed.from_another_number, (23, 33, 31), "float64"
        ),
    ),
    Bug(
        "a product in loops forgets what was there",
        [replaced(TiledProduct, "_fetch", always(None))],
        on_a_small_machine(
            packed.test_every_bit, packed.from_what_is_there, (23, 33, 31), "float64"
        ),
    ),
    Bug(
        "products of other sizes are not computed",
        [replaced(version_product, "copy_beside", never_cleared)],
        on_a_small_machine(versions.test_every_bit, packed.in_a_variable, "float64"),
    ),
    Bug(
        "pixels are counted along the other axis",
        [replaced(Product, "column", in_short_rows)],
        on_a_small_machine(
            pixels.test_every_bit, pixels.of_an_image, (17, 9, 11, 13), "float64", "C"
        ),
    ),
    Bug(
        "what stands in front of terms may always run before all of them",
        [replaced(split_init, "_is_apart", always(True))],
        on_a_small_machine(
            packed.test_every_bit, packed.reads_the_row_before, (23, 33, 31), "float64"
        ),
    ),
    Bug(
        "a product in loops never fails",
        [replaced(split_init, "operation_may_fail", always(False))],
        on_a_small_machine(packed.test_what_was_added_before_an_error_is_there),
    ),
    Bug(
        "every order is open",
        [replaced(reduce_in_lanes, "_is_open", always(True))],
        stays(STRICT_SUM, (40,), bits=True),
    ),
    Bug(
        "a sum that is used on the way is taken apart",
        [replaced(reduce_rows, "prove_free", always(True))],
        stays(RUNNING_TOTAL, (40,), (40,)),
    ),
    Bug(
        "the last elements of a row are left out",
        [replaced(Lanes, "_rest", always(None))],
        agrees(total, (45,)),
    ),
    Bug(
        "a product overwrites what it is added to",
        [replaced(products, "find_zero", never_cleared)],
        stays(ADDED_TO_WHAT_IS_THERE, (40, 30), (30, 20), (40, 20)),
    ),
    Bug(
        "the sums of earlier terms are forgotten",
        [replaced(gemm, "_add_total", keep_out)],
        in_shallow_panels(agrees(product, (17, 40), (40, 31))),
    ),
    Bug(
        "rows that are kept for other columns are those of the last terms",
        [replaced(gemm, "kept_rows", of_one_block)],
        on_a_small_machine(agrees(product, (17, 40), (40, 70)), by_element=False),
    ),
    Bug(
        "tiles on the diagonal are left out",
        [replaced(TiledProduct, "_first_panel", behind_the_diagonal)],
        agrees(by_its_transpose, (140, 3)),
    ),
    Bug(
        "every size is a multiple of a tile",
        [replaced(Factors, "is_whole", always(True))],
        agrees(product, (17, 33), (33, 31)),
    ),
    Bug(
        "several terms are all the first one",
        [replaced(vector_product, "plus", first)],
        agrees(product, (9,), (9, 7)),
    ),
    Bug(
        "several rows are all the first one",
        [replaced(unroll_and_jam, "_at", at_the_first_row)],
        rows_at_once_are_rows,
    ),
    Bug(
        "an element is stored once though others are used",
        [replaced(array_fusion, "uses_own_elements", always(True))],
        a_step_changes_nothing(NEIGHBOURS, "store_once", "c_1", (9,)),
    ),
    Bug(
        "what a schedule made is made again",
        [replaced(marks, "forget_touched", first)],
        an_order_by_hand_stays,
    ),
)
