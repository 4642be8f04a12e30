"""One test for a row of a table: what differs inside of a row is tried in turn.

A grid of operators and dtypes is thousands of tests, each of which takes longer to be started than
to run. Here an operator is a test, and its message names every dtype that fails. Grids whose tests
take long have columns that always run, and others that a sample thins: `thinned`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
Test = Callable[..., None]
_FAILED: tuple[type[BaseException], ...] = (Exception, pytest.fail.Exception)
_SKIPPED: type[BaseException] = pytest.skip.Exception


def check_each(
    values: Iterable[T], check: Callable[[T], None], label: Callable[[T], str] = str
) -> None:
    """Fail with the label and the message of every value on which `check` fails."""
    failures: list[str] = []
    first: BaseException | None = None
    for value in values:
        try:
            check(value)
        except _SKIPPED:
            continue
        except _FAILED as error:
            failures.append(f"{label(value)}: {type(error).__name__}: {error}")
            first = first or error
    if failures:
        text = "\n".join(failures)
        raise AssertionError(f"{len(failures)} of a row failed\n{text}") from first


def thinned(share: int, values: Iterable[Any]) -> list[Any]:
    """Values of a parameter, for beside others: --sample runs one in `share` of their rows."""
    return [pytest.param(value, marks=pytest.mark.sampled(share)) for value in values]


def in_each(name: str, values: Iterable[Any], label: Callable[[Any], str] = str) -> Any:
    """Run a test for each value of one argument, as one test: beside `parametrize` for the rows."""
    given = list(values)

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        others = [p for p in signature.parameters.values() if p.name != name]

        @functools.wraps(test)
        def run(**arguments: Any) -> None:
            check_each(given, lambda value: test(**arguments, **{name: value}), label)

        vars(run)["__signature__"] = signature.replace(parameters=others)
        return run

    return decorate
