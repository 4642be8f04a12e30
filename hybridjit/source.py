"""Reading the source of a function into an AST with file-absolute positions.

The text comes from `linecache`, which serves files, notebook cells and doctests alike. Only the
lines of the function are parsed; where these cannot be told apart, the whole file is (measured on
a 20-line function in a file of 1000 lines: 0.3 ms against 9 ms).
"""

import ast
import linecache
import warnings
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, cast
from weakref import ref

from hybridjit.brief_locks import brief_lock
from hybridjit.errors import ParseError, Span
from hybridjit.record import record
from hybridjit.source_identity import is_text_of
from hybridjit.syntax import children_of, nodes_of, parse_module

# Passes recurse over expressions, a few frames per level; Python stops at 1000 frames.
MAX_DEPTH = 200
# Far above what is written by hand, and still parsed in a fraction of a second.
MAX_NODES = 20_000
# Texts kept so that a later error can show its line; the oldest is forgotten first.
MAX_TEXTS = 256

_Definition = ast.FunctionDef | ast.AsyncFunctionDef
# Every class of ast that carries lineno, col_offset, end_lineno and end_col_offset.
_Positioned = (
    ast.stmt | ast.expr | ast.excepthandler | ast.arg | ast.keyword | ast.alias | ast.pattern
)


# Text that is read without a file gets a name of this kind: `<hybridjit 1>`.
_PRINTED = "<hybridjit"


@record
class FunctionSource:
    """A function as written; lines of `node` are those of `file`, columns are in characters.

    `text` has all lines of the function, decorators included, which begin at `first_line`.
    """

    name: str
    file: str
    node: ast.FunctionDef
    text: str

    @property
    def first_line(self) -> int:
        """Where the text begins in the file."""
        return _first_line(self.node)

    @property
    def is_printed(self) -> bool:
        """True for the printed form of IR, which says more than a script does."""
        return self.file.startswith(_PRINTED)


def read_function(pyfunc: FunctionType) -> FunctionSource:
    """Return the source of `pyfunc` as it stands in its file, notebook cell or doctest.

    It is read once for each code object: a file that is edited later changes nothing. One that was
    edited before, after Python had compiled it, is refused. Who reads the tree leaves it as it is.
    """
    code = _code_of(pyfunc)
    known = _known_sources.get(id(code))
    if known is not None and known[0]() is code:
        return known[1]
    lines = _lines_of(code, pyfunc.__globals__)
    node = _parse_block(code, lines)
    if node is None:
        node = _find_in_file(code, lines)
    if not is_text_of(node, code, lines):
        raise _changed(code)
    return _keep_source(code, _finish(node, code.co_filename, lines))


# By identity: codes that are equal may stand at different places.
_known_sources: dict[int, tuple[ref[CodeType], FunctionSource]] = {}


def _keep_source(code: CodeType, source: FunctionSource) -> FunctionSource:
    key = id(code)
    _known_sources[key] = (ref(code, lambda _: _known_sources.pop(key, None)), source)
    return source


def read_text(text: str, filename: str = f"{_PRINTED}>") -> FunctionSource:
    """Return the only function of `text`, which is remembered so that errors can show its lines.

    The file is named after `filename` with a number: `<hybridjit 1>`, `<hybridjit 2>` ...
    """
    file, lines = remember_text(text, filename)
    body = _parse_text(text, file).body
    match body:
        case [ast.FunctionDef() | ast.AsyncFunctionDef() as node]:
            return _finish(node, file, lines)
        case [_, ast.stmt() as second, *_]:
            raise ParseError("expected one function and nothing else", _span(second, file))
        case [ast.stmt() as other]:
            raise ParseError("expected a function", _span(other, file))
        case _:
            raise ParseError(f"expected a function, found nothing in {file}")


def text_of(source: FunctionSource) -> tuple[int, str]:
    """Return the number of the first line of a function, its decorators included, and its lines."""
    return source.first_line, source.text


def span_of(node: ast.AST, source: FunctionSource, call: Span | None = None) -> Span:
    """Return where `node` stands, in a function that `call` calls; a node without a position takes
    that of its first child.
    """
    for candidate in _with_first_children(node):
        if isinstance(candidate, _Positioned):
            return _span(candidate, source.file, call)
    return _span(source.node, source.file, call)


def clear_texts() -> None:
    """Forget the texts given to `read_text`, and number the next one 1."""
    with _texts_lock:
        for file in _texts:
            linecache.cache.pop(file, None)
        _texts.clear()


# --- positions ---


