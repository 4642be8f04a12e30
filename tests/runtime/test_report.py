"""`kernel.report(...)`: how loops run, and why not better; held against the code."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import config, hybrid
from hybridjit.hybrid import parallel

np: Any = numpy
A = np.linspace(0.0, 1.0, 1000)
K = np.zeros(1000, np.int64)


def elementwise(a: Any, k: Any) -> Any:
    return np.sqrt(a) * 2 + 1


def line_of(function: Any, number: int) -> int:
    return function.__code__.co_firstlineno + number


def recurrence(a: Any, k: Any) -> Any:
    b = a.copy()
    for i in range(1, b.shape[0]):
        b[i] = b[i - 1] * 0.5 + a[i]
    return b


def ordered_sum(a: Any, k: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def carried(a: Any, k: Any) -> Any:
    x = 1.0
    for i in range(a.shape[0]):
        x = x * a[i] - 1
    return x


def ends_early(a: Any, k: Any) -> Any:
    n = 0
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            break
        n = i
    return n


def checked(a: Any, k: Any) -> Any:
    for i in range(a.shape[0]):
        a[k[i]] += 1


def quotients(a: Any, k: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] = 1.0
        k[i] = 12 // k[i]


def remainders(a: Any, k: Any) -> Any:
    for i in range(a.shape[0]):
        k[i] %= k[i] - 3


def powers(a: Any, k: Any) -> Any:
    for i in range(a.shape[0]):
        k[i] = 2 ** k[i]


def own_variable(a: Any, k: Any) -> Any:
    """The variable is set anew in each iteration; what is in the way is the sum."""
    for i in range(a.shape[0]):
        x = a[i] + 1.0
        if k[i] > 2:
            x = a[k[i] % 3]
        a[0] += x


def few(a: Any, k: Any) -> Any:
    for i in range(3):
        a[i] = a[i] * 2 + 1


REASONS = {
    recurrence: "iteration i reads what i - 1 wrote in 'b'",
    ordered_sum: "'s' is added up in order; fastmath={\"reassoc\"} would free it",
    carried: "each iteration needs 'x' of the one before",
    ends_early: "it may end early",
    checked: "an index is checked in it",
    quotients: f"`12 // k[i]` at line {line_of(quotients, 3)} may divide by zero",
    remainders: f"`k[i] %= k[i] - 3` at line {line_of(remainders, 2)} may divide by zero",
    powers: f"`2 ** k[i]` at line {line_of(powers, 2)} may have a negative exponent",
    own_variable: "all lanes set the same element of 'a'",
    few: "3 iterations are too few",
}


@pytest.mark.parametrize("function", REASONS, ids=lambda function: function.__name__)
def test_reasons(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    loop = kernel.report(A.copy(), K).loops[-1]
    assert loop.lanes == 1
    assert loop.reason == REASONS[function]
    assert loop.runs == f"one by one: {loop.reason}"


def has_vectors(kernel: Any, *args: Any) -> bool:
    """Whether the code has vector instructions that compute or compare."""
    text = kernel.inspect("llvm", *args)
    computes = r"= (f?(add|sub|mul|div)|[fi]cmp|call).*<\d+ x (double|float|i64)>"
    return re.search(computes, text) is not None


# A loop of few rounds is straight-line code, of which LLVM may make vectors.
@pytest.mark.parametrize("function", [elementwise, *list(REASONS)[:-1]], ids=lambda f: f.__name__)
def test_lanes_are_in_the_code(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    found = kernel.report(A.copy(), K)
    assert any(loop.lanes > 1 for loop in found.loops) is has_vectors(kernel, A.copy(), K)


def test_fastmath_frees_a_sum_as_the_report_says() -> None:
    kernel: Any = hybrid.script(ordered_sum, fastmath={"reassoc"})
    (loop,) = kernel.report(A, K).loops
    assert loop.lanes > 1
    assert loop.reason == ""


def test_threads_are_named() -> None:
    @hybrid.script(parallel=True)
    def rows(a: Any) -> Any:
        return np.sqrt(a).sum(axis=1)

    loops = rows.report(np.ones((2000, 512))).loops
    assert loops[0].on_threads
    assert loops[0].runs.startswith("on threads")


def test_the_table() -> None:
    @hybrid.script
    def both(a: Any) -> Any:
        b = hybrid.output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            for j in range(1, a.shape[1]):
                b[i, j] = a[i, j] * 2
        return b

    found = both.report(np.ones((30, 64)))
    lines = str(found).splitlines()
    assert lines[0].split() == ["line", "loop", "extent", "runs"]
    assert lines[1].split()[1:] == ["i", "30", "one", "by", "one"]
    assert re.fullmatch(r" *\d+    j +63 +in \d+ lanes", lines[2])
    assert "indices are proved" in lines[3]
    assert lines[6].split() == ["line", "loop", "times", "flops", "bytes", "work"]
    assert lines[8].split()[2:] == ["30", "1.89", "k", "30.2", "k", "100", "%"]
    assert lines[9].startswith("code: ")
    assert lines[10].startswith("compile time: ")
    assert dataclasses.asdict(found)["loops"][1]["name"] == "j"
    assert str(hybrid.script(lambda_free).report(1)).startswith("no loops")


def test_loops_of_other_files_say_so() -> None:
    @hybrid.script
    def total(n: Any) -> Any:
        found = [0]
        for i in range(n):
            found.append(i)
        return sum(found)

    here, there = total.report(100).loops
    assert here.file == ""
    assert there.file.endswith("python.py")
    assert f"python.py:{there.line}" in str(total.report(100))


def test_checks_of_other_files_say_so() -> None:
    @hybrid.script
    def counted(a: Any) -> Any:
        return np.bincount(a.astype(np.int64))

    checks = counted.report(A).safety.checks
    assert checks
    assert all("searching.py:" in str(check) for check in checks)


def test_arrays_of_other_files_say_so() -> None:
    @hybrid.script
    def places(a: Any) -> Any:
        return np.nonzero(a > 0.5)[0]

    @hybrid.script
    def middle(a: Any) -> Any:
        return np.median(a, axis=0)

    reasons = [each.reason for each in places.report(A).temporaries]
    assert any(re.search(r"the loop in selection\.py:\d+ uses it", text) for text in reasons)
    fused = middle.report(np.ones((9, 5))).fused
    assert fused
    assert all(re.search(r"', sorting\.py:\d+, is ", str(each)) for each in fused)


def test_one_test_before_a_loop_is_for_all_that_are_equal() -> None:
    @hybrid.script
    def doubled(a: Any, n: Any) -> None:
        for i in range(n):
            a[i] = a[i] * 2

    found = doubled.safety(A, 5)
    assert len(found.checks) == 2
    assert {check.stands for check in found.checks} == {
        "once, before the loop over 'i'; in it, if that fails"
    }


def test_no_indices_are_told_as_such() -> None:
    @hybrid.script
    def three() -> Any:
        return 3

    assert str(three.safety()) == "no indices"


def test_a_check_is_said_once() -> None:
    kernel: Any = hybrid.script(checked)
    lines = str(kernel.report(A.copy(), K).safety).splitlines()
    assert len(lines) == len(set(lines))


def test_where_checks_stand() -> None:
    @hybrid.script
    def gathered(a: Any, k: Any, n: Any) -> Any:
        total = a[n]
        for i in range(n):
            total += a[k[i]]
        return total

    checks = {check.index: check.stands for check in gathered.report(A, K, 10).safety.checks}
    assert checks["n"] == "once"
    assert checks["i"] == "once, before the loop over 'i'; in it, if that fails"
    (other,) = {check for index, check in checks.items() if index.startswith("k[")}
    assert other == "in every iteration of the loop over 'i'"


@pytest.mark.usefixtures("unchecked")
def test_where_code_came_from(tmp_path: Path) -> None:
    with config.scope(cache_dir=str(tmp_path), cache_enabled=True):
        kernel: Any = hybrid.script(elementwise)
        first, second = (kernel.report(A, K).compiled for _ in range(2))
        third = kernel.copy().report(A, K).compiled
    assert [each.source for each in (first, second, third)] == [
        "compiled now",
        "in memory",
        "read from disk",
    ]
    stages = ["parse", "optimise", "lower", "emit", "LLVM", "assemble", "link"]
    assert list(first.seconds) == list(second.seconds) == stages
    assert list(third.seconds) == ["read", "link"]
    assert first.code_bytes == third.code_bytes > 0
    assert first.is_kept


def test_code_that_is_not_kept() -> None:
    with config.scope(cache_enabled=False):
        kernel: Any = hybrid.script(elementwise)
        assert "compiled now; not kept on disk" in str(kernel.report(A, K))


def lambda_free(n: Any) -> Any:
    return n + 1


@hybrid.script
def doubled(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2


def test_arguments_that_share_memory_run_as_written() -> None:
    x = np.zeros(1001)
    apart, shared = doubled.report(A, x[:-1]), doubled.report(x[1:], x[:-1])
    assert apart.loops[0].lanes > 1
    assert apart.note == ""
    assert shared.loops[0].runs == "one by one"
    assert str(shared).startswith("as written, in order: arguments share memory\n")


def test_what_runs_for_debugging_is_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDJIT_DEBUG", "1")
    config.clear()
    found = doubled.report(A, np.zeros(1000))
    monkeypatch.undo()
    config.clear()
    assert found.loops[0].runs == "one by one"
    assert found.note == "as written, in order: for debugging"


@hybrid.script
def halved(a: Any) -> Any:
    n, k = a.shape[0], 0
    while n > 1:
        for i in range(n):
            a[i] += 1
        n, k = n // 2, k + 1
    return k


def test_while_is_a_loop() -> None:
    outer, inner = halved.report(A).loops
    assert outer.runs == "one by one: when it ends is known only as it runs"
    assert (outer.name, outer.depth, outer.extent, inner.depth) == ("while", 0, "?", 1)
    assert [each.loop.name for each in halved.profile(A).loops] == ["while", "i"]


@hybrid.script
def drawn(rng: Any, n: Any) -> Any:
    out = np.zeros(n)
    for i in range(n):
        out[i] = rng.random()
    return out


def test_a_generator_stays_as_it_is() -> None:
    rng = np.random.default_rng(3)
    assert drawn.report(rng, 5).loops[0].name == "i"
    drawn.inspect("asm", rng, 5)
    assert rng.random() == np.random.default_rng(3).random()


@hybrid.script
def doubled_on_threads(a: Any, b: Any) -> None:
    for i in hybrid.parallel(a.shape[0]):
        b[i] = a[i] * 2


@pytest.mark.parametrize("size", [1000, 100_000])
def test_threads_are_told_where_they_are_called(size: int) -> None:
    args = np.zeros(size), np.zeros(size)
    loop = doubled_on_threads.report(*args).loops[0]
    assert loop.on_threads == ("hj_pool_run" in doubled_on_threads.inspect("asm", *args))
    assert loop.reason == ("" if loop.on_threads else "too little to do for threads")


def test_threads_inside_of_threads_are_none() -> None:
    @hybrid.script
    def nested(a: Any) -> Any:
        b = np.empty_like(a)
        for i in parallel(a.shape[0]):
            for j in parallel(a.shape[1]):
                for k in range(a.shape[2]):
                    b[i, j, k] = np.exp(a[i, j, k])
        return b

    a = np.ones((40, 100, 100))
    outer, inner, _ = nested.report(a).loops
    assert outer.on_threads
    assert inner.runs == "one by one: the loop around it is on threads"
    assert nested.inspect("llvm", a).count("call i32 @hj_pool_run") == 1


def test_zeros_and_copies_are_told_apart() -> None:
    @hybrid.script
    def kept(a: Any, n: Any) -> Any:
        b = np.zeros(n)
        for i in range(n):
            b[i] = 0
        c = a.copy()
        for i in range(a.shape[0]):
            c[i] = c[i] + b[0]
        return c, b

    said = {loop.runs for loop in kept.report(A, 500).loops}
    assert "filled with zeros as a whole" in said


def smoothed(signal: Any, width: Any) -> Any:
    out = np.empty_like(signal)
    for i in range(len(signal)):
        first = max(0, i - width)
        out[i] = signal[first : i + width].mean()
    return out


def test_what_the_compiler_makes_is_of_the_line_that_it_is_for() -> None:
    kernel: Any = hybrid.script(smoothed)
    report = kernel.report(np.ones(2000), 5)
    outer, *made = report.loops
    assert made
    assert {loop.line for loop in made} == {line_of(smoothed, 4)}
    assert {loop.line for loop in report.shown if loop.depth == 0} == {outer.line}


def shares(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_sums_are_of_the_line_that_they_are_in() -> None:
    """The compiler's own loop comes after one of the line before."""
    kernel: Any = hybrid.script(shares)
    rows, largest, exponentials, total, quotients = kernel.report(np.ones((64, 512))).shown
    first, second = line_of(shares, 1), line_of(shares, 2)
    assert [each.line for each in (rows, largest, exponentials)] == [first] * 3
    assert [each.line for each in (total, quotients)] == [second] * 2
    assert total.is_made


