"""The trace: printed as Python, kept as JSON, replayed on other programs."""

import json
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.trace import Trace
from tests.conftest import Golden
from tests.schedule.programs import INIT, NEIGHBOURS, NEST, PLAIN, refuse
from tests.support.before_after import replayed


def tiled() -> Schedule:
    s = Schedule(NEST.func(None))
    i, j = s.loops("a")
    i_0, _ = s.split(i, factor=4)
    j_0, j_1 = s.split(j, factors=[None, 8])
    s.reorder(j_0, i_0)
    s.parallel(j_0)
    s.vectorize(j_1)
    s.annotate("a", "limit", float("inf"))
    return s


def printed(s: Schedule, on: Schedule) -> Schedule:
    """The printed trace of `s`, run on another schedule."""
    names: dict[str, Any] = {}
    exec(str(s.trace), names)
    names["schedule"](on)
    return on


def test_as_python(golden: Golden) -> None:
    s = tiled()
    golden.check(str(s.trace), "txt")
    again = printed(s, Schedule(s.original))
    assert structural_equal(again.func, s.func)
    assert str(again.trace) == str(s.trace)


def test_as_json() -> None:
    s = tiled()
    assert structural_equal(replayed(s), s.func)


def test_shown_by_itself() -> None:
    trace = tiled().trace
    assert repr(trace) == str(trace)
    recorded = Trace.from_json(trace.to_json())
    assert recorded.to_json() == trace.to_json()
    assert repr(recorded) == (
        "trace of 7 steps: loops, split, split, reorder, parallel, vectorize, annotate"
    )


def test_on_another_shape() -> None:
    s = tiled()
    other = Schedule(NEST.func(12))
    other.replay(s.trace)
    assert "for i_1 in range(4):" in other.show()
    assert structural_equal(printed(s, Schedule(NEST.func(12))).func, other.func)


def test_an_empty_trace() -> None:
    s = Schedule(PLAIN.func(7))
    assert str(s.trace) == "def schedule(s):\n    pass"
    assert printed(s, Schedule(PLAIN.func(7))).trace.steps == []


def test_names_that_are_no_variables() -> None:
    text = """
def f(s: int64[4]):
    for i in range(4):
        with block("for"):
            s[i] = 1
        with block("s"):
            s[i] = 3
"""
    s = Schedule(hj.parse(text))
    for block in s.blocks():
        s.add_unit_loop(block)
    again = printed(s, Schedule(s.original))
    assert structural_equal(again.func, s.func)


def test_handles_of_loops_with_one_name() -> None:
    s = Schedule(PLAIN.func(13))
    first, second = s.partition("i", 4)
    s.unroll(first)
    s.parallel(second)
    for again in (replayed(s), printed(s, Schedule(s.original)).func):
        assert structural_equal(again, s.func)


def test_a_step_that_was_refused_is_not_there() -> None:
    s = Schedule(NEST.func(7))
    with pytest.raises(hj.ScheduleError, match="outermost first"):
        s.fuse("j", "i")
    assert s.trace.steps == []


def test_unsafe_steps_show() -> None:
    s = Schedule(INIT.func(7))
    s.parallel("k", unsafe=True)
    assert "s.parallel('k', unsafe=True)" in str(s.trace)
    assert repr(s) == "Schedule of f: 1 step, 1 of them unsafe"


def test_a_list_that_changes_later() -> None:
    s = Schedule(PLAIN.func(12))
    factors = [None, 3]
    s.split("i", factors=factors)
    factors[1] = 5
    assert "factors=[None, 3]" in str(s.trace)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "not the JSON of a trace: Expecting"),
        ("[" * 100_000, "not the JSON of a trace: "),
        ("[]", "it has no format and steps"),
        ('{"format": 1}', "it has no format and steps"),
        ('{"format": 99, "steps": []}', "a trace of format 99, expected 1"),
        ('{"format": 1, "steps": 5}', "it has no format and steps"),
        ('{"format": 1, "steps": [5]}', "5 is not a step"),
        ('{"format": 1, "steps": [{"step": "split"}]}', "is not a step"),
        (
            '{"format": 1, "steps": [{"step": "a", "args": [], "options": {}, "results": [[]]}]}',
            "is not a step",
        ),
    ],
)
def test_damaged_json(text: str, match: str) -> None:
    with pytest.raises(ArgumentValueError, match=match):
        Trace.from_json(text)


@pytest.mark.parametrize(
    ("step", "match"),
    [
        ({"step": "explode"}, "a step 'explode', which does not exist"),
        ({"step": "__init__"}, "which does not exist"),
        ({"args": [{"handle": 3}]}, "uses handle 3 before it is made"),
        ({"args": [{"handle": [1]}]}, r"uses handle \[1\] before it is made"),
        ({"options": {"speed": 3}}, "a wrong step 'split': got an unexpected keyword"),
        ({"args": []}, "a wrong step 'split': missing a required argument: 'loop'"),
    ],
)
def test_steps_that_make_no_sense(step: dict[str, Any], match: str) -> None:
    whole = {"step": "split", "args": ["i"], "options": {"factor": 2}, "results": []} | step
    trace = Trace.from_json(json.dumps({"format": 1, "steps": [whole]}))
    with pytest.raises((ArgumentError, ArgumentValueError), match=match):
        Schedule(PLAIN.func(7)).replay(trace)


def test_a_trace_of_another_program() -> None:
    s = Schedule(NEIGHBOURS.func(7))
    s.merge("i", "j")
    with pytest.raises(hj.ScheduleError, match="there is no loop 'j'"):
        Schedule(PLAIN.func(7)).replay(s.trace)


def test_values_that_json_does_not_have() -> None:
    s = Schedule(NEST.func(7))
    s.trace.steps.append(type(tiled().trace.steps[0])("annotate", (object(),), {}))
    with pytest.raises(ArgumentValueError, match="a trace cannot hold"):
        s.trace.to_json()


def test_what_no_trace_can_hold_is_refused_at_once() -> None:
    wrong: Any = {"factor": 2}
    refuse(PLAIN, lambda s: s.split("i", wrong), "a step takes loops, blocks, numbers, text")
    refuse(PLAIN, lambda s: s.parallel("i", unsafe=object()), "a step takes loops")  # type: ignore[arg-type]


def test_arrays_of_numbers_are_lists() -> None:
    s = Schedule(PLAIN.func(7))
    s.split("i", factors=np.array([4, 2]))  # type: ignore[arg-type]
    assert "factors=[4, 2]" in str(s.trace)
    assert structural_equal(replayed(s), s.func)


def test_none_that_is_no_default_is_recorded() -> None:
    s = Schedule(PLAIN.func(7))
    s.in_register("i", wanted=None)  # type: ignore[arg-type]
    assert structural_equal(replayed(s), s.func)
