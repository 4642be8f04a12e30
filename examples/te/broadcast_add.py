"""NumPy's broadcasting, spelt out: an axis of size 1 is read at 0 wherever the other goes."""

from __future__ import annotations

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import te


def broadcast_add(a: te.Tensor, b: te.Tensor) -> te.Tensor:
    """a + b, for tensors of one rank."""
    shape = [n if m == 1 else m for n, m in zip(a.shape, b.shape, strict=True)]

    def read(tensor: te.Tensor, indices: tuple[te.Axis, ...]):
        pairs = zip(tensor.shape, indices, strict=True)
        return tensor[tuple(0 if size == 1 else index for size, index in pairs)]

    return te.compute(shape, lambda *indices: read(a, indices) + read(b, indices), name="c")


def main() -> None:
    a = te.placeholder((300, 1), "float32", "a")
    b = te.placeholder((1, 500), "float32", "b")
    c = broadcast_add(a, b)

    s = te.create_schedule(c.op)
    i, j = c.op.axis
    s[c].vectorize(j)
    s[c].parallel(i)
    print(hj.lower(s, [a, b, c], name="broadcast_add"))
    add = hj.build(s, [a, b, c], name="broadcast_add")

    rng = np.random.default_rng(0)
    x, y = rng.random((300, 1), np.float32), rng.random((1, 500), np.float32)
    z = np.empty((300, 500), np.float32)
    add(x, y, z)
    np.testing.assert_array_equal(z, x + y)
    compare({"hybridjit": lambda: add(x, y, z), "NumPy": lambda: np.add(x, y, out=z)})


if __name__ == "__main__":
    main()
