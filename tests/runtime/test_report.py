"""`kernel.report(...)`: how loops run, and why not better; held against the code."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy
import pytest

from hybridjit import hybrid

np: Any = numpy
A = np.linspace(0.0, 1.0, 1000)
K = np.zeros(1000, np.int64)


def elementwise(a: Any, k: Any) -> Any:
    return np.sqrt(a) * 2 + 1


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


def few(a: Any, k: Any) -> Any:
    for i in range(3):
        a[i] = a[i] * 2 + 1


REASONS = {
    recurrence: "iterations may need what earlier ones do to 'b'",
    ordered_sum: "'s' is added up in order; fastmath={\"reassoc\"} would free it",
    carried: "each iteration needs 'x' of the one before",
    ends_early: "it may end early",
    checked: "an index is checked in it",
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
    assert dataclasses.asdict(found)["loops"][1]["name"] == "j"
    assert str(hybrid.script(lambda_free).report(1)).startswith("no loops")


def lambda_free(n: Any) -> Any:
    return n + 1
