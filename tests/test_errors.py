"""Rendering of diagnostics, the error tree, and how tracebacks show both."""

import copy
import linecache
import os
import pickle
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from hybridjit import config, errors
from hybridjit.errors import Diagnostic, HybridError, InternalError, ParseError, Span, combine

USER_ERRORS: list[tuple[type[HybridError], type[Exception]]] = [
    (errors.ParseError, SyntaxError),
    (errors.TypeMismatch, TypeError),
    (errors.ScheduleError, ValueError),
    (errors.PassError, ValueError),
    (errors.ArgumentError, TypeError),
    (errors.ArgumentValueError, ValueError),
    (errors.MissingSymbol, TypeError),
    (errors.ConfigError, ValueError),
    (errors.TuneError, RuntimeError),
    (errors.BoundsError, IndexError),
    (errors.DivisionByZero, ZeroDivisionError),
    (errors.UnboundVariable, UnboundLocalError),
    (errors.NarrowingError, OverflowError),
    (errors.UninitializedRead, RuntimeError),
    (errors.RefutedIndex, IndexError),
    (errors.ShapeMismatch, ValueError),
    (errors.CheckError, AssertionError),
]

KERNEL = """\
def kernel(a, c):
    for i in range(10):
        c[i] = foo(a[i])
"""
FOO = Span("<kernel>", 3, 15, 3, 18)
FOO_REPORT = """\
<kernel>:3:16: error: 'foo' is not defined
    3 |         c[i] = foo(a[i])
      |                ^^^
      = help: define it first
      = note: the call is in kernel
      = code: HJ101"""


@pytest.fixture(autouse=True)
def kernel_text(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, "<kernel>", KERNEL)


def serve(monkeypatch: pytest.MonkeyPatch, file: str, text: str) -> None:
    entry = (len(text), None, [f"{line}\n" for line in text.split("\n")], file)
    monkeypatch.setitem(linecache.cache, file, entry)


def undefined_foo(kind: type[HybridError] = ParseError) -> HybridError:
    return kind(
        "'foo' is not defined", FOO, help="define it first", notes=["the call is in kernel"]
    )


# --- rendering ---


def test_a_report_shows_line_carets_help_and_notes() -> None:
    assert str(undefined_foo()) == FOO_REPORT


def test_without_a_span_the_message_stands_alone() -> None:
    error = HybridError("a has 3 columns but b has 4 rows", help="transpose b")
    assert str(error) == (
        "a has 3 columns but b has 4 rows\n      = help: transpose b\n      = code: HJ000"
    )


def test_without_source_there_is_no_excerpt() -> None:
    error = HybridError("lost", Span("<nowhere>", 3, 4, 3, 5), help="look elsewhere")
    assert str(error) == (
        "<nowhere>:3:5: error: lost\n      = help: look elsewhere\n      = code: HJ000"
    )


def test_a_span_of_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    assert Diagnostic("too long", Span("<kernel>", 2, 4, 3, 24)).render() == (
        "<kernel>:2:5: error: too long\n"
        "    2 |     for i in range(10):\n"
        "      |     ^^^^^^^^^^^^^^^^^^^"
    )


@pytest.mark.parametrize(("col", "end_col"), [(4, 4), (4, 5), (4, 2)])
def test_there_is_always_a_caret(col: int, end_col: int) -> None:
    rendered = Diagnostic("here", Span("<kernel>", 2, col, 2, end_col)).render()
    assert rendered.endswith("\n      |     ^")


def test_a_column_past_the_end_is_marked_at_the_end() -> None:
    rendered = Diagnostic("here", Span("<kernel>", 1, 400, 1, 410)).render()
    assert rendered.endswith("\n    1 | def kernel(a, c):\n      |                  ^")


@pytest.mark.parametrize(
    ("line", "shown", "columns"),
    [
        ("\tx = \tBAD", "    x =     BAD", 12),
        ("größe = BAD", "größe = BAD", 8),
        ("e\u0301 = BAD", "e\u0301 = BAD", 4),
        ("变量 = BAD", "变量 = BAD", 7),
        ("'\uff57\uff49'; BAD", "'\uff57\uff49'; BAD", 8),
        ("\x0cx = BAD", " x = BAD", 5),
    ],
    ids=["tabs", "two bytes", "combining", "wide", "full width", "form feed"],
)
def test_carets_stand_under_the_span(
    monkeypatch: pytest.MonkeyPatch, line: str, shown: str, columns: int
) -> None:
    serve(monkeypatch, "<line>", f"{line}\n")
    start = line.index("BAD")
    report = Diagnostic("m", Span("<line>", 1, start, 1, start + 3)).render()
    assert report.split("\n")[1:] == [f"    1 | {shown}", "      | " + " " * columns + "^^^"]


