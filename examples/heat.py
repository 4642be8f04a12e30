"""Heat flow on a plate: a stencil over two arrays, and a loop that stops when nothing changes."""

from __future__ import annotations

import numpy as np
from _picture import colored, enlarged, save_if_asked

from hybridjit import hybrid


@hybrid.script
def relax(old, new):
    """One Jacobi step; returns the largest change of a point."""
    change = 0.0
    for i in range(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])
            change = max(change, abs(new[i, j] - old[i, j]))
    return change


def settle(plate, limit):
    """The plate once no point changes by more than `limit`, and the steps that it took."""
    other = plate.copy()
    steps = 0
    while relax(plate, other) > limit:
        plate, other = other, plate
        steps += 1
    return other, steps


def picture():
    plate = np.zeros((96, 128))
    plate[0] = 100.0  # a hot edge
    plate[40:56, 20:60] = 60.0
    return enlarged(colored(settle(plate, 0.05)[0]), 4)


def main() -> None:
    plate = np.zeros((64, 64))
    plate[0] = 100.0
    other, steps = settle(plate, 1e-2)
    inner = other[1:-1, 1:-1]
    average = 0.25 * (other[:-2, 1:-1] + other[2:, 1:-1] + other[1:-1, :-2] + other[1:-1, 2:])
    assert np.abs(inner - average).max() < 1e-2
    print(f"settled after {steps} steps; the middle of the plate is at {other[32, 32]:.2f} degrees")
    save_if_asked(picture)


if __name__ == "__main__":
    main()
