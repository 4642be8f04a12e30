"""Calls of functions of NumPy that say where elements are: see numpy_calls.py."""

from __future__ import annotations

ARRANGEMENTS: dict[str, str] = {
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
        np.interp(w * 9, v, w, period=0.7), np.interp(-2.5, v, z, period=-3)
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
    "windows": """
        np.lib.stride_tricks.sliding_window_view(v, 3) * 1
        np.lib.stride_tricks.sliding_window_view(m, (2, 3)).max(axis=(-1, -2))
        np.lib.stride_tricks.sliding_window_view(m, 2, axis=0).mean(axis=-1)
        np.lib.stride_tricks.sliding_window_view(t, (2, 1), (0, -1))[..., 0, 0] * 1
        np.hanning(8)
        np.hamming(8)
        np.blackman(8)
        np.bartlett(8)
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
}
