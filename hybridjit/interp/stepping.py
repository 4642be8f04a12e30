"""Let debuggers of Python follow a script that is interpreted, line by line.

What they see is a frame of its own, which does nothing: a generator whose code has a statement in
each line of the script, and which goes to the line of each statement before that runs, with the
variables of the script as its own. Frames of the interpreter are hidden from them.
"""

from __future__ import annotations

import ast
import bdb
import inspect
import sys
from collections.abc import Callable, Sequence
from operator import is_not
from types import CodeType, FrameType, FunctionType, GeneratorType
from typing import Any

from hybridjit.errors import Span
from hybridjit.interp.scope import Frame, Scope
from hybridjit.interp.script_names import Named, find_names
from hybridjit.ir.func import PrimFunc

_HIDDEN = ("hybridjit", "numpy")
_LINE, _VALUES = "mirror_line", "mirror_values"
_NO_LINE = -1  # which is how CPython marks instructions that belong to no line

Trace = Callable[[FrameType, Any, Any], Any]


def find_step(span: Span | None, scope: Scope) -> Callable[[Frame], None] | None:
    """What runs before a statement, unless the one before it, in its function, is of its line."""
    if span is None:
        return None
    place = function_at(span, scope.whole)
    before = (s for s in reversed(scope.steps) if function_at(s, scope.whole) == place)
    last = next(before, None)
    if last is not None and last.line == span.line:
        return None
    scope.steps.append(span)
    return lambda frame: scope.show(frame, span)


def function_at(span: Span, script: Span | None) -> str:
    """The script itself is "", functions that it calls are known by their file."""
    is_own = script is None or (
        span.file == script.file and script.line <= span.line <= script.end_line
    )
    return "" if is_own else span.file


def with_debugger(
    func: PrimFunc, scope: Scope, run: Callable[[Sequence[object]], object]
) -> Callable[[Sequence[object]], object]:
    """What runs a program that has steps, while the trace function of this thread sees them."""

    def stepped(args: Sequence[object]) -> object:
        stepper = Stepper(func, scope)
        scope.show = stepper.show
        return stepper.run(lambda: run(args))

    return stepped


class Stepper:
    """One run of a program, as a debugger sees it, which is the trace function of this thread."""

    def __init__(self, func: PrimFunc, scope: Scope) -> None:
        trace = sys.gettrace()
        assert trace is not None
        self._trace: Trace = trace
        self._whole = scope.whole
        names = find_names(func, scope.slots)
        places = [function_at(span, scope.whole) for span in scope.steps]
        self._mirrors = {place: self._mirror(place, scope, names) for place in places}

    def _mirror(self, place: str, scope: Scope, names: list[Named]) -> _Mirror:
        whole = scope.whole
        spans = [span for span in scope.steps if function_at(span, whole) == place]
        here = [
            item
            for item in names
            if ("" if item.span is None else function_at(item.span, whole)) == place
        ]
        first = spans[0] if place or whole is None else whole
        return _Mirror(scope.name, first.line, spans, here)

    def run(self, work: Callable[[], object]) -> object:
        """Do the work, during which the debugger sees no frame of the interpreter."""
        sys.settrace(self._filtered)
        try:
            return work()
        finally:
            self._leave()
            if sys.gettrace() == self._filtered:
                sys.settrace(self._trace)

    def show(self, frame: Frame, span: Span) -> None:
        """Go to a line of the script."""
        place = function_at(span, self._whole)
        mirror = self._mirrors[place]
        if not mirror.is_watched or sys.gettrace() is None:
            return
        if place == "":
            self._come_back_to(mirror)
        mirror.show(frame, span.line)

    def _come_back_to(self, own: _Mirror) -> None:
        """One who goes on from the end of another function arrives in the script."""
        debugger = self._debugger()
        if debugger is not None and self._is_of_ours(debugger.stopframe, besides=own):
            debugger.set_next(own.frame)

    def _leave(self) -> None:
        """One who goes on from the end of the script arrives where it was called."""
        debugger = self._debugger()
        if debugger is None or not self._is_of_ours(debugger.stopframe):
            return
        caller = inspect.currentframe()
        while caller is not None and _is_hidden(caller):
            caller = caller.f_back
        if caller is not None:
            caller.f_trace = debugger.trace_dispatch
            debugger.set_next(caller)

    def _debugger(self) -> bdb.Bdb | None:
        debugger = getattr(self._trace, "__self__", None)
        return debugger if isinstance(debugger, bdb.Bdb) else None

    def _is_of_ours(self, frame: FrameType | None, besides: _Mirror | None = None) -> bool:
        mirrors = (mirror for mirror in self._mirrors.values() if mirror is not besides)
        return frame is not None and any(mirror.frame is frame for mirror in mirrors)

    def _filtered(self, frame: FrameType, event: str, arg: Any) -> Any:
        """The trace function for what is called: callbacks are seen, the interpreter is not."""
        for mirror in self._mirrors.values():
            if mirror.frame is frame:
                return mirror.entered(self._trace)
        return None if _is_hidden(frame) else self._trace(frame, event, arg)


