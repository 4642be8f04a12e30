"""The pipeline: a pass that is only run with something does nothing without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import serial
from hybridjit.lowering.pipeline import PIPELINE, Pass, find_traits, lower_steps
from hybridjit.optimize.optimize import optimize
from hybridjit.processor import current_target
from tests.corpus import CORPUS

ONLY_WITH = [step.name for step in PIPELINE if step.only_with]


def always(step: Pass, traits: object) -> bool:
    return True


def idle_steps(number: int) -> set[str]:
    """The passes that are left out for a kernel of the corpus; each is run all the same."""
    case, target, found = CORPUS[number], current_target(), set[str]()
    arguments = case.arguments[0]
    func = case.kernel.prim_func(*arguments.args, **arguments.kwargs)
    func = optimize(func, target).func
    traits = find_traits(func)
    with pytest.MonkeyPatch.context() as patch:
        has_work = Pass.has_work
        patch.setattr(Pass, "has_work", always)
        steps = lower_steps(func, target, may_reorder=True, may_vectorize=True)
        for step, made in zip(PIPELINE, steps, strict=True):
            if not has_work(step, traits):
                assert not made.changed, f"{case.name}: {step.name} had something to do"
                found.add(step.name)
            if made.changed:
                traits = find_traits(made.func)
    return found


@hybrid.script
def counted(a: Any) -> None:
    for i in serial(1, a.shape[0], annotations={"lanes": True, "at_most": 1}):
        a[i] = a[i - 1] + 1


def test_what_only_lowering_finds_out_is_not_believed() -> None:
    values = np.zeros(40)
    counted(values)
    np.testing.assert_array_equal(values, np.arange(40))


def test_a_pass_that_is_left_out_would_change_nothing() -> None:
    idle = [idle_steps(number) for number in range(0, len(CORPUS), 3)]
    assert set[str]().union(*idle) == set(ONLY_WITH)
