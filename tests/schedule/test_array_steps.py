"""Steps on statements of whole arrays: what the optimiser does, by hand, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import pytest

import hybridjit as hj
import hybridjit.stdlib as hs
from hybridjit import ScheduleError, hybrid, te
from hybridjit.interp.run import interpret
from hybridjit.ir.equal import structural_equal
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk_stmts
from hybridjit.processor import current_target
from hybridjit.schedule.schedule import Schedule
from tests.support.before_after import replayed, run_example
from tests.support.optimized import bound_of_order

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(5)


@hybrid.script
def product_of_matrices(a: Array, b: Array) -> Array:
    return a @ b


@hybrid.script
def product_across_rows(a: Array, x: Array) -> Array:
    return x @ a


@hybrid.script
def gram(a: Array) -> Array:
    return a @ a.T


@hybrid.script
def row_sums(a: Array) -> Array:
    return a.sum(axis=1)


@hybrid.script
def row_sums_in_order(a: Array) -> Array:
    total = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total[i] += a[i, j]
    return total


@hybrid.script
def squares(a: Array) -> Array:
    twice = a * 2
    return twice * twice


@hybrid.script
def updates(updated: Array, a: Array) -> None:
    updated[:] = updated + a
    updated[:] = updated * 0.5


@hybrid.script
def quotients(a: Array, b: Array, c: Array) -> None:
    c[:] = a // b


def merge_first_two(s: Schedule) -> None:
    first, second = s.loops()[:2]
    s.merge(first, second)


Case = tuple[Any, tuple[tuple[int, ...], ...], Any]
CASES: dict[str, Case] = {
    "gemm": (product_of_matrices, ((20, 30), (30, 25)), None),
    "interchange": (product_of_matrices, ((20, 30), (30, 25)), None),
    "sum_in_register": (product_of_matrices, ((20, 30), (30,)), None),
    "add_terms": (product_across_rows, ((30, 20), (30,)), None),
    "reduce_in_lanes": (row_sums, ((20, 70),), None),
    "unroll_and_jam": (row_sums, ((21, 70),), None),
    "contract": (squares, ((20,),), merge_first_two),
    "store_once": (updates, ((20,), (20,)), merge_first_two),
}


def numbers(shape: tuple[int, ...]) -> Any:
    """Small fractions: sums of their products are exact, in any order."""
    return RNG.integers(-8, 9, shape) / 4


@pytest.mark.parametrize("step", CASES)
def test_the_example_runs(step: str) -> None:
    kernel, shapes, before = CASES[step]
    args = [numbers(shape) for shape in shapes]
    s = kernel.schedule(*args)
    if before is not None:
        before(s)
    was = s.func
    run_example(s, step)
    assert not structural_equal(s.func, was)
    assert structural_equal(hj.parse(str(s.func)), s.func)
    assert structural_equal(replayed(s), s.func)
    outcomes: list[list[Any]] = []
    for run in (kernel.interpret, kernel.with_schedule(s), kernel.with_schedule(s).interpret):
        copies = [np.copy(arg) for arg in args]
        outcomes.append([run(*copies), *copies])
    for found in outcomes[1:]:
        for one, other in zip(found, outcomes[0], strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 5, 2), (13, 300, 33), (0, 4, 4), (4, 0, 4)])
def test_gemm_at_awkward_sizes_and_tiles(sizes: tuple[int, int, int]) -> None:
    n, m, k = sizes
    a, b = numbers((n, m)), numbers((m, k))
    for rows, vectors, lanes, depth in ((1, 1, 1, 1), (5, 3, 2, 7), (12, 2, 8, 256)):
        s = product_of_matrices.schedule(a, b)
        s.gemm("product", rows=rows, vectors=vectors, lanes=lanes, depth=depth)
        np.testing.assert_array_equal(interpret(s.func, [a, b]), a @ b)


def test_gemm_where_sizes_come_at_run_time() -> None:
    s = product_of_matrices.schedule(hj.f64["n", "m"], hj.f64["m", "k"])
    s.gemm("product", rows=4, vectors=2, lanes=4, least_terms=100, least_rows=3)
    assert "100" in str(s.func)
    for shapes in (((2, 3), (3, 2)), ((9, 10), (10, 11))):
        a, b = map(numbers, shapes)
        np.testing.assert_array_equal(interpret(s.func, [a, b]), a @ b)


def test_half_of_a_symmetric_product_is_computed() -> None:
    a = numbers((50, 6))
    s = gram.schedule(a)
    s.gemm("product", rows=2, vectors=1, lanes=4, symmetric=True)
    np.testing.assert_array_equal(interpret(s.func, [a]), a @ a.T)
    s = product_of_matrices.schedule(a, a.T.copy())
    with pytest.raises(ScheduleError, match="is not symmetric"):
        s.gemm("product", rows=2, vectors=1, lanes=4, symmetric=True)


@pytest.mark.parametrize("size", [0, 2, 7, 8, 9, 63, 64, 65, 200])
def test_lanes_of_any_number(size: int) -> None:
    a = numbers((3, size))
    for lanes, vectors, block in ((1, 1, None), (8, 4, None), (4, 2, 50)):
        s = row_sums.schedule(a)
        s.reduce_in_lanes(s.loops("sum")[1], lanes=lanes, vectors=vectors, block=block)
        np.testing.assert_array_equal(interpret(s.func, [a]), a.sum(axis=1))


def test_what_no_step_touches_is_the_same_object() -> None:
    """So the optimiser still has it."""

    @hybrid.script
    def both(a: Array, b: Array) -> Any:
        return a @ b, (a + b) * 2

    s = both.schedule(numbers((20, 20)), numbers((20, 20)))
    before = [stmt for stmt in walk_stmts(s.func.body) if isinstance(stmt, For)]
    s.gemm("product", rows=4, vectors=2, lanes=8)
    after = {stmt for stmt in walk_stmts(s.func.body) if isinstance(stmt, For)}
    assert [loop.var.name for loop in before if loop not in after] == ["i", "j", "k"]


def test_a_loop_of_few_iterations_is_not_jammed() -> None:
    """So that a schedule for large arrays is one for small ones."""
    s = row_sums.schedule(numbers((3, 70)))
    before = s.func
    s.unroll_and_jam("i", 4)
    assert structural_equal(s.func, before)


def refused(kernel: Any, args: list[Any], step: Callable[[Schedule], object], match: str) -> None:
    s = kernel.schedule(*args)
    before = s.func
    with pytest.raises(ScheduleError, match=match):
        step(s)
    assert s.func is before


def test_the_sum_of_a_loop_by_hand_is_not_taken_apart() -> None:
    args = [numbers((20, 30))]
    refused(
        row_sums_in_order,
        args,
        lambda s: s.reduce_in_lanes("j", lanes=8),
        "not one over the elements of an array statement",
    )
    refused(
        row_sums_in_order,
        args,
        lambda s: s.gemm("total", rows=4, vectors=2, lanes=8),
        "is no product of an array statement",
    )


def test_numbers_that_make_no_sense_are_refused() -> None:
    a = numbers((20, 30))
    loop = "j"
    refused(row_sums, [a], lambda s: s.reduce_in_lanes(loop, lanes=6), "must be a power of two")
    refused(row_sums, [a], lambda s: s.reduce_in_lanes(loop, lanes=8, block=0), "at least 1")
    refused(
        row_sums, [a], lambda s: s.reduce_in_lanes(loop, lanes=2**70), "lanes must be .* at most"
    )
    refused(
        row_sums,
        [a],
        lambda s: s.reduce_in_lanes(loop, lanes=2, vectors=1024),
        "vectors must be 64 at most",
    )
    refused(row_sums, [a], lambda s: s.squares("i", 2**63), "squares: size must be .* at most")
    refused(row_sums, [a], lambda s: s.unroll_and_jam("i", 1), "must be at least 2")
    square = [numbers((20, 20))] * 2
    refused(
        product_of_matrices,
        square,
        lambda s: s.gemm("product", rows=0, vectors=2, lanes=8),
        "rows must be at least 1",
    )
    refused(
        product_across_rows, [a, a[:, 0].copy()], lambda s: s.add_terms("product", 0), "at least 1"
    )


def test_code_that_would_be_too_long_is_refused() -> None:
    a = numbers((5000, 300))
    message = "unroll_and_jam: loop 'i': 4000 copies of .* statements are more than 4096"
    refused(row_sums, [a], lambda s: s.unroll_and_jam("i", 4000), message)
    args = [a, a[:, 0].copy()]
    refused(product_across_rows, args, lambda s: s.add_terms("product", 500), "100 terms at most")


def test_products_of_another_kind_are_refused() -> None:
    a, x = numbers((20, 30)), numbers((30,))
    refused(
        product_of_matrices,
        [a, x],
        lambda s: s.gemm("product", rows=4, vectors=2, lanes=8),
        "product of a matrix and a vector",
    )
    refused(
        product_of_matrices,
        [a, a.T.copy()],
        lambda s: s.sum_in_register("product"),
        "no product of a matrix and a vector",
    )


def test_iterations_that_may_fail_are_not_jammed() -> None:
    args = [np.arange(8), np.arange(8) + 1, np.zeros(8, np.int64)]
    refused(quotients, args, lambda s: s.unroll_and_jam("i", 2), "`a // b` at line .* by zero")


def test_an_array_that_two_loops_use_is_not_contracted() -> None:
    refused(
        squares, [numbers((20,))], lambda s: s.contract("twice"), "not used by one loop .* alone"
    )
    refused(squares, [numbers((20,))], lambda s: s.contract("a"), "is not made in the program")


SCATTERED = """
def f(c: float64[9], p: int64[9]):
    for i in range(9):
        with block("c", i, annotations={"array": 1}):
            c[p[i]] = 1.0
        with block("p", i, annotations={"array": 1}):
            p[i] = p[i] - 1
        with block("c_1", i, annotations={"array": 1}):
            c[p[i]] = 2.0
