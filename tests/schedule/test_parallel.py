"""parallel: iterations on several threads, where none needs another."""

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import ScheduleError, hybrid
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import (
    INIT,
    NEST,
    PROGRAMS,
    SCAN,
    TOTAL,
    check,
    refuse,
    sort,
)

np: Any = numpy
Array = Any


def test_which_programs_take_it() -> None:
    found = sort(PROGRAMS, lambda s: s.parallel("i"))
    assert found["refused"] == ["scan", "break", "return"]


def test_an_inner_loop() -> None:
    check(NEST, lambda s: s.parallel("j"))
    check(INIT, lambda s: s.parallel("i"))


def test_both_loops() -> None:
    check(NEST, lambda s: (s.parallel("i"), s.parallel("j")))


def test_split_then_parallel() -> None:
    check(NEST, lambda s: s.parallel(s.split("i", factor=3)[0]))


def test_a_sum_of_integers() -> None:
    check(type(TOTAL)("total", TOTAL.body.replace("c[0]", "c[N - 1]")), lambda s: s.parallel("i"))


def test_a_dependence(golden: Golden) -> None:
    func = hj.parse("""
def f(a: int64[8]):
    for i in range(1, 8):
        a[i] = a[i - 1] + 1
""")
    error = refuse(func, lambda s: s.parallel("i"), "`a.1.` written .* is read")
    golden.check(str(error), "txt")


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ("print(i)", "the effect .* comes before"),
        ("a[0] = i", "is written by"),
        ("a[p[i]] = i", "is written by"),
        ("a[i % 4] = i", r"`a\[0\]` written .* in iteration i=4"),
    ],
)
def test_iterations_that_depend_on_each_other(body: str, match: str) -> None:
    func = hj.parse(f"def f(a: int64[8], p: int64[8]):\n    for i in range(8):\n        {body}\n")
    refuse(func, lambda s: s.parallel("i"), match)


def test_a_sum_of_floats() -> None:
    func = hj.parse("""
def f(a: float32[8], c: float32[1]):
    for i in range(8):
        c[0] = c[0] + a[i]
""")
    error = refuse(func, lambda s: s.parallel("i"), "cannot be parallel")
    assert 'fastmath={"reassoc"}' in str(error)


def test_a_scan() -> None:
    refuse(SCAN, lambda s: s.parallel("i"), "a scan carries state")


def test_a_step_after_which_it_cannot_be_proved_is_refused() -> None:
    text = """
def f(b: float32["n", "m"], d: float32["m"]):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i - 1, j] = max(b[i - 1, j], d[j] + 3)
"""
    s = Schedule(hj.parse(text))
    outer, inner = s.split("i", nparts=4)
    s.parallel(outer)
    with pytest.raises(hj.ScheduleError, match="fuse: after this step it cannot be proved"):
        s.fuse(inner, "j")
    hj.build(s)  # as it was before the step


@hybrid.script
def whole_sum(a: Array) -> Any:
    return np.sum(a * 2.0)


@hybrid.script
def sum_and_order(a: Array) -> Any:
    total, last = np.sum(a), 0.0
    for i in range(a.shape[0]):
        last = last * 0.5 + a[i]
    return total, last


@pytest.mark.parametrize("step", ["parallel", "vectorize"])
@pytest.mark.parametrize("size", [0, 7, 1000, 30011])
def test_a_sum_whose_order_is_open(step: str, size: int) -> None:
    a = np.random.default_rng(size).random(size)
    s = whole_sum.schedule(a)
    getattr(s, step)(s.loops("sum")[-1])
    kernel = whole_sum.with_schedule(s.trace)
    text = kernel.inspect("lowered", a)
    assert size < 30000 or ("parallel(" if step == "parallel" else "vectorize(") in text
    results = set[float]()
    for threads in (1, 2, 3):
        with hj.threads(threads):
            results.add(kernel(a))
    assert len(results) == 1
    np.testing.assert_allclose(results.pop(), 2.0 * a.sum(), rtol=1e-13)


def test_a_sum_of_the_other_kind_beside_it() -> None:
    s = sum_and_order.schedule(hj.f64[100])
    s.parallel(s.loops("sum")[0])
    with pytest.raises(ScheduleError, match="cannot be parallel"):
        s.parallel("i_1")


def test_a_variable_that_may_not_be_set_is_to_be_given_a_value() -> None:
    def found(a: Any, out: Any) -> None:
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                if a[i, k] > 0.5:
                    break
            out[i] = k  # pyright: ignore[reportPossiblyUnboundVariable]

    def begun(a: Any, out: Any) -> None:
        for i in range(a.shape[0]):
            k = 0
            for k in range(a.shape[1]):
                if a[i, k] > 0.5:
                    break
            out[i] = k

    args = hj.f64["n", "m"], hj.i64["n"]
    with pytest.raises(ScheduleError, match=r"(?s)cannot be parallel.*as in k = 0"):
        hybrid.script(found).schedule(*args).parallel("i")
    hybrid.script(begun).schedule(*args).parallel("i")


def decayed(a: Any, out: Any) -> Any:
    x = 0.0
    for i in range(a.shape[0]):
        x = 0.5 * x + a[i]
        out[i] = x
    return 0.0


def last(a: Any, out: Any) -> Any:
    x = 0.0
    for i in range(a.shape[0]):
        x = a[i]
        out[i] = x
    return x


@pytest.mark.parametrize("function", [decayed, last])
def test_a_variable_that_iterations_hand_on_has_no_such_help(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    with pytest.raises(ScheduleError, match="cannot be parallel") as caught:
        kernel.schedule(hj.f64["n"], hj.f64["n"]).parallel("i")
    assert "as in x = 0" not in str(caught.value)
