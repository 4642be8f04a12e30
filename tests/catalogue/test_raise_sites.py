"""Every place in the package that raises an error gives one that has a code and a page."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import hybridjit
from hybridjit import errors
from hybridjit.catalogue.find import PAGES, find_code
from hybridjit.errors import HybridError, InternalError
from tests.support.walk_source import walk_statements

PACKAGE = Path(hybridjit.__file__).parent
OURS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, HybridError | InternalError)
}
# No page of its own: nothing of ours may raise it.
NAMELESS = "HJ000"
# Errors of Python itself, which these raise as Python would: functions of NumPy and Python as
# scripts, numbers of the interpreter, and what the words of the language do in plain Python.
AS_PYTHON = (
    "frontend/library/",
    "interp/scalars.py",
    "scalars/builtins.py",
    "scalars/functions.py",
)
# What no user sees: it is caught nearby, or says that we made a mistake.
INSIDE = (
    "analysis/instances.py",
    "ir/",
    "runtime/cache/directory.py",
    "runtime/dispatch/objects.py",
    "runtime/pool.py",
    "tuning/workers.py",
)
PROTOCOL = {
    *("AttributeError", "KeyError", "EOFError", "RecursionError"),
    *("AssertionError", "NotImplementedError"),
}


def trees(words: Iterable[str]) -> Iterator[tuple[str, ast.Module]]:
    """The modules of the package that hold one of these words, with their paths in it."""
    word = re.compile(rf"\b({'|'.join(words)})\b")
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if word.search(text):
            yield path.relative_to(PACKAGE).as_posix(), ast.parse(text)


def text_of(node: ast.expr) -> str | None:
    """The message that an expression makes, with a word for each value in it; None if not known."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr():
            return "".join(text_of(part) or "it" for part in node.values)
        case ast.IfExp():
            return text_of(node.body)
        case _:
            return None


def made_errors() -> Iterator[tuple[str, type[BaseException], str]]:
    """Each error that the package makes: where, of which class, and what it says."""
    for path, tree in trees(OURS):
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in OURS:
                    message = text_of(first)
                    if message is not None:
                        yield f"{path}:{node.lineno}", OURS[name], message
                case _:
                    pass


def test_every_error_has_a_page() -> None:
    found = list(made_errors())
    assert len(found) > 400  # the walk sees them
    nameless = [
        f"{place}: {message}"
        for place, kind, message in found
        if (code := find_code(kind, message)) == NAMELESS or code not in PAGES
    ]
    assert not nameless, "\n".join(nameless)


def raised_names() -> Iterator[tuple[str, str]]:
    """What the package raises by name: where, and which class."""
    for path, tree in trees(["raise"]):
        for node in walk_statements(tree):
            match node:
                case ast.Raise(exc=ast.Call(func=ast.Name(id=name)) | ast.Name(id=name)):
                    yield f"{path}:{node.lineno}", name
                case _:
                    pass


def test_errors_of_python_are_raised_where_they_are_meant() -> None:
    """A user meets errors of ours, which have codes."""
    python = {name for name, value in vars(builtins).items() if isinstance(value, type)}
    strangers = [
        f"{place}: raises {name}"
        for place, name in raised_names()
        if name in python - PROTOCOL and not place.startswith(AS_PYTHON + INSIDE)
    ]
    assert not strangers, "\n".join(strangers)
