"""Wrong scripts, and the same scripts after their error's help was followed.

A theme in tests/errors/cases is a plain Python file of scripts:

    cases = Cases()

    @cases.wrong(ParseError, VECTOR)
    def walrus(a): ...

    @cases.right(VECTOR, says="on a line of its own")
    def walrus(a): ...

The whole report of `wrong` is golden. `right` has the same name and does what the help says; what
it `says` stands in the help, and so does its code in the script: see `Case.check_help`.
"""

from __future__ import annotations

import ast
import copy
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import HybridError

VECTOR = np.arange(1, 9, dtype=np.float32)
MATRIX = np.array([[4.0 * i + j for j in range(4)] for i in range(4)])
INDICES = np.arange(8)
BYTES = np.arange(8, dtype=np.uint8)
COMPLEX = np.arange(8) * (1 + 2j)


@dataclass
class Case:
    """One diagnostic: the script that shows it, and how it is put right."""

    name: str
    error: type[Exception]
    wrong: Callable[..., Any]
    wrong_args: Sequence[Any]
    right: Callable[..., Any] | None = None
    right_args: Sequence[Any] = ()
    says: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    plain: bool = True

    def fail(self) -> HybridError:
        """Run the wrong script, and return the error that it must end in."""
        kernel = hybrid.script(self.wrong)
        with pytest.raises(self.error, match=": error: ") as caught:
            kernel.interpret(*copy.deepcopy(self.wrong_args))
        assert isinstance(caught.value, HybridError)
        return caught.value

    def report(self) -> str:
        """The error as users see it, lines counted from the beginning of the function they are in.

        So a script that is added to a theme changes no report but its own.
        """
        return report(self.fail(), Path(inspect.getfile(self.wrong)))

    def check_help(self) -> None:
        """What the help suggests is in the right script, and that script works."""
        assert self.right is not None
        help = " ".join(d.help or "" for d in self.fail().diagnostics)
        source = inspect.getsource(self.right)
        for phrase in (*self.says, *self.code):
            assert phrase in help
        for phrase in self.code:
            assert phrase in source
        self.check_right()

    def check_right(self) -> None:
        """Run the right script, and compare it with plain Python."""
        assert self.right is not None
        kernel = hybrid.script(self.right)
        args, plain_args = copy.deepcopy(self.right_args), copy.deepcopy(self.right_args)
        result = kernel.interpret(*args)
        if self.plain:
            np.testing.assert_equal(result, kernel.py_func(*plain_args))
            np.testing.assert_equal(args, plain_args)


@dataclass
class Cases:
    """The cases of one theme, by name, in the order of the file."""

    found: dict[str, Case] = field(default_factory=dict[str, Case])

    def wrong(
        self, error: type[Exception], *args: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """The decorated script, called on `args`, ends in `error`."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            name = function.__name__
            assert name not in self.found, f"there are two wrong scripts called {name}"
            self.found[name] = Case(name, error, function, args)
            return function

        return register

    def right(
        self,
        *args: Any,
        says: str | Sequence[str] = (),
        code: str | Sequence[str] = (),
        plain: bool = True,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """The decorated script follows the help of the wrong one of the same name.

        The phrases of `says` stand in the help, those of `code` in the help and in the script.
        With `plain`, the script gives the same as plain Python, where that has a meaning.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            case = self.found[function.__name__]
            assert case.right is None, f"there are two right scripts called {case.name}"
            case.right, case.right_args = function, args
            case.says = (says,) if isinstance(says, str) else tuple(says)
            case.code = (code,) if isinstance(code, str) else tuple(code)
            case.plain = plain
            return function

        return register


def report(error: HybridError, file: Path) -> str:
    """An error as users see it, with lines of `file` counted from the beginning of functions."""

    def line(found: re.Match[str]) -> str:
        return _line_in_function(file, found).rjust(len(found[0]))

    text = error.render(paths="short")
    text = re.sub(rf"(?<={re.escape(file.name)}:)\d+", lambda found: line(found).lstrip(), text)
    text = re.sub(r"(?<= line )\d+", lambda found: line(found).lstrip(), text)
    return re.sub(r"^ *\d+(?= \|)", line, text, flags=re.MULTILINE)


def _line_in_function(file: Path, found: re.Match[str]) -> str:
    line = int(found[0])
    starts = [start for start in _function_starts(file) if start <= line]
    return str(line - starts[-1] + 1) if starts else str(line)


@cache
def _function_starts(file: Path) -> tuple[int, ...]:
    """The lines at which functions of a file begin, in order."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return tuple(node.lineno for node in tree.body if isinstance(node, ast.FunctionDef))


def load(theme: str) -> list[Case]:
    """The cases of a theme."""
    cases = import_module(f"tests.errors.cases.{theme}").cases
    assert isinstance(cases, Cases)
    return list(cases.found.values())


def wrong(theme: str) -> pytest.MarkDecorator:
    """Run a test once for each wrong script of a theme."""
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case.name) for case in load(theme)]
    )


def mended(theme: str) -> pytest.MarkDecorator:
    """Run a test once for each script of a theme that was put right."""
    found = [pytest.param(case, id=case.name) for case in load(theme) if case.right is not None]
    return pytest.mark.parametrize("case", found)
