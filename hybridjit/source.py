"""Reading the source of a function into an AST with file-absolute positions.

The text comes from `linecache`, which serves files, notebook cells and doctests alike. Only the
lines of the function are parsed, not its file; when that does not work out, the whole file is.
"""

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from hybridjit.errors import ParseError, Span

# The passes recurse over expressions; Python's own limit of 1000 frames must stay out of reach.
MAX_DEPTH = 200
# Far above any function written by hand; compile time would be minutes.
MAX_NODES = 20_000
# Texts kept for the carets of later errors; the oldest is forgotten first.
MAX_TEXTS = 256

_texts: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function as written; lines of `node` are those of `file`, columns are in characters."""

    name: str
    file: str
    node: ast.FunctionDef


def read_function(pyfunc: FunctionType) -> FunctionSource:
    """Return the source of `pyfunc` as it stands in its file, notebook cell or doctest."""
    code = _code_of(pyfunc)
    file = code.co_filename
    lines = _lines_of(code, pyfunc.__globals__)
    _refuse_lambda(code, lines)
    node = _parse_block(code, lines)
    if node is None:
        node = _find_in_file(code, lines)
    if not _describes(node, code):
        raise _changed(code)
    return _finish(node, file, lines)


def read_text(text: str, filename: str = "<hybridjit>") -> FunctionSource:
    """Return the only function of `text`, which is remembered so that errors can show its lines.

    The file is named `<hybridjit 1>`, `<hybridjit 2>` and so on.
    """
    file, lines = _remember(text, filename)
    body = _parse(text, file).body
    match body:
        case [ast.FunctionDef() as node]:
            return _finish(node, file, lines)
        case _:
            raise ParseError(f"expected exactly one function in {file}, found {_listing(body)}")


def span_of(node: ast.AST, source: FunctionSource) -> Span:
    """Return where `node` stands; a node without a position takes that of its first child."""
    for candidate in _with_first_children(node):
        if isinstance(candidate, _POSITIONED):
            return _span(candidate, source.file)
    return _span(source.node, source.file)


def clear_texts() -> None:
    """Forget the texts given to `read_text` and number the next one 1."""
    for file in _texts:
        linecache.cache.pop(file, None)
    _texts.clear()


# Every class of ast that carries lineno, col_offset, end_lineno and end_col_offset.
_POSITIONED = (ast.stmt, ast.expr, ast.excepthandler, ast.arg, ast.keyword, ast.alias, ast.pattern)
_Positioned = (
    ast.stmt | ast.expr | ast.excepthandler | ast.arg | ast.keyword | ast.alias | ast.pattern
)


def _span(node: _Positioned, file: str) -> Span:
    end_line = node.lineno if node.end_lineno is None else node.end_lineno
    end_col = node.col_offset if node.end_col_offset is None else node.end_col_offset
    return Span(file, node.lineno, node.col_offset, end_line, end_col)


def _with_first_children(node: ast.AST) -> Iterator[ast.AST]:
    current: ast.AST | None = node
    while current is not None:
        yield current
        current = next(ast.iter_child_nodes(current), None)


def _code_of(pyfunc: Any) -> CodeType:
    if not isinstance(pyfunc, FunctionType):
        raise ParseError(
            f"expected a Python function, got {type(pyfunc).__name__} {pyfunc!r}",
            help="pass a function written with 'def'",
        )
    return pyfunc.__code__


def _lines_of(code: CodeType, module_globals: dict[str, Any]) -> list[str]:
    file = code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, module_globals)
    if not lines:
        raise ParseError(
            f"source of '{code.co_name}' is not available: it was defined in {file}",
            help="save it in a file or a notebook cell; code given to exec, python -c or the "
            "interactive prompt leaves no text behind",
        )
    if len(lines) < code.co_firstlineno:
        raise _changed(code)
    return lines


def _changed(code: CodeType) -> ParseError:
    return ParseError(
        f"cannot find '{code.co_name}' at line {code.co_firstlineno} of {code.co_filename}: "
        "the file was changed after it was imported",
        help="reload the module or restart Python",
    )


def _refuse_lambda(code: CodeType, lines: list[str]) -> None:
    if code.co_name != "<lambda>":
        return
    line = code.co_firstlineno
    col = max(0, lines[line - 1].find("lambda"))
    raise ParseError(
        "a lambda cannot be compiled",
        Span(code.co_filename, line, col, line, col + len("lambda")),
        help="write it as a function with 'def'",
    )


def _parse_block(code: CodeType, lines: list[str]) -> ast.AST | None:
    """Return the function parsed from its own lines, or None if these cannot be told apart."""
    first = code.co_firstlineno - 1
    indent = _indent(lines[first])
    last = _block_end(lines, first, indent)
    text = "".join(lines[first:last])
    # Blank lines in front make the positions absolute; `if` makes the indentation legal.
    if indent:
        text = "\n" * (first - 1) + "if 1:\n" + text
    else:
        text = "\n" * first + text
    try:
        body = ast.parse(text).body
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return None
    if indent and isinstance(body[0], ast.If):
        body = body[0].body
    return body[0]


def _block_end(lines: list[str], first: int, indent: int) -> int:
    """Return the first line after the block that looks like a statement outside it.

    Inside a string or a bracket the look deceives, but then the text up to there does not parse.
    """
    seen_def = False
    for number in range(first, len(lines)):
        line = lines[number]
        text = line.lstrip()
        if not text or text[0] in "#)]}" or len(line) - len(text) > indent:
            continue
        if seen_def:
            return number
        seen_def = text.startswith(("def ", "def\t", "def\\", "async "))
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _find_in_file(code: CodeType, lines: list[str]) -> ast.AST | None:
    """Return the function that starts where `code` does, by parsing the whole file."""
    try:
        module = ast.parse("".join(lines))
    except SyntaxError:
        raise _changed(code) from None
    except (RecursionError, MemoryError, ValueError) as error:
        raise _too_complex(code.co_filename, error) from None
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _describes(node, code):
            return node
    return None


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(item.lineno for item in node.decorator_list)])


def _describes(node: ast.AST | None, code: CodeType) -> bool:
    """Return whether `node` can be what `code` was compiled from: place, name and parameters."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    if node.name != code.co_name or _first_line(node) != code.co_firstlineno:
        return False
    count = code.co_argcount + code.co_kwonlyargcount
    args = node.args
    names = tuple(arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs))
    return names == code.co_varnames[:count]


