"""Chains of array statements become one loop nest; what cannot be fused stays right."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import config, hybrid
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, For, Stmt
from hybridjit.ir.visit import walk_stmts
from hybridjit.optimize import array_nests
from hybridjit.optimize.fuse import fuse_arrays
from tests.conftest import Golden
from tests.support.array_results import assert_agree
from tests.support.optimized import optimized

np: Any = numpy
RNG: Any = numpy.random.default_rng(5)
Array = Any


def real(*shape: int) -> Array:
    return RNG.integers(-8, 9, shape) / 4


def _keep(body: Stmt, *_: object) -> Stmt:
    return body


def count_arrays(func: PrimFunc) -> int:
    made = [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, Allocate)]
    return sum(not stmt.buffer.is_register for stmt in made)


def count_nests(func: PrimFunc) -> int:
    """The loops with no loop around them."""
    loops = [stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For)]
    inner = {id(s) for loop in loops for s in walk_stmts(loop.body) if isinstance(s, For)}
    return sum(id(loop) not in inner for loop in loops)


def check(function: Any, args: list[Any], nests: int, arrays: int = 0) -> PrimFunc:
    kernel: Any = hybrid.script(function)
    with config.scope(cache_enabled=False):
        assert_agree(kernel, args)
    func: PrimFunc = optimized(kernel, *args)
    assert (count_nests(func), count_arrays(func)) == (nests, arrays), str(func)
    return func


# -- what is fused -----------------------------------------------------------------------------


def chain(a: Array, b: Array):
    t = a * 2
    u = t + b
    return u.sum()


def several_uses(a: Array):
    t = np.exp(a)
    return t * t + np.sin(t)


def stencil(a: Array):
    t = a * 2
    return t[1:] + t[:-1]


def softmax(x: Array):
    largest = np.max(x, axis=-1, keepdims=True)
    exps = np.exp(x - largest)
    total = np.sum(exps, axis=-1, keepdims=True)
    return exps / total


def row_factor(m: Array, v: Array):
    t = np.exp(v)
    return m * t[:, None]


def masked_mean(a: Array, b: Array):
    m = a > 0
    return b[m].mean()


def chosen(a: Array, b: Array):
    m = a > b
    t = np.where(m, a, b)
    t[m] = 0.0
    return t * 2


def flipped(a: Array):
    t = np.sin(a)
    return t[::-1] * 2


def transposed(a: Array):
    t = np.sin(a)
    return t.T + 1


def rebound(a: Array):
    t = a * 2
    t = t + 1
    t *= 3
    return t - a


def accumulated(a: Array, b: Array):
    t = np.zeros(a.shape[0])
    t += a
    t += b * 2
    return t.max()


CHAINS = {
    "chain": (chain, (6,), (6,)),
    "several_uses": (several_uses, (6,)),
    "stencil": (stencil, (6,)),
    "softmax": (softmax, (300, 80)),
    "row_factor": (row_factor, (3, 4), (3,)),
    "masked_mean": (masked_mean, (7,), (7,)),
    "chosen": (chosen, (6,), (6,)),
    "flipped": (flipped, (6,)),
    "transposed": (transposed, (3, 4)),
    "rebound": (rebound, (6,)),
    "accumulated": (accumulated, (6,), (6,)),
}


@pytest.mark.parametrize("name", CHAINS)
def test_golden(name: str, golden: Golden, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(array_nests, "reduce_rows", _keep)
    function, *shapes = CHAINS[name]
    args = [real(*shape) for shape in shapes]
    func = check(function, args, nests=1, arrays=1 if name == "softmax" else 0)
    golden.check(str(func), "ir")


def test_symbolic_sizes():
    """What is proved for numbers is proved for names: slices of a temporary are inlined."""
    kernel: Any = hybrid.script(stencil)
    for size in (6, 2, 1, 9, 30):
        assert_agree(kernel, [real(size)])
    assert count_arrays(optimized(kernel, hj.f64["n"])) == 0


def test_sources_of_other_shapes():
    def outer(a: Array, b: Array):
        t = a[:, None] * b
        u = t - t[:1]
        return (u * u).sum(axis=0)

    check(outer, [real(4), real(5)], nests=1)


# -- what must not be fused --------------------------------------------------------------------


def source_changes(a: Array):
    t = a * 2
    a[0] = 100.0
    return t + 1


def source_changes_in_loop(a: Array):
    t = np.sin(a)
    for k in range(3):
        a[k] = t[k] + t[k + 1]
    return t


def source_changes_elsewhere(a: Array):
    t = a * 2
    a[:] = t[::-1]


def overwritten_behind(a: Array):
    t = a[:-1] * 2
    a[1:] = t


def overwritten_ahead(a: Array):
    t = a[1:] * 2
    a[:-1] = t


def overwritten_at_once(a: Array):
    t = a * 2
    a[:] = t + 1


def wraps(a: Array, k: int):
    t = a[1:] * 2
    return t[k] + t[-1] + t[0]


def branch(a: Array, b: Array):
    t = a * 2
    if b[0] > 0:
        a[:] = 0.0
    return t + b


def sum_is_used(a: Array):
    t = a - a.mean()
    u = t / np.sqrt((t * t).sum())
    return u * u.sum()


def swapped(a: Array, b: Array):
    t = a + b
    a[:] = b
    b[:] = t


def loop_in_between(a: Array, steps: int):
    t = a * 0.5
    for _ in range(steps):
        u = t + a
        a[1:-1] = u[:-2] + u[2:]
        t[:] = a * 0.25
    return t


@pytest.mark.parametrize(
    ("function", "args", "arrays"),
    [
        (source_changes, (6,), 0),
        (source_changes_elsewhere, (6,), 1),
        (overwritten_behind, (6,), 1),
        (overwritten_ahead, (6,), 0),
        (overwritten_at_once, (6,), 0),
        (branch, (6,), 0),
        (sum_is_used, (6,), 1),
        (swapped, (6,), 0),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_read_must_still_be_there(function: Any, args: tuple[int, ...], arrays: int):
    kernel: Any = hybrid.script(function)
    inputs = [real(*args) for _ in kernel.signature.parameters]
    assert_agree(kernel, inputs)
    assert count_arrays(optimized(kernel, *inputs)) == arrays


@pytest.mark.parametrize("k", [0, 3, -1, -5])
def test_an_index_that_counts_from_the_end_of_a_temporary(k: int):
    kernel: Any = hybrid.script(wraps)
    assert_agree(kernel, [real(6), k])


def test_an_index_outside_of_a_temporary_fails():
    kernel: Any = hybrid.script(wraps)
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        kernel(real(6), 5)


def test_loops_around():
    kernel: Any = hybrid.script(loop_in_between)
    assert_agree(kernel, [real(7), 3])
    assert_agree(hybrid.script(source_changes_in_loop), [real(6)])


def test_arguments_that_share_memory():
    kernel: Any = hybrid.script(swapped)
    for first, second in ((0, 2), (2, 0), (0, 0)):
        expected, found = numpy.arange(8.0), numpy.arange(8.0)
        kernel.py_func(expected[first : first + 6], expected[second : second + 6])
        kernel(found[first : first + 6], found[second : second + 6])
        assert (found == expected).all()


def test_an_error_leaves_the_same_behind():
    """The first statement fails before the second one writes anything."""

    @hybrid.script
    def kernel(a: Array, b: Array, c: Array):
        t = a // b
        c[:] = t

    a, b, c = numpy.arange(4), numpy.array([1, 2, 0, 1]), numpy.ones(4, dtype=numpy.int64)
    for run in (kernel, kernel.interpret):
        with pytest.raises(ZeroDivisionError, match="zero"):
            run(a, b, c)
        assert (c == 1).all()


def test_what_is_written_by_hand_stays():
    """Neither arrays of `allocate` nor loops of the script are touched."""

    @hybrid.script
    def kernel(a: Array):
        t = hybrid.allocate((6,), "float64")
        for i in range(6):
            t[i] = a[i] * 2
        for i in range(6):
            a[i] = t[i] + 1

    func = optimized(kernel, real(6))
    assert (count_nests(func), count_arrays(func)) == (2, 1)


def test_a_negative_size_is_still_an_error():
    @hybrid.script
    def kernel(n: int):
        t = np.ones(n)
        u = t * 2
        return u.sum()

    assert kernel(3) == 6.0
    with pytest.raises(ValueError, match="negative"):
        kernel(-1)


# -- kernels -----------------------------------------------------------------------------------


def test_functions_of_many_instructions_are_not_computed_again():
    def kernel(a: Array):
        t = np.exp(a)
        return t[1:] * t[:-1]

    check(kernel, [real(6)], nests=2, arrays=1)


def test_time_steps():
    def kernel(a: Array, b: Array, steps: int):
        for _ in range(steps):
            left = a[:-2] + a[1:-1]
            mean = (left + a[2:]) * 0.25
            b[1:-1] = mean
            inner = b[1:-1] * 0.5
            a[1:-1] = inner + 1

    func = check(kernel, [real(9), real(9), 3], nests=1)
    assert sum(isinstance(stmt, For) for stmt in walk_stmts(func.body)) == 3


def test_columns():
    def kernel(data: Array):
        mean = data.mean(axis=0)
        centred = data - mean
        return (centred * centred).sum(axis=0) / 3

    func = check(kernel, [real(5, 4)], nests=4, arrays=3)
    assert "centred = allocate" not in str(func)


def _is_vector(buffer: Any, _: object) -> bool:
    return buffer.ndim == 1


def two_products(a: Array, b: Array, x: Array):
    return a @ x + b @ x


def test_large_matrices_are_read_one_after_the_other(monkeypatch: pytest.MonkeyPatch):
    """A vector that a cache keeps is no reason to go through two of them in turns."""
    n = 50
    args = [real(n, n), real(n, n), real(n)]
    check(two_products, args, nests=1, arrays=2)
    monkeypatch.setattr(fuse_arrays, "fits_cache", _is_vector)
    assert count_nests(optimized(hybrid.script(two_products), *args)) == 1  # of a few bytes each
    monkeypatch.setattr(fuse_arrays, "_touched", lambda _: 1 << 40)
    assert count_nests(optimized(hybrid.script(two_products), *args)) == 2


def columns_of_large_arrays(a: Array, b: Array, c: Array):
    for k in range(1, a.shape[2]):
        x = 1.0 / a[:, :, k]
        b[:, :, k] = b[:, :, k - 1] * x
        c[:, :, k] = c[:, :, k] - x


def test_small_parts_of_large_arrays_are_read_together():
    """Which arrays a loop reads says nothing of how much of them: `x` stays in a variable."""
    func = optimized(hybrid.script(columns_of_large_arrays), *(real(60, 60, 200) for _ in range(3)))
    assert "x = allocate" not in str(func)