def averages(signal: Any, starts: Any, width: Any) -> Any:
    out = np.empty(len(starts))
    for i in range(len(starts)):
        out[i] = signal[starts[i] : starts[i] + width].mean()
    return out


def test_checks_of_the_compilers_own_indices_are_one_line() -> None:
    kernel: Any = hybrid.script(averages)
    safety = kernel.report(np.ones(2000), np.arange(2000), 5).safety
    assert len(safety.checks) > 1
    assert {check.span.line for check in safety.checks} == {line_of(averages, 3)}
    (line,) = str(safety).splitlines()[1:]
    assert f"{len(safety.checks)} indices of 'signal', axis 0, are checked" in line


def test_lengths_are_said_if_they_are_short() -> None:
    kernel: Any = hybrid.script(smoothed)
    outer, *made = kernel.report(hj.f64["n"], 5).loops
    assert outer.extent == "n"
    assert "varies" in {loop.extent for loop in made}


def nearest(points: Any, centers: Any) -> Any:
    counts = np.zeros(len(centers))
    for i in range(len(points)):
        j = np.argmin(np.abs(centers - points[i]))
        counts[j] += 1
    return counts


def test_an_index_that_goes_by_another_name_is_shown_as_it_is_written() -> None:
    kernel: Any = hybrid.script(nearest)
    (line,) = str(kernel.safety(A, A[:7])).splitlines()[1:]
    assert line.startswith(f"line {line_of(nearest, 4)}: index of 'counts' in `counts[j]`, axis 0")
