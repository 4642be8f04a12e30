"""Test the testers: bugs that are planted in the compiler, and the checks that must notice them.

Each file beside this one holds the bugs of one area as `BUGS`; `areas.py` lists them. A bug is
planted at a *seam*, a name of the compiler that it gives another value. A seam that the compiler no
longer has is an error when the bug is made, so that nothing renamed there leaves a bug behind that
plants nothing; `python -m tests.planted --seams` lists the seams and who uses them.
`python -m tests.planted` plants them all and says how each was noticed; tests/test_planted_bugs.py
does the same in the suite.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

from hybridjit.processor import current_target

Check = Callable[[], None]


@dataclass(frozen=True)
class Plant:
    """Something of the compiler with another value: `seam` names it, `plant` puts the value in."""

    seam: str
    plant: Callable[[], AbstractContextManager[Any]]

    def __call__(self) -> AbstractContextManager[Any]:
        return self.plant()


@dataclass(frozen=True)
class Bug:
    """A planted bug, and the check that must notice it.

    Some bugs are in code for processors with a feature, by LLVM's name: "avx2" also has masks.
    """

    name: str
    plants: Sequence[Plant]
    check: Check
    needs: str = ""

    @property
    def can_be_seen(self) -> bool:
        """Whether code for this processor comes by the place of the bug."""
        return not self.needs or current_target().has(self.needs)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class RandomCheck:
    """Random programs, of which none may fail when the compiler is sound.

    The search starts at program number `first`, which is known to show the bug. After `count`
    programs the bug counts as missed.
    """

    name: str
    check_number: Callable[[int], None]
    first: int
    count: int

    @property
    def __name__(self) -> str:
        return f"random {self.name}"

    def __call__(self) -> None:
        for number in range(self.first, self.first + self.count):
            try:
                self.check_number(number)
            except AssertionError as error:
                raise AssertionError(f"number {number}: {error}") from error


def shortened(check: Check) -> Check:
    """The check, on one program only if it is a random one."""
    return dataclasses.replace(check, count=1) if isinstance(check, RandomCheck) else check


def replaced(owner: Any, name: str, value: Any) -> Plant:
    """Give something of the compiler another value."""
    seam = _seam(owner, name)
    _check_parameters(seam, getattr(owner, name), value)
    return Plant(seam, lambda: patch.object(owner, name, value))


def everywhere(owner: Any, name: str, value: Any) -> Plant:
    """Give a function of the compiler another body, wherever it was imported to."""
    seam, old = _seam(owner, name), getattr(owner, name)
    _check_parameters(seam, old, value)
    return Plant(seam, lambda: _replaced_in_modules(old, name, value))


def _seam(owner: Any, name: str) -> str:
    """The full name of something of the compiler; an error if there is no such thing."""
    room = owner.__name__ if isinstance(owner, ModuleType) else _class_name(owner)
    if not hasattr(owner, name):
        raise LookupError(f"no bug can be planted at {room}.{name}: there is no such name")
    return f"{room}.{name}"


def _check_parameters(seam: str, old: Any, new: Any) -> None:
    """A function that cannot be called as the old one would be noticed for that alone."""
    if not isinstance(old, FunctionType) or not isinstance(new, FunctionType):
        return
    needed = [
        parameter
        for parameter in inspect.signature(old).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    try:
        inspect.signature(new).bind_partial(*needed)
    except TypeError as error:
        raise LookupError(f"the bug at {seam} takes other arguments: {error}") from None


def _class_name(owner: Any) -> str:
    cls: type = owner if isinstance(owner, type) else type(owner)
    return f"{cls.__module__}.{cls.__qualname__}"


@contextmanager
def _replaced_in_modules(old: Any, name: str, value: Any) -> Generator[None]:
    ours = [module for label, module in sys.modules.items() if label.startswith("hybridjit.")]
    with ExitStack() as stack:
        for module in ours:
            if vars(module).get(name) is old:
                stack.enter_context(patch.object(module, name, value))
        yield


def entry(owner: Any, name: str, key: Any, value: Any) -> Plant:
    """Give an entry of a table of the compiler another value."""
    seam, table = _seam(owner, name), getattr(owner, name)
    if key not in table:
        raise LookupError(f"no bug can be planted at {seam}: there is no entry {key!r}")
    return Plant(f"{seam}[{key!r}]", lambda: patch.dict(table, {key: value}))


def always(value: Any) -> Callable[..., Any]:
    """A function that gives the value, whatever it is asked."""

    def give(*_: Any, **__: Any) -> Any:
        return value

    return give


def first(x: Any, y: Any) -> Any:
    return x


def second(x: Any, y: Any) -> Any:
    return y
