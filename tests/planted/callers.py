"""Bugs in what the calls of several threads share, noticed by random crowds of callers."""

from __future__ import annotations

from typing import Any

from hybridjit.runtime import failures, native
from hybridjit.runtime.cache.disk_cache import Store
from tests.callers.campaign import try_number
from tests.planted.bugs import Bug, RandomCheck, replaced


def in_one_memory(func: Any, scope: Any, are_set: Any = ()) -> Any:
    begin, known = _compile_prologue(func, scope, are_set), dict[Any, Any]()

    def begin_again(args: Any) -> Any:
        frame = begin(args)
        for slot in map(scope.slot, func.outputs):
            frame[slot] = known.setdefault((slot, frame[slot].shape), frame[slot])
        return frame

    return begin_again


_compile_prologue = native.compile_prologue


def as_another(words: Any) -> BaseException:
    return RuntimeError(str(_restored(words)))


_restored = failures._restored  # pyright: ignore[reportPrivateUsage]


def any_entry(self: Store, key: bytes) -> Any:
    found = _load(self, key)
    if found is not None and found.object_code:
        _FOUND.append(found)
        return _FOUND[0]
    return found


_FOUND: list[Any] = []
_load = Store.load


def _crowds(first: int) -> RandomCheck:
    def check(number: int) -> None:
        try_number(0, number)

    return RandomCheck("callers", check, first, 12)


BUGS = (
    Bug(
        "arrays lie in one memory for all calls",
        [replaced(native, "compile_prologue", in_one_memory)],
        _crowds(31),
    ),
    Bug(
        "what a callback raises comes out as another error",
        [replaced(failures, "_restored", as_another)],
        _crowds(6),
    ),
    Bug(
        "the disk has the code of another kernel",
        [replaced(Store, "load", any_entry)],
        _crowds(2),
    ),
)
