"""Source spans, diagnostics and the error tree.

Every error a user can fix is a `HybridError` and, at the same time, the built-in exception that
plain Python would have raised in its place. `str(error)` is the finished report:

    kernel.py:12:12: error: 'foo' is not defined
       12 |     c[i] = foo(a[i])
          |            ^^^
          = help: define it or pass it as an argument
          = code: HJ101

`InternalError` stands apart: it says that the fault is ours.
"""

import linecache
import os
from collections.abc import Sequence
from dataclasses import field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from hybridjit.lazy import lazy_module
from hybridjit.notebooks import cell_name, show_as_raised
from hybridjit.record import record

if TYPE_CHECKING:
    import unicodedata

    from hybridjit.catalogue import find as catalogue
else:
    catalogue = lazy_module("hybridjit.catalogue.find")
    unicodedata = lazy_module("unicodedata")

# A person mends a handful of errors before running again; more would scroll the first one away.
MAX_DIAGNOSTICS = 5

_PLACE = "__hybridjit_place__"
_FOREIGN = "__hybridjit_foreign__"
_PACKAGE = __name__.partition(".")[0]
_HOME = os.path.join(os.path.dirname(__file__), "")
_TAB = "    "
_NUMBER_WIDTH = 5
_MARGIN = " " * (_NUMBER_WIDTH + 1)
_ZERO_WIDTH_CATEGORIES = ("Mn", "Me", "Cf")

PathStyle = Literal["relative", "short"]


@record
class Span:
    """A stretch of source text, file-absolute.

    Lines count from 1 and columns from 0, in characters; the end is exclusive. A rendered column
    counts from 1, as editors do. In a function that is put in the place of a call, `call` is where
    that stands; the same text is equal wherever it is called.
    """

    file: str
    line: int
    col: int
    end_line: int
    end_col: int
    call: "Span | None" = field(default=None, compare=False, repr=False)


def text_at(span: Span) -> str:
    """The source text of a span within a line; nothing of others, or if it is not to be had."""
    if span.end_line != span.line:
        return ""
    return linecache.getline(span.file, span.line)[span.col : span.end_col].strip()


def line_in(file: str, line: int) -> str:
    """A line in words; of the script, unless there is a file."""
    return f"{os.path.basename(file)}:{line}" if file else f"line {line}"


@record
class Diagnostic:
    """One thing that is wrong, where it is, and what would be right."""

    message: str
    span: Span | None = None
    help: str | None = None
    notes: tuple[str, ...] = ()
    # The calls that led here, innermost first: the function, and where it is called.
    calls: tuple[tuple[str, Span], ...] = ()

    def render(self, paths: PathStyle = "relative", code: str | None = None) -> str:
        """Return the report as text; `paths="short"` names files without their directories.

        The code, of the catalogue of errors, is its last line.
        """
        lines = [self.message]
        if self.span is not None:
            lines = [f"{_place(self.span, paths)}: error: {self.message}", *_excerpt(self.span)]
        if self.help is not None:
            lines.append(_remark("help", self.help))
        lines.extend(_remark("note", note) for note in self.notes)
        for name, span in self.calls:
            lines.append(_remark("note", f"in '{name}', called at {_place(span, paths)}"))
        if code is not None:
            lines.append(_remark("code", code))
        return "\n".join(lines)


def _place(span: Span, paths: PathStyle) -> str:
    return f"{shown_path(span.file, paths)}:{span.line}:{span.col + 1}"


def shown_path(file: str, paths: PathStyle = "relative") -> str:
    """Return the name of a file as people know it: cells of notebooks have numbers."""
    cell = cell_name(file)
    if cell is not None or file.startswith("<"):
        return cell or file
    if paths == "short":
        return os.path.basename(file)
    try:
        here = os.path.join(os.getcwd(), "")
    except OSError:  # the working directory has been deleted
        return file
    return file.removeprefix(here)


def _excerpt(span: Span) -> list[str]:
    """Return the source line and its carets, or nothing if the line is not to be had."""
    line = linecache.getline(span.file, span.line).rstrip()
    if not line:
        return []
    start = min(span.col, len(line))
    end = span.end_col if span.end_line == span.line else len(line)
    before, marked = line[:start], line[start : max(start, end)]
    carets = " " * _width(before) + "^" * max(1, _width(marked))
    number = str(span.line).rjust(_NUMBER_WIDTH)
    return [f"{number} | {_visible(line)}", f"{' ' * len(number)} | {carets}"]


def _visible(text: str) -> str:
    """Return `text` with tabs as spaces and other control characters as one blank each."""
    if text.isprintable():
        return text
    tabless = text.replace("\t", _TAB)
    return "".join(" " if unicodedata.category(char) == "Cc" else char for char in tabless)


