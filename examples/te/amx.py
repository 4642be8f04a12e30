"""A product of bytes by AMX: tiles of 16 x 16 sums, 16,384 products in one instruction.

The intrinsic is LLVM text, written by a few lines of Python. On a processor without AMX, or where
the system does not let us use it, the same schedule uses a plain one.

    python examples/te/amx.py          python examples/te/amx.py plain
"""

from __future__ import annotations

import ctypes
import platform
import sys
from typing import Any

import numpy as np
from _measure import compare

import hybridjit as hj
from hybridjit import hybrid, te

ROWS, COLUMNS, DEPTH = 128, 256, 128
SIDE, BYTES = 16, 4  # rows and columns of a tile; its elements hold four bytes of the depth
TILE_DEPTH = SIDE * BYTES
SUMS, LEFT, RIGHT = 0, 1, 2  # tile registers

_SYSCALL, _REQUEST, _TILE_DATA = 158, 0x1023, 18  # arch_prctl, ARCH_REQ_XCOMP_PERM, its number


def may_use_tiles() -> bool:
    """Whether there is AMX; asks Linux to let this process use it."""
    if platform.machine() != "x86_64" or not sys.platform.startswith("linux"):
        return False
    if not hj.host_target().has("amx-int8"):
        return False
    return ctypes.CDLL(None).syscall(_SYSCALL, _REQUEST, _TILE_DATA) == 0


def tile_config() -> str:
    """Three tiles of 16 rows of 64 bytes, as the instruction that configures them reads it."""
    config = bytearray(64)
    config[0] = 1  # the only palette there is
    for tile in (SUMS, LEFT, RIGHT):
        config[16 + 2 * tile] = TILE_DEPTH  # bytes in a row
        config[48 + tile] = SIDE  # rows
    return "".join(f"\\{byte:02x}" for byte in config)


def tile_product() -> str:
    """LLVM text: 16 x 16 sums over the whole depth."""
    steps = "".join(
        f"""
  %a{k} = getelementptr i8, ptr %data, i64 {k * TILE_DEPTH}
  %b{k} = getelementptr i8, ptr %weight, i64 {k * TILE_DEPTH * SIDE}
  call void @llvm.x86.tileloadd64(i8 {LEFT}, ptr %a{k}, i64 {DEPTH})
  call void @llvm.x86.tileloadd64(i8 {RIGHT}, ptr %b{k}, i64 {TILE_DEPTH})
  call void @llvm.x86.tdpbusd(i8 {SUMS}, i8 {LEFT}, i8 {RIGHT})"""
        for k in range(DEPTH // TILE_DEPTH)
    )
    return f"""
@config = internal constant [64 x i8] c"{tile_config()}", align 64
declare void @llvm.x86.ldtilecfg(ptr)
declare void @llvm.x86.tilerelease()
declare void @llvm.x86.tileloadd64(i8 immarg, ptr, i64)
declare void @llvm.x86.tilestored64(i8 immarg, ptr, i64)
declare void @llvm.x86.tdpbusd(i8 immarg, i8 immarg, i8 immarg)

define void @amx(ptr %data, ptr %weight, ptr %sums) {{
  call void @llvm.x86.ldtilecfg(ptr @config)
  call void @llvm.x86.tileloadd64(i8 {SUMS}, ptr %sums, i64 {4 * SIDE}){steps}
  call void @llvm.x86.tilestored64(i8 {SUMS}, ptr %sums, i64 {4 * SIDE})
  call void @llvm.x86.tilerelease()
  ret void
}}
"""


@hybrid.script
def plain_product(data, weight, sums):
    """What the function above does."""
    for i in range(SIDE):
        for ko in range(DEPTH // BYTES):
            for j in range(SIDE):
                for ki in range(BYTES):
                    sums[i, j] += int32(data[i, ko * BYTES + ki]) * int32(weight[ko, j, ki])


def make_intrinsic(how: str) -> Any:
    data = te.placeholder((SIDE, DEPTH), "uint8", "data")
    weight = te.placeholder((DEPTH // BYTES, SIDE, BYTES), "int8", "weight")
    ko = te.reduce_axis((0, DEPTH // BYTES), "ko")
    ki = te.reduce_axis((0, BYTES), "ki")
    described = te.compute(
        (SIDE, SIDE),
        lambda i, j: te.sum(
            data[i, ko * BYTES + ki].astype("int32") * weight[ko, j, ki].astype("int32"),
            axis=[ko, ki],
        ),
        name="sums",
    )
    does = plain_product
    if how != "plain" and may_use_tiles():
        print("this processor has AMX")
        does = hybrid.llvm(tile_product(), None, ["const uint8*", "const int8*", "int32*"])
    else:
        print("AMX is not used: a plain intrinsic does the same")
    return te.decl_tensor_intrin(described.op, does, "tile_product")


def main(how: str = "amx") -> None:
    data = te.placeholder((ROWS // SIDE, SIDE, DEPTH), "uint8", "data")
    weight = te.placeholder((COLUMNS // SIDE, DEPTH // BYTES, SIDE, BYTES), "int8", "weight")
    ko = te.reduce_axis((0, DEPTH // BYTES), "ko")
    ki = te.reduce_axis((0, BYTES), "ki")
    sums = te.compute(
        (ROWS // SIDE, COLUMNS // SIDE, SIDE, SIDE),
        lambda io, jo, i, j: te.sum(
            data[io, i, ko * BYTES + ki].astype("int32") * weight[jo, ko, j, ki].astype("int32"),
            axis=[ko, ki],
        ),
        name="sums",
    )

    s = te.create_schedule(sums.op)
    s[sums].parallel(sums.op.axis[0])
    s[sums].tensorize(sums.op.axis[2], make_intrinsic(how))
    print(hj.lower(s, [data, weight, sums], name="product"))
    run = hj.build(s, [data, weight, sums], name="product")

    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (ROWS, DEPTH)).astype(np.uint8)
    w = rng.integers(-128, 128, (DEPTH, COLUMNS)).astype(np.int8)
    tiles = w.reshape(DEPTH // BYTES, BYTES, COLUMNS // SIDE, SIDE)
    packed = np.ascontiguousarray(tiles.transpose(2, 0, 3, 1))
    rows = x.reshape(ROWS // SIDE, SIDE, DEPTH)
    found = np.empty(sums.shape, np.int32)
    run(rows, packed, found)
    expected = x.astype(np.int32) @ w.astype(np.int32)
    np.testing.assert_array_equal(found.transpose(0, 2, 1, 3).reshape(ROWS, COLUMNS), expected)

    floats = x.astype(np.float32), w.astype(np.float32)
    compare(
        {
            "hybridjit, bytes": lambda: run(rows, packed, found),
            "NumPy, float32": lambda: np.matmul(*floats),
        }
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
