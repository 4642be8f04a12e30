"""The example in the docstring of every step runs, on a program made for it."""

import doctest
from dataclasses import replace
from typing import Any

import pytest

import hybridjit as hj
from hybridjit.intrinsics.registry import INTRINSICS
from hybridjit.ir.verify import Stage, verify
from hybridjit.schedule.schedule import STEPS, Schedule
from tests.schedule.programs import EXAMPLES
from tests.support.before_after import run_example

# Steps whose examples are about programs of their own run in their own test files.
STAGES = {
    *("cache_read", "cache_write", "set_scope", "storage_align", "transform_layout"),
    *("double_buffer", "rolling_buffer", "compute_at", "reverse_compute_at", "compute_root"),
    *("compute_inline", "reverse_compute_inline"),
    *("gemm", "interchange", "sum_in_register", "add_terms", "reduce_in_lanes"),
    *("unroll_and_jam", "contract", "store_once", "sink", "squares"),
    "sums_first",
    *("ravel", "unravel"),
}


def _declare_double() -> None:
    header, loop = "x: float32[4]", "for k in range(4):\n        "
    hj.intrinsic(
        "double4",
        hj.parse(f"def d({header}):\n    {loop}x[k] = x[k] + x[k]\n"),
        hj.parse(f"def e({header}):\n    {loop}x[k] = x[k] * 2.0\n"),
    )


@pytest.mark.parametrize("step", sorted(STEPS - STAGES))
def test_the_example_runs(step: str) -> None:
    _declare_double()
    s = Schedule(replace(hj.parse(EXAMPLES), parallel=True))
    if step == "blocks":
        s = Schedule(hj.parse("def f(a: int64[4]):\n    with block('c'):\n        a[0] = 1\n"))
    if step == "loops":
        s = Schedule(hj.parse(_MATMUL))
    run_example(s, step)
    assert s.trace.steps[-1].name == step
    verify(s.func, Stage.BLOCKS)
    INTRINSICS.clear()


_MATMUL = """
def f(a: int64[4, 4], b: int64[4, 4], c: int64[4, 4]):
    for i in range(4):
        for j in range(4):
            for k in range(4):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
"""


def test_every_step_has_an_example() -> None:
    for step in STEPS:
        examples: list[Any] = doctest.DocTestParser().get_examples(getattr(Schedule, step).__doc__)
        assert examples, step


@pytest.mark.parametrize("method", ["show", "diff"])
def test_what_is_shown(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    s = Schedule(hj.parse(EXAMPLES))
    s.split("i", factor=2)
    run_example(s, method)
    assert "i_0" in capsys.readouterr().out