def test_carets_under_wide_characters_are_two_columns_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    serve(monkeypatch, "<line>", "变量 = 1\n")
    assert Diagnostic("m", Span("<line>", 1, 0, 1, 2)).render().endswith("\n      | ^^^^")


def test_a_long_line_number_moves_the_gutter(monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, "<long>", "\n" * 123_455 + "bad\n")
    assert Diagnostic("m", Span("<long>", 123_456, 0, 123_456, 3)).render() == (
        "<long>:123456:1: error: m\n123456 | bad\n       | ^^^"
    )


def test_a_note_of_several_lines_is_indented() -> None:
    error = HybridError("no", notes=["the program is\nfor i in range(3):\n\n    body"])
    assert str(error) == (
        "no\n      = note: the program is\n        for i in range(3):\n\n            body\n"
        "      = code: HJ000"
    )


def test_a_path_below_the_working_directory_is_relative(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    inside = Diagnostic("m", Span(str(tmp_path / "sub" / "k.py"), 1, 0, 1, 1))
    outside = Diagnostic("m", Span(f"{tmp_path}x{os.sep}k.py", 1, 0, 1, 1))
    assert inside.render() == f"sub{os.sep}k.py:1:1: error: m"
    assert outside.render() == f"{tmp_path}x{os.sep}k.py:1:1: error: m"


def test_short_paths_leave_out_directories(tmp_path: Path) -> None:
    error = HybridError("m", Span(str(tmp_path / "sub" / "k.py"), 1, 0, 1, 1))
    assert error.render(paths="short") == "k.py:1:1: error: m\n      = code: HJ000"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a directory that is in use")
def test_a_deleted_working_directory_does_no_harm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert Diagnostic("m", Span("/k.py", 1, 0, 1, 1)).render() == "/k.py:1:1: error: m"


# --- the tree ---


@pytest.mark.parametrize(("kind", "builtin"), USER_ERRORS)
def test_an_error_is_also_the_builtin(kind: type[HybridError], builtin: type[Exception]) -> None:
    error = undefined_foo(kind)
    assert isinstance(error, HybridError)
    assert isinstance(error, builtin)
    assert (error.message, error.span) == ("'foo' is not defined", FOO)
    assert str(error) == FOO_REPORT.replace("HJ101", error.code)


def through_pickle(error: HybridError) -> HybridError:
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("kind", [HybridError, *(kind for kind, _ in USER_ERRORS)])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, through_pickle])
def test_an_error_round_trips(
    kind: type[HybridError], duplicate: Callable[[HybridError], HybridError]
) -> None:
    error = combine([undefined_foo(kind), HybridError("second", help="h", notes=["n"])])
    twin = duplicate(error)
    assert type(twin) is kind
    assert twin.diagnostics == error.diagnostics
    assert twin.args == error.args
    assert str(twin) == str(error)


def test_every_error_is_tested() -> None:
    untested = {HybridError, errors.RunError}
    declared = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, HybridError)
    }
    assert declared - untested == {kind for kind, _ in USER_ERRORS}