def _width(text: str) -> int:
    """Return the number of terminal columns that `_visible(text)` takes."""
    text = _visible(text)
    return len(text) if text.isascii() else sum(map(_char_width, text))


def _char_width(char: str) -> int:
    if unicodedata.category(char) in _ZERO_WIDTH_CATEGORIES:
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _remark(kind: str, text: str) -> str:
    """Return a help or note; further lines, such as printed IR, stand under its text."""
    first, *rest = text.splitlines() or [""]
    return "\n".join(
        [f"{_MARGIN}= {kind}: {first}", *(f"{_MARGIN}  {line}".rstrip() for line in rest)]
    )


class HybridError(Exception):
    """Something the user can fix; holds at least one diagnostic.

    Pickles with all its diagnostics, and combines with any built-in exception as a second base.
    """

    diagnostics: tuple[Diagnostic, ...]

    def __init__(
        self,
        message: str,
        span: Span | None = None,
        *,
        help: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        # Not super().__init__: the built-in bases disagree about their arguments.
        self.args = (message,)
        self.diagnostics = (Diagnostic(message, span, help, tuple(notes)),)

    @property
    def message(self) -> str:
        """What the first diagnostic says, without place and notes."""
        return self.diagnostics[0].message

    @property
    def span(self) -> Span | None:
        """Where the first diagnostic points."""
        return self.diagnostics[0].span

    def render(self, paths: PathStyle = "relative") -> str:
        """Return all diagnostics as text; `paths="short"` leaves out directories."""
        pairs = zip(self.diagnostics, self.codes, strict=True)
        return "\n".join(diagnostic.render(paths, code) for diagnostic, code in pairs)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the diagnostics: `python -m hybridjit explain HJ101` prints their pages."""
        messages = (diagnostic.message for diagnostic in self.diagnostics)
        return tuple(catalogue.find_code(type(self), message) for message in messages)

    @property
    def code(self) -> str:
        """The code of the first diagnostic."""
        return self.codes[0]

    def with_call(self, name: str, span: Span) -> "HybridError":
        """The same error, reached through a call of the function `name` at `span`."""
        first, *rest = self.diagnostics
        called = replace(first, calls=(*first.calls, (name, span)))
        return _restore(type(self), (called, *rest))

    def __str__(self) -> str:
        return self.render()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.diagnostics), self.__dict__


def _restore(kind: type[HybridError], diagnostics: tuple[Diagnostic, ...]) -> HybridError:
    error = kind.__new__(kind, diagnostics[0].message)
    error.diagnostics = diagnostics
    return error


class ParseError(HybridError, SyntaxError):
    """The source is outside the language, or cannot be read."""

    # Python and IPython print a SyntaxError from `msg` and, where `lineno` is set, add an excerpt
    # of their own. The report brings its excerpt along, so `lineno` and `filename` stay None.
    @property
    def msg(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The whole report."""
        return str(self)


class TypeMismatch(HybridError, TypeError):
    """A dtype, rank or shape does not fit."""


class ShapeMismatch(HybridError, ValueError):
    """The shapes of arrays do not fit together."""


class ScheduleError(HybridError, ValueError):
    """A precondition of a schedule primitive does not hold.

    `witness` are the two iterations that the step would turn around, if that is why: it has
    `first`, `later` and `element`, and draws itself.
    """

    witness: Any = None  # of schedule/witness.py


class PassError(HybridError, ValueError):
    """A pass of the user's own failed, or gave what is no valid function."""


class ArgumentError(HybridError, TypeError):
    """An argument of a call has the wrong type."""


class MissingSymbol(ArgumentError):
    """There is no C function of that name, yet."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of a call has the right type and a wrong value."""


class ConfigError(HybridError, ValueError):
    """A setting is malformed."""


class TuneError(HybridError, RuntimeError):
    """No candidate compiled or ran."""


class CheckError(HybridError, AssertionError):
    """Native code and the plain function of a kernel gave different answers: see `kernel.check`."""


class RunError(HybridError):
    """A running kernel stopped; the span is the source line it stopped at."""


class BoundsError(RunError, IndexError):
    """An index lies outside its axis."""


class RefutedIndex(BoundsError):
    """An index is sure to lie outside its axis: found by the compiler, before anything ran.

    Users need not tell it from other errors of its kind: a traceback names it IndexError.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_refuted, (self.diagnostics,), self.__dict__


RefutedIndex.__name__ = RefutedIndex.__qualname__ = "IndexError"


def _restore_refuted(diagnostics: tuple[Diagnostic, ...]) -> HybridError:
    return _restore(RefutedIndex, diagnostics)


class DivisionByZero(RunError, ZeroDivisionError):
    """An integer was divided by zero."""


class UnboundVariable(RunError, UnboundLocalError):
    """A variable was read on a path that never assigned it."""


class NarrowingError(RunError, OverflowError):
    """A value does not fit the type it is stored in."""


class UninitializedRead(RunError, RuntimeError):
    """An element of an allocated buffer was read before it was written."""


class InternalError(RuntimeError):
    """Our bug, not the user's."""

    def __init__(
        self,
        message: str,
        pass_name: str | None = None,
        span: Span | None = None,
        *,
        notes: Sequence[str] = (),
    ) -> None:
        self.args = (message, pass_name, span)
        self.pass_name = pass_name
        where = "" if pass_name is None else f" in {pass_name}"
        self.diagnostic = Diagnostic(
            f"internal error{where}: {message}",
            span,
            "this is a bug in hybridjit; please report it with the code that led to it",
            tuple(notes),
        )

    def __str__(self) -> str:
        return self.diagnostic.render(code=self.code)

    @property
    def code(self) -> str:
        """Its code in the catalogue of errors."""
        return catalogue.find_code(type(self), str(self.args[0]))


def combine(errors: Sequence[HybridError]) -> HybridError:
    """Return one error of the class of the first, holding the diagnostics of all.

    Repeated diagnostics count once; beyond `MAX_DIAGNOSTICS` the rest is counted in a note.
    """
    if len(errors) == 1:
        return errors[0]
    distinct = dict.fromkeys(item for error in errors for item in error.diagnostics)
    shown = list(distinct)[:MAX_DIAGNOSTICS]
    if more := len(distinct) - len(shown):
        shown[-1] = replace(shown[-1], notes=(*shown[-1].notes, f"and {more} more"))
    return _restore(type(errors[0]), tuple(shown))


def mark_raised(error: Exception, place: Diagnostic) -> Exception:
    """Return `error`, which a script raises itself, with its place: in a note, from 3.11 on."""
    error.__dict__[_PLACE] = place
    add_note = getattr(error, "add_note", None)
    if place.span is not None and add_note is not None:
        add_note(place.render())
    return error


def place_of(error: BaseException) -> Span | None:
    """Where in the source an error of a script came about, if that is known."""
    marked: Diagnostic | None = error.__dict__.get(_PLACE)
    if marked is not None:
        return marked.span
    return error.span if isinstance(error, HybridError) else None


def is_for_the_user(error: BaseException) -> bool:
    """Return whether `error` is about the user's code, so that our frames say nothing."""
    return isinstance(error, HybridError) or _PLACE in error.__dict__


def mark_foreign(error: BaseException) -> BaseException:
    """Return `error`, raised by code of the user that a kernel called: it is to leave as itself."""
    error.__dict__[_FOREIGN] = True
    return error


def name_call(error: HybridError, name: str) -> None:
    """Let an error about the arguments of a call say which function was called.

    One that has a place in the source, or that a callback raised, speaks for itself.
    """
    first, *rest = error.diagnostics
    called = f"{name}(): "
    is_own = first.span is None and _FOREIGN not in error.__dict__
    if is_own and not first.message.startswith(called):
        error.diagnostics = (replace(first, message=f"{called}{first.message}"), *rest)
        error.args = (error.message,)


def trim_error(error: BaseException) -> None:
    """Make an error that is not our own look as if the caller's line had raised it.

    See `trim_traceback` for when to call it.
    """
    if is_for_the_user(error):
        error.__cause__ = None
        error.__suppress_context__ = True
        trim_traceback(error)
        show_as_raised(ParseError)
    elif error.__dict__.pop(_FOREIGN, False):
        trim_traceback(error)


def trim_traceback(error: BaseException) -> None:
    """Drop the frames of this package from the traceback of `error`.

    To be called in an `except` block that then says `raise`. That re-raise adds no entry of its
    own from Python 3.11 on, so no frame of ours is left; 3.10 restores the entry of the function
    with the `except` block, and one frame is left.
    """
    top = error.__traceback__
    kept = _without_package_frames(top)
    error.__traceback__ = kept
    if top is not None and top is not kept:
        top.tb_next = kept  # what 3.10 restores


def _without_package_frames(entry: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while entry is not None:
        if not _is_package_frame(entry):
            kept.append(entry)
        entry = entry.tb_next
    following = None
    for item in reversed(kept):
        item.tb_next = following
        following = item
    return following


def is_package_file(file: str) -> bool:
    """True of our own source, such as that of functions of NumPy that scripts call."""
    return file.startswith(_HOME)


def place_in_script(span: Span) -> Span:
    """Where people know `span` to be: what a function of ours does is done where that is called."""
    while is_package_file(span.file) and span.call is not None:
        span = span.call
    return span


def _is_package_frame(entry: TracebackType) -> bool:
    module = entry.tb_frame.f_globals.get("__name__", "")
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")
