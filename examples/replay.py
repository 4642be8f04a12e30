"""What a schedule did is kept as a trace: printed as Python, stored as JSON, used elsewhere."""

from __future__ import annotations

import numpy as np

import hybridjit as hj
from hybridjit import hybrid


@hybrid.script
def scaled_sum(a, b):
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = 2 * a[i, j] + b[i, j]
    return c


def main() -> None:
    s = scaled_sum.schedule(hj.f32[64, 100], hj.f32[64, 100])
    i, j = s.loops("c")
    both = s.fuse(i, j)
    outer, lane = s.split(both, factor=16)
    s.parallel(outer)
    s.vectorize(lane)
    print(s.diff())
    print(s.trace)

    text = s.trace.to_json()  # to a file, to another machine, ...
    fast = scaled_sum.with_schedule(hj.Trace.from_json(text))
    for shape in ((64, 100), (7, 13), (0, 5)):  # other sizes: the steps are checked anew
        a, b = np.random.default_rng(0).random((2, *shape), np.float32)
        np.testing.assert_array_equal(fast(a, b), 2 * a + b)
    print(f"{len(s.trace.steps)} steps replayed on three sizes")


if __name__ == "__main__":
    main()
