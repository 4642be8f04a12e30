"""Generators of random numbers as arguments: a kernel works on a copy of their state."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.scalars.kinds import field_names, is_generator, is_record, is_sequence
from hybridjit.scalars.specs import STATE_SIZE

_HALF = 2**64 - 1


def check_generator(name: str, generator: np.random.Generator) -> None:
    """Refuse a generator of another kind than that of np.random.default_rng."""
    kind = type(generator.bit_generator)
    if kind is not np.random.PCG64:
        raise ArgumentError(
            f"argument '{name}' is a generator of {kind.__name__}, which is not supported",
            help="pass np.random.default_rng(seed), which is one of PCG64",
        )


class LentGenerators(AbstractContextManager[list[Any]]):
    """The arguments of a call with arrays of states in the place of generators.

    Their locks are held meanwhile, as NumPy does, in an order that all calls share. States are
    written back after an error as well: what was drawn was drawn. A callback that draws from one
    meanwhile gets the numbers that the kernel gets, and that is an error.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)
        self._states: dict[int, NDArray[np.uint64]] = {}
        self._lent_states: dict[int, NDArray[np.uint64]] = {}
        self._generators: list[np.random.Generator] = []
        self._locks = ExitStack()

    def __enter__(self) -> list[Any]:
        self._generators = list(_generators_in(self._values))
        if not self._generators:
            return self._values
        engines = {id(each.bit_generator): each.bit_generator for each in self._generators}
        if len(engines) < len(self._generators):
            raise ArgumentValueError(
                "two arguments are the same generator of random numbers",
                help="pass it once, or make others with rng.spawn(n)",
            )
        for key in sorted(engines):
            self._locks.enter_context(engines[key].lock)
        return [self._lent(value) for value in self._values]

    def _lent(self, value: Any) -> Any:
        if is_sequence(value):
            items = [self._lent(item) for item in value]
            made: Any = type(value)
            return made(*items) if hasattr(value, "_fields") else made(items)
        if is_record(value):
            return self._lent_fields(value)
        if not is_generator(value):
            return value
        state = _read(value.bit_generator)
        self._states[id(value)] = state
        self._lent_states[id(value)] = np.array(state, np.uint64)
        return state

    def _lent_fields(self, value: Any) -> Any:
        fields = {name: getattr(value, name) for name in field_names(value) or ()}
        if not any(_generators_in(fields.values())):
            return value
        lent = copy.copy(value)
        for name, item in fields.items():
            object.__setattr__(lent, name, self._lent(item))
        return lent

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        try:
            lent = [each for each in self._generators if id(each) in self._states]
            is_shared = any(self._was_drawn_from(generator) for generator in lent)
            for generator in lent:
                _write(generator.bit_generator, self._states[id(generator)])
        finally:
            self._locks.close()
        if is_shared and error is None:
            raise ArgumentValueError(
                "a callback drew from a generator of random numbers that the script has",
                help="pass it numbers, or let it have a generator of its own from rng.spawn(1)",
            )

    def _was_drawn_from(self, generator: np.random.Generator) -> bool:
        now, lent = _read(generator.bit_generator), self._lent_states[id(generator)]
        return bool((now != lent).any())


def _generators_in(values: Iterable[Any]) -> Iterator[np.random.Generator]:
    for value in values:
        if is_generator(value):
            yield value
        elif is_sequence(value):
            yield from _generators_in(value)
        elif is_record(value):
            yield from _generators_in(getattr(value, name) for name in field_names(value) or ())


def _read(engine: Any) -> NDArray[np.uint64]:
    found = engine.state
    state, increment = found["state"]["state"], found["state"]["inc"]
    numbers = (state >> 64, state & _HALF, increment >> 64, increment & _HALF)
    array = np.array([*numbers, found["has_uint32"], found["uinteger"]], np.uint64)
    assert array.size == STATE_SIZE
    return array


def _write(engine: Any, array: NDArray[np.uint64]) -> None:
    high, low, upper, lower, has_half, half = map(int, array)
    engine.state = {
        "bit_generator": "PCG64",
        "state": {"state": high << 64 | low, "inc": upper << 64 | lower},
        "has_uint32": has_half,
        "uinteger": half,
    }