def _span(node: _Positioned, file: str, call: Span | None = None) -> Span:
    end_line = node.lineno if node.end_lineno is None else node.end_lineno
    end_col = node.col_offset if node.end_col_offset is None else node.end_col_offset
    return Span(file, node.lineno, node.col_offset, end_line, end_col, call)


def _with_first_children(node: ast.AST) -> Iterator[ast.AST]:
    current: ast.AST | None = node
    while current is not None:
        yield current
        current = next(iter(children_of(current)), None)


def _count_characters(root: ast.AST, lines: list[str]) -> None:
    """Turn the column offsets below `root` from bytes of UTF-8 into characters."""
    for node in nodes_of(root):
        if not isinstance(node, _Positioned):
            continue
        node.col_offset = _characters(lines, node.lineno, node.col_offset)
        if node.end_lineno is not None and node.end_col_offset is not None:
            node.end_col_offset = _characters(lines, node.end_lineno, node.end_col_offset)


def _characters(lines: list[str], line: int, offset: int) -> int:
    text = lines[line - 1]
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))


# --- from a code object to its lines ---


def _code_of(pyfunc: Any) -> CodeType:
    if not isinstance(pyfunc, FunctionType):
        raise ParseError(
            f"expected a Python function, got {pyfunc!r} of type '{type(pyfunc).__name__}'",
            help="pass a function written with 'def'",
        )
    code = pyfunc.__code__
    if code.co_name == "<lambda>":
        raise ParseError(
            "a lambda cannot be compiled",
            _lambda_span(code.co_filename, code.co_firstlineno),
            help="write it as a function with 'def'",
        )
    return code


def _lambda_span(file: str, line: int) -> Span:
    col = max(0, linecache.getline(file, line).find("lambda"))
    return Span(file, line, col, line, col + len("lambda"))


def _lines_of(code: CodeType, module_globals: dict[str, Any]) -> list[str]:
    file = code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, module_globals)
    if not lines:
        raise _not_available(code)
    return lines


def _not_available(code: CodeType) -> ParseError:
    return ParseError(
        f"source of '{code.co_name}' is not available: it was defined in {code.co_filename}",
        help="save it in a file or a notebook cell; exec, python -c and the interactive prompt "
        "leave no text behind",
    )


def _changed(code: CodeType) -> ParseError:
    if code.co_filename.startswith("<"):  # some other text goes by the same made-up name
        return _not_available(code)
    return ParseError(
        f"source of '{code.co_name}' is not at line {code.co_firstlineno} of {code.co_filename} "
        "any more: the file was changed after it was imported",
        help="reload the module or restart Python",
    )


# --- from lines to a tree ---


def _parse_block(code: CodeType, lines: list[str]) -> _Definition | None:
    """Return the function parsed from its own lines, or None if these cannot be told apart."""
    first = code.co_firstlineno - 1
    if first >= len(lines):
        return None
    block = lines[first : _block_end(lines, first)]
    # Blank lines in front make the positions absolute; `if` makes an indentation legal.
    lead = "\n" * (first - 1) + "if 1:\n" if _indent(block[0]) else "\n" * first
    try:
        body = _parse(lead + "".join(block)).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    match body:
        case [ast.If(body=[node])] | [node] if _describes(node, code):
            return cast(_Definition, node)
        case _:
            return None


def _block_end(lines: list[str], first: int) -> int:
    """Return the first line after `first` that looks like a statement outside the block.

    A line inside a string can look like one, but then the text up to there does not parse.
    """
    indent = _indent(lines[first])
    in_header = True
    for number in range(first, len(lines)):
        text = lines[number].lstrip()
        if not text or text[0] in "#)]}" or len(lines[number]) - len(text) > indent:
            continue
        if not in_header:
            return number
        in_header = not text.startswith(("def", "async"))
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _find_in_file(code: CodeType, lines: list[str]) -> _Definition:
    """Return the function that `code` was compiled from, by parsing the whole file."""
    try:
        module = _parse("".join(lines))
    except (SyntaxError, ValueError):
        raise _changed(code) from None
    except (MemoryError, RecursionError) as error:
        raise _too_complex(code.co_filename, error) from None
    for node in _statements_around(module, code.co_firstlineno):
        if _describes(node, code):
            return cast(_Definition, node)
    raise _changed(code)


def _statements_around(module: ast.Module, line: int) -> Iterator[ast.stmt]:
    """Yield the definitions and compound statements whose lines include `line`."""
    pending: list[ast.AST] = [module]
    while pending:
        node = pending.pop()
        for child in children_of(node):
            if isinstance(child, ast.stmt):
                if not _first_line(child) <= line <= _last_line(child):
                    continue
                yield child
            if not isinstance(child, ast.expr):
                pending.append(child)


