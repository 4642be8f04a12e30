"""A blur in two stages: where the first is computed is a choice, and changes no result."""

from __future__ import annotations

import numpy as np

import hybridjit as hj
from hybridjit import hybrid


@hybrid.script
def blur(image):
    rows, columns = image.shape
    across = allocate((rows, columns - 2), image.dtype)
    out = output_tensor((rows - 2, columns - 2), image.dtype)
    for i in range(rows):
        for j in range(columns - 2):
            across[i, j] = (image[i, j] + image[i, j + 1] + image[i, j + 2]) / 3
    for y in range(rows - 2):
        for x in range(columns - 2):
            out[y, x] = (across[y, x] + across[y + 1, x] + across[y + 2, x]) / 3
    return out


def in_strips(s: hj.Schedule) -> None:
    """Each thread takes 16 rows of the result, and computes the 18 rows that it needs for them."""
    strip, _ = s.split("y", factor=16)
    s.compute_at("across", strip)
    s.parallel(strip)
    s.vectorize("x")
    s.vectorize("j")


def main() -> None:
    image = np.random.default_rng(0).random((100, 130), np.float32)
    across = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) / 3
    expected = (across[:-2] + across[1:-1] + across[2:]) / 3
    schedule = blur.schedule(image)
    in_strips(schedule)
    print(schedule.show())
    print(schedule.verify(image))
    for kernel in (blur, blur.with_schedule(in_strips)):
        np.testing.assert_array_equal(kernel(image), expected)


if __name__ == "__main__":
    main()
