"""What Python raises while a kernel runs it comes out of the call as itself, and is never lost."""

from __future__ import annotations

import signal
import sys
import traceback
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid

AnyKernel = Kernel[..., Any]
TABLE: Any = np.arange(4.0)
CALLS = 4  # the first ones go through Python, later ones through the dispatcher

raise_signal = hybrid.extern("raise", "int32", ["int32"])


class BrokenOutput:
    """What a pipe is whose other end is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError("nobody listens")


@hybrid.script
def shout(a: Any) -> None:
    for i in range(a.shape[0]):
        a[i] += 1
        print("element", i)


def frames_of(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.usefixtures("unchecked")
def test_print_raises_what_the_output_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    for way in (shout.py_func, shout.interpret, *[shout] * CALLS):
        a = np.zeros(3)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", BrokenOutput())
            with pytest.raises(BrokenPipeError, match="nobody listens") as caught:
                way(a)
        assert a.tolist() == [1, 0, 0]
        assert frames_of(caught.value)[-1] == "write"


def test_print_without_an_output_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for way in (shout.py_func, shout.interpret, *[shout] * CALLS):
        a = np.zeros(3)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", None)
            way(a)
        assert a.tolist() == [1, 1, 1]


@pytest.fixture
def default_handler() -> Any:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_handler")
def test_signal_that_is_handled_as_a_callback_begins() -> None:
    """Python runs the handler at the first instruction of the callback, before any `try`."""
    seen: list[float] = []
    note = hybrid.packed(seen.append, name="note")

    @hybrid.script
    def kernel(a: Any) -> None:
        a[0] = 1
        raise_signal(2)
        note(a[0])
        a[0] = 2

    for _ in range(CALLS):
        a = np.zeros(1)
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            kernel(a)
        assert a.tolist() == [1]
    assert seen == []


@pytest.mark.usefixtures("default_handler")
def test_signal_that_is_handled_as_print_begins(capsys: pytest.CaptureFixture[str]) -> None:
    @hybrid.script
    def kernel(a: Any) -> None:
        raise_signal(2)
        print("never")
        a[0] = 2

    for _ in range(CALLS):
        a = np.zeros(1)
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            kernel(a)
        assert a.tolist() == [0]
    assert capsys.readouterr().out == ""


def test_callback_may_not_write_to_a_captured_array() -> None:
    def write(table: Any) -> None:
        table[0] = 7

    packed_write = hybrid.packed(write)

    @hybrid.script
    def kernel() -> None:
        packed_write(TABLE)

    for way in (kernel.interpret, *[kernel] * CALLS):
        with pytest.raises(ValueError, match="read-only"):
            way()
    assert TABLE.tolist() == [0, 1, 2, 3]


def test_callback_reads_a_captured_array() -> None:
    seen: list[Any] = []

    def copy(table: Any) -> None:
        seen.append(table.tolist())

    note = hybrid.packed(copy)

    @hybrid.script
    def kernel() -> None:
        note(TABLE)

    for way in (kernel.interpret, *[kernel] * CALLS):
        way()
    assert seen == [[0, 1, 2, 3]] * (1 + CALLS)


def fail_with_a_cause(x: Any) -> None:
    try:
        raise KeyError("why")
    except KeyError as cause:
        raise LookupError("refused") from cause


def make_failing() -> AnyKernel:
    refuse = hybrid.packed(fail_with_a_cause)

    @hybrid.script
    def kernel(a: Any) -> None:
        refuse(a[0])

    return kernel


def test_traceback_shows_only_the_frames_of_the_user() -> None:
    kernel = make_failing()
    for way in (kernel.interpret, *[kernel] * CALLS):
        with pytest.raises(LookupError, match="refused") as caught:
            way(np.zeros(1))
        edge = ["edge"] if sys.version_info < (3, 11) else []
        here = "test_traceback_shows_only_the_frames_of_the_user"
        assert frames_of(caught.value) == [here, *edge, "fail_with_a_cause"]
        assert isinstance(caught.value.__cause__, KeyError)
        assert not [name for name in caught.value.__dict__ if "hybridjit" in name]


def test_full_traceback_shows_ours_too() -> None:
    kernel = make_failing()
    with config.scope(traceback="full"), pytest.raises(LookupError, match="refused") as caught:
        kernel(np.zeros(1))
    assert "_packed" in frames_of(caught.value)


def test_kernel_that_fails_inside_a_callback() -> None:
    @hybrid.script
    def inner(a: Any, i: Any) -> Any:
        return a[i]

    def call_inner(a: Any) -> None:
        inner(a, 9)

    packed_call = hybrid.packed(call_inner)

    @hybrid.script
    def kernel(a: Any) -> None:
        packed_call(a)

    for way in (kernel.interpret, *[kernel] * CALLS):
        with pytest.raises(IndexError, match="index 9 is out of bounds") as caught:
            way(np.zeros(1))
        assert frames_of(caught.value)[-1] == "call_inner"
