"""Products of arrays, small and in blocks: equal to NumPy, and bit for bit to the interpreter."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.ir.dtype import FLOAT32, FLOAT64
from hybridjit.optimize.optimize import optimize
from hybridjit.schedule.arrays.choose_tile import DEPTH, MAX_DEPTH, best_depth, choose_tile
from hybridjit.schedule.arrays.tile import Tile
from hybridjit.target import Caches
from tests.conftest import Golden
from tests.corpus.case import Array
from tests.support.array_results import assert_close
from tests.support.optimized import for_vectors, optimized, run_optimized
from tests.support.oracle import fresh_copies
from tests.support.small_machine import small_machine

DTYPES = ("float32", "float64", "complex64", "complex128", "int8", "uint16", "int64", "float16")
RNG: Any = np.random.default_rng(11)


@hybrid.script
def product(a: Array, b: Array) -> Array:
    return a @ b


@hybrid.script
def transposed(a: Array, b: Array) -> Array:
    return a.T @ b.T


@hybrid.script
def update(alpha: float, beta: float, a: Array, b: Array, c: Array) -> None:
    c[:] = alpha * a @ b + beta * c


@hybrid.script
def in_place(a: Array, b: Array) -> None:
    a[:] = a @ b


def random(dtype: str, *shape: int) -> Array:
    if dtype.startswith("complex"):
        return (RNG.random(shape) - 0.5 + 1j * RNG.random(shape)).astype(dtype)
    if dtype.startswith("float"):
        return (RNG.random(shape) - 0.3).astype(dtype)
    return RNG.integers(0, 120, shape).astype(dtype)


def check(kernel: Any, *args: Any) -> None:
    """Fail unless a new kernel, made for these sizes, agrees with NumPy and the interpreter."""
    agree(hybrid.script(kernel.py_func), *args)


def agree(kernel: Any, *args: Any) -> None:
    """Fail unless a kernel agrees with NumPy, and bit for bit with the optimised program."""
    outcomes: list[Any] = []
    for run in (kernel.py_func, partial(run_optimized, kernel), kernel):
        copies = fresh_copies(args)
        outcomes.append((run(*copies), *copies))
    wanted, interpreted, native = outcomes
    assert_close(native, wanted)
    for ours, theirs in zip(native, interpreted, strict=True):
        np.testing.assert_array_equal(ours, theirs)


# Around the edges of a tile, and of the block that is summed at once.
EDGES = [
    *((13, 40, 33), (24, 32, 32), (12, DEPTH, 16), (11, DEPTH + 1, 15), (7, MAX_DEPTH + 1, 5)),
    *((13, 2 * MAX_DEPTH + 1, 17), (3, 3 * MAX_DEPTH + 5, 65)),
]
SMALL = [(0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1, 1), (5, 7, 3), (2, 3, 40)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("sizes", [*SMALL, *EDGES], ids=str)
def test_sizes(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    check(product, random("float64", m, k), random("float64", k, n))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype: str) -> None:
    check(product, random(dtype, 14, 36), random(dtype, 36, 35))
    check(product, random(dtype, 5, 6), random(dtype, 6, 7))


def test_mixed_types() -> None:
    check(product, random("int8", 14, 36), random("float32", 36, 35))
    check(product, random("float32", 36), random("float64", 36))


@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts(order: Any) -> None:
    a, b = random("float64", 40, 26), random("float64", 35, 40)
    check(transposed, np.asarray(a, order=order), np.asarray(b, order=order))
    wide, long = random("float64", 28, 80), random("float64", 160, 33)
    check(product, np.asarray(wide, order=order)[::2, ::-2], np.asarray(long, order=order)[::-4])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sizes", [(23, 31, 70), (12, 8, 140)], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_rows_that_are_packed_once(dtype: str, order: Any, sizes: tuple[int, int, int]) -> None:
    """Several blocks of columns, and of terms: the first of them pack the rows for all others."""
    m, k, n = sizes
    args = np.asarray(random(dtype, m, k), order=order), random(dtype, k, n)
    with small_machine(by_element=False):
        check(product, *args)
        assert "if j == 0:" in str(hybrid.script(product.py_func).inspect("optimized", *args))


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_that_threads_pack(order: Any) -> None:
    left, right = np.asarray(random("float64", 61, 40), order=order), random("float64", 40, 90)
    with small_machine(by_element=False):
        kernel: Any = hybrid.script(parallel=True)(product.py_func)
        results: list[Any] = []
        for count in (1, 2, 3):
            with hj.threads(count):
                results.append(kernel(left, right))
    assert_close(results[0], left @ right)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_one_kernel_for_all_sizes() -> None:
    """From the second size on, it is decided at run time whether a product is large."""
    kernel: Any = hybrid.script(product.py_func)
    for m, k, n in [(3, 4, 5), (4, 5, 6), (30, 40, 50), (1, 300, 60), (0, 4, 5), (61, 1, 300)]:
        agree(kernel, random("float64", m, k), random("float64", k, n))


@pytest.mark.parametrize("sizes", [(4, 5, 6), (26, 30, 40)], ids=str)
def test_update(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    arrays = random("float64", m, k), random("float64", k, n), random("float64", m, n)
    check(update, 1.5, 0.5, *arrays)


@pytest.mark.parametrize("size", [5, 40])
def test_result_in_a_factor(size: int) -> None:
    check(in_place, random("float64", size, size), random("float64", size, size))


def test_factors_that_share_memory_with_the_result() -> None:
    memory = random("float64", 41, 40)
    expected = memory.copy()
    expected[1:] = expected[1:] @ expected[:-1]

    in_place(memory[1:], memory[:-1])

    np.testing.assert_allclose(memory, expected, rtol=1e-12)


STACKS = [
    ((2, 1, 14, 40), (2, 40, 33)),  # in blocks, one after the other
    ((2, 3, 4), (4, 5)),
    ((5, 6, 1, 32), (32, 33)),  # the rows of one matrix
    ((1, 40), (3, 40, 400)),  # too few rows for blocks
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shapes", STACKS, ids=str)
def test_stacks(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    check(product, *(random("float64", *shape) for shape in shapes))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 31, 33, 64, 257])
def test_vector_by_vector(size: int) -> None:
    check(product, random("float64", size), random("float64", 2 * size)[::2])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
def test_types_of_vectors(dtype: str) -> None:
    check(product, random(dtype, 100), random(dtype, 100))


@pytest.mark.parametrize("sizes", [(5, 70), (70, 5), (3, 0), (0, 3)], ids=str)
def test_matrix_and_vector(sizes: tuple[int, int]) -> None:
    m, n = sizes
    check(product, random("float64", m, n), random("float64", n))
    check(product, random("float64", m), random("float64", m, n))


@pytest.mark.parametrize("dtype", ["complex64", "int8", "float16"])
def test_types_of_matrices_and_vectors(dtype: str) -> None:
    check(product, random(dtype, 3, 70), random(dtype, 70))
    check(product, random(dtype, 6), random(dtype, 6, 9))


@hybrid.script
def by_columns(a: Array, x: Array) -> Array:
    return (a.T @ x) @ a.T


def test_transposed_matrix_and_vector() -> None:
    check(by_columns, random("float64", 40, 6), random("float64", 40))


def test_stacks_and_vectors() -> None:
    check(product, random("float64", 2, 3, 40), random("float64", 40))
    check(product, random("float64", 40), random("float64", 2, 40, 3))


def test_stacks_of_any_size() -> None:
    kernel: Any = hybrid.script(product.py_func)
    for stack, rows in ((2, 3), (3, 4), (2, 15)):
        agree(kernel, random("float64", stack, rows, 40), random("float64", 40, 33))


def test_vectors_of_any_size() -> None:
    kernel: Any = hybrid.script(product.py_func)
    for m, n in [(3, 4), (4, 5), (30, 70), (33, 64), (1, 0), (0, 9)]:
        a, x, y = random("float64", m, n), random("float64", n), random("float64", m)
        for args in ((a, x), (y, a), (x, x)):
            agree(kernel, *args)


@hybrid.script
def scaled(alpha: float, a: Array, x: Array) -> Array:
    return alpha * a @ x


def test_a_scaled_matrix_is_not_stored() -> None:
    check(scaled, 1.5, random("float64", 6, 40), random("float64", 40))
    func = optimized(scaled, 1.5, hj.f64[6, 40], hj.f64[40])
    assert "(6, 40)" not in str(func)


def test_products_of_bools() -> None:
    check(product, random("int64", 4, 5) > 60, random("int64", 5, 6) > 60)
    check(product, random("int64", 5) > 60, random("int64", 5, 6) > 60)


def test_sums_of_many_terms_are_as_exact_as_those_of_numpy() -> None:
    x, y = random("float32", 200_000), random("float32", 200_000)
    exact = np.dot(x.astype("float64"), y.astype("float64"))
    assert abs(product(x, y) - exact) <= 4 * abs(np.float32(x @ y) - exact) + 1e-6 * abs(exact)


@pytest.mark.parametrize("sizes", [(4, 5, 6), (30, 40, 50)], ids=["small", "large"])
def test_golden(golden: Golden, sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    specs = hj.f64[m, k], hj.f64[k, n]
    func = optimize(product.prim_func(*specs), for_vectors(256)).func
    golden.check(str(func), "ir")


def test_tiles_fill_the_registers() -> None:
    small = 1 << 17  # half of the second cache, where nobody knows that
    assert choose_tile(FLOAT64, for_vectors(512)) == Tile(FLOAT64, 6, 4, 8, 256, True, small)
    assert choose_tile(FLOAT32, for_vectors(256)) == Tile(FLOAT32, 6, 2, 8, 256, True, small)


def test_tiles_use_the_caches_that_there_are() -> None:
    target = dataclasses.replace(for_vectors(512), caches=Caches(own=1 << 21))
    assert choose_tile(FLOAT64, target).packed_bytes == 1 << 20


def test_what_is_not_much_deeper_than_a_panel_is_one() -> None:
    text = str(product.auto_schedule(hj.f64[300, 400], hj.f64[400, 300]).trace)
    assert "depth=512" in text
    text = str(product.auto_schedule(hj.f64[300, 600], hj.f64[600, 300]).trace)
    assert "depth=256" in text or "depth=304" in text  # in more than one


@pytest.mark.parametrize(
    ("bits", "dtype", "inner", "depth"),
    [
        (256, FLOAT64, 400, 512),
        (256, FLOAT64, 600, 256),
        (256, FLOAT32, 4000, 256),
        (512, FLOAT64, 600, 304),
        (512, FLOAT64, 2048, 512),
        (512, FLOAT32, 2048, 1024),
        (512, FLOAT32, 2049, 688),
        (512, FLOAT64, None, 512),
    ],
)
def test_rows_are_deep_where_no_panel_fits_the_first_cache(
    bits: int, dtype: Any, inner: int | None, depth: int
) -> None:
    target = for_vectors(bits)
    assert best_depth(choose_tile(dtype, target), inner, target) == depth


def test_tiles_leave_few_rows_over() -> None:
    assert choose_tile(FLOAT64, for_vectors(512), 205).rows == 6
    assert choose_tile(FLOAT64, for_vectors(512), 64).rows == 11
    assert choose_tile(FLOAT64, for_vectors(512), 80).rows == 5


@hybrid.script
def by_its_transpose(a: Array) -> Array:
    return a @ a.T


@hybrid.script
def by_its_adjoint(a: Array) -> Array:
    return a @ a.T.conj() * 0.5


def test_half_of_a_symmetric_product_is_computed() -> None:
    a = random("float64", 135, 3)
    check(by_its_transpose, a)
    assert "in range(max(i //" in str(optimized(by_its_transpose, a))


def test_tiles_on_the_diagonal_are_whole() -> None:
    check(by_its_transpose, random("float64", 97, 3))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rows", [32, 65, 71])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tiles_on_the_diagonal_of_blocks_are_whole(dtype: str, rows: int) -> None:
    """Where several blocks of columns, or of terms, are packed one after the other."""
    a = random(dtype, rows, 3) if dtype == "float64" else random(dtype, 13, rows).T
    with small_machine():
        check(by_its_transpose, a)


@pytest.mark.parametrize("kernel", [by_its_transpose, by_its_adjoint])
def test_products_of_complex_rows(kernel: Any) -> None:
    check(kernel, random("complex128", 70, 4))


def test_symmetric_products_of_any_size() -> None:
    kernel: Any = hybrid.script(by_its_transpose.py_func)
    for rows, terms in [(5, 3), (40, 11), (135, 2)]:
        agree(kernel, random("float64", rows, terms))


@hybrid.script
def scaled_factor(a: Array, b: Array) -> Array:
    return a @ (b * 3)


@hybrid.script
def cleared_factor(a: Array, b: Array) -> Array:
    return (a * 0) @ b


@hybrid.script
def doubled_factor(a: Array, b: Array) -> Array:
    return (a + a) @ (b - b)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", [scaled_factor, cleared_factor, doubled_factor])
@pytest.mark.parametrize("dtype", ["int32", "int64", "int16"])
def test_integer_factors_that_are_simplified(kernel: Any, dtype: str) -> None:
    """Put into the product, they would not be told apart any more."""
    args = random(dtype, 32, 31), random(dtype, 31, 24)
    check(kernel, *args)
    kernel.auto_schedule(*args)
