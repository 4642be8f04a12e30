"""Deep work from a full stack."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest

from hybridjit import fresh_stack
from hybridjit.fresh_stack import MOST_FRAMES, on_fresh_stack
from tests.frontend.from_text import script_from_text


def descend(levels: int) -> int:
    return 0 if levels == 0 else 1 + descend(levels - 1)


def from_below(frames: int, work: Any) -> Any:
    """What `work` gives when it is called from so many frames down."""
    return work() if frames == 0 else from_below(frames - 1, work)


def test_work_from_a_full_stack() -> None:
    assert from_below(700, lambda: on_fresh_stack(lambda: descend(600))) == 600


def test_work_of_more_frames_than_python_has() -> None:
    limit = sys.getrecursionlimit()
    assert on_fresh_stack(lambda: descend(3 * MOST_FRAMES // 4)) == 3 * MOST_FRAMES // 4
    assert sys.getrecursionlimit() == limit


def test_work_without_end() -> None:
    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError, match="maximum recursion depth"):
        on_fresh_stack(lambda: descend(2 * MOST_FRAMES))
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("frames", [0, 600])
def test_expressions_of_as_many_levels_as_a_script_may_have(frames: int) -> None:
    kernel: Any = script_from_text(f"def f(a, b):\n    b[:] = {' + '.join(['a'] * 195)}\n", {})
    a, b = np.arange(40.0), np.zeros(40)
    from_below(frames, lambda: kernel(a, b))
    np.testing.assert_allclose(b, a * 195)


def test_a_process_with_a_small_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_fresh_stack(threading.get_ident) == threading.get_ident()
    monkeypatch.setattr(fresh_stack, "_stack_limit", lambda: 1 << 16)
    assert on_fresh_stack(threading.get_ident) != threading.get_ident()


def test_the_limit_of_the_first_stack_is_that_of_the_process() -> None:
    resource = pytest.importorskip("resource")
    limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
    assert fresh_stack._stack_limit() == limit % (1 << 64)  # pyright: ignore[reportPrivateUsage]


def test_a_thread_is_not_the_first_one() -> None:
    seen: list[bool] = []
    thread = threading.Thread(target=lambda: seen.append(fresh_stack._is_first_thread()))  # pyright: ignore[reportPrivateUsage]
    thread.start()
    thread.join()
    assert seen == [False]
