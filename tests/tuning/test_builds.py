"""`hj.build` takes what a search kept, unless a schedule has steps of its own."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import te
from hybridjit.compat import tvm
from hybridjit.processor import current_target
from hybridjit.tuning.database import Database
from hybridjit.tuning.identity import identify
from hybridjit.tuning.remembered import options_of

np: Any = numpy
SHAPES = ((6, 8), (6, 8))


@pytest.fixture
def database(tmp_path: Path) -> Generator[Path]:
    """A database in which steps for `doubled` have won."""
    path = tmp_path / "tuned.db"
    func = te.create_prim_func(doubled()[1])
    schedule = hj.Schedule(func)
    schedule.split(schedule.loops(schedule.blocks()[0])[0], 3)
    known = identify(func, SHAPES, current_target(), options_of((), is_parallel=False))
    Database(path).crown(known, schedule.trace.to_json(), 0.5, None)
    hj.tune.use(path)
    yield path
    hj.tune.use(None)


def doubled() -> tuple[Any, list[Any]]:
    a = te.placeholder(SHAPES[0], "float64", "a")
    b = te.compute(SHAPES[0], lambda i, j: a[i, j] * 2, "b")
    return te.create_schedule(b.op), [a, b]


def has_steps(module: Any) -> bool:
    """Whether the loop over rows is split, and the module is right."""
    x, y = np.arange(48.0).reshape(SHAPES[0]), np.zeros(SHAPES[0])
    module(x, y)
    np.testing.assert_array_equal(y, x * 2)
    return "range(3)" in str(module.functions[0].specialization.parsed.func)


def test_tensors_take_what_was_found(database: Path) -> None:
    s, args = doubled()
    assert has_steps(hj.build(s, args))
    assert has_steps(hj.build(args, name="other"))
    assert has_steps(hj.build({"one": (s, args)}))
    assert has_steps(hj.build(te.create_prim_func(args)))
    hj.tune.use(None)
    assert not has_steps(hj.build(s, args))


def test_tvm_takes_it_too(database: Path) -> None:
    s, args = doubled()
    made = tvm.build(s, args)
    x, y = np.arange(48.0).reshape(SHAPES[0]), np.zeros(SHAPES[0])
    made(x, y)
    np.testing.assert_array_equal(y, x * 2)


def test_steps_of_its_own_stay(database: Path) -> None:
    s, (a, b) = doubled()
    s[b].reorder(*reversed(b.op.axis))
    assert not has_steps(hj.build(s, [a, b]))


def test_other_tensors_are_as_they_are(database: Path) -> None:
    a = te.placeholder(SHAPES[0], "float64", "a")
    b = te.compute(SHAPES[0], lambda i, j: a[i, j] + a[i, j], "b")
    assert not has_steps(hj.build([a, b]))
