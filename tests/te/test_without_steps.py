"""Tensors whose schedule says nothing run as fast as a script would, to the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import te

SIZE = 35


def product() -> tuple[Any, list[Any]]:
    A, B = (te.placeholder((SIZE, SIZE), "float32", name) for name in "AB")
    k = te.reduce_axis((0, SIZE), "k")

    def element(i: Any, j: Any) -> Any:
        return te.sum(A[i, k] * B[k, j], axis=k)

    C = te.compute((SIZE, SIZE), element, name="C")
    return C, [A, B, C]


def lowered(module: hj.Module) -> str:
    return module.inspect("lowered")


def test_a_sum_has_lanes_and_keeps_the_order_of_its_terms() -> None:
    C, args = product()
    module = hj.build(te.create_schedule(C.op), args)
    assert "vectorize" in lowered(module)
    a, b = np.random.default_rng(0).random((2, SIZE, SIZE), np.float32)
    c, expected = np.zeros((2, SIZE, SIZE), np.float32)
    module(a, b, c)
    for k in range(SIZE):
        expected += a[:, k, None] * b[k]
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("step", ["split", "reorder"])
def test_what_has_steps_stays_in_their_order(step: str) -> None:
    C, args = product()
    s = te.create_schedule(C.op)
    if step == "split":
        s[C].split(C.op.axis[0], factor=8)
    else:
        s[C].reorder(C.op.axis[1], C.op.axis[0])
    loops = [line.split()[1] for line in lowered(hj.build(s, args)).splitlines() if "for " in line]
    first = {"split": "i_0", "reorder": "j"}[step]
    assert loops[0] == first
