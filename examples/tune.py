"""Search: leave the numbers of a schedule to the machine.

    python examples/tune.py 20s

First the compiler's own decisions are searched, then a space that is written by hand. Whatever is
tried is checked like any schedule, runs in another process, and is compared with the plain script.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import hybridjit as hj
from hybridjit import hybrid


@hybrid.script
def symmetric(x):
    return x + x.T


@hybrid.script
def blur(x):
    y = output_tensor((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
    for i in range(x.shape[0] - 2):
        for j in range(x.shape[1] - 2):
            for k in range(3):
                y[i, j] += (x[i + k, j] + x[i + k, j + 1] + x[i + k, j + 2]) / 9
    return y


def tiles(s: hj.Schedule) -> None:
    """Rows in blocks; the search finds how many, and in how many lanes."""
    i, j, k = s.loops("y")
    outer, inner = s.split(i, s.sample_categorical([4, 8, 16, 32]))
    s.reorder(outer, inner, k, j)
    _, lane = s.split(j, s.sample_categorical([8, 16, 32, 64]))
    s.vectorize(lane)


def main(budget: str = "4s") -> None:
    x = np.random.default_rng(0).random((258, 258), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        hj.tune.use(Path(folder) / "tuned.db")  # what is found is kept, and taken by later calls
        fast = symmetric.tune(x, budget=budget)
        np.testing.assert_array_equal(fast(x), x + x.T)
        print("x + x.T:", fast.tuned)

        fast_blur = blur.tune(x, budget=budget, space=tiles)
        np.testing.assert_allclose(fast_blur(x), blur(x), rtol=1e-5)
        print("blur:", fast_blur.tuned)
        for winner in hj.tune.winners():
            print(f"kept: {winner.name}, {1 / winner.score:.2f} times as fast")
    hj.tune.use(None)


if __name__ == "__main__":
    main(*sys.argv[1:])
