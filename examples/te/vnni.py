"""A product of bytes by AVX-512 VNNI: 64 products and 48 sums in one instruction.

The intrinsic is a few lines of LLVM. On a processor without VNNI, the same schedule uses a plain
one.

    python examples/te/vnni.py          python examples/te/vnni.py plain
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import hybrid, te

ROWS, COLUMNS, DEPTH = 96, 256, 256
LANES, BYTES, TILE = 16, 4, 8  # columns and depth of one instruction; rows that share weights

VNNI = """
declare <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32>, <64 x i8>, <64 x i8>)

define void @vnni(ptr %data, ptr %weight, ptr %sums) {
  %four = load i32, ptr %data, align 1
  %first = insertelement <16 x i32> poison, i32 %four, i32 0
  %every = shufflevector <16 x i32> %first, <16 x i32> poison, <16 x i32> zeroinitializer
  %left = bitcast <16 x i32> %every to <64 x i8>
  %right = load <64 x i8>, ptr %weight, align 1
  %before = load <16 x i32>, ptr %sums, align 4
  %after = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(
      <16 x i32> %before, <64 x i8> %left, <64 x i8> %right)
  store <16 x i32> %after, ptr %sums, align 4
  ret void
}
"""


@hybrid.script
def plain_dot(data, weight, sums):
    """What the instruction does."""
    for j in range(LANES):
        for k in range(BYTES):
            sums[j] += int32(data[k]) * int32(weight[j, k])


def described() -> te.Tensor:
    """Sixteen sums of four products."""
    data = te.placeholder((BYTES,), "uint8", "data")
    weight = te.placeholder((LANES, BYTES), "int8", "weight")
    k = te.reduce_axis((0, BYTES), "k")
    return te.compute(
        (LANES,),
        lambda j: te.sum(data[k].astype("int32") * weight[j, k].astype("int32"), axis=k),
        name="sums",
    )


def make_intrinsic(how: str) -> Any:
    if how != "plain" and hj.host_target().has("avx512vnni"):
        print("this processor has AVX-512 VNNI")
        dot = hybrid.llvm(VNNI, None, ["const uint8*", "const int8*", "int32*"])
    else:
        print("AVX-512 VNNI is not used: a plain intrinsic does the same")
        dot = plain_dot

    return te.decl_tensor_intrin(described().op, dot, "dot_16x4")


def main(how: str = "vnni") -> None:
    data = te.placeholder((ROWS, DEPTH), "uint8", "data")
    weight = te.placeholder((COLUMNS // LANES, DEPTH // BYTES, LANES, BYTES), "int8", "weight")
    ko = te.reduce_axis((0, DEPTH // BYTES), "ko")
    ki = te.reduce_axis((0, BYTES), "ki")
    product = te.compute(
        (ROWS, COLUMNS // LANES, LANES),
        lambda i, jo, ji: te.sum(
            data[i, ko * BYTES + ki].astype("int32") * weight[jo, ko, ji, ki].astype("int32"),
            axis=[ko, ki],
        ),
        name="product",
    )

    s = te.create_schedule(product.op)
    i, jo, ji = product.op.axis
    io, ii = s[product].split(i, factor=TILE)
    s[product].reorder(io, jo, ko, ii, ji, ki)
    s[product].parallel(io)
    s[product].unroll(ii)
    s[product].tensorize(ji, make_intrinsic(how))
    print(hj.lower(s, [data, weight, product], name="product"))
    run = hj.build(s, [data, weight, product], name="product")

    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (ROWS, DEPTH)).astype(np.uint8)
    w = rng.integers(-128, 128, (DEPTH, COLUMNS)).astype(np.int8)
    tiles = w.reshape(DEPTH // BYTES, BYTES, COLUMNS // LANES, LANES)
    packed = np.ascontiguousarray(tiles.transpose(2, 0, 3, 1))
    found = np.empty((ROWS, COLUMNS // LANES, LANES), np.int32)
    run(x, packed, found)
    expected = x.astype(np.int32) @ w.astype(np.int32)
    np.testing.assert_array_equal(found.reshape(ROWS, COLUMNS), expected)

    floats = x.astype(np.float32), w.astype(np.float32)
    compare(
        {
            "hybridjit, bytes": lambda: run(x, packed, found),
            "NumPy, float32": lambda: np.matmul(*floats),
        }
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
