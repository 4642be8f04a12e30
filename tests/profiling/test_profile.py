"""`kernel.profile(...)`: the times of loops add up to that of the call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.profiling import measure
from hybridjit.profiling.limits import find_limits, rounded_footprint, seconds_per_tick
from hybridjit.profiling.profile import Profile, outermost
from hybridjit.tools.command_line import main
from tests.profiling.profiled import KERNELS, NESTS, A, M, heat, two_loops

np: Any = numpy
# What a note of a counter takes at most, and what a cycle does at best: profiling/choose.py.
READING, OPERATIONS = 100, 16


def profile_of(function: Callable[..., Any], *args: Any, **options: Any) -> Profile:
    kernel: Any = hybrid.script(function, **options)
    return kernel.profile(*args)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("function", KERNELS, ids=lambda function: function.__name__)
def test_the_parts_add_up_to_the_whole(function: Callable[..., Any]) -> None:
    # The whole is that of calls with counters: the code of others lies elsewhere, and may be faster
    # or slower for that alone. The machine may do other things while a call is entered.
    tries = (profile_of(function, KERNELS[function]) for _ in range(25))
    found = next((each for each in tries if is_near(each.total, loops_of(each))), None)
    assert found is not None
    assert loops_of(found) + found.outside + found.entering == pytest.approx(found.total)
    assert found.outside >= 0


def loops_of(found: Profile) -> float:
    return sum(each.seconds or 0 for each in outermost(found.loops))


def is_near(whole: float, parts: float) -> bool:
    return abs(parts - whole) <= 0.05 * whole


@pytest.mark.sampled(3)
@pytest.mark.parametrize("function", [*KERNELS, *NESTS], ids=lambda function: function.__name__)
def test_counters_take_less_than_a_twentieth(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not measured: as often as they run, at what they take, beside the least of all the rest."""
    monkeypatch.setattr(measure, "SECONDS", 0)
    found = profile_of(function, {**KERNELS, **NESTS}[function])
    timed = [each for each in found.loops if each.seconds is not None]
    works = [each.loop.work for each in outermost(found.loops)]
    notes = 1 + sum(each.runs for each in timed)
    if any(work is None for work in works):
        assert notes <= 1 + len(found.loops)  # how long they are is not known: they run once
        return
    operations = sum(work.operations * work.runs for work in works if work is not None)
    assert notes * READING <= 0.05 * operations / OPERATIONS


def test_where_the_time_goes() -> None:
    def uneven(a: Any) -> Any:
        x = y = 0.0
        for i in range(a.shape[0]):
            x = x * 0.5 + np.exp(np.sin(x) + a[i])
        for i in range(a.shape[0] // 4):
            y = y * 0.5 + a[i]
        return x + y

    long, short = profile_of(uneven, A).loops
    assert long.seconds is not None
    assert short.seconds is not None
    assert long.seconds > short.seconds


def test_short_loops_have_no_counters() -> None:
    def nested(a: Any) -> Any:
        x = 0.0
        for i in range(a.shape[0] // 8):
            for j in range(8):
                x = x * 0.5 + a[8 * i + j]
        return x

    outer, inner = profile_of(nested, A).loops
    assert outer.runs == 1
    assert inner.seconds is None


def test_each_run_counts() -> None:
    found = profile_of(heat, M)
    assert sum(each.runs for each in found.loops if each.loop.depth == 1) == 20


def test_the_arguments_stay_as_they_are() -> None:
    def doubled(a: Any) -> None:
        for i in range(a.shape[0]):
            a[i] = a[i] * 2.0

    given = A.copy()
    profile_of(doubled, given)
    assert (given == A).all()
    generator = np.random.default_rng(3)
    profile_of(lambda_free, generator)
    assert generator.random() == np.random.default_rng(3).random()


def lambda_free(rng: Any) -> Any:
    return rng.random(100_000).sum()


@pytest.mark.usefixtures("unchecked")
def test_threads_have_their_parts() -> None:
    def rows(m: Any) -> Any:
        return np.exp(np.sin(m)).sum(axis=1)

    found = profile_of(rows, np.ones((2000, 500)), parallel=True)
    (each,) = outermost(found.loops)
    assert each.threads
    assert each.seconds is not None
    assert max(each.threads) <= each.seconds * 1.01
    assert each.limits is not None
    assert each.limits.threads == len(each.threads)


def test_the_machine_has_limits() -> None:
    limits = find_limits("double", rounded_footprint(100_000), 1)
    assert limits.flops > 0
    assert limits.bytes > 0
    assert limits.least_seconds(limits.flops, 0.0) == 1
    assert limits.is_memory(0.0, 1.0)
    assert rounded_footprint(100_000) == 1 << 17
    assert 0 < seconds_per_tick() < 1e-6


def test_it_is_a_table() -> None:
    lines = str(profile_of(two_loops, A)).splitlines()
    assert lines[0].split()[:5] == ["line", "loop", "runs", "time", "share"]
    assert lines[3].split()[:3] == ["outside", "of", "timed"]
    assert "without counters" in lines[5]
    assert lines[6].startswith("the best of this machine on 1 thread: ")


def test_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from hybridjit import hybrid\n\n\n@hybrid.script\ndef total(a):\n    return a.sum()\n"
    )
    assert main(["profile", f"{script}:total", "--args", "f64[100000]", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "total"


def test_types_cannot_be_run() -> None:
    with pytest.raises(TypeError, match="a profile is of a run, which types do not give"):
        hybrid.script(two_loops).profile(hj.f64[100])
