"""Loops that pack what a condition lets through, in lanes where vectors can: as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from hybridjit.processor import current_target
from tests.corpus.case import Array
from tests.support.guarded import check_guarded
from tests.support.oracle import assert_same_outcome, run_native, run_once, run_plain
from tests.support.processors import PROCESSORS, compiling_for

AnyKernel = Kernel[..., Any]
SIZES = (0, 1, 7, 8, 9, 16, 17, 33, 70, 200)
packs = pytest.mark.skipif(
    not current_target().has("avx512f"), reason="no instruction stores some lanes side by side"
)


@hybrid.script
def positive(a: Array, out: Array, other: Array) -> Any:
    k = 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            out[k] = a[i]
            k += 1
    return k


@hybrid.script
def with_places(a: Array, out: Array, other: Array) -> Any:
    k = 0
    for i in range(a.shape[0]):
        if a[i] != 1 and a[i] < 3:
            out[k] = a[i] * 2
            other[k] = i
            k += 1
    return k


@hybrid.script
def of_rows(a: Array, out: Array, other: Array) -> Any:
    k = 0
    for i in range(a.shape[0] // 5):
        for j in range(5):
            if a[i * 5 + j] > 0:
                out[k] = a[i * 5 + j]
                k = k + 1
    return k


@hybrid.script
def from_the_middle(a: Array, out: Array, other: Array) -> Any:
    k = a.shape[0] // 4
    for i in range(a.shape[0] // 2):
        x = a[i]
        if x > 0:
            out[k] = x
            k += 1
        other[i] = x
    return k


KERNELS = (positive, with_places, of_rows, from_the_middle)


@hybrid.script
def reads_what_it_packs(a: Array, out: Array, other: Array) -> Any:
    k = 1
    for i in range(a.shape[0] - 1):
        if a[i] > 0:
            out[k] = out[k - 1] + a[i]
            k += 1
    return k


@hybrid.script
def reads_the_place(a: Array, out: Array, other: Array) -> Any:
    k = 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            out[k] = a[i] + k
            k += 1
    return k


@hybrid.script
def counts_twice(a: Array, out: Array, other: Array) -> Any:
    k = 0
    for i in range(a.shape[0] // 2):
        if a[i] > 0:
            out[k] = a[i]
            k += 1
        if a[i] > 1:
            k += 1
    return k


@hybrid.script
def in_two_arrays(a: Array, out: Array, other: Array) -> Any:
    k, r = 0, 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            out[k] = a[i]
            k += 1
        else:
            other[r] = a[i]
            r += 1
    return k * 1000 + r


@hybrid.script
def reads_from_it(a: Array, out: Array, other: Array) -> Any:
    k = 1
    for i in range(1, a.shape[0] - 1):
        if a[i] >= out[i - 1]:
            out[k] = a[i]
            k += 1
    return k


@hybrid.script
def stores_before(a: Array, out: Array, other: Array) -> Any:
    k = 0
    for i in range(a.shape[0]):
        other[i] = a[i] + 1
        if a[i] > 0:
            out[k] = a[i]
            k += 1
    return k


OTHERS = (
    stores_before,
    reads_what_it_packs,
    reads_the_place,
    counts_twice,
    in_two_arrays,
    reads_from_it,
)


def arrays(size: int, dtype: Any = np.float64) -> list[Any]:
    generator = np.random.default_rng(size)
    a = generator.integers(-4, 5, size).astype(dtype)
    return [a, np.zeros(size, dtype), np.zeros(size, dtype)]


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


def assert_as_plain_python(kernel: AnyKernel, args: list[Any]) -> None:
    found = run_once(run_native, kernel, args)
    assert_same_outcome(found, run_once(run_plain, kernel, args))


@packs
@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_lanes_are_stored_side_by_side(kernel: AnyKernel) -> None:
    assert "compressstore" in kernel.inspect("llvm", *arrays(300))


@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_without_the_instruction_a_table_tells_the_order(kernel: AnyKernel) -> None:
    if not current_target().has("avx2"):
        pytest.skip("needs AVX2")
    with compiling_for("haswell"):
        text = kernel.inspect("llvm", *arrays(300))
    assert "llvm.x86.avx2.permd" in text
    assert "compressstore" not in text


@pytest.mark.parametrize("kernel", OTHERS, ids=name_of)
def test_what_does_more_than_pack_stays_in_order(kernel: AnyKernel) -> None:
    assert "compressstore" not in kernel.inspect("llvm", *arrays(300))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int8, np.uint16, np.bool_])
@pytest.mark.parametrize("kernel", [*KERNELS, *OTHERS], ids=name_of)
def test_as_plain_python(kernel: AnyKernel, dtype: Any) -> None:
    anew: AnyKernel = Kernel(kernel.__hybrid_function__)
    for size in SIZES:
        a, out, other = arrays(size, dtype)
        if dtype is np.bool_:
            other = np.zeros(size, np.int64)
        assert_as_plain_python(anew, [a, out, other])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cpu", PROCESSORS[::2])
@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_nothing_beside_the_places_is_touched(kernel: AnyKernel, cpu: str) -> None:
    with compiling_for(cpu), config.scope(cache_enabled=False):
        for size in (1, 9, 70):
            check_guarded(Kernel(kernel.__hybrid_function__), arrays(size))


@pytest.mark.parametrize("room", [0, 1, 5, 8, 15, 22])
@pytest.mark.parametrize("kernel", [positive, with_places, stores_before], ids=name_of)
def test_an_array_that_is_too_small_is_filled_up_to_the_error(kernel: AnyKernel, room: int) -> None:
    """The error names the place of the first element that has none; those before are stored."""
    anew: AnyKernel = Kernel(kernel.__hybrid_function__)
    a, out, other = arrays(70)
    with pytest.raises(IndexError, match=f"{room} is out of bounds"):
        anew(a, out[:room].copy(), other)
    assert_as_plain_python(anew, [a, out[:room].copy(), other])
    assert_as_plain_python(anew, [a, out, other[:room].copy()])


def test_places_that_are_apart() -> None:
    for step in (2, -1, 3):
        a, _, other = arrays(70)
        out = np.zeros(300)[::step]
        assert_as_plain_python(positive, [a, out, other])
        assert_as_plain_python(with_places, [a[::-1], out, other[::-1]])


@hybrid.script
def below_zero(a: Array, out: Array) -> Any:
    k = -3
    for i in range(a.shape[0]):
        if a[i] > 0:
            out[k] = a[i]
            k += 1
    return k


def test_a_negative_place_counts_from_the_end() -> None:
    for size in (3, 20, 60):
        assert_as_plain_python(below_zero, arrays(size)[:2])


def test_arguments_that_share_memory() -> None:
    a = np.arange(-30.0, 60.0)
    for shift in (0, 1, 40):
        shared = [a[shift : shift + 40], a[:40], a[50:90]]
        assert_as_plain_python(positive, shared)


@hybrid.script
def selected(a: Array, b: Array) -> Any:
    chosen = b[a > 0]
    places = np.nonzero(a)[0]
    return chosen, chosen.sum(), places, np.flatnonzero(b > a)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_arrays_that_masks_select(dtype: Any) -> None:
    anew: AnyKernel = Kernel(selected.__hybrid_function__)
    for size in SIZES:
        a, b = arrays(size, dtype)[0], arrays(size + 1, dtype)[0][:size]
        assert_as_plain_python(anew, [a, b])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cpu", PROCESSORS)
def test_every_processor_gives_the_same(cpu: str) -> None:
    with compiling_for(cpu), config.scope(cache_enabled=False):
        for kernel in KERNELS:
            anew: AnyKernel = Kernel(kernel.__hybrid_function__)
            for size in (3, 45):
                assert_as_plain_python(anew, arrays(size))