def _parse(text: str, file: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise ParseError(error.msg, _syntax_error_span(error, file)) from None
    except (RecursionError, MemoryError, ValueError) as error:
        raise _too_complex(file, error) from None


def _syntax_error_span(error: SyntaxError, file: str) -> Span | None:
    if error.lineno is None:
        return None
    col = max(0, (error.offset or 1) - 1)
    end_line = error.lineno if not error.end_lineno else error.end_lineno
    end_col = col + 1 if not error.end_offset else error.end_offset - 1
    return Span(file, error.lineno, col, end_line, end_col)


def _too_complex(file: str, error: Exception) -> ParseError:
    return ParseError(
        f"Python cannot parse {file}: {error}", help="split long expressions into several"
    )


def _finish(node: ast.AST | None, file: str, lines: list[str]) -> FunctionSource:
    """Check the limits, count columns in characters, and refuse `async def`."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    if isinstance(node, ast.AsyncFunctionDef):
        raise ParseError(
            f"'{node.name}' is an async function, which cannot be compiled",
            _span(node, file),
            help="write it with plain 'def'",
        )
    _check_limits(node, file)
    end = node.lineno if node.end_lineno is None else node.end_lineno
    if not all(map(str.isascii, lines[_first_line(node) - 1 : end])):
        _count_characters(node, lines)
    return FunctionSource(node.name, file, node)


def _check_limits(root: ast.FunctionDef, file: str) -> None:
    """Refuse a tree that is too deep or too large, level by level, without recursion."""
    level: list[ast.AST] = [root]
    depth = count = 0
    while level:
        depth += 1
        count += len(level)
        if depth > MAX_DEPTH:
            raise ParseError(
                f"expression nested too deeply: more than {MAX_DEPTH} levels; split it",
                next((_span(n, file) for n in level if isinstance(n, _POSITIONED)), None),
            )
        if count > MAX_NODES:
            raise ParseError(
                f"function '{root.name}' is too large: more than {MAX_NODES} syntax nodes",
                _span(root, file),
                help="split it into several functions",
            )
        level = _next_level(level)


def _next_level(level: list[ast.AST]) -> list[ast.AST]:
    following: list[ast.AST] = []
    for node in level:
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                following.append(value)
            elif isinstance(value, list):
                following.extend(item for item in value if isinstance(item, ast.AST))
    return following


def _count_characters(root: ast.FunctionDef, lines: list[str]) -> None:
    """Turn the column offsets below `root` from UTF-8 bytes into characters."""
    for node in ast.walk(root):
        if isinstance(node, _POSITIONED):
            node.col_offset = _characters(lines, node.lineno, node.col_offset)
            if node.end_lineno is not None and node.end_col_offset is not None:
                node.end_col_offset = _characters(lines, node.end_lineno, node.end_col_offset)


def _characters(lines: list[str], line: int, offset: int) -> int:
    if not 0 < line <= len(lines):
        return offset
    text = lines[line - 1]
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))


def _listing(body: list[ast.stmt]) -> str:
    return ", ".join(type(stmt).__name__ for stmt in body) if body else "nothing"


def _remember(text: str, filename: str) -> tuple[str, list[str]]:
    number = max(_texts.values(), default=0) + 1
    file = f"{filename.rstrip('>')} {number}>"
    lines = text.splitlines(keepends=True)
    if len(_texts) >= MAX_TEXTS:
        oldest = next(iter(_texts))
        del _texts[oldest]
        linecache.cache.pop(oldest, None)
    _texts[file] = number
    linecache.cache[file] = (len(text), None, lines, file)
    return file, lines
