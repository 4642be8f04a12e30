"""Calls of the functions of NumPy that a script has: what people write, and what NumPy makes of it.

A line is a call on the arrays of `ARRAYS`; it must give what NumPy gives.
"""

from __future__ import annotations

import re
from typing import Any

import numpy

np: Any = numpy


def arrays_at(length: int, rows: int, columns: int) -> dict[str, Any]:
    """The arrays that calls are made on, of some sizes."""
    rng = np.random.default_rng(3)
    vector, weights = rng.random(length) - 0.5, rng.random(length)
    matrix = rng.random((rows, columns)) - 0.5
    return {
        "v": vector,
        "w": weights,
        "m": matrix,
        "s": rng.random((columns, columns)) + 2 * np.eye(columns),
        "t": rng.random((3, rows, rows)),
        "c": rng.random((rows, 3)),
        "i": rng.integers(-5, 5, length),
        "i2": rng.integers(-5, 5, (rows, columns)),
        "k": rng.integers(0, 5, length),
        "u": rng.integers(0, 200, length).astype(np.uint8),
        "b": vector > 0,
        "b2": matrix > 0,
        "z": vector + 1j * weights,
        "h": np.where(weights > 0.6, np.nan, vector),
        "h2": np.where(matrix > 0.3, np.nan, matrix),
    }


ARRAYS: dict[str, Any] = arrays_at(7, 4, 5)


def arrays_of(call: str) -> list[str]:
    """The names of the arrays that a call is made on."""
    return [name for name in ARRAYS if re.search(rf"(?<![\w.\"]){name}(?![\w\"=])", call)]


