"""A matrix product by somebody else: NumPy's own BLAS through C, and a Python function.

The product is one operation of the graph; what comes before and after it is ours.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import hybrid, te

M, N, K = 60, 80, 100
ROW_MAJOR, AS_IT_IS = 101, 111  # of cblas.h
SYMBOLS = ("scipy_cblas_dgemm64_", "cblas_dgemm64_", "scipy_cblas_dgemm", "cblas_dgemm")


def find_dgemm() -> Any:
    """cblas_dgemm of the OpenBLAS that NumPy or SciPy brings along; None if there is none."""
    packages = Path(np.__file__).parent.parent
    for path in sorted(packages.glob("*.libs/*openblas*")):
        library = ctypes.CDLL(str(path))
        for symbol in SYMBOLS:
            if hasattr(library, symbol):
                return getattr(library, symbol), "int64" if "64_" in symbol else "int32"
    return None


def blas_product(a: te.Tensor, b: te.Tensor, dgemm: Any, size: str) -> te.Tensor:
    matrix = ["const float64*", size]  # where it is, and how far apart its rows are
    types = [*["int32"] * 3, *[size] * 3, "float64", *matrix, *matrix, "float64", "float64*", size]
    multiply_add = hybrid.extern(dgemm, None, types, name="dgemm")

    def call(ins: Any, outs: Any) -> Any:
        how = ROW_MAJOR, AS_IT_IS, AS_IT_IS
        return multiply_add(*how, M, N, K, 1, ins[0], K, ins[1], N, 0, outs[0], N)

    return te.extern((M, N), [a, b], call, name="product")


@hybrid.packed
def multiply(a, b, c):
    """Called back with views of the arrays."""
    np.matmul(a, b, out=c)


def python_product(a: te.Tensor, b: te.Tensor) -> te.Tensor:
    return te.extern((M, N), [a, b], multiply, name="product")


def with_neighbours(a: te.Tensor, b: te.Tensor, multiply: Any) -> te.Tensor:
    """a (2 b) + 1, the product by `multiply`."""
    doubled = te.compute(b.shape, lambda i, j: b[i, j] * 2, name="doubled")
    product = multiply(a, doubled)
    return te.compute(product.shape, lambda i, j: product[i, j] + 1, name="result")


def main() -> None:
    a = te.placeholder((M, K), "float64", "a")
    b = te.placeholder((K, N), "float64", "b")
    ways = {"Python": python_product}
    found = find_dgemm()
    if found is None:
        print("there is no OpenBLAS beside NumPy: the Python function alone is shown")
    else:
        ways["BLAS"] = lambda a, b: blas_product(a, b, *found)

    x, y = np.random.default_rng(0).random((M, K)), np.random.default_rng(1).random((K, N))
    z = np.empty((M, N))
    runs = {"NumPy": lambda: x @ (y * 2) + 1}
    for name, multiply in ways.items():
        result = with_neighbours(a, b, multiply)
        s = te.create_schedule(result.op)
        s[result].vectorize(result.op.axis[1])
        print(hj.lower(s, [a, b, result], name=f"matmul_by_{name.lower()}"), "\n")
        run = hj.build(s, [a, b, result])
        run(x, y, z)
        np.testing.assert_allclose(z, x @ (y * 2) + 1, rtol=1e-12)
        runs[name] = lambda run=run: run(x, y, z)
    compare(runs)


if __name__ == "__main__":
    main()
