"""Edges of an image: a helper function that is inlined, integers, and a checked index."""

from __future__ import annotations

import numpy as np
from _picture import enlarged, save_if_asked

from hybridjit import hybrid


def clamp(value, low, high):
    """A plain Python function: where a script calls it, its body is put in place."""
    if value < low:
        return low
    if value > high:
        return high
    return value


@hybrid.script
def sobel(image):
    rows, columns = image.shape
    edges = output_tensor((rows, columns), "uint8")
    for i in range(rows):
        for j in range(columns):
            dx = 0
            dy = 0
            for k in unroll(-1, 2):
                weight = 2 - abs(k)
                row = clamp(i + k, 0, rows - 1)
                column = clamp(j + k, 0, columns - 1)
                left, right = clamp(j - 1, 0, columns - 1), clamp(j + 1, 0, columns - 1)
                up, down = clamp(i - 1, 0, rows - 1), clamp(i + 1, 0, rows - 1)
                dx += weight * (int(image[row, right]) - int(image[row, left]))
                dy += weight * (int(image[down, column]) - int(image[up, column]))
            edges[i, j] = uint8(clamp(sqrt(float64(dx * dx + dy * dy)), 0.0, 255.0))
    return edges


def picture():
    y, x = np.mgrid[0:96, 0:128]
    ring = np.abs(np.hypot(x - 44, y - 48) - 26) < 8
    stripes = (x > 80) & (np.sin((x + y) / 5) > 0)
    image = np.where(ring | stripes, 210, 30).astype(np.uint8)
    return enlarged(np.hstack([image, sobel(image)]), 3)


def main() -> None:
    y, x = np.mgrid[0:32, 0:48]
    disc = np.where((x - 24) ** 2 + (y - 16) ** 2 < 100, 200, 20).astype(np.uint8)
    edges = sobel(disc)
    padded = np.pad(disc.astype(np.int64), 1, mode="edge")
    kernel = np.array([[1, 2, 1]])
    dx = sum(kernel[0, k] * (padded[k : k + 32, 2:] - padded[k : k + 32, :-2]) for k in range(3))
    dy = sum(kernel[0, k] * (padded[2:, k : k + 48] - padded[:-2, k : k + 48]) for k in range(3))
    expected = np.minimum(np.sqrt(dx * dx + dy * dy), 255.0).astype(np.uint8)
    assert np.array_equal(edges, expected)
    for row in edges[::3, ::1]:
        print("".join(" .:#"[min(3, value // 64)] for value in row))
    save_if_asked(picture)


if __name__ == "__main__":
    main()
