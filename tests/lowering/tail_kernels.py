"""Loops as schedules leave them: split, tiled and fused, with tails that guards or bounds cut off.

Every index of these kernels is inside its array, at any size.
"""

from __future__ import annotations

from typing import Any

from hybridjit import Kernel, hybrid

AnyKernel = Kernel[..., Any]


@hybrid.script
def split_with_guard(a: Any) -> Any:
    for i_0 in range((a.shape[0] + 31) // 32):
        for i_1 in range(32):
            if hybrid.likely(i_0 * 32 + i_1 < a.shape[0]):
                a[i_0 * 32 + i_1] += 1.0


@hybrid.script
def split_with_ceil_div(a: Any) -> Any:
    for i_0 in range(hybrid.ceil_div(a.shape[0], 8)):
        for i_1 in range(8):
            if i_0 * 8 + i_1 < a.shape[0]:
                a[i_0 * 8 + i_1] += 1.0


@hybrid.script
def split_with_min(a: Any) -> Any:
    for i_0 in range((a.shape[0] + 31) // 32):
        for i_1 in range(min(32, a.shape[0] - i_0 * 32)):
            a[i_0 * 32 + i_1] += 1.0


@hybrid.script
def split_with_min_of_ends(a: Any) -> Any:
    for i_0 in range((a.shape[0] + 31) // 32):
        for i in range(i_0 * 32, min(a.shape[0], i_0 * 32 + 32)):
            a[i] += 1.0


@hybrid.script
def split_by_steps(a: Any) -> Any:
    for i_0 in range(0, a.shape[0], 16):
        for i in range(i_0, min(i_0 + 16, a.shape[0])):
            a[i] += 1.0


@hybrid.script
def split_with_peeled_tail(a: Any) -> Any:
    for i_0 in range(a.shape[0] // 32):
        for i_1 in range(32):
            a[i_0 * 32 + i_1] += 1.0
    for i in range(a.shape[0] // 32 * 32, a.shape[0]):
        a[i] += 1.0


@hybrid.script
def steps_with_peeled_tail(a: Any) -> Any:
    for i_0 in range(0, a.shape[0] // 8 * 8, 8):
        for i_1 in range(8):
            a[i_0 + i_1] += 1.0
    for i in range(a.shape[0] // 8 * 8, a.shape[0]):
        a[i] += 1.0


@hybrid.script
def split_in_parts(a: Any) -> Any:
    for i_0 in range(4):
        for i_1 in range((a.shape[0] + 3) // 4):
            if i_0 * ((a.shape[0] + 3) // 4) + i_1 < a.shape[0]:
                a[i_0 * ((a.shape[0] + 3) // 4) + i_1] += 1.0


@hybrid.script
def split_twice(a: Any) -> Any:
    for i_0 in range((a.shape[0] + 31) // 32):
        for i_1 in range(4):
            for i_2 in range(8):
                if (i_0 * 4 + i_1) * 8 + i_2 < a.shape[0]:
                    a[(i_0 * 4 + i_1) * 8 + i_2] += 1.0


@hybrid.script
def left_by_continue(a: Any) -> Any:
    for i_0 in range((a.shape[0] + 31) // 32):
        for i_1 in range(32):
            if i_0 * 32 + i_1 >= a.shape[0]:
                continue
            a[i_0 * 32 + i_1] += 1.0


@hybrid.script
def left_by_break(a: Any) -> Any:
    for i_0 in range((a.shape[0] + 31) // 32):
        for i_1 in range(32):
            if not (i_0 * 32 + i_1 < a.shape[0]):
                break
            a[i_0 * 32 + i_1] += 1.0


@hybrid.script
def backwards(a: Any) -> Any:
    for i in range(a.shape[0] - 1, -1, -1):
        a[i] += a[a.shape[0] - 1 - i]


@hybrid.script
def quotient(a: Any) -> Any:
    for i in range(a.shape[0] * 4):
        a[i // 4] += 1.0


@hybrid.script
def shifted_around(a: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] += a[(i + 1) % a.shape[0]]


@hybrid.script
def clamped(a: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] += a[min(max(i - 1, 0), a.shape[0] - 1)]


@hybrid.script
def cached_tile(a: Any) -> Any:
    for i_0 in range((a.shape[0] + 31) // 32):
        tile = hybrid.allocate((32,), "float64", "local")
        for i in range(i_0 * 32, min(i_0 * 32 + 32, a.shape[0])):
            tile[i - i_0 * 32] = a[i]
        for i_1 in range(min(32, a.shape[0] - i_0 * 32)):
            a[i_0 * 32 + i_1] += tile[i_1]


@hybrid.script
def fused(a: Any) -> Any:
    for f in range(a.shape[0] * a.shape[1]):
        a[f // a.shape[1], f % a.shape[1]] += 1.0


@hybrid.script
def fused_and_split(a: Any) -> Any:
    for f_0 in range((a.shape[0] * a.shape[1] + 15) // 16):
        for f_1 in range(16):
            if f_0 * 16 + f_1 < a.shape[0] * a.shape[1]:
                f = f_0 * 16 + f_1
                a[f // a.shape[1], f % a.shape[1]] += 1.0


@hybrid.script
def tiled(a: Any) -> Any:
    for i_0 in range((a.shape[0] + 3) // 4):
        for j_0 in range((a.shape[1] + 7) // 8):
            for i_1 in range(4):
                for j_1 in range(8):
                    if i_0 * 4 + i_1 < a.shape[0] and j_0 * 8 + j_1 < a.shape[1]:
                        a[i_0 * 4 + i_1, j_0 * 8 + j_1] += 1.0


@hybrid.script
def triangle_split(a: Any) -> Any:
    for i in range(a.shape[0]):
        for j_0 in range((i + 7) // 8):
            for j_1 in range(8):
                if j_0 * 8 + j_1 < i and j_0 * 8 + j_1 < a.shape[1]:
                    a[i, j_0 * 8 + j_1] += 1.0


@hybrid.script
def packed_rows(a: Any) -> Any:
    row = hybrid.allocate((a.shape[0] * a.shape[1],), "float64")
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            row[i * a.shape[1] + j] = a[i, j]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += row[i * a.shape[1] + j]


@hybrid.script
def fused_cube(a: Any) -> Any:
    for f in range(a.shape[0] * a.shape[1] * a.shape[2]):
        a[f // (a.shape[1] * a.shape[2]), f // a.shape[2] % a.shape[1], f % a.shape[2]] += 1.0


LINES: tuple[AnyKernel, ...] = (
    split_with_guard,
    split_with_ceil_div,
    split_with_min,
    split_with_min_of_ends,
    split_by_steps,
    split_with_peeled_tail,
    steps_with_peeled_tail,
    split_in_parts,
    split_twice,
    left_by_continue,
    left_by_break,
    backwards,
    quotient,
    shifted_around,
    clamped,
    cached_tile,
)
PLANES: tuple[AnyKernel, ...] = (fused, fused_and_split, tiled, triangle_split, packed_rows)
CUBES: tuple[AnyKernel, ...] = (fused_cube,)
