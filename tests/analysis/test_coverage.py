"""Which reads are sure to find what was written."""

from __future__ import annotations

import pytest

import hybridjit as hj
from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.instances import infer_instances
from hybridjit.ir.stmt import Allocate
from hybridjit.ir.visit import walk

PROGRAM = """
def program(c: float32[8], p: float32[8]):
    t = allocate((8,), "float32")
    for i in range(3):
        {guard}
            t[i] = 1.0
    for i in range(4):
        c[i] = {value}
"""


def is_written_before_read(guard: str, value: str) -> bool:
    func = hj.parse(PROGRAM.format(guard=guard, value=value))
    (allocation,) = (node for node in walk(func.body) if isinstance(node, Allocate))
    part = infer_instances(func, func.body)
    return Coverage(part, func.body, allocation.buffer).prove_read_after_write()


@pytest.mark.parametrize(
    ("guard", "value", "expected"),
    [
        ("if i >= 0:", "t[i % 3]", True),
        ("if i >= 0:", "t[i]", False),
        ("if i >= 0:", "t[0] + t[i]", False),  # one of two reads in a statement is not enough
        ("if i > 0:", "t[i % 3]", False),
        ("if i > 0:", "t[1 + i % 2]", True),
        ("if p[i] > 0.0:", "t[i % 3]", False),
    ],
)
def test_every_read_must_follow_a_sure_write(guard: str, value: str, expected: bool) -> None:
    assert is_written_before_read(guard, value) is expected
