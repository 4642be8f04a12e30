"""Looking at kernels: stages, safety, what was compiled and why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.processor import current_target
from tests.corpus.case import Array


def make_scale() -> Kernel[..., Any]:
    @hybrid.script
    def scale(a: Array, factor: float) -> Array:
        b = hybrid.output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = a[i] * factor
        return b

    return scale


@hybrid.script
def gather(a: Array, indices: Array) -> Array:
    total = 0.0
    for i in range(indices.shape[0]):
        total += a[indices[i]]
    return total


@hybrid.script
def stencil(a: Array, b: Array) -> None:
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        ("tir", "with block("),
        ("passes", "# check_bounds"),
        ("lowered", "for i in vectorize(8):"),
        ("llvm", "@hj_kernel("),
        ("asm", "hj_kernel:"),
    ],
)
def test_stages_show_the_kernel(stage: Any, text: str) -> None:
    assert text in make_scale().inspect(stage, hj.f32[8], 2.0)


@pytest.mark.skipif("x86_64" not in current_target().triple, reason="register names of x86-64")
def test_plain_loops_vectorise_at_the_full_width() -> None:
    register = {512: "zmm", 256: "ymm", 128: "xmm"}[current_target().vector_bits]
    assert register in make_scale().inspect("asm", hj.f32[4096], 2.0)


def test_a_stencil_needs_no_checks() -> None:
    safety = stencil.safety(hj.f64[64, 64], hj.f64[64, 64])
    assert safety.checks == ()
    assert safety.proved == 10


def test_a_stencil_of_run_time_size_needs_no_checks() -> None:
    assert stencil.safety(hj.f64["n", "m"], hj.f64["n", "m"]).checks == ()


def test_safety_names_what_is_checked() -> None:
    safety = gather.safety(np.ones(4), np.zeros(3, np.int64))
    (check,) = safety.checks
    assert (check.buffer, check.axis, check.index) == ("a", 0, "indices[i]")
    assert "1 of 2 indices are proved" in str(safety)


def test_cache_info_says_why() -> None:
    scale = make_scale()
    for size in (5, 7, 9, 11, 13):
        scale(np.ones(size), 2.0)
    first, second = scale.cache_info()
    assert first.reason == "first call with arguments of these types"
    assert second.reason == "sizes vary: 5 -> 7"
    assert second.arguments.startswith("float64['n0']")


def test_many_sizes_cost_two_translations() -> None:
    scale = make_scale()
    for size in range(1, 200):
        np.testing.assert_array_equal(scale(np.ones(size), 3.0), np.full(size, 3.0))
    assert len(scale.cache_info()) == 2


def test_clear_forgets() -> None:
    scale = make_scale()
    scale(np.ones(3), 2.0)
    scale.clear()
    assert scale.cache_info() == ()
    np.testing.assert_array_equal(scale(np.ones(3), 2.0), np.full(3, 2.0))


def test_compile_ahead_of_time() -> None:
    scale = make_scale()
    scale.compile(hj.f32[16], 2.0)
    (info,) = scale.cache_info()
    assert (info.reason, info.layouts) == ("asked for", 1)
    scale(np.ones(16, np.float32), 2.0)
    assert [entry.layouts for entry in scale.cache_info()] == [1]


def test_a_stage_that_is_not() -> None:
    wrong: Any = "assembly"
    with pytest.raises(ValueError, match="there is no stage 'assembly'"):
        gather.inspect(wrong, np.zeros(4), np.zeros(4, int))


def test_an_argument_in_the_place_of_the_stage() -> None:
    given: Any = np.ones(3)
    with pytest.raises(TypeError, match="the first argument is the name of a stage, got ndarray"):
        gather.inspect(given, given)
