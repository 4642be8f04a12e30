"""Blocks become loops: what a constant iteration makes of the body."""

import hybridjit as hj
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.ir.verify import Stage, verify
from tests.support.before_after import assert_unchanged
from tests.support.memory_programs import integers

CONSTANT_ITERS = """
def sums(a: int64[8], c: int64[2]):
    for i in range(4):
        with block("c", spatial(1, 0, 2), reduce(i)) as (x, k):
            with init():
                c[x - 1] = 7
            if x * 4 < 8:
                c[x - 1] = c[x - 1] + a[x * 4 + k]
    with block("c_1", spatial(0, 0, 2), reduce(0, 0, 4)) as (x, k):
        with init():
            c[x + 1] = 5
        y = x + k
        c[x + 1] = c[x + 1] + a[y]
    with block("c_2", spatial(0, 0, 2), reduce(1, 0, 4)) as (x, k):
        with init():
            c[x + 1] = 100
        c[x + 1] = c[x + 1] + a[k]
"""


def test_constant_iterations_are_folded() -> None:
    func = hj.parse(CONSTANT_ITERS)

    lowered = lower_blocks(func)

    verify(lowered, Stage.LOOPS)
    assert "100" not in str(lowered)  # not the first iteration: no init
    assert "c[1] = 5" in str(lowered)
    assert_unchanged(func, func, [integers(8), integers(2)], native=True)
