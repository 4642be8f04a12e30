"""Let debuggers of Python follow a script that is interpreted, line by line.

What they see are frames that do nothing, one for the script and one for each function that is being
called: generators whose code has a statement in each line of the function, and which go to the line
of each statement before that runs, with the variables of the function as their own. A function is
entered from the frame that calls it, at the line of the call, so that it is seen around it. Frames
of the interpreter are hidden.
"""

from __future__ import annotations

import ast
import bdb
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from functools import lru_cache, partial
from itertools import takewhile
from linecache import getlines
from operator import is_not
from types import CodeType, FrameType, FunctionType, GeneratorType
from typing import Any

from hybridjit.errors import Span, is_package_file
from hybridjit.interp.scope import Frame, Scope
from hybridjit.interp.script_names import Alias, Calls, Named, calls_of, find_names
from hybridjit.ir.func import PrimFunc
from hybridjit.record import record
from hybridjit.syntax import parse_module

_HIDDEN = ("hybridjit", "numpy")
_LINE, _VALUES, _CALL = _OWN = "mirror_line", "mirror_values", "mirror_call"
_NO_LINE = -1  # which is how CPython marks instructions that belong to no line

Trace = Callable[[FrameType, Any, Any], Any]
Chain = tuple[Span, ...]
"""A place in the script, and in each function that is called from there: where that stands."""


def chain_of(span: Span) -> Chain:
    """Where the script stands at `span`, outermost first; functions of ours are not seen."""
    found: list[Span] = []
    place: Span | None = span
    while place is not None:
        found.insert(0, place)
        place = place.call
    return tuple(takewhile(lambda each: not is_package_file(each.file), found))


def find_step(span: Span | None, scope: Scope) -> Callable[[Frame], None] | None:
    """What runs before a statement, unless the one before it, in its function, is of its line."""
    chain = () if span is None else chain_of(span)
    if not chain:
        return None
    key, depth = calls_of(chain[-1]), len(chain) - 1
    before = (found for found in reversed(scope.steps) if calls_of(found[-1])[:depth] == key)
    last = next((found for found in before if len(found) > depth), None)
    if last is not None and last[depth].line == chain[depth].line:
        return None
    scope.steps.append(chain)
    return lambda frame: scope.show(frame, chain)


def with_debugger(
    func: PrimFunc,
    scope: Scope,
    aliases: Sequence[Alias],
    run: Callable[[Sequence[object]], object],
) -> Callable[[Sequence[object]], object]:
    """What runs a program that has steps, while the trace function of this thread sees them."""

    def stepped(args: Sequence[object]) -> object:
        stepper = Stepper(func, scope, aliases)
        scope.show = stepper.show
        return stepper.run(lambda: run(args))

    return stepped


@record(eq=False)
class _Function:
    """What is seen of a function in one of its calls."""

    name: str
    first: int
    file: str
    lines: set[int] = field(default_factory=set[int])
    names: list[Named] = field(default_factory=list[Named])

    def make_code(self) -> CodeType:
        """The code of its frames."""
        names = sorted({item.name for item in self.names})
        code = _make_code(sorted(self.lines), names, self.first)
        return code.replace(co_filename=self.file, co_name=self.name)


class Stepper:
    """One run of a program, as a debugger sees it, which is the trace function of this thread."""

    def __init__(self, func: PrimFunc, scope: Scope, aliases: Sequence[Alias]) -> None:
        trace = sys.gettrace()
        assert trace is not None
        self._trace: Trace = trace
        self._scope = scope
        self._functions: dict[Calls, _Function] = {}
        self._stack: list[_Mirror] = []
        for chain in scope.steps:
            for depth in range(len(chain)):
                self._function(chain[: depth + 1]).lines.add(chain[depth].line)
        for item in find_names(func, scope.slots, aliases):
            chain = () if item.span is None else chain_of(item.span)
            key = calls_of(chain[-1]) if chain else ()
            if key in self._functions:
                self._functions[key].names.append(item)
        # Now: while it runs, the debugger would see how.
        self._codes = {key: each.make_code() for key, each in self._functions.items()}

    def _function(self, chain: Chain) -> _Function:
        key = calls_of(chain[-1])
        if key not in self._functions:
            span, whole = chain[-1], self._scope.whole
            name, first = self._scope.name, span.line if whole is None else whole.line
            if key:
                name, first = _function_at(span.file, span.line) or (name, span.line)
            self._functions[key] = _Function(name, first, span.file)
        return self._functions[key]

    def run(self, work: Callable[[], object]) -> object:
        """Do the work, during which the debugger sees no frame of the interpreter."""
        sys.settrace(self._filtered)
        try:
            return work()
        finally:
            self._leave()
            if sys.gettrace() == self._filtered:
                sys.settrace(self._trace)

    def show(self, frame: Frame, chain: Chain) -> None:
        """Go to a line of the script, or of a function that it calls."""
        if sys.gettrace() is None:
            return
        key = calls_of(chain[-1])
        self._return_to(key)
        for depth, span in enumerate(chain):
            if depth == len(self._stack):
                self._enter(key[:depth], frame)
            self._stack[depth].line = span.line
        last = self._stack[-1]
        if last.is_watched:
            self._go(len(chain) - 1, (last.line, last.values(frame), bool))

    def _enter(self, key: Calls, frame: Frame) -> None:
        """A function is called: the debugger sees a new frame."""
        function = self._functions[key]
        self._stack.append(_Mirror(key, self._codes[key], function))
        self._stack[-1].forget_earlier(frame)
        self._go(len(self._stack) - 1, None)

    def _go(self, depth: int, sent: object) -> None:
        """Let the frame at `depth` go on, called by those around it, which are not seen to move."""
        around = self._stack[:depth]
        run: Callable[[], object] = partial(self._stack[depth].generator.send, sent)
        for mirror in reversed(around):
            run = partial(mirror.generator.send, (mirror.line, {}, run))
        for mirror in around:
            mirror.is_passing = True
        try:
            run()
        finally:
            for mirror in around:
                mirror.is_passing = False

    def _return_to(self, key: Calls) -> None:
        """One who goes on from the end of a function arrives where it was called."""
        while self._stack and self._stack[-1].key != key[: len(self._stack) - 1]:
            left = self._stack.pop()
            debugger = self._debugger()
            if debugger is not None and self._stack and debugger.stopframe is left.frame:
                debugger.set_next(self._stack[-1].frame)
        del self._stack[len(key) + 1 :]

    def _leave(self) -> None:
        """One who goes on from the end of the script arrives where it was called."""
        debugger = self._debugger()
        frames = [mirror.frame for mirror in self._stack]
        if debugger is None or debugger.stopframe not in frames:
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

    def _filtered(self, frame: FrameType, event: str, arg: Any) -> Any:
        """The trace function for what is called: callbacks are seen, the interpreter is not."""
        for mirror in self._stack:
            if mirror.frame is frame:
                return mirror.entered(self._trace)
        return None if _is_hidden(frame) else self._trace(frame, event, arg)


