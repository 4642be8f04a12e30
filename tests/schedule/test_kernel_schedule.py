"""Kernels with schedules: opened, applied, replayed for every specialisation."""

import json
import pickle
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import ArgumentError, Kernel, ScheduleError, config, hybrid
from hybridjit.runtime.cache.value_identity import Unidentified
from hybridjit.runtime.translation import Request
from hybridjit.schedule.schedule import Schedule
from hybridjit.source import read_function
from tests.conftest import Golden
from tests.support.warm_python import run_warm


def doubled(s: Schedule) -> None:
    _, inner = s.split("i", factor=4)
    s.vectorize(inner)


@hybrid.script
def double(a: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        c[i] = a[i] * 2


@hybrid.script(schedule=doubled)
def quick_double(a: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        c[i] = a[i] * 2


def run(kernel: Kernel[..., Any], size: int) -> None:
    a, c = np.arange(size), np.zeros(size, np.int64)
    kernel(a, c)
    assert (c == a * 2).all()
    kernel.interpret(a, c)
    assert (c == a * 2).all()


def recipes() -> dict[str, Any]:
    s = double.schedule(hj.i64["n"], hj.i64["n"])
    doubled(s)
    text = s.trace.to_json()
    return {
        "function": doubled,
        "schedule": s,
        "trace": s.trace,
        "read back": hj.Trace.from_json(text),
        "json": text,
        "bound method": _Doubler().apply,
    }


class _Doubler:
    def apply(self, s: Schedule) -> None:
        doubled(s)


@pytest.mark.parametrize("kind", recipes())
def test_every_kind_of_recipe(kind: str) -> None:
    kernel = double.with_schedule(recipes()[kind])
    for size in (0, 1, 7, 8, 13):
        run(kernel, size)
    assert "vectorize" in kernel.inspect("tir", hj.i64["n"], hj.i64["n"])


def test_the_option_of_the_decorator() -> None:
    for size in (7, 8):
        run(quick_double, size)
    assert "for i_1 in vectorize(4)" in quick_double.inspect("tir", hj.i64[8], hj.i64[8])


def test_a_schedule_is_opened_with_the_steps_of_the_kernel() -> None:
    s = quick_double.schedule(hj.i64[8], hj.i64[8])
    s.unroll("i_0")
    kernel = quick_double.with_schedule(s)
    run(kernel, 8)
    assert "unroll(2)" in kernel.inspect("tir", hj.i64[8], hj.i64[8])


def test_sizes_are_promoted_with_a_schedule() -> None:
    kernel = double.with_schedule(doubled)
    for size in range(1, 12):
        run(kernel, size)
    assert any("'n0'" in info.arguments for info in kernel.cache_info()), kernel.cache_info()


def test_steps_that_only_fit_constants() -> None:
    def tiled(s: Schedule) -> None:
        s.split("i", factors=[2, 4])

    kernel = double.with_schedule(tiled)
    for size in (8, 7, 6, 5, 8):
        run(kernel, size)
    with pytest.raises(ScheduleError, match="run 8 iterations, loop 'i' runs 9"):
        kernel(np.arange(9), np.zeros(9, np.int64))


def test_arguments_that_overlap_run_in_order() -> None:
    @hybrid.script
    def shift(a: Any, c: Any) -> None:
        for i in range(a.shape[0]):
            c[i] = a[i] + 1

    kernel = shift.with_schedule(lambda s: s.parallel("i"))
    for run_it in (kernel, kernel.interpret):
        memory = np.zeros(100, np.int64)
        run_it(memory[:-1], memory[1:])
        assert (memory == np.arange(100)).all()


def test_pickles_of_scheduled_kernels() -> None:
    for kernel in (quick_double, double.with_schedule(double.schedule(hj.i64[8], hj.i64[8]))):
        run(pickle.loads(pickle.dumps(kernel)), 8)


def test_a_pickle_keeps_the_steps() -> None:
    s = double.schedule(hj.i64[8], hj.i64[8])
    doubled(s)
    again = pickle.loads(pickle.dumps(double.with_schedule(s)))
    assert "vectorize" in again.inspect("tir", hj.i64[8], hj.i64[8])


def test_errors_in_a_schedule_function(golden: Golden) -> None:
    def broken(s: Schedule) -> None:
        s.split("i", factor=4)
        s.parallel("i")

    kernel = double.with_schedule(broken)
    with pytest.raises(ScheduleError, match=r"'i' was replaced by i_0, i_1") as caught:
        kernel(np.arange(8), np.zeros(8, np.int64))
    frames = [
        Path(frame.filename).name for frame in traceback.extract_tb(caught.value.__traceback__)
    ]
    assert "broken" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert set(frames) <= {"test_kernel_schedule.py", "config.py"}  # Python 3.10 keeps our edge
    golden.check(str(caught.value), "txt")


def test_errors_that_are_not_ours() -> None:
    kernel = double.with_schedule(lambda s: 1 // 0)
    with pytest.raises(ZeroDivisionError, match="division"):
        kernel(np.arange(8), np.zeros(8, np.int64))


@pytest.mark.parametrize("recipe", [3, [1], "{}"])
def test_things_that_are_no_schedules(recipe: Any) -> None:
    with pytest.raises(
        (ArgumentError, hj.HybridError), match=r"schedule is a function|not the JSON"
    ):
        double.with_schedule(recipe)


def test_functions_that_take_no_steps_when_called() -> None:
    def one_by_one(s: Any) -> Any:
        yield s.parallel("i")

    async def later(s: Any) -> None:
        s.parallel("i")

    for recipe, kind in ((one_by_one, "generator"), (later, "coroutine")):
        with pytest.raises(ArgumentError, match=f"must take its steps .* got a {kind} function"):
            double.with_schedule(recipe)(np.arange(8), np.zeros(8, np.int64))


def test_a_function_that_returns_another_schedule() -> None:
    kernel = double.with_schedule(lambda s: double.schedule(hj.i64[8], hj.i64[8]))
    with pytest.raises(ArgumentError, match="must work on the schedule that it is given"):
        kernel(np.arange(8), np.zeros(8, np.int64))


def test_verify() -> None:
    s = double.schedule(hj.i64["n"], hj.i64["n"])
    doubled(s)
    found = s.verify(np.arange(13), np.zeros(13, np.int64))
    assert str(found) == "equal at 10 sets of sizes"


def test_verify_says_what_was_not_checked() -> None:
    s = double.schedule(hj.i64["n"], hj.i64["n"])
    s.parallel("i", unsafe=True)
    found = s.verify(np.arange(13), np.zeros(13, np.int64))
    assert str(found).endswith("; steps that are unsafe nonetheless: 1")


def test_a_kernel_with_a_schedule_says_so() -> None:
    assert repr(double.with_schedule(doubled)) == f"{double!r}, scheduled"


def test_verify_skips_sizes_that_the_steps_do_not_fit() -> None:
    s = double.schedule(hj.i64[8], hj.i64[8])
    s.split("i", factors=[2, 4])
    found = s.verify(np.arange(8), np.zeros(8, np.int64))
    assert found.skipped > 0
    assert len(found.shapes) > 3


def test_verify_finds_a_wrong_step() -> None:
    @hybrid.script
    def chain(a: Any) -> None:
        for i in range(1, a.shape[0]):
            for j in range(a.shape[1] - 1):
                a[i, j] = a[i - 1, j + 1] + 1

    s = chain.schedule(hj.i64["n", "m"])
    s.reorder("j", "i", unsafe=True)
    with pytest.raises(ScheduleError, match="differs from the original for arrays of shapes"):
        s.verify(np.arange(12, dtype=np.int64)[:, None] * np.arange(4))


RACES: dict[str, Callable[..., None]] = {}


def race(function: Callable[..., None]) -> None:
    """A kernel over `a` and `b` whose loop over i must not be concurrent."""
    RACES[function.__name__] = function


@race
def running_sum(a: Any, b: Any) -> None:
    for i in range(1, a.shape[0]):
        a[i] = a[i] + a[i - 1]


@race
def last_one_wins(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        b[0] = a[i]


@race
def a_shared_place(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        b[i // 2] = b[i // 2] * 2 + a[i]


@race
def mirrored(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        a[i] = a[a.shape[0] - 1 - i] + 1


@race
def over_a_row(a: Any, b: Any) -> None:
    for j in range(2):
        for i in range(a.shape[0] - 1, 0, -1):
            b[i] = b[i - 1] + a[i] + j


@pytest.mark.parametrize("kind", ["parallel", "vectorize", "bind"])
@pytest.mark.parametrize("function", RACES.values(), ids=RACES)
def test_verify_finds_a_race(function: Callable[..., None], kind: str) -> None:
    s = hybrid.script(function).schedule(hj.i64["n"], hj.i64["n"])
    axis = ["threadIdx.x"] if kind == "bind" else []
    with pytest.raises(ScheduleError, match="cannot be"):
        getattr(s, kind)("i", *axis)
    getattr(s, kind)("i", *axis, unsafe=True)
    with pytest.raises(ScheduleError, match="differs from the original"):
        s.verify(np.arange(13) ** 2, np.zeros(13, np.int64))


def test_verify_says_when_only_another_order_shows_it() -> None:
    s = hybrid.script(RACES["last_one_wins"]).schedule(hj.i64["n"], hj.i64["n"])
    s.parallel("i", unsafe=True)
    with pytest.raises(ScheduleError, match="when the iterations of 'i' run in another order"):
        s.verify(np.arange(13), np.zeros(13, np.int64))


def test_verify_takes_an_unsafe_loop_that_is_safe() -> None:
    """Which zero is the least depends on the order, and does not count."""

    @hybrid.script
    def least(a: Any, b: Any) -> None:
        for i in range(a.shape[0]):
            b[0] = min(b[0], a[i])

    s = least.schedule(hj.f64["n"], hj.f64["n"])
    s.parallel("i", unsafe=True)
    s.verify(np.array([0.0, -0.0, 3.0, 0.0, -0.0]), np.ones(5))
    with config.scope(check=True):
        s.verify(np.array([0.0, -0.0, 3.0, 0.0, -0.0]), np.ones(5))


SCRIPT = """
import sys
import numpy as np
import hybridjit as hj
from hybridjit import hybrid

def plan(s):
    {plan}

@hybrid.script
def f(a):
    for i in range(1, 4):
        for j in range(3):
            a[i, j] = a[i - 1, j + 1] + 1

kernel = f.with_schedule({recipe})
a = np.arange(16).reshape(4, 4)
kernel(a)
print(a)
"""
TURNED = "s.reorder('j', 'i', unsafe=True)"


def result(folder: Path, plan: str, recipe: str = "plan") -> str:
    """What a script with a schedule prints in a new process; all of them share a disk cache."""
    script = folder / "script.py"
    script.write_text(SCRIPT.format(plan=plan, recipe=recipe), encoding="utf-8")
    cache = {"HYBRIDJIT_CACHE_DIR": str(folder / "cache"), "HYBRIDJIT_CACHE_STRICT": "1"}
    done = run_warm(script, environment=cache)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_disk_cache_never_gives_code_of_another_schedule(tmp_path: Path) -> None:
    """An unsafe step changes the result here, so code of another schedule would show."""
    steps = [{"step": "reorder", "args": ["j", "i"], "options": {"unsafe": True}, "results": []}]
    traces = [repr(json.dumps({"format": 1, "steps": found})) for found in ([], steps)]
    right, wrong = result(tmp_path, "pass"), result(tmp_path, TURNED)
    assert right != wrong
    assert result(tmp_path, "pass") == right
    assert result(tmp_path, TURNED) == wrong
    for _ in range(2):
        assert result(tmp_path, "pass", traces[0]) == right
        assert result(tmp_path, "pass", traces[1]) == wrong


def test_what_an_intrinsic_does_is_not_in_its_name() -> None:
    """Translations that depend on one are not kept under the name."""
    step: dict[str, Any] = {"step": "tensorize", "args": ["i", "x"], "options": {}, "results": []}
    trace = hj.Trace.from_json(json.dumps({"format": 1, "steps": [step]}))
    source = read_function(double.__hybrid_function__)
    with pytest.raises(Unidentified):  # noqa: PT011 it says nothing
        Request(double.__hybrid_function__, source, (), (), trace).identify()


def test_interpreting_a_scheduled_kernel() -> None:
    with config.scope(interpret=True):
        run(quick_double, 7)


def test_arguments_that_do_not_fit_are_not_equal() -> None:
    with pytest.raises(ValueError, match="nothing could be compared"):
        double.schedule(np.zeros(4), np.zeros(4)).verify(np.zeros((4, 4, 4)), 3)
