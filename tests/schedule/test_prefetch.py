"""prefetch: fetch what a loop reads some iterations later."""

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import unroll, vectorize
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import DOWN, GUARDED, NEST, PLAIN, STRIDED, Program, check, refuse


def test_a_hint(golden: Golden) -> None:
    s = Schedule(PLAIN.func(None))
    s.prefetch("b", "i", 16)
    golden.check(s.show(), "ir")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("distance", [1, 1000])
@pytest.mark.parametrize("program", [PLAIN, DOWN, STRIDED, GUARDED], ids=str)
def test_results_stay(program: Program, distance: int) -> None:
    check(program, lambda s: s.prefetch("b", "i", distance))


def test_what_an_inner_loop_reads() -> None:
    check(NEST, lambda s: s.prefetch("a", "i", 3))


def test_what_a_loop_in_lanes_reads() -> None:
    def steps(s: Schedule) -> None:
        s.vectorize("i")
        s.prefetch("a", "j", 1)

    check(NEST, steps)


@hybrid.script
def weighted(a: Any, b: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        for r in unroll(3):
            for lane in vectorize(2):
                c[r, lane] = c[r, lane] + b[r] * a[i, lane]


def test_lanes_that_are_written_out_ask_once() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.random((40, 2)), rng.random(3), np.zeros((3, 2))
    ahead: Any = weighted.with_schedule(lambda s: s.prefetch("a", "i", 4))
    text = ahead.inspect("llvm", a, b, c)
    assert 0 < text.count("call void @llvm.prefetch") * 3 == text.count("= fmul")
    ahead(a, b, c)
    np.testing.assert_allclose(c, b[:, None] * a.sum(axis=0))


@hybrid.script
def added(a: Any, c: Any) -> None:
    for p in range(a.shape[1] // 16):
        for r in range(3):
            for lane in vectorize(16):
                c[r, p * 16 + lane] = c[r, p * 16 + lane] + a[r, p * 16 + lane]


def prefetches_of_rows(dtype: str) -> int:
    rng = np.random.default_rng(0)
    a, c = (rng.random((3, 64)).astype(dtype) for _ in range(2))
    expected = a + c
    ahead: Any = added.with_schedule(lambda s: s.annotate("p", "prefetch_c", 0))
    text = ahead.inspect("llvm", a, c)
    ahead(a, c)
    np.testing.assert_array_equal(c, expected)
    return text.count("call void @llvm.prefetch")


def test_all_lines_of_lanes_in_short_loops_are_asked_for_at_once() -> None:
    of_rows = prefetches_of_rows("float32")  # sixteen lanes are one line
    assert of_rows > 0
    assert of_rows % 3 == 0
    assert prefetches_of_rows("float64") == 2 * of_rows


@pytest.mark.parametrize(
    ("buffer", "distance", "match"),
    [
        ("c", 8, "loop 'i' does not read 'c'"),
        ("zz", 8, "there is no buffer 'zz'"),
        ("b", 0, "at least 1, got 0"),
        ("b", "8", "must be an integer, got '8'"),
    ],
)
def test_wrong_uses(buffer: str, distance: int, match: str) -> None:
    refuse(PLAIN, lambda s: s.prefetch(buffer, "i", distance), match)


def test_the_whole_refusal(golden: Golden) -> None:
    golden.check(str(refuse(PLAIN, lambda s: s.prefetch("c", "i"), "does not read")), "txt")
