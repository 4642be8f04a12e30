"""Vector loops are cut into vectors and a rest, and mean the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.hybrid import allocate
from hybridjit.interp.run import compile_func
from hybridjit.ir.expr import Const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import walk
from hybridjit.lowering.check_bounds import check_bounds
from hybridjit.lowering.vectorize_loops import vectorize_loops
from hybridjit.scalars.builtins import vectorize
from hybridjit.target import Target
from tests.corpus.case import Array

WIDE = Target("", "", "+avx512f")
NARROW = Target("", "", "")


def cut(kernel: Kernel[..., Any], *specs: Any, target: Target = NARROW) -> PrimFunc:
    func = vectorize_loops(check_bounds(lower_blocks(kernel.prim_func(*specs))), target)
    verify(func, Stage.LOOPS, "vectorize_loops")
    return func


def body_of(func: PrimFunc) -> str:
    return "\n".join(line[4:] for line in str(func).splitlines()[1:])


@hybrid.script
def doubled(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        b[j] = a[j] * 2


@hybrid.script
def total(a: Array) -> Any:
    s = 0
    for j in vectorize(a.shape[0]):
        s += a[j]
    return s


@hybrid.script
def scratch(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        t = allocate((3,), a.dtype, "local")
        for k in range(3):
            t[k] = a[j] + k
        b[j] = t[0] * t[2]


@hybrid.script
def skipping(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        if a[j] % 3 == 0:
            continue
        if a[j] % 5 == 0:
            b[j] = 1
            continue
        if a[j] > 20:
            b[j] = 2
        else:
            continue
        b[j] += a[j]


# -- shape -----------------------------------------------------------------------------------------


def test_a_power_of_two_up_to_four_vectors_stays_whole() -> None:
    for size in (2, 4, 8, 16):
        func = cut(doubled, hj.f32[size], hj.f32[size])
        assert body_of(func) == f"for j in vectorize({size}):\n    b[j] = a[j] * 2.0"


def test_constant_extent_is_cut_into_vectors_and_smaller_ones() -> None:
    assert body_of(cut(doubled, hj.f32[47], hj.f32[47])) == (
        "for j_0 in range(0, 32, 16):\n"
        "    for j in vectorize(j_0, j_0 + 16):\n"
        "        b[j] = a[j] * 2.0\n"
        "for j_0_1 in range(32, 44, 4):\n"
        "    for j_1 in vectorize(j_0_1, j_0_1 + 4):\n"
        "        b[j_1] = a[j_1] * 2.0\n"
        "for j_2 in vectorize(44, 46):\n"
        "    b[j_2] = a[j_2] * 2.0\n"
        "for j_3 in range(46, 47):\n"
        "    b[j_3] = a[j_3] * 2.0"
    )


def test_rest_is_guarded_where_there_are_masks() -> None:
    assert body_of(cut(doubled, hj.f32[23], hj.f32[23], target=WIDE)) == (
        "for j in vectorize(16):\n"
        "    b[j] = a[j] * 2.0\n"
        "for j_1 in vectorize(16, 24):\n"
        "    if j_1 - 16 < 7:\n"
        "        b[j_1] = a[j_1] * 2.0"
    )


def test_run_time_extent() -> None:
    assert body_of(cut(doubled, hj.f64["n"], hj.f64["n"], target=WIDE)) == (
        "j_trips = max(a.shape[0], 0)\n"
        "j_end = j_trips // 32 * 32\n"
        'for j_0 in serial(0, j_end, 32, annotations={"unroll": False}):\n'
        "    for j in vectorize(j_0, j_0 + 32):\n"
        "        b[j] = a[j] * 2.0\n"
        'for j_1 in serial(j_end, a.shape[0], 8, annotations={"at_most": 4}):\n'
        "    for j_2 in vectorize(j_1, j_1 + 8):\n"
        "        if j_2 - j_1 < j_trips - j_1:\n"
        "            b[j_2] = a[j_2] * 2.0"
    )


def test_run_time_extent_without_masks() -> None:
    assert body_of(cut(doubled, hj.f64["n"], hj.f64["n"])) == (
        "j_trips = max(a.shape[0], 0)\n"
        "j_end = j_trips // 8 * 8\n"
        "j_end_1 = j_trips // 2 * 2\n"
        'for j_0 in serial(0, j_end, 8, annotations={"unroll": False}):\n'
        "    for j in vectorize(j_0, j_0 + 8):\n"
        "        b[j] = a[j] * 2.0\n"
        'for j_0_1 in serial(j_end, j_end_1, 2, annotations={"at_most": 4}):\n'
        "    for j_1 in vectorize(j_0_1, j_0_1 + 2):\n"
        "        b[j_1] = a[j_1] * 2.0\n"
        'for j_2 in serial(j_end_1, a.shape[0], annotations={"at_most": 1}):\n'
        "    b[j_2] = a[j_2] * 2.0"
    )


def test_a_tile_that_is_no_round_is_one_vector() -> None:
    func = cut(in_tiles_of(8), hj.f32["n"], hj.f32["n"], target=WIDE)
    assert body_of(func) == (
        "for j_0 in range(0, a.shape[0], 8):\n"
        "    j_trips = max(min(j_0 + 8, a.shape[0]), j_0) - j_0\n"
        "    for j in vectorize(j_0, j_0 + 8):\n"
        "        if j - j_0 < j_trips:\n"
        "            b[j] = a[j] * 2.0"
    )


def in_tiles_of(size: int) -> Kernel[..., Any]:
    @hybrid.script
    def in_tiles(a: Array, b: Array) -> None:
        for j_0 in range(0, a.shape[0], size):
            for j in vectorize(j_0, min(j_0 + size, a.shape[0])):
                b[j] = a[j] * 2

    return in_tiles


@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["masks", "no_masks"])
@pytest.mark.parametrize("tile", [1, 2, 3, 5, 8, 16, 17, 30])
@pytest.mark.parametrize("spec", [hj.f32["n"], hj.i8["n"], hj.f64["n"]], ids=str)
def test_tiles_of_any_size(spec: Any, tile: int, target: Target) -> None:
    run = compile_func(cut(in_tiles_of(tile), spec, spec, target=target))
    for size in (0, 1, tile, 2 * tile + 1, 41):
        a = np.arange(size).astype(str(spec.dtype))
        b = np.zeros_like(a)
        run([a, b])
        np.testing.assert_array_equal(b, a * 2)


@pytest.mark.parametrize("tile", [3, 8, 20])
def test_tiles_natively(tile: int) -> None:
    for dtype in ("float32", "float64", "int16"):
        for size in (1, 8, 41):
            a = np.arange(size).astype(dtype)
            b = np.zeros_like(a)
            in_tiles_of(tile)(a, b)
            np.testing.assert_array_equal(b, a * 2)


@hybrid.script
def updated(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        b[j] = b[j] + a[j]


def test_updates_have_no_masks() -> None:
    """What is stored under a mask is not forwarded to the loads of the next row."""
    assert "if" not in body_of(cut(updated, hj.f64[11], hj.f64[11], target=WIDE))


@hybrid.script
def logarithms(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        b[j] = np.log(a[j])


def test_functions_run_in_one_long_vector_or_two_short_ones() -> None:
    assert body_of(cut(logarithms, hj.f64[64], hj.f64[64], target=WIDE)) == (
        "for j_0 in range(0, 64, 8):\n"
        "    for j in vectorize(j_0, j_0 + 8):\n"
        "        b[j] = log(a[j])"
    )
    assert "vectorize(j_0, j_0 + 4)" in body_of(cut(logarithms, hj.f64[64], hj.f64[64]))


@pytest.mark.parametrize(("dtype", "lanes"), [(hj.u8, 64), (hj.f32, 16), (hj.f64, 8), (hj.c64, 16)])
def test_width_follows_the_element_type(dtype: Any, lanes: int) -> None:
    func = cut(doubled, dtype["n"], dtype["n"], target=WIDE)

    loops = [node for node in walk(func.body) if isinstance(node, For)]
    assert loops[0].step == Const(4 * lanes)


def test_reduction_gets_a_partial_result_for_each_lane() -> None:
    text = body_of(cut(total, hj.i32[8]))

    assert 's_lanes = allocate((8,), "int32", "local", zero=False)' in text
    assert "s_lanes[j] = s_lanes[j] + a[j]" in text
    assert "s = s + s_lanes[0]" in text


def test_reduction_of_floats_keeps_its_order() -> None:
    assert "vectorize" not in body_of(cut(total, hj.f32[8]))


def test_reduction_of_floats_may_be_regrouped_where_fastmath_says_so() -> None:
    func = replace(check_bounds(lower_blocks(total.prim_func(hj.f32[8]))), fastmath=("reassoc",))

    assert "s_lanes" in str(vectorize_loops(func, NARROW))


def test_arrays_of_an_iteration_are_laid_out_by_lane() -> None:
    text = body_of(cut(scratch, hj.f32[4], hj.f32[4]))

    assert text.startswith('t = allocate((3, 4), "float32", "local")\nfor j in vectorize(4):')
    assert "t[k, j] = a[j] + float32(k)" in text


def test_continue_becomes_a_branch() -> None:
    assert body_of(cut(skipping, hj.i64[8], hj.i64[8])) == (
        "for j in vectorize(8):\n"
        "    if a[j] % 3 != 0:\n"
        "        if a[j] % 5 == 0:\n"
        "            b[j] = 1\n"
        "        elif a[j] > 20:\n"
        "            b[j] = 2\n"
        "            b[j] = b[j] + a[j]"
    )


# -- what has no vector code -----------------------------------------------------------------------


@hybrid.script
def triangle(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        for k in range(j):
            b[j] += a[k]


@hybrid.script
def with_print(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        print(a[j])


@hybrid.script
def histogram(a: Array, b: Array) -> None:
    for j in vectorize(a.shape[0]):
        b[a[j]] += 1


@hybrid.script
def nested(a: Array, b: Array) -> None:
    for i in vectorize(a.shape[0]):
        for j in vectorize(4):
            b[i, j] = a[i]


@pytest.mark.parametrize("kernel", [triangle, with_print])
def test_body_without_vector_code_is_a_range(kernel: Kernel[..., Any]) -> None:
    func = cut(kernel, hj.f32[16], hj.f32[16])

    assert "for j in range(16):" in str(func)
    assert "vectorize" not in str(func)


def test_lanes_that_may_meet_are_a_range() -> None:
    assert "vectorize" not in str(cut(histogram, hj.i64[16], hj.i32[16]))


def test_of_two_nested_vector_loops_the_inner_one_is_taken() -> None:
    text = body_of(cut(nested, hj.f32[8], hj.f32[8, 4]))

    assert text.startswith("for i in range(8):\n    for j in vectorize(4):")


# -- meaning ---------------------------------------------------------------------------------------

SIZES = (0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 35)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("spec", ["exact", "symbolic"])
@pytest.mark.parametrize("kernel", [doubled, total, scratch, skipping])
def test_cut_loops_mean_the_same(kernel: Kernel[..., Any], spec: str, size: int) -> None:
    a: Any = np.arange(1, size + 1, dtype=np.int32)
    b: Any = np.zeros_like(a)
    args = [a] if kernel is total else [a, b]
    extent = size if spec == "exact" else "n"
    func = cut(kernel, *[hj.i32[extent]] * len(args))

    result = compile_func(func)(args)

    expected = b.copy()
    arguments = [a] if kernel is total else [a, expected]
    assert result == kernel.py_func(*arguments)
    np.testing.assert_array_equal(b, expected)


@hybrid.script
def steps(a: Array, b: Array, start: int, stop: int) -> None:
    for j in vectorize(start, stop, 3):
        b[j] = a[j] + 1
    for k in vectorize(stop - 1, start - 1, -2):
        b[k] = b[k] * 2


@pytest.mark.parametrize("stop", [-2, 0, 1, 5, 16, 40])
def test_steps_and_bounds_at_run_time(stop: int) -> None:
    a = np.arange(40)
    b, expected = np.zeros_like(a), np.zeros_like(a)
    func = cut(steps, a, b, 0, stop)

    compile_func(func)([a, b, 0, stop])
    steps.py_func(a, expected, 0, stop)

    np.testing.assert_array_equal(b, expected)
