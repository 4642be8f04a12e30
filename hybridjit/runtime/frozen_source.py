"""A function as its text, for another process: to be compiled there, without running anything."""

from __future__ import annotations

import ast
import hashlib
import linecache
import os
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from hybridjit.errors import InternalError
from hybridjit.record import record
from hybridjit.source import read_function, text_of
from hybridjit.syntax import nodes_of, parse_expression, parse_module


@record
class FrozenSource:
    """The lines of a function, decorators included, and where they stood."""

    name: str
    file: str
    first: int
    text: str

    @classmethod
    def of(cls, pyfunc: FunctionType) -> FrozenSource:
        """The text of `pyfunc`; a ParseError if it has none."""
        source = read_function(pyfunc)
        return cls(source.name, source.file, *text_of(source))

    def compile(self, free: Sequence[str]) -> CodeType:
        """The code of the function; `free` are the variables that it takes from around it.

        Decorators and defaults are compiled too, but they belong to the code around, which is
        never run.
        """
        # Blank lines in front make the positions absolute; `if` makes an indentation legal.
        is_indented = self.text[:1].isspace()
        lead = "\n" * (self.first - 2) + "if 1:\n" if is_indented else "\n" * (self.first - 1)
        tree = parse_module(lead + self.text)
        definition = next(node for node in nodes_of(tree) if _defines(node, self.name))
        around: Any = parse_module(f"def around({', '.join(free)}): pass")
        around.body[0].body = [definition]
        code = compile(around, self._place(), "exec", dont_inherit=True)
        found = next(inner for inner in _inside(code) if inner.co_name == self.name)
        if sorted(found.co_freevars) != sorted(free):
            raise InternalError(f"the text of '{self.name}' has other variables", "pickling")
        return found

    def _place(self) -> str:
        """The name of a file that has the text at its lines: the file itself, or one made up.

        A made-up one stays for good, so that the function can be read; equal texts share it.
        """
        lines = self.text.splitlines(keepends=True)
        before = self.first - 1
        if linecache.getlines(self.file)[before : before + len(lines)] == lines:
            return self.file
        digest = hashlib.sha256(f"{self.file}:{self.first}:{self.text}".encode()).hexdigest()
        name = f"<{os.path.basename(self.file).strip('<>')} {digest[:8]}>"
        linecache.cache[name] = (len(self.text), None, ["\n"] * before + lines, name)
        return name


def _defines(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == name


def _inside(code: CodeType) -> Iterator[CodeType]:
    """The code objects inside `code`, outer ones first."""
    level = [code]
    while level:
        level = [const for outer in level for const in outer.co_consts if _is_code(const)]
        yield from level


def _is_code(const: object) -> bool:
    return isinstance(const, CodeType)


def names_in(pyfunc: FunctionType) -> tuple[set[str], set[str]]:
    """The names that the body of a function reads, and those that only its annotations do."""
    node = read_function(pyfunc).node
    own = set(pyfunc.__code__.co_varnames) - _global_names(pyfunc.__code__)
    body = {name for stmt in node.body for name in _names(stmt)} - own
    args = node.args
    parameters = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    annotations = [arg.annotation for arg in parameters if arg.annotation is not None]
    return body, {name for entry in annotations for name in _names(entry)} - body


def _global_names(code: CodeType) -> set[str]:
    """Names that a function, or one inside it, looks up in its module, or as attributes."""
    inner = [item for item in code.co_consts if isinstance(item, CodeType)]
    return {*code.co_names, *(name for item in inner for name in _global_names(item))}


def _names(node: ast.AST) -> Iterator[str]:
    for inner in nodes_of(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield from _names_in_text(inner.value)


def _names_in_text(text: str) -> Iterator[str]:
    """The names in an annotation that is written as a string."""
    try:
        tree = parse_expression(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    yield from (inner.id for inner in nodes_of(tree) if isinstance(inner, ast.Name))
