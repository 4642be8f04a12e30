"""What a kernel knows of its calls, while several threads make them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any

import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.ir.dtype import FLOAT64
from hybridjit.runtime import promotion
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from hybridjit.runtime.promotion import Promotion
from hybridjit.scalars.specs import ArraySpec
from tests.runtime.test_threads import run_threads

ROUNDS = 100
Shapes = tuple[tuple[int, ...], ...]


@pytest.fixture(autouse=True)
def often_switched() -> Generator[None]:
    """Threads take turns as often as Python can let them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_sizes_of_calls_at_once_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dimensions of one name have one size, also of a call that others run into."""
    history: Any = vars(promotion)["_History"]
    monkeypatch.setattr(promotion, "_numbered", _after_others(vars(promotion)["_numbered"]))
    monkeypatch.setattr(history, "add", _before_others(history.add))
    shapes: tuple[Shapes, ...] = (((6,), (7, 6)), ((8,), (8, 9)), ((4,), (3, 3)))
    for _ in range(ROUNDS):
        calls = Promotion()
        calls.generalize(_specs(((5,), (5, 5))))

        def work(number: int, calls: Promotion = calls) -> None:
            specs = _specs(shapes[number])
            general: Any = calls.generalize(specs)[0]
            sizes: dict[int | str, int | str] = {}
            for exact, found in zip(specs, general, strict=True):
                for size, name in zip(exact.shape, found.shape, strict=True):
                    assert sizes.setdefault(name, size) == size, f"{specs} as {general}"

        run_threads(work, len(shapes))


def _after_others(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        time.sleep(1e-5)
        return function(*args)

    return run


def _before_others(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        found = function(*args)
        time.sleep(1e-5)
        return found

    return run


def _specs(shapes: Shapes) -> tuple[Any, ...]:
    return tuple(ArraySpec(FLOAT64, shape) for shape in shapes)


def test_calls_are_forgotten_while_others_are_noted() -> None:
    calls = NativeCalls()

    def note() -> object:
        call: Any = SimpleNamespace(specialization=object(), layout=None, values=())
        calls.learn(None, call)
        return call.specialization

    def work(number: int) -> None:
        for _ in range(ROUNDS):
            specialization: Any = note()
            calls.forget(specialization)

    for _ in range(10 * ROUNDS):
        note()
    run_threads(work, 4)


def test_what_is_known_is_told_while_more_is_learned() -> None:
    @hybrid.script
    def first(a: Any) -> Any:
        return a[0]

    _while_another_works(
        lambda: [first.prim_func(hj.f32[size]) for size in range(1, 40)],
        first.cache_info,
    )
    assert len(first.cache_info()) == 39


def _while_another_works(work: Callable[[], Any], look: Callable[[], Any]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        look()
    thread.join()