"""


def test_elements_that_an_index_in_memory_names_are_stored_each_time() -> None:
    s = Schedule(hj.parse(SCATTERED))
    with pytest.raises(ScheduleError, match="an index of it is read from memory"):
        s.store_once("c_1")


def test_what_runs_on_threads_stays_as_it_is() -> None:
    s = row_sums.schedule(numbers((20, 70)))
    s.parallel("i")
    before = s.func
    with pytest.raises(ScheduleError, match="not one over the elements"):
        s.unroll_and_jam("i", 4)
    assert s.func is before
    s.reduce_in_lanes("j", lanes=8)  # in each thread


def test_sums_that_fastmath_opens_are_taken_apart() -> None:
    kernel = hj.hybrid.script(row_sums.py_func, fastmath={"reassoc"})
    a = numbers((20, 100))
    s = kernel.schedule(a)
    s.reduce_in_lanes("j", lanes=8)
    bound = bound_of_order(100, "f8", 200.0)
    np.testing.assert_allclose(kernel.with_schedule(s)(a), a.sum(axis=1), rtol=0, atol=bound)


# -- sums of products that are declared with te ----------------------------------------------------


def declared(result: Any, *operands: Any, fastmath: tuple[str, ...] = ("reassoc",)) -> Schedule:
    func = te.create_prim_func([*operands, result], "declared")
    return Schedule(replace(func, fastmath=fastmath))


def run_declared(s: Schedule, result: Any, *arrays: Any) -> Any:
    out = np.empty(result.shape, result.dtype.numpy)
    interpret(s.func, [*arrays, out])
    native = np.empty_like(out)
    hj.build(s)(*arrays, native)
    np.testing.assert_array_equal(native, out)
    return out


@pytest.mark.parametrize("order", ["ij", "ji"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (7, 5, 3), (13, 33, 17)])
def test_gemm_of_a_declared_sum(sizes: tuple[int, int, int], order: str) -> None:
    n, m, inner = sizes
    a, b = te.placeholder((n, inner), "float64", "a"), te.placeholder((inner, m), "float64", "b")
    k = te.reduce_axis((0, inner), "k")

    def element(i: Any, j: Any) -> Any:
        return te.sum(a[i, k] * b[k, j], axis=k)

    shape = {"ij": (n, m), "ji": (m, n)}[order]
    c = te.compute(shape, element if order == "ij" else lambda j, i: element(i, j), "c")
    s = declared(c, a, b)
    s.gemm("c", rows=4, vectors=2, lanes=4, depth=8)
    x, y = numbers((n, inner)), numbers((inner, m))
    expected = x @ y if order == "ij" else (x @ y).T
    np.testing.assert_array_equal(run_declared(s, c, x, y), expected)


@pytest.mark.sampled(48)
@pytest.mark.parametrize("fastmath", [(), ("reassoc",)])
@pytest.mark.parametrize("right", ["kj", "jk", "nkj"])
@pytest.mark.parametrize("left", ["nik", "ikn", "kni"])
@pytest.mark.parametrize("order", ["".join(order) for order in itertools.permutations("nij")])
def test_gemm_with_axes_in_any_order(
    order: str, left: str, right: str, fastmath: tuple[str, ...]
) -> None:
    """There are several blocks of terms, and several loops over rows, or over a batch."""
    sizes = {"n": 3, "i": 9, "j": 10, "k": 20}
    shapes = [[sizes[letter] for letter in letters] for letters in (left, right, order)]
    a, b = te.placeholder(shapes[0], "float64", "a"), te.placeholder(shapes[1], "float64", "b")
    k = te.reduce_axis((0, sizes["k"]), "k")

    def element(*at: Any) -> Any:
        where = {**dict(zip(order, at, strict=True)), "k": k}
        x = a(*(where[letter] for letter in left))
        return te.sum(x * b(*(where[letter] for letter in right)), axis=k)

    c = te.compute(shapes[2], element, "c")
    s = declared(c, a, b, fastmath=fastmath)
    x, y = numbers(a.shape), numbers(b.shape)
    expected = np.einsum(f"{left},{right}->{order}", x, y)
    if not fastmath:
        x, y = x / 3, y / 7
        interpret(s.func, [x, y, expected])
    s.gemm("c", rows=4, vectors=2, lanes=2, depth=8)
    np.testing.assert_array_equal(run_declared(s, c, x, y), expected)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_gemm_of_windows(size: int, layout: Any) -> None:
    is_first = layout == "NCHW"
    x = te.placeholder((2, 3, 9, 11) if is_first else (2, 9, 11, 3), "float64", "x")
    shape = (5, 3, size, size) if is_first else (size, size, 3, 5)
    w = te.placeholder(shape, "float64", "w")
    c = hs.conv2d(x, w, layout=layout)
    s = declared(c, x, w)
    before = s.func
    s.gemm("conv2d", rows=4, vectors=1, lanes=2)
    a, b = numbers(x.shape), numbers(w.shape)
    expected = np.empty(c.shape)
    interpret(before, [a, b, expected])
    np.testing.assert_array_equal(run_declared(s, c, a, b), expected)


def test_gemm_of_a_sum_whose_order_is_not_open() -> None:
    a, k = te.placeholder((20, 20), "float32", "a"), te.reduce_axis((0, 20), "k")
    c = te.compute((20, 20), lambda i, j: te.sum(a[i, k] * a[k, j], axis=k), "c")
    x = np.random.default_rng(0).standard_normal((20, 20)).astype("float32")
    s, expected = declared(c, a, fastmath=()), np.empty_like(x)
    interpret(s.func, [x, expected])
    s.gemm("c", depth=8)
    np.testing.assert_array_equal(run_declared(s, c, x), expected)
    with pytest.raises(ScheduleError, match="rounded before they are added: no fma"):
        declared(c, a, fastmath=()).gemm("c", fma=True)
    declared(c, a, fastmath=("contract",)).gemm("c", fma=True)


def test_gemm_of_half_precision_is_only_for_sums_in_any_order() -> None:
    a, k = te.placeholder((8, 8), "float16", "a"), te.reduce_axis((0, 8), "k")
    c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * a[k, j], axis=k), "c")
    with pytest.raises(ScheduleError, match="'c' is no product of an array statement"):
        declared(c, a, fastmath=()).gemm("c")


def test_gemm_of_a_declared_sum_that_may_read_outside() -> None:
    a, k = te.placeholder((8, 8), "float64", "a"), te.reduce_axis((0, 8), "k")
    c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * a[k + 1, j], axis=k), "c")
    with pytest.raises(ScheduleError, match="'c' is no product of an array statement"):
        declared(c, a).gemm("c")


def test_gemm_without_numbers_suits_the_machine() -> None:
    a, b = numbers((30, 40)), numbers((40, 50))
    s = product_of_matrices.schedule(a, b)
    s.gemm("product")
    assert str(s.trace).strip().endswith("s.gemm('product')")
    np.testing.assert_array_equal(interpret(s.func, [a, b]), a @ b)
    lanes = current_target().vector_bits // 64
    assert f"vectorize({lanes})" in str(s.func)


def test_arguments_that_a_step_does_not_have() -> None:
    s = row_sums.schedule(numbers((4, 40)))
    before = s.func
    with pytest.raises(TypeError, match=r"(?s)reduce_in_lanes: missing.*'lanes'.*lanes=\.\.\."):
        s.reduce_in_lanes("j")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"(?s)unroll_and_jam: got an unexpected.*\(loop, factor\)"):
        s.unroll_and_jam("i", 4, rows=2)  # type: ignore[call-arg]
    assert s.func is before
    assert not s.trace.steps
