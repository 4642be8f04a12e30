"""Reading functions: where they may stand, what positions they get, what is refused."""

import ast
import doctest
import functools
import gc
import importlib.util
import linecache
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from weakref import ref

import pytest

from hybridjit.errors import Diagnostic, ParseError, Span
from hybridjit.source import (
    MAX_DEPTH,
    MAX_TEXTS,
    FunctionSource,
    clear_texts,
    read_function,
    read_text,
    span_of,
)


@pytest.fixture(autouse=True)
def no_texts() -> Iterator[None]:
    clear_texts()
    yield
    clear_texts()


def load(folder: Path, text: str, name: str = "kernels") -> ModuleType:
    """Import `text` as a module from a file."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names_in(source: FunctionSource) -> dict[str, ast.Name]:
    """The last use of each name in a function."""
    nodes = ast.walk(source.node)
    return {node.id: node for node in nodes if isinstance(node, ast.Name)}


def check_positions(source: FunctionSource, module: ModuleType) -> None:
    """Every name must stand in the file where its span says."""
    assert module.__file__ is not None
    assert source.file == module.__file__
    lines = Path(module.__file__).read_text(encoding="utf-8").split("\n")
    names = names_in(source)
    assert names
    for name, node in names.items():
        span = span_of(node, source)
        assert span.line == span.end_line
        assert lines[span.line - 1][span.col : span.end_col] == name


# --- where functions stand ---

PLACES = {
    "plain": """\
        def f(a):
            return a
        """,
    "at the end of the file, without a newline": """\
        x = 1
        def f(a): return a""",
    "one line": """\
        def f(a): return a
        def g(b): return b
        """,
    "header over several lines": """\
        def f(
            a,
            b=(
                1
            ),
        ):
            return a + b
        x = 1
        """,
    "decorated": """\
        def same(f):
            return f
        def with_options(**options):
            return same

        @same
        # a comment
        @with_options(
            schedule=same,
        )

        def f(a):
            return a

        @same
        def g(b):
            return b
        """,
    "decorator on a line of its own": """\
        @(
            lambda f: f
        )
        def f(a):
            return a
        """,
    "method": """\
        class K:
            x = 1

            @staticmethod
            def f(a):
                return a

            y = 2
        f = K.f
        """,
    "method with a private parameter": """\
        class K:
            def f(self, __a):
                return __a
        f = K.f
        """,
    "method after tabs": """\
        class K:
        \tdef f(a):
        \t\treturn a
        \ty = 1
        f = K.f
        """,
    "closure": """\
        def outer(n):
            if n:
                def f(a):
                    for i in range(n):
                        a[i] = n
                    return a
                return f
            else:
                def f(b):
                    return b
                return f
        f = outer(3)
        """,
    "in a match statement": '''\
        match 1:
            case 1:
                def f(a):
                    """Text
        at the margin.
                    """
                    return a
            case _:
                pass
        ''',
    "in try and with": '''\
        import contextlib
        with contextlib.suppress(ValueError):
            try:
                raise ValueError
            except ValueError:
                def f(a):
                    """
        at the margin"""
                    return a
        ''',
    "comments at the margin": """\
        def f(a):
            b = a
        # not the end
            return b
        # the end
        x = 1
        """,
    "docstring at the margin": '''\
        def f(a):
            """Text
        def g(b):
        """
            return a
        x = 1
        ''',
    "brackets at the margin": """\
        def f(a):
            b = (a
        +
        a)
            return b
        x = 1
        """,
    "line continuations": """\
        def f(a):
            b = a + \\
        a
            return \\
                b
        x = 1
        """,
    "header with continuations": """\
        def \\
          f(a):
            return a
        """,
    "non-ASCII text": """\
        def f(größe, a):
            b = "é变量" + a["ß"] + größe; c = b
            return b + c  # é
        """,
    "form feed": """\
        x = 1
        \x0c
        def f(a):
            b = a
        \x0c
            return b
        """,
    "lambda in a default": """\
        def f(a, b=lambda x: x):
            return a + b
        """,
    "type parameters in comments": """\
        def f(a):  # type: (int) -> int
            b = a  # type: ignore
            return b
        """,
}


def at_margin(text: str) -> str:
    """Take eight blanks off the lines that have them: texts may hold lines at the margin."""
    return "\n".join(line.removeprefix(" " * 8) for line in text.split("\n"))


@pytest.mark.parametrize("place", PLACES)
def test_a_function_is_read_where_it_stands(tmp_path: Path, place: str) -> None:
    module = load(tmp_path, at_margin(PLACES[place]))
    source = read_function(module.f)
    assert source.name == source.node.name == "f"
    check_positions(source, module)


def test_the_first_of_the_file_and_the_decorators_are_part_of_it(tmp_path: Path) -> None:
    source = read_function(load(tmp_path, "@staticmethod\ndef f(a):\n    return a\n").f.__func__)
    assert [ast.unparse(item) for item in source.node.decorator_list] == ["staticmethod"]
    assert source.node.lineno == 2


def test_functions_of_one_name_are_told_apart_by_line(tmp_path: Path) -> None:
    text = "".join(f"def f(a):\n    return a + {n}\nf{n} = f\n" for n in range(3))
    module = load(tmp_path, text)
    for n, func in enumerate([module.f0, module.f1, module.f2]):
        assert ast.unparse(read_function(func).node.body[0]) == f"return a + {n}"


def test_a_wrapped_function_is_read_through_its_own_code(tmp_path: Path) -> None:
    module = load(
        tmp_path,
        "import functools\n"
        "def wrap(f):\n"
        "    @functools.wraps(f)\n"
        "    def wrapper(*args): return f(*args)\n"
        "    return wrapper\n"
        "@wrap\n"
        "def f(a): return a\n",
    )
    assert read_function(module.f).name == "wrapper"
    assert read_function(module.f.__wrapped__).name == "f"


def test_a_renamed_function_is_read(tmp_path: Path) -> None:
    module = load(tmp_path, "def f(a):\n    return a\nf.__name__ = f.__qualname__ = 'g'\n")
    assert read_function(module.f).name == "f"


def test_a_function_is_read_once(tmp_path: Path) -> None:
    module = load(tmp_path, 'def f(a):\n    return "é" + a\n')
    first, second = read_function(module.f), read_function(module.f)
    assert first is second
    check_positions(second, module)


def test_what_was_read_goes_with_the_function(tmp_path: Path) -> None:
    module = load(tmp_path, "def f(a):\n    return a\n")
    read = ref(read_function(module.f).node)
    vars(module).clear()
    gc.collect()
    assert read() is None


def test_a_function_in_a_notebook_cell_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x = 1\ndef f(a):\n    return foo(a)\n"
    for file in ("<ipython-input-7-0123456789ab>", "/nowhere/ipykernel_1/234.py"):
        # What IPython does before it runs a cell.
        entry = (len(text), None, text.splitlines(keepends=True), file)
        monkeypatch.setitem(linecache.cache, file, entry)
        source = read_function(define("f", text, file))
        report = Diagnostic("m", span_of(names_in(source)["foo"], source)).render()
        assert report == f"{file}:3:12: error: m\n    3 |     return foo(a)\n      |            ^^^"


def test_a_function_in_a_doctest_is_read() -> None:
    """The doctest module serves its examples by patching linecache."""
    example = """
    >>> x = 1
    >>> def f(a):
    ...     return foo(a)
    >>> source = read_function(f)
    >>> print(Diagnostic("m", span_of(source.node.body[0], source)).render())
    <doctest sample[1]>:2:5: error: m
        2 |     return foo(a)
          |     ^^^^^^^^^^^^^
    """
    test = doctest.DocTestParser().get_doctest(example, globals(), "sample", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test) == (0, 4)


def define(name: str, text: str, file: str) -> FunctionType:
    namespace: dict[str, Any] = {}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def test_reading_repeats_no_warning(tmp_path: Path) -> None:
    text = 'def f(a):\n    """Match \\d."""\n    return a\n'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = load(tmp_path, text)
    assert read_function(module.f).name == "f"


def test_a_module_read_by_its_loader_is_read() -> None:
    """As a module in a zip archive."""

    class Loader:
        def get_source(self, name: str) -> str:
            return "def f(a):\n    return a\n"

    namespace: dict[str, Any] = {"__name__": "zipped", "__loader__": Loader()}
    exec(compile("def f(a):\n    return a\n", "archive.zip/zipped.py", "exec"), namespace)
    assert read_function(namespace["f"]).node.end_lineno == 2


# --- positions ---


def test_columns_count_characters(tmp_path: Path) -> None:
    source = read_function(load(tmp_path, 'def f(a):\n    return "é变" + a\n').f)
    value = source.node.body[0]
    assert isinstance(value, ast.Return)
    assert isinstance(value.value, ast.BinOp)
    assert span_of(value.value.left, source) == Span(source.file, 2, 11, 2, 15)
    assert span_of(value.value.right, source) == Span(source.file, 2, 18, 2, 19)


def test_a_node_without_a_position_takes_that_of_its_first_child() -> None:
    source = read_text("def f(a, b):\n    return a + b\n")
    assert span_of(source.node.args, source) == Span("<hybridjit 1>", 1, 6, 1, 7)


def test_a_node_without_position_and_children_takes_that_of_the_function() -> None:
    source = read_text("def f(a, b):\n    return a + b\n")
    assert span_of(ast.Add(), source) == Span("<hybridjit 1>", 1, 0, 2, 16)


# --- what is refused ---


def test_a_lambda_is_refused(tmp_path: Path) -> None:
    module = load(tmp_path, "x = 1\nf = lambda a: a\n")
    with pytest.raises(ParseError, match="a lambda cannot be compiled") as caught:
        read_function(module.f)
    assert caught.value.render(paths="short") == (
        "kernels.py:2:5: error: a lambda cannot be compiled\n"
        "    2 | f = lambda a: a\n"
        "      |     ^^^^^^\n"
        "      = help: write it as a function with 'def'\n"
        "      = code: HJ102"
    )


def test_a_lambda_without_text_is_refused() -> None:
    with pytest.raises(ParseError, match="a lambda cannot be compiled"):
        read_function(eval("lambda a: a"))


def test_an_async_function_is_refused(tmp_path: Path) -> None:
    module = load(tmp_path, "x = 1\nasync def f(a):\n    return a\n")
    with pytest.raises(ParseError, match="async") as caught:
        read_function(module.f)
    assert caught.value.render(paths="short") == (
        "kernels.py:2:1: error: 'f' is an async function, which cannot be compiled\n"
        "    2 | async def f(a):\n"
        "      | ^^^^^^^^^^^^^^^\n"
        "      = help: write it with 'def' alone\n"
        "      = code: HJ102"
    )


@pytest.mark.parametrize("thing", [len, int, 3, functools.partial(print, 1), "f".join])
def test_what_is_no_function_is_refused(thing: Any) -> None:
    with pytest.raises(ParseError, match=r"expected a Python function, got .* of type"):
        read_function(thing)


def test_a_function_without_text_is_refused() -> None:
    with pytest.raises(ParseError, match="not available") as caught:
        read_function(define("f", "def f(a):\n    return a\n", "<nowhere>"))
    assert str(caught.value) == (
        "source of 'f' is not available: it was defined in <nowhere>\n"
        "      = help: save it in a file or a notebook cell; exec, python -c and the interactive "
        "prompt leave no text behind\n"
        "      = code: HJ409"
    )


def test_a_made_up_name_used_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(linecache.cache, "<string>", (6, None, ["x = 1\n"], "<string>"))
    with pytest.raises(ParseError, match="source of 'f' is not available"):
        read_function(define("f", "def f(a):\n    return a\n", "<string>"))


EDITS = {
    "emptied to one line": "x = 1\n",
    "broken": "x = 1\ndef f(a:\n",
    "broken by a null byte": "x = 1\ndef f(a\0):\n",
    "renamed": "x = 1\ndef g(a):\n    return a\n",
    "moved": "x = 1\n\n\ndef f(a):\n    return a\n",
    "moved away": "x = 1\ny = 2\ndef f(a):\n    return a\n",
    "other parameters": "x = 1\ndef f(a, b):\n    return a\n",
    "another parameter name": "x = 1\ndef f(b):\n    return b\n",
    "shortened": "x = 1\ndef f(a): return a\n",
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_that_was_changed_is_refused(tmp_path: Path, edit: str) -> None:
    module = load(tmp_path, "x = 1\ndef f(a):\n    return a\n")
    file = tmp_path / "kernels.py"
    file.write_text(EDITS[edit], encoding="utf-8")
    with pytest.raises(ParseError, match="changed after it was imported") as caught:
        read_function(module.f)
    assert str(caught.value) == (
        f"source of 'f' is not at line 2 of {file} any more: "
        "the file was changed after it was imported\n"
        "      = help: reload the module or restart Python\n"
        "      = code: HJ409"
    )


def test_an_edit_is_seen_after_a_reload(tmp_path: Path) -> None:
    module = load(tmp_path, "def f(a):\n    return a\n")
    assert ast.unparse(read_function(module.f).node.body[0]) == "return a"
    module = load(tmp_path, "def f(a):\n    return a + 1000\n")
    assert ast.unparse(read_function(module.f).node.body[0]) == "return a + 1000"


# --- limits ---


def test_an_expression_may_be_nested_to_the_limit() -> None:
    around = 3  # function, return statement, innermost name
    text = "def f(a):\n    return " + "-" * (MAX_DEPTH - around) + "a\n"
    assert read_text(text).name == "f"


@pytest.mark.parametrize(
    "expression",
    ["-" * (MAX_DEPTH - 2) + "a", "+".join("a" * 300), "a" + ".b" * 300, "a" + "[0]" * 300],
    ids=["unary", "sum", "attributes", "indices"],
)
def test_a_deep_expression_is_refused(expression: str) -> None:
    with pytest.raises(ParseError, match="expression nested too deeply: more than 200 levels"):
        read_text(f"def f(a):\n    return {expression}\n")


@pytest.mark.parametrize(
    "expression",
    ["(" * 5_000 + "a" + ")" * 5_000, "-" * 100_000 + "a", "+".join("a" * 20_000)],
    ids=["parentheses", "unary", "sum"],
)
def test_what_python_itself_cannot_parse_is_refused(expression: str) -> None:
    with pytest.raises(ParseError, match=r"too many nested|nested too deeply|Python cannot parse"):
        read_text(f"def f(a):\n    return {expression}\n")


def test_a_large_function_is_refused() -> None:
    with pytest.raises(ParseError, match="too large") as caught:
        read_text("def f(a):\n" + "    a = 1\n" * 10_000)
    assert str(caught.value) == (
        "<hybridjit 1>:1:1: error: function 'f' is too large: more than 20000 syntax nodes\n"
        "    1 | def f(a):\n"
        "      | ^^^^^^^^^\n"
        "      = help: split it into several functions\n"
        "      = code: HJ105"
    )


# --- read_text ---


def test_text_is_read_and_shown_in_errors() -> None:
    read_text("def f(a):\n    return a\n")
    source = read_text("def g(b):\n    return b\n")
    assert (source.name, source.file) == ("g", "<hybridjit 2>")
    report = ParseError("m", span_of(source.node.body[0], source))
    assert str(report) == (
        "<hybridjit 2>:2:5: error: m\n    2 |     return b\n      |     ^^^^^^^^\n"
        "      = code: HJ100"
    )


def test_text_is_named_after_the_file_name_given() -> None:
    assert read_text("def f(): pass", "<tiled matmul>").file == "<tiled matmul 1>"


def test_text_survives_a_check_of_the_line_cache() -> None:
    file = read_text("def f(): pass").file
    linecache.checkcache()
    assert linecache.getline(file, 1) == "def f(): pass\n"


def test_old_texts_are_forgotten() -> None:
    first, *_, last = [read_text("def f(): pass").file for _ in range(MAX_TEXTS + 1)]
    assert linecache.getline(first, 1) == ""
    assert linecache.getline(last, 1) == "def f(): pass\n"
    clear_texts()
    assert linecache.getline(last, 1) == ""
    assert read_text("def f(): pass").file == "<hybridjit 1>"


def test_a_syntax_error_in_text_is_shown_in_place() -> None:
    with pytest.raises(ParseError, match="invalid syntax") as caught:
        read_text("def f(a):\n    é = a b\n")
    text = str(caught.value)
    assert text.startswith("<hybridjit 1>:2:")
    assert "    2 |     é = a b\n" in text


def test_a_null_byte_in_text_is_refused() -> None:
    with pytest.raises(ParseError, match="null bytes"):
        read_text("def f(a):\n    return '\0'\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a function, found nothing in <hybridjit 1>"),
        ("x = 1\n", "expected a function\n    1 | x = 1"),
        ("def f(): pass\nx = 1\n", "expected one function and nothing else\n    2 | x = 1"),
        ("async def f(): pass\n", "'f' is an async function"),
        ("class A: pass\n", "expected a function\n    1 | class A: pass"),
    ],
)
def test_text_that_is_not_one_function_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match="function") as caught:
        read_text(text)
    assert message in str(caught.value)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of 3.12")
def test_type_parameters_are_read(tmp_path: Path) -> None:
    module = load(tmp_path, "def f[T](\n    a: T,\n) -> T:\n    return a\nx = 1\n")
    check_positions(read_function(module.f), module)
