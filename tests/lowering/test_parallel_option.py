"""The option `parallel`: who decides, and what shows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from hybridjit.errors import ParseError
from hybridjit.frontend.parse import parse_text
from hybridjit.hybrid import prange
from hybridjit.ir.equal import structural_equal
from tests.corpus.case import Array
from tests.lowering.thread_values import LARGE, arrays, lowered
from tests.support.parallel_programs import AnyKernel


@hybrid.script
def undecided(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2


def test_off_by_default() -> None:
    assert "in parallel(" not in lowered(undecided, *arrays(LARGE))


def test_the_config_decides_where_the_script_does_not() -> None:
    kernel: AnyKernel = Kernel(undecided.__hybrid_function__)
    serial: AnyKernel = hybrid.script(undecided, parallel=False)
    with config.scope(parallel=True):
        assert "in parallel(" in lowered(kernel, *arrays(LARGE))
        assert "in parallel(" not in lowered(serial, *arrays(LARGE))


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDJIT_PARALLEL", "1")
    config.clear()
    kernel: AnyKernel = Kernel(undecided.__hybrid_function__)
    assert "in parallel(" in lowered(kernel, *arrays(LARGE))
    monkeypatch.undo()
    config.clear()


def test_shown_printed_and_kept() -> None:
    kernel = hybrid.script(undecided, parallel=True)
    assert kernel is not undecided
    assert "parallel" in repr(kernel)
    assert "parallel=True" in str(kernel.prim_func(*arrays(8)))
    assert kernel.options["parallel"] is True
    assert hybrid.script(kernel) is kernel


def test_printed_options_are_read_back() -> None:
    kernel: AnyKernel = Kernel(undecided.__hybrid_function__, ("contract",), parallel=True)
    func = kernel.prim_func(*arrays(8))
    again = parse_text(str(func))
    assert again.parallel
    assert structural_equal(func, again)
    with pytest.raises(ParseError, match="parallel must be written as True or False"):
        parse_text(str(func).replace("parallel=True", "parallel=1"))


def test_must_be_a_switch() -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match="parallel must be True or False, got 3"):
        hybrid.script(undecided, parallel=wrong)


@hybrid.script
def with_prange(a: Array, b: Array) -> None:
    for i in prange(a.shape[0]):
        b[i] = a[i] * 2


def test_prange_is_parallel() -> None:
    a, b = arrays(9)
    with_prange(a, b)
    assert (b == a * 2).all()
    assert "in parallel(" in str(with_prange.prim_func(a, b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_loops_that_nobody_asked_for_keep_their_lanes(dtype: str) -> None:
    kernel: Any = hybrid.script(exponentials, parallel=True)
    a = np.linspace(0, 1, 300_001).astype(dtype)
    assert "lanes" in kernel.inspect("lowered", a)
    assert kernel.report(a).loops[0].runs.startswith("on threads, in ")
    np.testing.assert_array_equal(kernel(a), hybrid.script(exponentials)(a))


def exponentials(a: Any) -> Any:
    return np.exp(a) * 2 + 1
