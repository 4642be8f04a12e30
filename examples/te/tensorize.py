"""A dot product as one unit: declared as an intrinsic, then put into a matrix-vector product.

The intrinsic is a C function, called by its address on parts of the arrays; where the rows are
parts of a wider matrix, it is told how far apart they lie.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit import hybrid, te

ROWS, DEPTH, TALL, LONG = 24, 64, 4, 16  # of the product, and of what the intrinsic does


@ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)
def c_update(matrix: int, vector: int, sums: int, stride: int) -> None:
    """As any function of a C library: it gets addresses, and the distance of the rows."""
    x = (ctypes.c_int32 * LONG).from_address(vector)
    y = (ctypes.c_int32 * TALL).from_address(sums)
    for i in range(TALL):
        row = (ctypes.c_int32 * LONG).from_address(matrix + 4 * stride * i)
        y[i] += sum(a * b for a, b in zip(row, x, strict=True))


def declare_gemv() -> Any:
    """y += A x, for 4 rows of 16."""
    a = te.placeholder((TALL, LONG), "int32", "a")
    x = te.placeholder((LONG,), "int32", "x")
    k = te.reduce_axis((0, LONG), "k")
    y = te.compute((TALL,), lambda i: te.sum(a[i, k] * x[k], axis=k), name="y")

    rows = te.decl_buffer(a.shape, a.dtype, "rows", strides=[te.var("stride"), 1])
    types = ["const int32*", "const int32*", "int32*", "int64"]
    update = hybrid.extern(c_update, None, types, name="c_update")

    def body(ins: Any, outs: Any) -> Any:
        return None, update(ins[0], ins[1], outs[0], ins[0].strides[0])

    return te.decl_tensor_intrin(y.op, body, "gemv", binds={a: rows})


def main() -> None:
    a = te.placeholder((ROWS, DEPTH), "int32", "a")
    x = te.placeholder((DEPTH,), "int32", "x")
    k = te.reduce_axis((0, DEPTH), "k")
    y = te.compute((ROWS,), lambda i: te.sum(a[i, k] * x[k], axis=k), name="y")

    s = te.create_schedule(y.op)
    io, ii = s[y].split(y.op.axis[0], factor=TALL)
    ko, ki = s[y].split(k, factor=LONG)
    s[y].reorder(io, ko, ii, ki)
    s[y].tensorize(ii, declare_gemv())
    print(hj.lower(s, [a, x, y], name="product"))
    run = hj.build(s, [a, x, y], name="product")

    rng = np.random.default_rng(0)
    matrix = rng.integers(-9, 9, (ROWS, DEPTH)).astype(np.int32)
    vector = rng.integers(-9, 9, DEPTH).astype(np.int32)
    found = np.empty(ROWS, np.int32)
    run(matrix, vector, found)
    np.testing.assert_array_equal(found, matrix @ vector)
    print("the intrinsic computes what NumPy does")


if __name__ == "__main__":
    main()
