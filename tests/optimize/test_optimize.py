"""The optimiser as a whole: the program as written, the optimised one and native code agree."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import Kernel, config, hybrid, te
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.frontend.parse import parse_text
from hybridjit.interp.run import interpret
from hybridjit.ir.equal import structural_equal
from hybridjit.ir.func import PrimFunc
from hybridjit.optimize.optimize import optimize
from hybridjit.processor import current_target
from hybridjit.runtime import compiler
from hybridjit.target import Target
from tests.support.optimized import assert_three_agree, for_vectors, is_ordered, optimized

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(29)
PLAIN_MACHINE = Target("x86_64-unknown-linux-gnu", "x86-64", "+sse2")
SIZES = [0, 1, 7, 17, 40]


def chain(a: Array, b: Array) -> Array:
    t = a * 2 + b
    return np.where(t > 0, t, -t) * t


def in_place(a: Array, b: Array) -> None:
    a += b
    a[1:] *= 0.5
    a[::-1] = a * b


def normalized(a: Array, b: Array) -> Array:
    shifted = a - a.mean(axis=-1, keepdims=True)
    return shifted * b / (np.sqrt((shifted * shifted).sum(axis=-1, keepdims=True)) + 1)


def products(a: Array, b: Array) -> Any:
    return a @ b.T + 1, a @ b[0], b[:, 0] @ a, (a * b).sum(axis=0), np.vdot(a, b)


SCRIPTS = {f.__name__: f for f in (chain, in_place, normalized, products)}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_three_agree(name: str, size: int) -> None:
    if name == "products" and size == 0:
        pytest.skip("there is no first row")
    a, b = (RNG.random((size, size)) - 0.5 for _ in range(2))
    # Each sum has at most `size * size` terms, of at most 1 each.
    assert_three_agree(hybrid.script(SCRIPTS[name]), [a, b], magnitude=max(size * size, 1.0))


@pytest.mark.parametrize("name", ["chain", "in_place"])
def test_where_no_order_is_open_every_bit_stays(name: str) -> None:
    kernel: Any = hybrid.script(SCRIPTS[name])
    assert is_ordered(kernel.prim_func(hj.f64[7, 9], hj.f64[7, 9]))


@pytest.mark.parametrize("name", SCRIPTS)
def test_printed_programs_are_optimised_alike(name: str) -> None:
    kernel: Any = hybrid.script(SCRIPTS[name])
    func = kernel.prim_func(hj.f64[20, 20], hj.f64[20, 20])
    target = current_target()
    programs = [optimize(made, target).func for made in (func, parse_text(str(func)))]
    # Blocks are named after buffers, which may have other names in the text.
    assert structural_equal(*map(lower_blocks, programs))


@pytest.mark.parametrize("target", [PLAIN_MACHINE, for_vectors(256), for_vectors(512)], ids=str)
def test_every_machine_gets_a_program_that_is_right(target: Target) -> None:
    kernel: Any = hybrid.script(products)
    args = [RNG.integers(-8, 9, (30, 30)) / 4 for _ in range(2)]
    func = kernel.prim_func(*args)
    fast: Any = interpret(optimize(func, target).func, args)
    for got, want in zip(fast, products(*args), strict=True):
        np.testing.assert_array_equal(got, want)  # sums without rounding


def test_without_an_instruction_for_it_products_are_rounded_by_themselves() -> None:
    kernel: Any = hybrid.script(products)
    func = kernel.prim_func(hj.f64[30, 30], hj.f64[30, 30])
    assert "fma" not in str(optimize(func, PLAIN_MACHINE).func)


@hybrid.script
def by_hand(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    for i in range(a.shape[0]):
        b[i] = b[i] + 1


def test_loops_by_hand_stay_as_they_are() -> None:
    func = by_hand.prim_func(hj.f64[9], hj.f64[9])
    assert optimize(func, current_target()).func is func


TRIANGLE = """
def triangle(a: float64[40, 40], x: float64[40], y: float64[40]):
    for i in range(40):
        for k in range(i):
            with block("y", i, reduce(k), annotations={"array": 2, "reassociate": True}):
                y[i] = y[i] + a[k, i] * x[k]
"""


def test_sums_of_different_lengths_are_no_product() -> None:
    func = parse_text(TRIANGLE)
    args = [RNG.integers(-8, 9, shape) / 4 for shape in ((40, 40), (40,), (40,))]
    before, after = ([arg.copy() for arg in args] for _ in range(2))
    interpret(func, before)
    interpret(optimize(func, current_target()).func, after)
    np.testing.assert_array_equal(after[2], before[2])


def test_once_for_each_specialisation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Translating does not optimise, and layouts share what is made of a translation."""
    made: list[PrimFunc] = []

    def count(func: PrimFunc, *args: Any, **options: Any) -> Any:
        made.append(func)
        return optimize(func, *args, **options)

    monkeypatch.setattr(compiler, "optimize_program", count)
    kernel: Any = Kernel[..., Any](chain)
    a = RNG.random((6, 6))
    kernel.prim_func(a, a.copy())
    assert not made
    with config.scope(cache_enabled=False):
        kernel(a, a.copy())
        kernel(a.T, a.copy())
    assert len(made) == 1


def test_stages_show_both_programs() -> None:
    kernel: Any = hybrid.script(chain)
    args = RNG.random((6, 6)), RNG.random((6, 6))
    assert kernel.inspect("tir", *args) == str(kernel.prim_func(*args))
    assert kernel.inspect("optimized", *args) == str(optimized(kernel, *args))
    assert "t = allocate" in kernel.inspect("tir", *args)
    assert "t = allocate" not in kernel.inspect("optimized", *args)


def test_isl_is_not_loaded_for_array_scripts() -> None:
    program = (
        "import sys, numpy as np\n"
        "from tests.optimize.test_optimize import products, hybrid\n"
        "hybrid.script(products)(np.ones((20, 20)), np.ones((20, 20)))\n"
        "assert 'islpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


@hybrid.script
def affine(a: Array, b: Array) -> Array:
    return a @ b + 1


def test_scripts_in_a_graph_of_tensors_are_made_fast() -> None:
    a, b = (te.placeholder((40, 40), name=name, dtype="float64") for name in "ab")
    c: Any = affine(a, b)
    module: Any = hj.build(te.create_schedule(c.op), [a, b, c], name="affine")
    text = str(module["affine"].specialization.optimized.func)
    assert "product = allocate" not in text
    x, y, z = RNG.random((40, 40)), RNG.random((40, 40)), np.zeros((40, 40))
    module(x, y, z)
    np.testing.assert_allclose(z, x @ y + 1, rtol=1e-13)