def _first_line(node: ast.stmt) -> int:
    """Return the line Python gives to the code object: that of the first decorator."""
    if isinstance(node, _Definition | ast.ClassDef) and node.decorator_list:
        return node.decorator_list[0].lineno
    return node.lineno


def _last_line(node: ast.stmt) -> int:
    return node.lineno if node.end_lineno is None else node.end_lineno


def _describes(node: ast.stmt, code: CodeType) -> bool:
    """Return whether `code` can have been compiled from `node`: name, place and parameters fit."""
    return (
        isinstance(node, _Definition)
        and node.name == code.co_name
        and _first_line(node) == code.co_firstlineno
        and max(line or 0 for _, _, line in code.co_lines()) <= _last_line(node)
        and _has_parameters(node.args, code)
    )


def _has_parameters(args: ast.arguments, code: CodeType) -> bool:
    written = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    compiled = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return len(written) == len(compiled) and all(
        # Inside a class, Python compiles the name __x as _Class__x.
        there == here or (here.startswith("__") and there.endswith(here))
        for here, there in zip(written, compiled, strict=True)
    )


def _parse(text: str) -> ast.Module:
    if "\\" not in text:
        return parse_module(text)
    with warnings.catch_warnings():  # Python has warned of '\d' already, when it compiled the file
        warnings.simplefilter("ignore")
        return parse_module(text)


def _parse_text(text: str, file: str) -> ast.Module:
    try:
        return _parse(text)
    except SyntaxError as error:
        raise ParseError(error.msg, _reported_span(error, file)) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise _too_complex(file, error) from None


def _reported_span(error: SyntaxError, file: str) -> Span | None:
    """Return the span of a SyntaxError, which counts columns from 1 and may lack any part."""
    if error.lineno is None:
        return None
    col = max(0, (error.offset or 1) - 1)
    if not error.end_lineno or not error.end_offset:
        return Span(file, error.lineno, col, error.lineno, col + 1)
    return Span(file, error.lineno, col, error.end_lineno, max(0, error.end_offset - 1))


def _too_complex(file: str, error: Exception) -> ParseError:
    return ParseError(
        f"Python cannot parse {file}: {error}",
        help="split deeply nested expressions into several statements",
    )


# --- what every reader does in the end ---


def _finish(node: _Definition, file: str, lines: list[str]) -> FunctionSource:
    """Refuse what no pass could handle, and count columns in characters."""
    error = _find_excess(node, file)
    if error is not None:
        raise error
    text = "".join(lines[_first_line(node) - 1 : _last_line(node)])
    if not text.isascii():
        _count_characters(node, lines)
    if isinstance(node, ast.AsyncFunctionDef):
        raise ParseError(
            f"'{node.name}' is an async function, which cannot be compiled",
            _span(node, file),
            help="write it with 'def' alone",
        )
    return FunctionSource(node.name, file, node, text)


def _find_excess(root: _Definition, file: str) -> ParseError | None:
    """Return the error for a tree that is too deep or too large; level by level, no recursion."""
    level: list[ast.AST] = [root]
    depth = count = 0
    while level:
        depth += 1
        count += len(level)
        if depth > MAX_DEPTH:
            return ParseError(
                f"expression nested too deeply: more than {MAX_DEPTH} levels",
                next((_span(node, file) for node in level if isinstance(node, _Positioned)), None),
                help="split it into several statements",
            )
        if count > MAX_NODES:
            return ParseError(
                f"function '{root.name}' is too large: more than {MAX_NODES} syntax nodes",
                _span(root, file),
                help="split it into several functions",
            )
        level = [child for node in level for child in children_of(node)]
    return None


# --- texts that are not in any file ---

_texts: dict[str, int] = {}
_texts_lock = brief_lock()


def remember_text(text: str, filename: str) -> tuple[str, list[str]]:
    """Give a text a name of a file, and its lines, so that errors can show them."""
    lines = [f"{line}\n" for line in text.split("\n")]
    with _texts_lock:
        if len(_texts) >= MAX_TEXTS:
            oldest = next(iter(_texts))
            del _texts[oldest]
            linecache.cache.pop(oldest, None)
        number = max(_texts.values(), default=0) + 1
        file = f"{filename.removesuffix('>')} {number}>"
        _texts[file] = number
        # Without a modification time the entry survives linecache.checkcache().
        linecache.cache[file] = (len(text), None, lines, file)
    return file, lines
