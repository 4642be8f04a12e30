"""Is a text the one that Python compiled? A file may have been edited since it was imported.

A kernel is translated from text, and must do what the function does that Python has. A file that
is as old as the process has not changed; of another one the text is compiled, and its code
compared with that of the function.
"""

import __future__

import ast
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

from hybridjit.syntax import parse_module

# Clocks of file systems are coarse: a file that changed just before counts as one that may have.
_STARTED = time.time() - 1.0
_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
# pytest compiles modules with other `assert` statements than they have.
_REWRITTEN = "@py"


def is_text_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef, code: CodeType, lines: Sequence[str]
) -> bool:
    """Return whether `code` was compiled from `node`, which stands in `lines`.

    What Python makes of a function depends on the imports of its module a little; and parts of a
    file may have been compiled one by one, as editors with cells do.
    """
    if not _may_have_changed(code.co_filename) or _is_rewritten(code):
        return True
    around: Any = parse_module(f"def around({', '.join(code.co_freevars)}): pass")
    around.body[0].body = [node]
    expected = _contents(code)
    return any(
        inner.co_name == code.co_name and _contents(inner) == expected
        for text in (around, "".join(lines))
        for inner in _compiled(text, code)
    )


def _compiled(text: Any, code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions in `text`."""
    flags = code.co_flags & _FUTURES
    try:
        with warnings.catch_warnings():  # Python has warned already, when it compiled the file
            warnings.simplefilter("ignore")
            pending = [compile(text, code.co_filename, "exec", flags=flags, dont_inherit=True)]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    while pending:
        found = pending.pop()
        yield found
        pending += [const for const in found.co_consts if isinstance(const, CodeType)]


def _may_have_changed(file: str) -> bool:
    try:
        status = os.stat(file)
    except OSError:  # a notebook cell or a doctest
        return False
    return max(status.st_mtime, status.st_ctime) > _STARTED


def _is_rewritten(code: CodeType) -> bool:
    return any(name.startswith(_REWRITTEN) for name in (*code.co_names, *code.co_varnames))


def _contents(code: CodeType) -> tuple[Any, ...]:
    """What a function does: all of its code but the places in the file."""
    consts: list[Any] = [
        _contents(const) if isinstance(const, CodeType) else (type(const).__name__, repr(const))
        for const in code.co_consts
    ]
    # Inside a class, Python compiles the name __x as _Class__x.
    names = [name.rpartition("__")[2] for name in (*code.co_names, *code.co_varnames)]
    return code.co_code, tuple(names), tuple(sorted(code.co_freevars)), tuple(consts)
