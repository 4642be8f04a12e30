"""Test the testers: bugs planted in the fusion of arrays and in the planning of storage.

Each must make a chain of array statements, one of our own or a random one, give another result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from hybridjit import config, hybrid
from hybridjit.errors import ParseError
from hybridjit.frontend.arrays import extents as array_extents
from hybridjit.frontend.arrays import memory as array_memory
from hybridjit.frontend.arrays import order as array_order
from hybridjit.frontend.arrays.order import Order
from hybridjit.frontend.fusion import contract as fuse_contract
from hybridjit.frontend.fusion import inline as fuse_inline
from hybridjit.frontend.fusion import merge as fuse_merge
from hybridjit.frontend.fusion import nests as fusion
from hybridjit.frontend.fusion import sink as fuse_sink
from hybridjit.lower import plan_storage
from tests.array_results import assert_agree
from tests.oracle import Outcome, run_once
from tests.random_chains import ChainGenerator

Array = Any
RNG: Any = np.random.default_rng(11)
Plant = Callable[[], AbstractContextManager[Any]]


def _always(owner: Any, name: str, value: Any) -> Plant:
    def answer(*_: Any, **__: Any) -> Any:
        return value

    return lambda: patch.object(owner, name, answer)


def source_changes(a: Array):
    t = a * 2
    a[:] = 0.0
    return t + 1


def changed_in_between(a: Array, b: Array):
    t = np.sin(a)
    a[:] = b[::-1]
    return t * t


def written_backwards(a: Array):
    t = np.sin(a)
    a[::-1] = t * t


def shorter(a: Array):
    t = np.sin(a)
    return t[:-1] * t[:-1]


def masked(a: Array):
    m = a > 0.5
    values = a[m]
    return values.mean()


def wraps(a: Array, k: int):
    t = a[1:] * 2
    return a * t[k]


def shift_up(a: Array):
    a[1:] = a[:-1] * 2


def accumulated(a: Array):
    t = np.zeros(a.shape[0])
    t += a
    t += a * a
    return t.max()


def used_after(a: Array):
    for _ in range(2):
        x = np.sin(a) + a[::-1]
        y = np.cos(x[::-1]) + x
        a[:] = y[::-1] + y + x


def reversed_read(a: Array):
    for _ in range(2):
        x = np.sin(a) + a[::-1]
        y = np.cos(x[::-1])
        z = np.sin(y) + y[::-1]
        a[:] = z[::-1] * 0.5 + z


def partly_set(a: Array):
    x = np.zeros(a.shape[0])
    x[1:] = a[:-1]
    return x + x[::-1]


def product_onto_a_factor(a: Array, b: Array):
    a[:] = 2.0 * (a @ b).T


LARGE = RNG.random(300)


def _all_before(_: Any, stmts: Any, first: int, second: int) -> Any:
    return stmts[first + 1 : second], []


@dataclass(frozen=True, slots=True)
class Bug:
    """A planted bug, and what shows it: a script with arguments, or the seed of a random one."""

    name: str
    plant: Plant
    shown_by: Any
    args: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return self.name


SMALL = RNG.random(6)
BUGS = [
    Bug(
        "a source that is written meanwhile",
        _always(fuse_inline, "_sources_stay", True),
        source_changes,
        (SMALL,),
    ),
    Bug(
        "statements that must not swap",
        _always(fusion.Fusion, "may_swap", True),
        changed_in_between,
        (SMALL, SMALL + 1),
    ),
    Bug(
        "what comes after the loops before them",
        lambda: patch.object(fuse_merge, "part", _all_before),
        masked,
        (SMALL,),
    ),
    Bug(
        "loops of another order",
        _always(fuse_merge, "_keeps_order", True),
        written_backwards,
        (SMALL,),
    ),
    Bug(
        "accesses that are taken for others",
        _always(array_order.Iterations, "meet", Order.SAME),
        written_backwards,
        (SMALL,),
    ),
    Bug(
        "an index that counts from the end",
        _always(fuse_inline, "_is_in_bounds", True),
        wraps,
        (SMALL, -1),
    ),
    Bug(
        "an assignment that reads what it wrote",
        _always(array_memory.ArrayMemory, "_needs_copy", False),
        shift_up,
        (SMALL,),
    ),
    Bug(
        "loops over different ranges",
        _always(array_extents.Ranges, "same", True),
        shorter,
        (SMALL,),
    ),
    Bug(
        "a value before its first",
        _always(fuse_contract, "_is_set_by", True),
        accumulated,
        (SMALL,),
    ),
    Bug(
        "a product stored where a factor is",
        _always(fuse_sink, "_is_apart", True),
        product_onto_a_factor,
        (RNG.random((40, 40)), RNG.random((40, 40))),
    ),
    Bug(
        "memory that is still used",
        _always(plan_storage, "_last_use", 0),
        used_after,
        (LARGE,),
    ),
    Bug(
        "in place though not element by element",
        _always(plan_storage, "_is_in_place", True),
        reversed_read,
        (LARGE,),
    ),
    Bug(
        "zeros that are needed",
        _always(plan_storage, "_sets_all", True),
        partly_set,
        (LARGE,),
    ),
]


def _differs(function: Any, args: tuple[Any, ...]) -> bool:
    kernel: Any = hybrid.script(function)
    with config.scope(cache_enabled=False):
        try:
            assert_agree(kernel, [np.copy(a) if np.ndim(a) else a for a in args])
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_a_script_shows(bug: Bug):
    assert not _differs(bug.shown_by, bug.args)  # without the bug, all is well

    with bug.plant():
        assert _differs(bug.shown_by, bug.args)


RANDOM = [
    ("sources", _always(fuse_inline, "_sources_stay", True)),
    ("order", _always(fuse_merge, "_keeps_order", True)),
    ("swaps", _always(fusion.Fusion, "may_swap", True)),
    ("copies", _always(array_memory.ArrayMemory, "_needs_copy", False)),
]


@pytest.mark.parametrize("plant", [plant for _, plant in RANDOM], ids=[name for name, _ in RANDOM])
def test_random_chains_show(plant: Plant):
    with plant():
        assert any(_random_chain_differs(seed) for seed in range(300))


def _interpret(kernel: Any, *args: Any) -> Any:
    return kernel.interpret(*args)


def _run_plain(kernel: Any, *args: Any) -> Any:
    return kernel.py_func(*args)


def _random_chain_differs(seed: int) -> bool:
    program = ChainGenerator(seed).program()
    kernel: Any = hybrid.script(program.define())
    found = run_once(_interpret, kernel, program.args)
    expected = run_once(_run_plain, kernel, program.args)
    if found.error is not None:
        return not isinstance(found.error, ParseError)  # some scripts are refused
    pairs = zip(_arrays(found), _arrays(expected), strict=True)
    return not all(np.allclose(got, want, rtol=1e-4, atol=1e-4) for got, want in pairs)


def _arrays(outcome: Outcome) -> list[Any]:
    result: Any = outcome.result
    results: list[Any] = [*result] if isinstance(result, tuple) else [result]
    return [*results, *outcome.arguments]


def test_errors_in_another_order():
    """A statement that fails must do so before the next one writes."""

    def kernel(a: Array, b: Array, c: Array):
        t = a // b
        c[:] = t

    def written() -> bool:
        c = np.ones(4, dtype=np.int64)
        with pytest.raises(ZeroDivisionError, match="zero"):
            hybrid.script(kernel).interpret(np.arange(4), np.array([1, 2, 0, 1]), c)
        return not (c == 1).all()

    assert not written()
    with _always(fuse_merge, "_fails_alike", True)():
        assert written()