CALLS: dict[str, str] = {
    "pad": """
        np.pad(v, 2)
        np.pad(v, (1, 2))
        np.pad(m, 1)
        np.pad(m, (1, 2))
        np.pad(m, ((1, 2), (0, 3)))
        np.pad(m, ((1, 2), (0, 3)), "constant", constant_values=5)
        np.pad(i, 2, constant_values=(3, 4))
        np.pad(m, 1, mode="constant", constant_values=((1, 2), (3, 4)))
        np.pad(v, 2, mode="edge")
        np.pad(m, ((1, 2), (2, 1)), "edge")
        np.pad(m, ((1, 2), (2, 1)), "reflect")
        np.pad(m, ((1, 2), (2, 1)), mode="symmetric")
        np.pad(m, ((1, 2), (2, 1)), "wrap")
        np.pad(v, 20, "reflect")
        np.pad(v, 20, "symmetric")
        np.pad(v, 20, "wrap")
        np.pad(b, 1)
        np.pad(z, 1)
    """,
    "einsum": """
        np.einsum("ij,jk->ik", m, m.T)
        np.einsum("ij,kj->ik", m, m)
        np.einsum("ij,jk", m, m.T)
        np.einsum("ii", s)
        np.einsum("ii->i", s)
        np.einsum("ij->ji", m)
        np.einsum("ji", m)
        np.einsum("ij->", m)
        np.einsum("ij->j", m)
        np.einsum("i,i", v, w)
        np.einsum("i,j->ij", v, w)
        np.einsum("i,i->i", v, w)
        np.einsum("ij,j->i", m, m[0])
        np.einsum("bij,bjk->bik", t, np.swapaxes(t, 1, 2))
        np.einsum("ijk,kl->ijl", t, m)
        np.einsum("ij,jk,kl->il", m, m.T, m)
        np.einsum("i,ij,j->", m[:, 0], m, m[0])
        np.einsum("ij,ij->i", i2, i2)
        np.einsum("ij,jk", i2, m.T)
        np.einsum("i,i", i, v)
    """,
    "products": """
        np.tensordot(m, m.T, 1)
        np.tensordot(m, m)
        np.tensordot(t, m, axes=([2], [0]))
        np.tensordot(t, t, axes=((0, 1), (0, 1)))
        np.tensordot(v, w, 0)
        np.inner(v, w)
        np.inner(m, m)
        np.inner(t, m[:, :4])
        np.inner(m, m[0])
        np.inner(2.0, v)
        np.vdot(m, m)
        np.vdot(z, z)
        np.kron(m, s)
        np.kron(v, w)
        np.cross(c, c[::-1])
        np.cross(c[0], c[1])
        np.outer(v, w)
        np.outer(m, m)
        np.dot(m, m.T)
        np.dot(v, w)
        np.dot(t, m)
        np.dot(t, m[:, 0])
        np.dot(2.0, v)
        v.dot(w)
        np.matmul(m, m.T)
        np.vecdot(m, m)
        np.matvec(m, m[0])
        np.vecmat(m[:, 0], m)
    """,
    "sorting": """
        np.sort(v)
        np.sort(m)
        np.sort(m, axis=0)
        np.sort(m, axis=None)
        np.sort(h)
        np.sort(i)
        np.sort(b)
        np.sort(u)
        np.sort(v, kind="stable")
        np.sort(z)
        np.argsort(v)
        np.argsort(m, axis=0)
        np.argsort(h, kind="stable")
        np.argsort(i, stable=True)
        np.argsort(i, kind="stable")
        v.argsort()
        np.median(v)
        np.median(w)
        np.median(m)
        np.median(m, axis=0)
        np.median(m, axis=1, keepdims=True)
        np.median(h)
        np.median(i)
        np.percentile(v, 30)
        np.percentile(v, [10, 50, 90])
        np.percentile(m, 25, axis=0)
        np.percentile(m, (25, 50), axis=1)
        np.quantile(v, 0.3)
        np.quantile(m, 0.9, axis=1)
        np.quantile(m, np.array([0.1, 0.5]), axis=1)
        np.quantile(i, 0.3)
        np.nanmedian(h)
        np.nanquantile(h, 0.3)
        np.nanquantile(h2, 0.9, axis=1)
        np.nanquantile(i, 0.3)
        np.nanpercentile(h, 30)
        np.nanpercentile(h2, 25, axis=0, keepdims=True)
        np.sort(np.partition(v, 3)[:3])
        np.partition(v, 3)[3]
        np.searchsorted(np.sort(v), w)
        np.searchsorted(np.sort(v), w, side="right")
        np.searchsorted(np.sort(v), 0.3)
        np.searchsorted(np.sort(i), i, "right")
        np.interp(w, np.sort(v), v)
        np.interp(0.3, np.sort(v), v)
        np.interp(w, np.sort(v), v, left=-1.0, right=2.0)
        np.digitize(w, np.sort(v))
        np.digitize(w, np.sort(v), right=True)
        np.digitize(w, np.sort(v)[::-1])
        np.bincount(k, minlength=5)
        np.bincount(k, w, minlength=5)
        np.bincount(k, weights=w, minlength=5)
        np.histogram(v)[0]
        np.histogram(v, 5, (0, 1))[0]
        np.histogram(v, bins=4)[1]
        np.histogram(v, np.array([-1.0, 0.0, 0.5, 1.0]))[0]
        np.histogram(v, bins=4, density=True)[0]
        np.histogram(i, 5)[0]
    """,
    "unravel_index": """
        np.unravel_index(np.argmax(m), m.shape)
        np.unravel_index(v.argmin(), v.shape)
        np.unravel_index(k, t.shape)
        np.unravel_index(k.astype(np.int32), (2, 5))
        np.unravel_index([3, 0, 19], m.shape)
        m[np.unravel_index(7, m.shape)[0], 0]
    """,
    "choosing": """
        np.select([v > 0.2, v > 0], [v, -v], 5.0)
        np.select((m > 0.2, m > 0), (m, -m))
        np.choose(k % 2, (v, w))
        np.where(v > 0, v, 0.0)
        np.clip(v, 0, None)
        np.clip(v, None, 0.2)
        np.clip(v, a_min=0, a_max=0.3)
        v.clip(0)
        v.clip(max=0.1)
        v.clip(min=0, max=0.1)
        np.take(v, k)
        np.take(m, [0, 2], axis=1)
        np.take_along_axis(m, np.argsort(m, axis=1), axis=1)
    """,
    "differences": """
        np.gradient(v)
        np.gradient(v, 2.0)
        np.gradient(m)[0]
        np.gradient(m, axis=1)
        np.gradient(v, edge_order=2)
        np.gradient(v, np.sort(w))
        np.diff(v)
        np.diff(v, 3)
        np.diff(m, n=2, axis=0)
        np.diff(v, prepend=0.0)
        np.diff(v, append=w)
        np.ediff1d(v)
        np.cumsum(v)
        np.cumsum(m, axis=0)
        np.cumsum(m, axis=-1)
        np.cumsum(b)
        np.cumprod(m, 1)
        np.cumsum(v, dtype=np.float32)
        m.cumsum(axis=1)
        np.nancumsum(h)
        np.trapezoid(v)
        np.trapezoid(m)
        np.trapezoid(m, dx=0.5, axis=0)
        np.trapezoid(v, w)
        np.trapezoid(v, x=w)
        np.convolve(v, w)
        np.convolve(v, w[:3], "same")
        np.convolve(v, w[:3], mode="valid")
        np.convolve(i, i)
        np.correlate(v, w)
        np.correlate(v, w[:3], "full")
        np.correlate(v, w[:3], mode="same")
        np.correlate(z, z, "full")
        np.correlate(w[:3], v, "full")
    """,
    "diagonals": """
        np.diag(v)
        np.diag(v, 1)
        np.diagflat(v)
        np.trace(s)
        np.trace(i2)
        np.trace(b2)
        np.trace(t)
        np.tri(4)
        np.tri(3, 4, 1)
        np.tri(4, dtype=np.int32)
        np.tril(m)
        np.triu(m, 1)
        np.triu(t)
        np.tril(i2, -1)
        np.vander(v)
        np.vander(v, 3)
        np.vander(v, 3, increasing=True)
    """,
    "rounding": """
        np.around(v, 2)
        np.round(v, 1)
        np.round(v)
        np.round(v, decimals=3)
        np.round(i * 37, -1)
        np.round(v * 100, -1)
        v.round(2)
        np.rint(v)
        np.fix(v)
        np.trunc(v)
        np.nan_to_num(h)
        np.nan_to_num(h, nan=1.0)
        np.nan_to_num(h / 0.0, posinf=2.0, neginf=-3.0)
        np.nan_to_num(i)
    """,
    "numbers": """
        np.fmax(h, w)
        np.fmin(h, w)
        np.nanmax(h)
        np.nanmin(h2, axis=0)
        np.nansum(h2, axis=1)
        np.nanprod(h)
        np.nanmean(h2, axis=0)
        np.nanmean(h)
        np.nanstd(h)
        np.nanvar(h2, axis=1)
        np.nanvar(h, ddof=1)
        np.nanargmax(h)
        np.nanargmin(h)
        np.nansum(i)
        np.nanmax(i)
        np.sinc(v)
        np.hypot(v, w)
        np.heaviside(v, 0.5)
        np.sign(v)
        np.signbit(v)
        np.copysign(v, w)
        np.deg2rad(v)
        np.rad2deg(v)
        np.radians(v)
        np.degrees(v)
        np.logaddexp(v, w)
        np.logaddexp2(v, w)
        np.float_power(w, v)
        np.reciprocal(v)
        np.nextafter(v, w)
        np.spacing(v)
        np.mod(v, w)
        np.fmod(v, w)
        np.divmod(i, 3)
        np.modf(v)[0], np.modf(i)[1], z**-1, z**1, np.reciprocal(z)
        np.gcd(i, 6)
        np.lcm(i, 6)
        np.true_divide(v, w)
        np.abs(v)
        np.invert(i)
        np.bitwise_not(i)
        np.isneginf(v)
        np.isposinf(v)
        np.isreal(z)
        np.iscomplex(z)
        np.angle(z)
        np.conj(z)
        np.exp2(v)
        np.log1p(w)
        np.cbrt(v)
        np.unwrap(v)
        np.pow(w, 2)
        np.acos(v)
        np.asin(v)
        np.atan(v)
        np.atan2(v, w)
        np.asinh(v)
        np.bitwise_left_shift(i, 1)
        np.bitwise_invert(i)
        np.bitwise_count(i)
        np.divide(v, w)
        np.logical_xor(b, b)
        np.logical_not(v)
    """,
    "arrangement": """
        np.roll(v, 2)
        np.roll(m, 1)
        np.roll(m, 1, axis=0)
        np.roll(m, (1, 2), axis=(0, 1))
        np.roll(m, 1, axis=(0, 1))
        np.tile(v, 2)
        np.tile(m, (2, 3))
        np.tile(v, (2, 1))
        np.repeat(v, 3)
        np.repeat(m, 2, axis=1)
        np.repeat(v, repeats=2)
        np.repeat(v, np.arange(v.size) % 3), np.repeat(m, [2], axis=0), v.repeat([3])
        np.repeat(m, np.arange(m.shape[0]), axis=0), np.repeat(m, np.arange(m.shape[1]), axis=1)
        v.nonzero()[0], (m > 0).nonzero()
        m.repeat(2, axis=0)
        np.stack([v, w])
        np.stack((v, w), axis=1)
        np.stack((v, w), axis=-1)
        np.concatenate([v, w])
        np.concatenate((m, m), axis=1)
        np.concatenate((m, i2), axis=None)
        np.vstack([v, w])
        np.hstack([v, w])
        np.hstack((m, m))
        np.dstack((v, w))
        np.column_stack((v, w))
        np.append(v, w)
        np.append(m, m, axis=0)
        np.append(v, 3.0)
        np.delete(v, 1), np.delete(v, -1), np.delete(m, 0), np.delete(m, 1, axis=0)
        np.delete(m, -1, 1), np.delete(v, np.array([0, 2, 0])), np.delete(v, [1, 2])
        np.delete(v, b)
        np.insert(v, 1, 7.5), np.insert(v, -1, w), np.insert(m, len(v), 2), np.insert(i, 0, 2.7)
        np.block([[m, m], [m, m]])
        np.meshgrid(v, w)[0]
        np.meshgrid(v, w, indexing="ij")[1]
        np.meshgrid(v, w, sparse=True)[0]
        np.indices((3, 4))
        np.indices((3, 4))[0]
        np.mgrid[0:3, 0:4]
        np.mgrid[0:3]
        np.mgrid[0:6:2, 0:4]
        np.mgrid[0:1:5j, -1:2:3j]
        np.mgrid[0:2, 0.5:2:1j]
        np.mgrid[0:1:4j]
        np.mgrid[0:1:0.3]
        np.ogrid[0:1:5j, 0:3][1]
        np.ogrid[0:3, 0:4][0]
        np.atleast_1d(v)
        np.atleast_1d(3.0)
        np.atleast_2d(m)
        np.broadcast_to(v, (2, 7))
        np.broadcast_to(3.0, (2, 7))
        np.array([v, w])
        np.array([[1, 2], [3, 4]])
        np.asarray(v)
        np.asarray([1, 2, 3])
        np.asanyarray(v)
        np.copy(m)
        np.full((2, 3), 7)
        np.full(3, 2.5, np.float32)
        np.full_like(v, 3)
        np.zeros_like(m, dtype=np.int32)
        np.zeros((2, 3))
        np.zeros(shape=3, dtype=int)
        np.ones(3)
        np.eye(3)
        np.eye(3, 4, k=1)
        np.identity(3)
        np.arange(5)
        np.arange(1, 10, 3)
        np.arange(0.0, 1.0, 0.25)
        np.arange(5.0)
        np.arange(v.size / 2), np.arange(0.5, v.size * 0.7, 0.3), np.arange(m.size * 0.4, 1, -0.7)
        np.arange(3, dtype=np.float32)
        np.linspace(0, 1, 5)
        np.linspace(0, 1, num=5, endpoint=False)
        np.logspace(0, 2, 5)
        np.geomspace(1.0, 100.0, 5)
    """,
    "polynomials": """
        np.polyval(v, w)
        np.polyval([1.0, 2.0, 3.0], w)
        np.polyval([1, 2, 3], 2.0)
        np.polyadd(v, w)
        np.polysub(v, w[:3])
        np.polyder(v)
    """,
    "counting and comparing": """
        np.count_nonzero(i)
        np.count_nonzero(m > 0, axis=0)
        np.count_nonzero(b)
        np.count_nonzero(i2, axis=1, keepdims=True)
        np.ptp(v)
        np.ptp(m, axis=0)
        np.ptp(m, axis=0, keepdims=True)
        np.average(v)
        np.average(v, weights=w)
        np.average(m, axis=0)
        np.average(m, axis=1, weights=m[0] + 1)
        np.average(i, weights=w)
        np.average(m, weights=m + 2)
        np.allclose(v, v + 1e-9)
        np.allclose(v, w)
        np.isclose(v, v + 1e-9)
        np.isclose(h, h, equal_nan=True)
        np.isclose(v, 0.5, atol=0.2)
        np.array_equal(v, v)
        np.array_equal(v, w)
        np.array_equal(v, m)
        np.array_equal(h, h, equal_nan=True)
        np.array_equiv(v, v)
        np.isin(i, [1, 2, 3])
        np.any(b)
        np.all(m > 0, axis=0)
        np.cov(m)
        np.cov(v, w)
        np.corrcoef(m)
        np.corrcoef(v, w)
        np.size(m)
        np.size(m, 0)
        np.shape(m)
        np.ndim(m)
    """,
    "reductions": """
        np.sum(m)
        np.sum(m, axis=(0, 1))
        np.sum(m, 0, keepdims=True)
        np.sum(m, where=m > 0)
        np.sum(m, axis=0, where=m > 0)
        np.sum(m, initial=5.0)
        np.sum(i, dtype=np.float32)
        np.sum([1, 2, 3])
        np.sum((v, w), axis=0)
        np.prod(v, where=v > 0)
        np.max(m, initial=0.3)
        np.max(m, where=m > 0, initial=-1.0)
        np.min(m, axis=1, where=m > 0, initial=9.0)
        np.mean(m, axis=0)
        np.mean(m, where=m > 0)
        np.mean(i, dtype=np.float32)
        np.mean(h2, axis=0, where=~np.isnan(h2))
        np.std(m, ddof=1)
        np.std(m, axis=0, keepdims=True)
        np.var(m, where=m > 0)
        np.max((3.0, 4.0))
        np.argmax(m)
        np.argmax(m, axis=0)
        np.argmin(m, axis=1, keepdims=True)
        np.argmax(b)
        np.amax(m)
        np.any(m, axis=1, keepdims=True)
        np.all(m, where=m > 0)
        np.add.reduce(m)
        np.add.reduce(m, axis=1)
        np.add.reduce(m, axis=None)
        np.add.reduce(m, axis=(0, 1))
        np.add.accumulate(v)
        np.add.accumulate(m, axis=1)
        np.multiply.reduce(v)
        np.multiply.accumulate(v)
        np.maximum.reduce(m, axis=1)
        np.maximum.accumulate(v)
        np.minimum.accumulate(m, axis=0)
        np.maximum.reduce([v, w])
        np.logical_and.reduce(m > 0)
        np.logical_or.reduce(m > 0, axis=1)
        np.logical_and.reduce([v > 0, w > 0])
        np.logical_or.reduce((v > 0, w > 0))
        np.bitwise_or.reduce(i)
        np.bitwise_and.reduce(i)
        np.bitwise_xor.reduce(i2, axis=0)
        np.bitwise_and.reduce(u), np.logical_and.accumulate(i), np.logical_or.accumulate(m, axis=1)
        np.subtract.outer(v, w)
        np.add.outer(v, w)
    """,
    "linalg": """
        np.linalg.norm(v)
        np.linalg.norm(m)
        np.linalg.norm(m, axis=1)
        np.linalg.norm(m, ord=1)
        np.linalg.norm(m, np.inf)
        np.linalg.norm(m, -np.inf)
        np.linalg.norm(m, -1)
        np.linalg.norm(v, 3)
        np.linalg.norm(v, 0)
        np.linalg.norm(v, -np.inf)
        np.linalg.norm(m, ord=1, axis=0)
        np.linalg.norm(m, ord=3, axis=0)
        np.linalg.norm(m, "fro")
        np.linalg.norm(m, axis=1, keepdims=True)
        np.linalg.norm(t, axis=(1, 2))
        np.linalg.norm(z)
        np.linalg.norm(i)
        np.linalg.det(s)
        np.linalg.inv(s)
        np.linalg.solve(s, s[0])
        np.linalg.solve(s, m.T)
        np.linalg.cholesky(s @ s.T + np.eye(5))
        np.linalg.qr(m)
        np.linalg.qr(m.T, mode="complete")
        np.linalg.qr(z.real.reshape(1, -1), "r")
        np.linalg.svd(m)
        np.linalg.svd(m, full_matrices=False)
        np.linalg.svd(s, compute_uv=False)
        np.linalg.svdvals(i2)
        np.linalg.eigh(s + s.T)
        np.linalg.eigvalsh(s, UPLO="U")
        np.linalg.eig(s + s.T)
        np.linalg.eigvals(s.astype(np.complex128))
        np.linalg.lstsq(m.T, v[:5])
        np.linalg.lstsq(s, m.T, rcond=None)
        np.linalg.pinv(m)
        np.linalg.matrix_power(s, 3)
        np.linalg.matrix_power(s, 0)
        np.linalg.matrix_power(s, -2)
        np.linalg.multi_dot([m, m.T, m])
        np.linalg.multi_dot((m[0], m.T, m))
    """,
    "windows": """
        np.hanning(8)
        np.hamming(8)
        np.blackman(8)
        np.bartlett(8)
    """,
    "methods": """
        v.sum()
        m.mean(axis=0)
        v.sum(where=v > 0)
        m.max(axis=1, keepdims=True)
        v.real
        z.imag
        v.size
        m.ndim
        v.copy()
        m.flatten()
        m.take(k % 4, axis=0)
        v.argmax()
        v.astype(np.float32)
        v.astype("int32")
        v.astype(int)
        i.all()
        v.any()
        v.prod()
        v.std(ddof=1)
        v.var()
        v.conj()
        z.conjugate()
        v.cumprod()
        m.trace()
        np.sort(v).searchsorted(0.3)
        k.choose((v, w, v, w, v))
        v.item(2)
        v.partition(np.arange(v.size))
        v.itemsize
        v.dot(w)
        i.max()
    """,
    "statistics": """
        np.mean(h2, axis=1, keepdims=True, where=h2 < 0.2)
        m.std(where=m > 0), np.std(m, axis=0, where=m > 0)
        np.var(m, ddof=1, where=m > 0), np.mean(i, where=i > 0)
        np.cov(m, rowvar=False), np.cov(m, bias=True), np.cov(v), np.cov(v, w, ddof=0)
        np.corrcoef(m.T), np.corrcoef(v, w)
        np.histogram(v, [-1.0, -0.2, 0.1, 0.4])[0], np.histogram(v, 4, weights=w)[0]
        np.histogram(v, np.array([-1.0, 0.0, 0.5]), density=True)[0]
        np.histogram(i, [-5, 0, 2, 5])[0]
        np.average(m, axis=0, keepdims=True), np.average(m, axis=1, weights=m[0] + 1, keepdims=True)
        np.linalg.norm(v, 2), np.linalg.norm(m, 1, axis=1), np.linalg.norm(v, np.inf)
        np.linalg.norm(m, 1, keepdims=True), np.linalg.norm(i2, np.inf), np.linalg.norm(z, 1)
        np.linalg.matrix_power(i2[:, :4], 5), np.linalg.matrix_power(s, 1)
    """,
    "of numbers": """
        np.absolute(v), np.negative(v), np.positive(v), np.square(v), np.sqrt(w), np.cbrt(v)
        np.add(v, w), np.subtract(v, w), np.multiply(v, w), np.power(w, 2), np.floor_divide(v, w)
        np.remainder(v, w), np.maximum(v, w), np.minimum(v, w), np.arctan2(v, w)
        np.exp(v), np.expm1(v), np.log(w), np.log2(w), np.log10(w), np.log1p(w)
        np.sin(v), np.cos(v), np.tan(v), np.sinh(v), np.cosh(v), np.tanh(v)
        np.arcsin(v), np.arccos(v), np.arctan(v), np.arcsinh(v), np.arccosh(w + 1), np.arctanh(v)
        np.floor(v), np.ceil(v), np.isnan(h), np.isinf(h), np.isfinite(h)
        np.equal(i, 2), np.not_equal(i, 2), np.less(v, w), np.less_equal(v, w), np.greater(v, w)
        np.greater_equal(v, w), np.logical_and(b, v > 0.1), np.logical_or(b, v > 0.1)
        np.bitwise_and(i, 6), np.bitwise_or(i, 6), np.bitwise_xor(i, 6), np.left_shift(k, 2)
        np.right_shift(k, 1), np.real(z), np.imag(z), np.conjugate(z)
    """,
    "views": """
        np.flip(m) * 1, np.flip(m, 0) * 1, np.flip(m, axis=(0, 1)) * 1
        np.flipud(m) * 1, np.fliplr(m) * 1
        np.rot90(m) * 1, np.rot90(m, 2) * 1, np.rot90(m, -1) * 1, np.rot90(t, axes=(1, 2)) * 1
        np.diag(m) * 1, np.diagonal(m, 1) * 1, np.diagonal(t, axis1=0, axis2=2) * 1
        m.diagonal(-1) * 1, np.diag(m, 1), t.diagonal(), np.meshgrid(m, v)[0]
        np.diagonal(t) * 1, np.diagonal(t, -1, 1, 2) * 1, np.trace(t, 1, 1, 2)
        np.squeeze(m[:1]) * 1, np.squeeze(m[:1], axis=0) * 1, m[:1].squeeze() * 1
        np.expand_dims(v, 0) * 1, np.expand_dims(v, axis=-1) * 1, np.expand_dims(v, axis=(0, 2)) * 1
        np.swapaxes(t, 0, 2) * 1, np.moveaxis(t, 0, -1) * 1, np.moveaxis(t, (0, 1), (1, 2)) * 1
        np.rollaxis(t, 2) * 1, np.rollaxis(t, 0, 2) * 1, np.matrix_transpose(t) * 1, m.T * 1
        np.ravel(m) * 1, np.reshape(m, (5, 4)) * 1, np.reshape(m, -1) * 1, m.reshape(5, 4) * 1
        np.transpose(t, (1, 0, 2)) * 1, m.transpose(1, 0) * 1, m.swapaxes(0, 1) * 1
        np.split(v[:6], 3)[1] * 1, np.split(v, [2, 4])[2] * 1, np.split(v, [-2])[0] * 1
        np.split(m, 2)[1] * 1, np.split(v, [5, 2])[1] * 1, np.split(v, [3, 20])[2] * 1
        np.array_split(v, 3)[0] * 1, np.array_split(v, 3)[2] * 1
        np.array_split(m, 2, axis=1)[1] * 1
        np.array_split(v[:2], 3)[2] * 1, np.hsplit(m[:, :4], 2)[1] * 1, np.vsplit(m, 2)[0] * 1
        np.dsplit(t, 2)[1] * 1, np.hsplit(v[:6], 2)[1] * 1
        np.atleast_2d(m) * 1, np.atleast_3d(v) * 1, np.atleast_3d(m) * 1, np.atleast_2d(v) * 1
        np.block([[m, m], [m, m]]), np.block([v, w]), np.block([[v], [w]])
        np.block([[m, m[:, :1]]])
        np.iscomplexobj(z), np.isrealobj(z), np.result_type(v, i) == np.float64
        np.empty((2, 3)).size, np.empty_like(v).size, np.ndarray((2,)).size, np.ones_like(i)
        np.ascontiguousarray(m.T) * 1
        np.argpartition(v, 3)[3], np.nancumprod(h), np.amin(m), np.nansum(h2, axis=1, keepdims=True)
        np.var(m, axis=0), np.nanmax(h2, axis=1, keepdims=True), np.nanstd(h2, axis=0, ddof=1)
    """,
    "selection": """
        np.flatnonzero(i), np.flatnonzero(b2), *np.nonzero(v > 0), *np.nonzero(m > 0)
        *np.where(m < 0), *np.where(t > 0.5), np.argwhere(i), np.argwhere(m > 0)
        np.argwhere(t > 0.9)
        np.extract(m > 0, m), np.extract(b, v), np.compress(b, v), np.compress(i, i)
        np.compress(np.array([1, 0, 1]), m, axis=0), np.compress(np.array([0, 1]), m, 1)
        v[b], m[b2], m[m[:, 0] > 0], m[:, m[0] > 0], t[:, b2[:, 0]], z[b], u[u > 99], v[b][::-1]
        v[b] + 1, v[b] * w[b], v[b] + w[~b][:1], v[b].shape[0], len(v[b]), m[b2].size, v[b].argmax()
        m[m[:, 0] > -9].mean(axis=0), m[m[:, 0] > -9].max(axis=1), np.sort(v[b]), np.cumsum(v[b])
        np.unique(i), np.unique(i2), np.unique(v), np.unique(h), np.unique(h, equal_nan=False)
        np.unique(i, return_index=True)
        *np.unique(i, return_inverse=True), np.unique(u)
        *np.unique(i, return_counts=True), *np.unique(i, True, True, True), np.unique(b)
        *np.unique(i2, return_inverse=True), *np.unique(i, return_inverse=True, return_counts=True)
        np.unique(i, return_index=True, return_counts=True)
        np.union1d(i, k), np.intersect1d(i, k), np.setxor1d(i, k), np.setdiff1d(i, k)
        np.intersect1d(np.unique(i), np.unique(k), assume_unique=True)
        np.setxor1d(np.unique(i), np.unique(k), assume_unique=True)
        np.setdiff1d(i, k, assume_unique=True), np.bincount(k), np.bincount(k, w), np.bincount(u)
        np.trim_zeros(k), np.trim_zeros(k, "f"), np.trim_zeros(k, trim="b"), v[np.where(b)] * 2
        np.concatenate((v[b], w)), np.stack((v[b], v[b])), np.dot(v[b], w[b]), v[b] @ w[b]
    """,
    "fft": """
        np.fft.fft(z), np.fft.ifft(z)
        np.fft.fft(m, axis=0), np.fft.fft(v, 12)
        np.fft.rfft(i, n=5), np.fft.rfft(m, norm="ortho")
        np.fft.irfft(z), np.fft.irfft(z, 9, norm="forward")
        np.fft.fft2(m)
        np.fft.ifft2(t, axes=(0, 1))
        np.fft.fftfreq(8), np.fft.fftfreq(9, d=0.5), np.fft.rfftfreq(8), np.fft.rfftfreq(9, 0.1)
        np.fft.fftshift(v), np.fft.fftshift(m), np.fft.fftshift(m, axes=1), np.fft.ifftshift(m)
        np.fft.ifftshift(v), np.fft.fftshift(t, axes=(0, 2)), np.fft.ifftshift(t, (1, 2))
    """,
    "others": """
        np.copyto(v, w)
        np.putmask(v, v > 0, 0.0)
        np.fill_diagonal(s, 0.0)
        np.finfo(np.float32).eps
        np.iinfo(np.int32).max
    """,
}
LINES: tuple[str, ...] = tuple(
    line.strip() for lines in CALLS.values() for line in lines.split("\n") if line.strip()
)
