"""Large products of loops and of te: in packed tiles, and bit for bit what the loops give."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import ScheduleError, hybrid, te
from hybridjit.interp.run import interpret
from tests.support.small_machine import small_machine

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(6)


@pytest.fixture(autouse=True, params=[False, True], ids=["", "by element"])
def on_a_small_machine(request: Any) -> Generator[None]:
    with small_machine(by_element=request.param):
        yield


def in_the_array(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def in_a_variable(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def row_by_row(a: Array, b: Array) -> Array:
    c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def transposed(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[j, i] = 0.0
            for k in range(a.shape[1]):
                c[j, i] = c[j, i] + b[k, j] * (2.0 * a[i, k])


def terms_outside(a: Array, b: Array) -> Array:
    c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] = a[i, k] * b[k, j] + c[i, j]
    return c


def several_products(a: Array, b: Array, c: Array) -> None:
    for n in range(3):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                total = 0.0
                for k in range(a.shape[1]):
                    total += (a[i, k] + n) * b[k, j]
                c[i, j] = total


def steps_of_time(a: Array, b: Array, c: Array) -> None:
    for t in range(3):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] = 0.0
                for k in range(a.shape[1]):
                    c[i, j] += (a[i, k] + t) * (b[k, j] + t)


def steps_inside(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for t in range(3):
            for j in range(b.shape[1]):
                c[i, j] = 0.0
                for k in range(a.shape[1]):
                    c[i, j] += (a[i, k] + t) * (b[k, j] + t)


def terms_of_two_loops(a: Array, b: Array) -> Array:
    c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for t in range(3):
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                for j in range(b.shape[1]):
                    c[i, j] += (a[i, k] + t) * (b[k, j] + t)
    return c


# Those that begin with something else, or are not all of their result.
def from_another_number(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.5
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def reads_its_element(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * (b[k, j] + c[i, j])
            c[i, j] = total


def from_what_is_there(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def reads_the_result(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * (b[k, j] + c[0, j])
            c[i, j] = total


def a_triangle(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
            for k in range(min(i + 1, a.shape[1])):
                c[i, j] += a[i, k] * b[k, j]


def nothing_is_added_up(a: Array, b: Array, c: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for _ in range(1):
                c[i, j] += a[i, 0] * b[0, j]


def two_starts(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
            c[i, j] = c[i, j] * 2.0


def in_a_part(a: Array, b: Array, c: Array) -> None:
    c[:] = 0.0
    for i in range(a.shape[0] - 2):
        for k in range(a.shape[1]):
            for j in range(b.shape[1] - 3):
                c[i, j] += a[i, k] * b[k, j]


def in_one_layer(a: Array, b: Array) -> Array:
    layers = np.ones((2, a.shape[0], b.shape[1]), a.dtype)
    layers[:] = 0.0
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                layers[0, i, j] += a[i, k] * b[k, j]
    c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = layers[0, i, j] - layers[1, i, j]
    return c


# Something else stands in front of the terms.
def scaled_before(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] *= 0.3
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += 1.5 * a[i, k] * b[k, j]


def set_before(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = a[i, 0] + b[0, j] * c[i, 3]
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def turned_before(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            c[j, min(i, b.shape[1] - 1)] *= 0.5
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def reads_the_row_before(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] += 0.5 * c[max(i - 1, 0), j]
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def changes_a_factor(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            b[0, j] += 1.0
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def shows_how_far_it_is(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = c[int(b[0, j] * 0.0), j]
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def behind(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
        for j in range(b.shape[1]):
            c[i, j] *= 0.3


TAKEN = (
    *(in_the_array, in_a_variable, row_by_row, transposed, terms_outside, several_products),
    *(steps_of_time, terms_of_two_loops, from_another_number, from_what_is_there),
    *(in_a_part, in_one_layer, scaled_before, set_before),
)
NOT_TAKEN = (
    *(reads_the_result, reads_its_element, steps_inside, a_triangle, nothing_is_added_up),
    *(two_starts, turned_before, reads_the_row_before, changes_a_factor, shows_how_far_it_is),
    behind,
)
SIZES = [(16, 20, 40), (17, 9, 70), (23, 33, 31), (40, 65, 18), (19, 8, 130)]


def arguments(function: Callable[..., Any], sizes: tuple[int, int, int], dtype: str) -> list[Array]:
    rows, terms, columns = sizes
    a = (RNG.standard_normal((rows, terms)) * 1000.0 ** RNG.random((rows, terms))).astype(dtype)
    b = RNG.standard_normal((terms, columns)).astype(dtype)
    if function in (row_by_row, terms_outside, terms_of_two_loops, in_one_layer):
        return [a, b]
    shape = (columns, rows) if function is transposed else (rows, columns)
    return [a, b, RNG.standard_normal(shape).astype(dtype)]


def outcome(run: Callable[..., Any], args: list[Array]) -> Array:
    copies = [arg.copy() for arg in args]
    found = run(*copies)
    return copies[-1] if found is None else found


def steps_of(kernel: Any, args: list[Array]) -> list[str]:
    return [
        line.strip().split("(")[0] for line in str(kernel.auto_schedule(*args).trace).split("\n")
    ]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("function", [*TAKEN, *NOT_TAKEN])
def test_every_bit(function: Any, sizes: tuple[int, int, int], dtype: str) -> None:
    args = arguments(function, sizes, dtype)
    kernel: Any = hybrid.script(function)
    wanted = outcome(function, args)
    numpy.testing.assert_array_equal(outcome(kernel, args), wanted)
    numpy.testing.assert_array_equal(outcome(kernel.interpret, args), wanted)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("function", [*TAKEN, *NOT_TAKEN])
def test_the_step_by_hand(function: Any) -> None:
    """Each block that takes it gives the same."""
    args = arguments(function, (23, 33, 31), "float64")
    kernel: Any = hybrid.script(function)
    wanted = outcome(function, args)
    for name in [block.name for block in kernel.schedule(*args).blocks()]:
        s = kernel.schedule(*args)
        try:
            s.gemm(name, rows=4, vectors=1, lanes=4, depth=8)
        except ScheduleError:
            continue
        numpy.testing.assert_array_equal(outcome(kernel.with_schedule(s), args), wanted)


@pytest.mark.parametrize("function", [*TAKEN, *NOT_TAKEN])
def test_which_are_taken(function: Any) -> None:
    args = arguments(function, (23, 33, 31), "float64")
    is_taken = "s.gemm" in steps_of(hybrid.script(function), args)
    assert is_taken == (function in TAKEN)


def may_fail(a: Array, b: Array, c: Array, d: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += (a[i, k] * (8 // d[i])) * b[k, j]


def test_what_was_added_before_an_error_is_there() -> None:
    a, b, c = arguments(in_the_array, (23, 33, 31), "float64")
    kernel: Any = hybrid.script(may_fail)
    divisors = np.full(23, 2)
    divisors[11] = 0
    ours, theirs = c.copy(), c.copy()
    with pytest.raises(ZeroDivisionError, match="division or modulo by zero"):
        kernel(a, b, ours, divisors)
    with pytest.raises(FloatingPointError, match="divide by zero"), np.errstate(all="raise"):
        may_fail(a, b, theirs, divisors)
    numpy.testing.assert_array_equal(ours, theirs)


def returns_early(a: Array, b: Array, c: Array, d: Array) -> None:
    c[:] = 0.0
    if d[0] > 0:
        return
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def raises_before(a: Array, b: Array, c: Array, d: Array) -> None:
    c[:] = 0.0
    if d[0] > 0:
        raise ValueError("no terms")
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def fails_before(a: Array, b: Array, c: Array, d: Array) -> None:
    c[:] = 0.0
    d[1] = d[100 * d[0]]
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def leaves_a_try(a: Array, b: Array, c: Array, d: Array) -> None:
    try:
        c[:] = 0.0
        d[1] = d[100 * d[0]]
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]
    except IndexError:
        d[2] = 5


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ends", [0, 1])
@pytest.mark.parametrize(
    "function", [returns_early, raises_before, fails_before, leaves_a_try], ids=lambda f: f.__name__
)
def test_zeros_are_seen_where_the_terms_do_not_come(function: Any, ends: int) -> None:
    args = [*arguments(in_the_array, (23, 33, 31), "float64"), np.array([ends, 0, 0])]

    def seen(run: Any) -> list[Array]:
        copies = [arg.copy() for arg in args]
        with contextlib.suppress(ValueError, IndexError):
            run(*copies)
        return copies

    kernel: Any = hybrid.script(function)
    wanted = seen(function)
    for run in (kernel, kernel.interpret):
        for found, expected in zip(seen(run), wanted, strict=True):
            numpy.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("special", [np.nan, np.inf, -0.0])
def test_special_values(special: float) -> None:
    args = arguments(in_a_variable, (17, 20, 40), "float64")
    args[0][3, 5] = args[1][7, 9] = special
    args[0][4, :] = 0.0
    with np.errstate(all="ignore"):
        wanted = outcome(in_a_variable, args)
    found = outcome(hybrid.script(in_a_variable), args)
    numpy.testing.assert_array_equal(found, wanted)
    number = ~np.isnan(wanted)
    numpy.testing.assert_array_equal(np.signbit(found)[number], np.signbit(wanted)[number])


def test_arguments_that_share_memory() -> None:
    memory = RNG.standard_normal((40, 40)) / 40
    kernel: Any = hybrid.script(in_the_array)
    ours, theirs = memory.copy(), memory.copy()
    kernel(ours, ours, ours)
    in_the_array(theirs, theirs, theirs)
    numpy.testing.assert_array_equal(ours, theirs)


def test_strides() -> None:
    a, b, c = arguments(in_the_array, (40, 66, 62), "float64")
    wanted = np.zeros_like(c[::2, ::-1])
    in_the_array(a[::2, ::3], b[::3, ::-1], wanted)
    hybrid.script(in_the_array)(a[::2, ::3], b[::3, ::-1], c[::2, ::-1])
    numpy.testing.assert_array_equal(c[::2, ::-1], wanted)


def test_on_threads() -> None:
    args = arguments(in_a_variable, (64, 33, 70), "float64")
    kernel: Any = hybrid.script(in_a_variable, parallel=True)
    numpy.testing.assert_array_equal(outcome(kernel, args), outcome(in_a_variable, args))


@pytest.mark.parametrize("fastmath", [{"reassoc"}, {"contract"}, True])
def test_fastmath(fastmath: Any) -> None:
    args = arguments(in_a_variable, (23, 33, 31), "float64")
    kernel: Any = hybrid.script(in_a_variable, fastmath=fastmath)
    assert "s.gemm" in steps_of(kernel, args)
    numpy.testing.assert_allclose(outcome(kernel, args), args[0] @ args[1], rtol=1e-9, atol=1e-9)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("step", ["none", "tile", "split", "reorder"])
def test_te(sizes: tuple[int, int, int], step: str) -> None:
    rows, terms, columns = sizes
    A, B = (
        te.placeholder((rows, terms), "float64", "A"),
        te.placeholder((terms, columns), "float64", "B"),
    )
    k = te.reduce_axis((0, terms), "k")
    C = te.compute((rows, columns), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), "C")
    D = te.compute((rows, columns), lambda i, j: C[i, j] * 2 + 1, "D")
    args = arguments(in_the_array, sizes, "float64")
    s = te.create_schedule(D.op)
    if step == "tile":
        s[C].tile(*C.op.axis, 4, 8)
    elif step == "split":
        s[C].split(k, factor=5)
    elif step == "reorder":
        s[C].reorder(k, *C.op.axis)
    built = hj.build(s, [A, B, D])
    wanted = args[2].copy()
    interpret(te.create_prim_func([A, B, D]), [args[0], args[1], wanted])
    built(*args)
    numpy.testing.assert_array_equal(args[2], wanted)
