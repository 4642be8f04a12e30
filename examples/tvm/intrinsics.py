"""Intrinsics in TVM's words: functions of C and of the language, and `tensorize`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np

import hybridjit.compat.tvm as tvm
from hybridjit.compat.tvm import te

ROWS, COLUMNS, DEPTH, PART = 32, 48, 64, 16
ADD_PRODUCTS = """
extern "C" int add_products(float *sums, float *x, float *rows, int m, int n, int stride) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      sums[i] += x[j] * rows[i * stride + j];
  return 0;
}
"""


def exponentials(x: Any) -> None:
    """A function by its name in C, by TVM's name, and a function of Python by a registered name."""
    A = te.placeholder(x.shape, name="A")
    tvm.register_func("example.exp", np.exp, override=True)

    def by_python(ins: Any, outs: Any) -> Any:
        return tvm.tir.call_packed("example.exp", ins[0], outs[0])

    ways = [
        te.compute(A.shape, lambda i: tvm.tir.call_pure_extern("float32", "expf", A[i]), name="B"),
        te.compute(A.shape, lambda i: te.exp(A[i]), name="B"),
        te.extern(A.shape, [A], by_python, name="B"),
    ]
    for B in ways:
        out = tvm.nd.empty(x.shape)
        tvm.build(te.create_schedule(B.op), [A, B], "llvm")(x, out)
        tvm.testing.assert_allclose(out.numpy(), np.exp(x), rtol=1e-5)


def product_with_rows(emit: Callable[..., None]) -> Any:
    """The intrinsic for PART sums of PART products; `emit` writes its body down."""
    x, rows = te.placeholder((PART,), name="x"), te.placeholder((PART, PART), name="rows")
    k = te.reduce_axis((0, PART), "k")
    sums = te.compute((PART,), lambda i: te.sum(x[k] * rows[i, k], axis=k), name="sums")
    strided = tvm.tir.decl_buffer(
        rows.shape, rows.dtype, "rows", offset_factor=1, strides=[te.var("stride"), 1]
    )

    def body(ins: Any, outs: Any) -> Any:
        ib = tvm.tir.ir_builder.create()
        emit(ib, *ins, *outs)
        return ib.get()

    return te.decl_tensor_intrin(sums.op, body, binds={rows: strided})


def in_statements(ib: Any, x: Any, rows: Any, sums: Any) -> None:
    a, b, c = (ib.buffer_ptr(buffer) for buffer in (x, rows, sums))
    with ib.for_range(0, PART, "i") as i, ib.for_range(0, PART, "j") as j:
        c[i] += a[j] * b[i, j]


def in_c(ib: Any, x: Any, rows: Any, sums: Any) -> None:
    pointers = sums.access_ptr("w"), x.access_ptr("r"), rows.access_ptr("r")
    sizes = PART, PART, rows.strides[0]
    ib.emit(tvm.tir.call_extern("int32", "add_products", *pointers, *sizes))


def tensorized(a: Any, b: Any, emit: Callable[..., None]) -> None:
    """A product of matrices, in which the intrinsic does the inner loops."""
    A, B = te.placeholder(a.shape, name="A"), te.placeholder(b.shape, name="B")
    k = te.reduce_axis((0, DEPTH), "k")
    C = te.compute((ROWS, COLUMNS), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=PART)
    ko, ki = s[C].split(k, factor=PART)
    s[C].reorder(i, jo, ko, ji, ki)
    s[C].tensorize(ji, product_with_rows(emit))
    if emit is in_c:
        s[C].pragma(i, "import_llvm", tvm.contrib.clang.create_llvm(ADD_PRODUCTS))
    c = tvm.nd.empty((ROWS, COLUMNS))
    tvm.build(s, [A, B, C], "llvm")(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a @ b.T, rtol=1e-4)


def main() -> None:
    generator = np.random.default_rng(0)
    exponentials(generator.random(9, np.float32))
    a, b = (generator.random((size, DEPTH), np.float32) for size in (ROWS, COLUMNS))
    tensorized(a, b, in_statements)
    if any(map(shutil.which, ("clang++", "g++", "c++"))):
        tensorized(a, b, in_c)
    print("all as NumPy says")


if __name__ == "__main__":
    main()