def _is_hidden(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] in _HIDDEN


class _Mirror:
    """The frame of one function, and which variables are seen in it."""

    def __init__(self, name: str, first: int, spans: list[Span], names: list[Named]) -> None:
        lines = sorted({span.line for span in spans})
        code = _make_code(lines, sorted({item.name for item in names}), first)
        code = code.replace(co_filename=spans[0].file, co_name=name)
        self._names = names
        self._latest: dict[str, Named] = {}
        self._seen: dict[int, list[object]] = {}
        mirror = FunctionType(code, _globals_of(spans[0].file))
        self._generator: GeneratorType[None, Any, None] = mirror({})
        frame = self._generator.gi_frame
        assert frame is not None
        self.frame: FrameType = frame
        self.is_watched = True
        self._has_begun = False
        self._local: Trace | None = None

    def show(self, frame: Frame, line: int) -> None:
        """Go to a line, with the variables as they are."""
        if not self._has_begun:
            self._has_begun = True
            next(self._generator)
        self._generator.send((line, self._values(frame)))

    def entered(self, trace: Trace) -> Trace | None:
        """What sees the lines from now on; the debugger is told of the first entry only."""
        if self._local is None:
            self._local = trace(self.frame, "call", None)
            self.is_watched = self._local is not None
        return self._see_line if self.is_watched else None

    def _see_line(self, frame: FrameType, event: str, arg: Any) -> Trace:
        if event == "line" and self._local is not None:
            self._local = self._local(frame, event, arg) or self._local
        return self._see_line

    def _values(self, frame: Frame) -> dict[str, object]:
        """The variables; of several with one name, the one that was set last."""
        for number, item in enumerate(self._names):
            if not item.is_set(frame):
                continue
            held = [frame[slot] for slot in item.slots]
            before = self._seen.get(number)
            if before is None or any(map(is_not, held, before)):
                self._latest[item.name] = item
                self._seen[number] = held
        return {name: item.value(frame) for name, item in self._latest.items()}


def _globals_of(file: str) -> dict[str, Any]:
    """The names around the functions of a file, which people ask for as well."""
    modules = list(sys.modules.values())
    found = (vars(module) for module in modules if getattr(module, "__file__", None) == file)
    return next(found, vars(sys.modules["__main__"]))  # a notebook, or what is run by runpy


def _make_code(lines: list[int], names: list[str], first: int) -> CodeType:
    """The code of a generator that goes to the lines that are sent, one after the other:

        while True:
            .line, .values = yield
            if "i" in .values: i = .values["i"]
            if .line == 7: pass

    Each `pass` stands in its line. All else has no line, so that debuggers do not stop at it.
    """
    text = f"def mirror({_VALUES}):\n while True:\n  {_LINE}, {_VALUES} = yield\n"
    text += "".join(f"  if {name!r} in {_VALUES}: {name} = {_VALUES}[{name!r}]\n" for name in names)
    text += "".join(f"  if {_LINE} == {line}: pass\n" for line in lines)
    tree = ast.parse(text)
    passes = [node for node in ast.walk(tree) if isinstance(node, ast.Pass)]
    for node in ast.walk(tree):
        _place(node, _NO_LINE)
        _rename(node)
    _place(tree.body[0], first)
    for node, line in zip(passes, lines, strict=True):
        _place(node, line)
    module = compile(tree, "mirror", "exec")
    return next(code for code in module.co_consts if isinstance(code, CodeType))


def _place(node: ast.AST, line: int) -> None:
    if isinstance(node, ast.stmt | ast.expr | ast.arg):
        node.lineno = node.end_lineno = line
        node.col_offset = node.end_col_offset = min(line, 0)


def _rename(node: ast.AST) -> None:
    """Give the generator's own variables names that no script has."""
    if isinstance(node, ast.Name) and node.id in (_LINE, _VALUES):
        node.id = f".{node.id}"
    if isinstance(node, ast.arg):
        node.arg = f".{node.arg}"
