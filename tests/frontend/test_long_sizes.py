"""Sizes of results that would be very long in terms of the sizes of arguments.

Each statement mentions the size of the array before it several times: written out, what a chain of
twelve gives has some 10^9 parts. Where the sizes of arguments are known at run time only, the
script computes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit.ir.dtype import FLOAT64
from hybridjit.scalars.specs import ArraySpec
from tests.frontend.from_text import script_from_text
from tests.lowering.ways import assert_all_ways_agree

STEPS = {
    "t{k} = t{j}[:, -4:] - b": ((3, 4), (3, 4)),
    "t{k} = np.where(t{j}[1:, :] > b[1:], t{j}[:1, :], b[0])": ((4, 3), (4, 3)),
    "t{k} = np.maximum(t{j}[:, 1:4], b[:, 1:]) * t{j}[:, -3:]": ((2, 4), (2, 1)),
    "t{k} = t{j}[: len(b)] + np.concatenate((t{j}[1:], b[:1]))": ((5, 2), (5, 2)),
}


@pytest.mark.parametrize("step", STEPS)
def test_sizes_are_not_written_out(step: str) -> None:
    chain = "".join(f"    {step.format(k=k, j=k - 1)}\n" for k in range(1, 12))
    kernel = script_from_text(f"def f(a, b):\n    t0 = a + 1\n{chain}    return t11\n", {"np": np})
    kernel.prim_func(*(ArraySpec(FLOAT64, (f"{name}0", f"{name}1")) for name in "ab"))
    for rows in (0, 1):  # sizes that vary become run-time sizes
        assert_all_ways_agree(kernel, *_arguments(step, rows))


def _arguments(step: str, rows: int) -> list[Any]:
    generator = np.random.default_rng(0)
    return [generator.random((shape[0] + rows, shape[1])) for shape in STEPS[step]]
