"""A product of matrices in TVM's words, one schedule better than the other, each against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

import hybridjit.compat.tvm as tvm
from hybridjit.compat.tvm import te

SIZE, BLOCK = 128, 32


def stages() -> tuple[Any, Any, Any, Any]:
    k = te.reduce_axis((0, SIZE), "k")
    A = te.placeholder((SIZE, SIZE), name="A")
    B = te.placeholder((SIZE, SIZE), name="B")
    C = te.compute((SIZE, SIZE), lambda m, n: te.sum(A[m, k] * B[k, n], axis=k), name="C")
    return A, B, C, k


def plain(s: Any, C: Any, k: Any) -> None:
    """As it stands."""


def blocked(s: Any, C: Any, k: Any) -> None:
    """In blocks that stay in the cache."""
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(mo, no, ko, ki, mi, ni)


def vectorized(s: Any, C: Any, k: Any) -> None:
    """And in vectors."""
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(mo, no, ko, mi, ki, ni)
    s[C].vectorize(ni)


def parallel(s: Any, C: Any, k: Any) -> None:
    """With a block of sums of its own for each thread."""
    CC = s.cache_write(C, "local")
    mo, no, _, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    s[CC].compute_at(s[C], no)
    mc, nc = s[CC].op.axis
    ko, ki = s[CC].split(s[CC].op.reduce_axis[0], factor=4)
    s[CC].reorder(ko, ki, mc, nc)
    s[CC].vectorize(nc)
    s[CC].unroll(ki)
    s[C].vectorize(ni)
    s[C].parallel(mo)


def main() -> None:
    dev = tvm.device("llvm", 0)
    a, b = (tvm.nd.array(np.random.rand(SIZE, SIZE).astype("float32"), dev) for _ in "ab")
    for schedule in (plain, blocked, vectorized, parallel):
        A, B, C, k = stages()
        s = te.create_schedule(C.op)
        schedule(s, C, k)
        func = tvm.build(s, [A, B, C], target="llvm", name="mmult")
        c = tvm.nd.array(np.zeros((SIZE, SIZE), dtype="float32"), dev)
        func(a, b, c)
        tvm.testing.assert_allclose(c.numpy(), a.numpy() @ b.numpy(), rtol=1e-4)
        seconds = func.time_evaluator(func.entry_name, dev, number=3)(a, b, c).mean
        print(f"{schedule.__name__:12} {2 * SIZE**3 / seconds / 1e9:6.1f} GFLOP/s")


if __name__ == "__main__":
    main()
