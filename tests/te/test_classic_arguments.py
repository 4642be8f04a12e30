"""Which tensors are arguments of a schedule is free: outputs, inlined ones, or neither."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import te
from hybridjit.errors import ScheduleError

np: Any = numpy  # whose types say nothing of arrays that may be any
X: Any = np.arange(12, dtype=np.float32).reshape(3, 4)


class Chain:
    """A, then B = A + 1, C = 2 B, D = B + C; sizes may be variables."""

    def __init__(self, *, is_dynamic: bool = False) -> None:
        shape: Any = (te.var("n"), te.var("m")) if is_dynamic else X.shape
        self.A = te.placeholder(shape, name="A")
        self.B = te.compute(shape, lambda i, j: self.A[i, j] + 1, name="B")
        self.C = te.compute(shape, lambda i, j: self.B[i, j] * 2, name="C")
        self.D = te.compute(shape, lambda i, j: self.B[i, j] + self.C[i, j], name="D")
        self.wanted = {"A": X, "B": X + 1, "C": (X + 1) * 2, "D": (X + 1) * 3}

    def check(self, s: Any, names: str) -> None:
        """Run the schedule with the tensors of these names as arguments."""
        tensors = [getattr(self, name) for name in names]
        arrays: dict[str, Any] = {name: np.zeros_like(X) for name in names}
        arrays["A"] = X.copy()
        hj.build(s, tensors)(*arrays.values())
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, self.wanted[name], name)


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("names", ["AD", "AC", "ABD", "DA", "ABCD"])
def test_outputs_need_not_be_arguments(names: str, is_dynamic: bool) -> None:
    made = Chain(is_dynamic=is_dynamic)
    made.check(te.create_schedule([made.C.op, made.D.op]), names)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("inlined", ["B", "C", "BC"])
@pytest.mark.parametrize("names", ["ABD", "ACD", "ABCD", "DCBA"])
def test_arguments_may_be_inlined(names: str, inlined: str, is_dynamic: bool) -> None:
    made = Chain(is_dynamic=is_dynamic)
    s = te.create_schedule(made.D.op)
    for name in inlined:
        s[getattr(made, name)].compute_inline()
    made.check(s, names)


def test_inlined_argument_beside_other_steps() -> None:
    made = Chain()
    s = te.create_schedule(made.D.op)
    s[made.B].compute_inline()
    s[made.C].compute_at(s[made.D], made.D.op.axis[0])
    _, inner = s[made.D].split(made.D.op.axis[1], factor=2)
    s[made.D].vectorize(inner)
    made.check(s, "ABD")


def test_loops_are_shown_without_the_output() -> None:
    made = Chain()
    assert "D" in str(hj.lower(te.create_schedule(made.D.op), [made.A]))


def test_what_nobody_would_see_is_not_built() -> None:
    made = Chain()
    with pytest.raises(ScheduleError, match="is not among the arguments"):
        hj.build(te.create_schedule(made.D.op), [made.A])