def test_an_internal_error_says_so_and_names_the_pass() -> None:
    error = InternalError("no case for Ramp", "flatten_buffers", FOO, notes=["the IR is in x"])
    assert str(error) == (
        "<kernel>:3:16: error: internal error in flatten_buffers: no case for Ramp\n"
        "    3 |         c[i] = foo(a[i])\n"
        "      |                ^^^\n"
        "      = help: this is a bug in hybridjit; please report it with the code that led to it\n"
        "      = note: the IR is in x\n"
        "      = code: HJ900"
    )
    assert not isinstance(error, HybridError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


# --- combine ---


def test_combine_holds_all_diagnostics_in_order() -> None:
    error = combine([errors.TypeMismatch("one"), ParseError("two"), ParseError("three")])
    assert type(error) is errors.TypeMismatch
    code = "      = code: HJ200"
    assert str(error) == f"one\n{code}\ntwo\n{code}\nthree\n{code}"
    assert error.message == "one"


def test_combine_returns_a_single_error_as_it_is() -> None:
    error = ParseError("one")
    assert combine([error]) is error


def test_combine_counts_what_it_leaves_out() -> None:
    error = combine([ParseError(f"error {n}", notes=["n"]) for n in range(8)])
    assert len(error.diagnostics) == 5
    assert str(error).endswith(
        "error 4\n      = note: n\n      = note: and 3 more\n      = code: HJ100"
    )


def test_combine_says_the_same_thing_once() -> None:
    assert str(combine([ParseError("same"), ParseError("same"), ParseError("other")])) == (
        "same\n      = code: HJ100\nother\n      = code: HJ100"
    )


# --- tracebacks ---


@pytest.mark.parametrize("kind", [kind for kind, _ in USER_ERRORS])
def test_a_traceback_shows_the_report_once(kind: type[HybridError]) -> None:
    error = undefined_foo(kind)
    shown = "".join(traceback.format_exception_only(kind, error))
    report = FOO_REPORT.replace("HJ101", error.code)
    assert shown == f"hybridjit.errors.{kind.__name__}: {report}\n"


def test_an_uncaught_parse_error_shows_the_report_once(tmp_path: Path) -> None:
    """The interpreter prints through C code of its own up to 3.12."""
    script = tmp_path / "script.py"
    script.write_text(
        "from hybridjit.errors import ParseError, Span\n"
        "raise ParseError('bad', Span(__file__, 1, 5, 1, 14), help='h')\n",
        encoding="utf-8",
    )
    root = str(Path(__file__).parents[1])
    ran = subprocess.run(
        [sys.executable, script.name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr.endswith(
        "hybridjit.errors.ParseError: script.py:1:6: error: bad\n"
        "    1 | from hybridjit.errors import ParseError, Span\n"
        "      |      ^^^^^^^^^\n"
        "      = help: h\n"
        "      = code: HJ100\n"
    )
    assert ran.stderr.count("error: bad") == 1


OURS = """
from hybridjit.config import api_edge
from hybridjit.errors import HybridError

def deep(callback):
    try:
        return {}["missing"]
    except KeyError:
        callback(lambda: stop())
        stop()

def stop():
    raise HybridError("stopped")

@api_edge
def public(callback=lambda step: None):
    deep(callback)

@api_edge
def public_over_public():
    public()

@api_edge
def broken():
    raise LookupError("not ours to hide")
"""
# 3.10 restores the traceback entry of the function that re-raises; 3.11 and later do not.
LEFT_OVER = [] if sys.version_info >= (3, 11) else ["edge"]


@pytest.fixture
def ours() -> ModuleType:
    module = ModuleType("hybridjit.imaginary")
    exec(compile(textwrap.dedent(OURS), "imaginary.py", "exec"), module.__dict__)
    return module


def frames(error: BaseException) -> list[str]:
    names = [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    assert names[0].startswith("test_")
    return names[1:]


def test_frames_of_the_package_are_dropped_at_the_edge(ours: ModuleType) -> None:
    with pytest.raises(HybridError, match="stopped") as caught:
        ours.public()
    assert frames(caught.value) == LEFT_OVER
    shown = "".join(traceback.format_exception(caught.value))
    assert "KeyError" not in shown


def test_a_nested_edge_leaves_no_more(ours: ModuleType) -> None:
    with pytest.raises(HybridError, match="stopped") as caught:
        ours.public_over_public()
    assert frames(caught.value) == LEFT_OVER


def test_frames_of_a_callback_stay(ours: ModuleType) -> None:
    def schedule(step: Callable[[], None]) -> None:
        step()

    with pytest.raises(HybridError, match="stopped") as caught:
        ours.public(schedule)
    assert frames(caught.value) == [*LEFT_OVER, "schedule"]


def test_a_full_traceback_keeps_everything(ours: ModuleType) -> None:
    with config.scope(traceback="full"), pytest.raises(HybridError, match="stopped") as caught:
        ours.public()
    assert frames(caught.value) == ["edge", "public", "deep", "stop"]
    assert "KeyError" in "".join(traceback.format_exception(caught.value))


def test_other_exceptions_keep_their_traceback(ours: ModuleType) -> None:
    with pytest.raises(LookupError, match="not ours to hide") as caught:
        ours.broken()
    assert frames(caught.value) == ["edge", "broken"]


def test_a_refuted_index_reads_as_what_it_is() -> None:
    error = errors.RefutedIndex("index 3 is out of bounds", FOO)
    assert traceback.format_exception_only(error)[0].startswith("hybridjit.errors.IndexError: ")
    assert type(pickle.loads(pickle.dumps(error))) is errors.RefutedIndex
