"""Properties that are computed once, also where threads and forks come in between."""

from __future__ import annotations

import threading
from pathlib import Path

from hybridjit.kept_property import kept_property
from tests.runtime.test_threads import needs_fork, run_child, run_threads

PACKAGE = Path(__file__).parents[1] / "hybridjit"


class _Counted:
    """Counts how often its value was computed, and may take its time."""

    def __init__(self, gate: threading.Barrier | None = None) -> None:
        self.gate = gate
        self.computed = 0

    @kept_property
    def value(self) -> object:
        """An object of its own for each time."""
        self.computed += 1
        if self.gate is not None:
            self.gate.wait()
        return object()


def test_it_is_computed_once() -> None:
    counted = _Counted()
    assert counted.value is counted.value
    assert counted.computed == 1


def test_it_has_the_docstring_of_its_function() -> None:
    assert _Counted.value.__doc__ == "An object of its own for each time."


def test_threads_that_ask_at_once_get_the_same() -> None:
    counted = _Counted(threading.Barrier(4))
    found: list[object] = []
    run_threads(lambda number: found.append(counted.value), 4)
    assert counted.computed == 4
    assert len(set(map(id, found))) == 1


def _use_another() -> None:
    assert _Counted().value is not None


@needs_fork
def test_fork_while_another_thread_computes() -> None:
    """The child computes the same property of another object."""
    slow = _Counted(threading.Barrier(2))
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    run_child(_use_another)
    assert slow.gate is not None
    slow.gate.wait()
    thread.join()


def test_no_property_has_a_lock_that_fork_does_not_know() -> None:
    """That of functools has one before Python 3.12."""
    for path in PACKAGE.rglob("*.py"):
        if path.name != "kept_property.py":
            assert "cached_property" not in path.read_text(encoding="utf-8"), path
