"""`tvm.contrib`: products by NumPy's BLAS, as `cblas` has them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from hybridjit import hybrid, te


def matmul(lhs: te.Tensor, rhs: te.Tensor, transa: bool = False, transb: bool = False) -> te.Tensor:
    """The product of two matrices, computed by NumPy."""
    rows = lhs.shape[1] if transa else lhs.shape[0]
    columns = rhs.shape[0] if transb else rhs.shape[1]

    def multiply(a: Any, b: Any, c: Any) -> None:
        np.matmul(a.T if transa else a, b.T if transb else b, out=c)

    packed = hybrid.packed(multiply)

    def call(ins: Any, outs: Any) -> Any:
        return te.call_packed(packed, ins[0], ins[1], outs[0])

    return te.extern((rows, columns), [lhs, rhs], call, dtype=lhs.dtype, name="C")


cblas: Any = SimpleNamespace(matmul=matmul)