def _is_hidden(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] in _HIDDEN


class _Mirror:
    """The frame of one call of a function, and which variables are seen in it."""

    def __init__(self, key: Calls, code: CodeType, function: _Function) -> None:
        self.key = key
        self._names = function.names
        self._latest: dict[str, Named] = {}
        self._seen: dict[int, list[object]] = {}
        mirror = FunctionType(code, _globals_of(function.file))
        self.generator: GeneratorType[None, Any, None] = mirror({})
        frame = self.generator.gi_frame
        assert frame is not None
        self.frame: FrameType = frame
        self.is_watched = True
        self.is_passing = False
        self.line = 0
        self._local: Trace | None = None

    def forget_earlier(self, frame: Frame) -> None:
        """What an earlier call has left is not of this one, but for what it is given."""
        for number, item in enumerate(self._names):
            if item.is_set(frame) and not item.is_given:
                self._seen[number] = [frame[slot] for slot in item.slots]

    def entered(self, trace: Trace) -> Trace | None:
        """What sees the lines from now on; the debugger is told of the first entry only."""
        if self._local is None and self.is_watched:
            self._local = trace(self.frame, "call", None)
            self.is_watched = self._local is not None
        return self._see_line if self.is_watched else None

    def _see_line(self, frame: FrameType, event: str, arg: Any) -> Trace:
        if event == "line" and self._local is not None and not self.is_passing:
            self._local = self._local(frame, event, arg) or self._local
        return self._see_line

    def values(self, frame: Frame) -> dict[str, object]:
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


def _function_at(file: str, line: int) -> tuple[str, int] | None:
    """The name and the first line of the innermost function that a line of a file is in."""
    inside = [each for each in _functions_in(file) if each[1] <= line <= each[2]]
    return max(inside, key=lambda each: each[1])[:2] if inside else None


@lru_cache(maxsize=16)
def _functions_in(file: str) -> list[tuple[str, int, int]]:
    try:
        tree = parse_module("".join(getlines(file)))
    except SyntaxError:
        return []
    defined = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return [(node.name, node.lineno, node.end_lineno or node.lineno) for node in defined]


def _make_code(lines: Sequence[int], names: Iterable[str], first: int) -> CodeType:
    """The code of a generator that goes to the lines that are sent, one after the other:

        while True:
            .line, .values, .call = yield
            if "i" in .values: i = .values["i"]
            if .line == 7: .call()

    Each call stands in its line. All else has no line, so that debuggers do not stop at it.
    """
    text = f"def mirror({_VALUES}):\n while True:\n  {', '.join(_OWN)} = yield\n"
    text += "".join(f"  if {name!r} in {_VALUES}: {name} = {_VALUES}[{name!r}]\n" for name in names)
    text += "".join(f"  if {_LINE} == {line}: {_CALL}()\n" for line in lines)
    tree = parse_module(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    for node in ast.walk(tree):
        _place(node, _NO_LINE)
        _rename(node)
    _place(tree.body[0], first)
    for call, line in zip(calls, lines, strict=True):
        for node in ast.walk(call):
            _place(node, line)
    module = compile(tree, "mirror", "exec")
    return next(code for code in module.co_consts if isinstance(code, CodeType))


def _place(node: ast.AST, line: int) -> None:
    if isinstance(node, ast.stmt | ast.expr | ast.arg):
        node.lineno = node.end_lineno = line
        node.col_offset = node.end_col_offset = min(line, 0)


def _rename(node: ast.AST) -> None:
    """Give the generator's own variables names that no script has."""
    if isinstance(node, ast.Name) and node.id in _OWN:
        node.id = f".{node.id}"
    if isinstance(node, ast.arg):
        node.arg = f".{node.arg}"
