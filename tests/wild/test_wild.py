"""The collection: what people write for Numba runs as it is, and gives what plain Python gives."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import pytest

from hybridjit.errors import HybridError
from tests.support.array_results import assert_close
from tests.support.oracle import Outcome, run_interpreted, run_native, run_once, run_plain
from tests.wild.compilers import functions_of
from tests.wild.table import ENTRIES, Entry

_field = cache(functions_of)
# The collection stands for what people bring: nearly all of it has to run.
MOST = 0.9


def run(entry: Entry) -> tuple[Any, tuple[Any, ...]]:
    """The kernel of a function, and arguments for it."""
    module: ModuleType = _field(entry.field)
    return getattr(module, entry.name), entry.make(entry.small)


def assert_alike(found: Outcome, plain: Outcome) -> None:
    """Two runs gave the same, and left their arguments in the same state."""
    assert plain.error is None
    if found.error is not None:
        raise found.error
    assert_close(found.result, plain.result)
    for got, want in zip(found.arguments, plain.arguments, strict=True):
        assert_close(got, want)


def marked(entry: Entry) -> Any:
    """An entry as a parameter of a test; one that is refused is expected to be."""
    reason = entry.refused
    marks = (
        []
        if reason is None
        else [pytest.mark.xfail(reason=reason, raises=HybridError, strict=True)]
    )
    return pytest.param(entry, id=f"{entry.field}-{entry.name}", marks=marks)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("entry", [marked(entry) for entry in ENTRIES])
def test_runs_as_it_is(entry: Entry) -> None:
    kernel, args = run(entry)
    plain = run_once(run_plain, kernel, args)
    for way in (run_interpreted, run_native):
        assert_alike(run_once(way, kernel, args), plain)


def test_most_run() -> None:
    running = [entry for entry in ENTRIES if entry.refused is None]
    assert len(running) >= MOST * len(ENTRIES)
    assert len(running) >= 57
