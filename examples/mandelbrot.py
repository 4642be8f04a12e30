"""The Mandelbrot set: a loop that ends early at every point, and the rows on all cores."""

from __future__ import annotations

import numpy as np
from _picture import colored, save_if_asked

from hybridjit import hybrid


@hybrid.script
def escape_times(width, height, most):
    times = output_tensor((height, width), "int32")
    for row in parallel(height):
        for column in range(width):
            x0 = -2.2 + 3.2 * column / width
            y0 = -1.2 + 2.4 * row / height
            x = 0.0
            y = 0.0
            steps = 0
            while steps < most and x * x + y * y < 4.0:
                x, y = x * x - y * y + x0, 2.0 * x * y + y0
                steps += 1
            times[row, column] = steps
    return times


def picture():
    times = escape_times(480, 360, 200)
    return colored(np.log1p(times), 0, np.log1p(200))


def main() -> None:
    times = escape_times(48, 24, 100)
    assert np.array_equal(times, escape_times.py_func(48, 24, 100))
    for row in times[::2]:
        print("".join(" .:*#"[min(4, value // 4)] for value in row))
    save_if_asked(picture)


if __name__ == "__main__":
    main()
