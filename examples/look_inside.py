"""The IR of a script: printed as source, read back, and run in three ways."""

from __future__ import annotations

import numpy as np

import hybridjit as hj
from hybridjit import hybrid


@hybrid.script
def matmul(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def main() -> None:
    func = matmul.prim_func(hj.f32[8, 16], hj.f32[16, "n"])
    print(func)
    assert hj.structural_equal(func, hj.parse(str(func)))

    a = np.arange(12, dtype=np.int64).reshape(3, 4)
    expected = a @ a.T
    for run in (matmul, matmul.interpret, matmul.py_func):
        assert np.array_equal(run(a, a.T), expected)

    try:
        matmul(a, a)
    except IndexError as error:
        print(error)


if __name__ == "__main__":
    main()
