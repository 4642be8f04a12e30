"""Functions of NumPy on whole arrays: sizes that are awkward, every type, strides of all kinds.

A kernel that meets a second size is compiled for any size: each call is made with constant and
with symbolic sizes.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree

np: Any = numpy
FLOATS = ("float64", "float32")
NUMBERS = ("float64", "int32", "complex64")
REALS = ("float64", "float16", "uint8")
SIZES = (0, 1, 33)
# What is called on a vector, and the types that it is called with.
ON_VECTORS = {
    "np.sort(x), np.argsort(x, kind='stable')": (*REALS, "complex64"),
    "np.median(x), np.nanmedian(x)": FLOATS,
    "np.nanquantile(x, 0.9), np.nanpercentile(x, 30)": REALS,
    "np.searchsorted(np.sort(x), x), np.searchsorted(np.sort(x), x, side='right')": REALS,
    "np.isin(x, x[::3]), np.count_nonzero(x)": NUMBERS,
    "np.diff(x), np.diff(x, 2), np.diff(x, prepend=x[:1]), np.ediff1d(x)": NUMBERS,
    "np.cumsum(x), np.cumprod(x), np.nancumsum(x)": NUMBERS,
    "np.trapezoid(x), np.trapezoid(x, dx=0.5)": NUMBERS,
    "np.tri(len(x), 3, 1), np.diag(x, 1), np.diagflat(x), np.vander(x, 3)": NUMBERS,
    "np.roll(x, 3), np.tile(x, 2), np.repeat(x, 2), np.append(x, x)": NUMBERS,
    "np.pad(x, 3), np.pad(x, (0, 2), constant_values=1)": NUMBERS,
    "np.nansum(x), np.nanprod(x), np.nanmean(x), np.nanvar(x)": FLOATS,
    "np.unwrap(x), np.sinc(x), np.nan_to_num(x)": FLOATS,
    "np.einsum('i,i->i', x, x), np.einsum('i,j->ij', x, x), np.einsum('i,i', x, x)": NUMBERS,
    "np.tensordot(x, x, 1), np.inner(x, x), np.kron(x, x), np.outer(x, x)": NUMBERS,
    "np.clip(x, 1, None), np.clip(x, 1, 3), x.clip(max=2)": REALS,
    "np.allclose(x, x), np.isclose(x, x, equal_nan=True), np.array_equal(x, x)": FLOATS,
    "np.select([x > 2, x > 1], [x, -x], 5), np.choose(x > 1, (x, x * 2))": FLOATS,
    "np.linspace(1, 4, len(x)), np.linspace(len(x), 9, len(x), dtype=int)": ("float64",),
    "np.linspace(1, 4, len(x), endpoint=False), np.geomspace(2, 8, len(x))": ("float64",),
    "np.array_split(x, 3)[0] * 1, np.array_split(x, 3)[2] * 1": NUMBERS,
}
# Those of which NumPy makes nothing where there are no elements.
ON_FULL_VECTORS = {
    "np.percentile(x, 30), np.quantile(x, 0.9), np.percentile(x, [0, 50, 100])": REALS,
    "np.nanquantile(x, [0, 0.3, 1]), np.nanpercentile(x, (10, 60))": REALS,
    "np.interp(x, np.sort(x), x), np.digitize(x, np.sort(x))": FLOATS,
    "np.pad(x, 3, 'edge'), np.pad(x, 40, 'wrap'), np.pad(x, (0, 5), 'symmetric')": NUMBERS,
    "np.pad(x, 9, 'reflect')": NUMBERS,
    "np.convolve(x, x), np.convolve(x, x[:3], 'same'), np.correlate(x, x, 'full')": NUMBERS,
    "np.correlate(x[:2], x, 'same'), np.correlate(x, x[:2], 'valid')": NUMBERS,
    "np.nanmax(x), np.nanmin(x), np.ptp(x)": FLOATS,
    "np.polyval(x, 2), np.average(x), np.average(x, weights=np.abs(x) + 1)": ("float64", "int64"),
    "np.histogram(x, 4, (0, 5))[0]": FLOATS,
    "np.bincount(np.abs(x) % 5, minlength=5)": ("int32",),
}
ON_MATRICES = {
    "np.sort(m), np.sort(m, axis=0), np.argsort(m, 0, kind='stable')": (*REALS, "complex64"),
    "np.median(m, axis=0), np.median(m, axis=1), np.quantile(m, 0.25, axis=0)": FLOATS,
    "np.nanquantile(m, 0.25, axis=0), np.nanpercentile(m, (25, 50), axis=1)": FLOATS,
    "np.cumsum(m, axis=0), np.cumsum(m, axis=1), np.cumprod(m, 1)": NUMBERS,
    "np.pad(m, 1), np.pad(m, ((0, 1), (2, 0)), 'edge'), np.pad(m, 2, 'wrap')": NUMBERS,
    "np.pad(m, ((1, 2), (3, 1)), 'reflect'), np.pad(m, 2, 'symmetric')": NUMBERS,
    "np.einsum('ij,kj->ik', m, m), np.einsum('ij->ji', m), np.einsum('ij->j', m)": NUMBERS,
    "np.einsum('ij,ij->i', m, m), np.tensordot(m, m, ((0,), (0,)))": NUMBERS,
    "np.trace(m), np.triu(m, 1), np.tril(m), np.diag(m) * 1": NUMBERS,
    "np.gradient(m, axis=1), np.diff(m, axis=0), np.trapezoid(m, axis=0)": FLOATS,
    "m.reshape(-1, len(m), order='F') + 0, m.T.reshape((-1,), order='F')": NUMBERS,
    "np.reshape(m, (len(m), 5, 1), 'F') + 0, m[m != 2].reshape(1, -1, order='F') + 0": NUMBERS,
    "m.flatten('F'), m.ravel(order='F'), np.ravel(m.T, 'F'), m.flatten(order='C')": NUMBERS,
    "np.rot90(m) * 1, np.roll(m, (1, -2), axis=(0, 1)), np.tile(m, (2, 1))": NUMBERS,
    "np.nansum(m, axis=0), np.nanmean(m, axis=1), np.nanstd(m, axis=0)": FLOATS,
    "np.nanmax(m, axis=1), np.nanargmin(m, axis=1), np.count_nonzero(m, axis=0)": FLOATS,
    "np.block([[m, m], [m, m]]), np.stack((m, m), axis=1), np.append(m, m, axis=0)": NUMBERS,
    "np.average(m, axis=0), np.average(m, axis=1, weights=np.arange(5) + 1)": ("float64", "int64"),
    "np.take_along_axis(m, np.argsort(m, axis=1), axis=1)": FLOATS,
    "np.isclose(m, m.copy()), np.ptp(m, axis=0), np.cross(m[:, :3], m[:, 2:])": ("float64",),
}


def _numbers(shape: tuple[int, ...], dtype: str) -> Any:
    """Some numbers, equal ones among them, and a NaN among floats if there are many."""
    rng = np.random.default_rng(17)
    values = rng.integers(0, 6, shape)
    if dtype == "bool":
        return values > 2
    if dtype.startswith("complex"):
        return (values + 1j * rng.integers(0, 3, shape)).astype(dtype)
    found = (values + 0.5 * ("float" in dtype)).astype(dtype)
    if "float" in dtype and found.size > 40:
        found.flat[3] = np.nan
    return found


def _kernel(parameter: str, call: str) -> Any:
    return script_from_text(f"def f({parameter}):\n    return {call}\n", {"np": np})


def _strided(x: Any, size: int) -> list[Any]:
    return [x[:size].copy(), x[: 2 * size : 2][::-1]]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("call", [*ON_VECTORS, *ON_FULL_VECTORS])
def test_on_vectors(call: str) -> None:
    """The first type in all sizes and strides, the others in one."""
    kernel = _kernel("x", call)
    first, *others = ON_VECTORS.get(call) or ON_FULL_VECTORS[call]
    for x in _strided(_numbers((70,), first), 7):
        assert_agree(kernel, [x])
    for size in SIZES if call in ON_VECTORS else SIZES[1:]:
        assert_agree(kernel, [_numbers((70,), first)[:size].copy()])
    for dtype in others:
        assert_agree(kernel, [_numbers((33,), dtype)])


@pytest.mark.sampled(16)
@pytest.mark.parametrize("call", ON_MATRICES)
def test_on_matrices(call: str) -> None:
    kernel = _kernel("m", call)
    first, *others = ON_MATRICES[call]
    matrix = _numbers((4, 5), first)
    for m in (matrix, np.asfortranarray(matrix)[::-1], _numbers((33, 5), first)):
        assert_agree(kernel, [m])
    for dtype in others:
        assert_agree(kernel, [_numbers((4, 5), dtype)])
