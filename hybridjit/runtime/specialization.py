"""One translation of a script, and the code made of it for each layout of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from hybridjit.codegen.forks import COMPILE_LOCK
from hybridjit.codegen.layout import ArrayLayout, Layout
from hybridjit.frontend.captures import Capture
from hybridjit.frontend.parse import Parsed
from hybridjit.frontend.specs import Spec
from hybridjit.interp.run import compile_func
from hybridjit.ir.func import PrimFunc
from hybridjit.runtime.arguments import (
    check_writable,
    flatten,
    share_memory,
    written_buffers,
)
from hybridjit.runtime.captured_arrays import check_not_captured, find_guarded
from hybridjit.runtime.native import NativeKernel, compile_native, layout_of


class Specialization:
    """A script translated for one set of argument types, valid while its captures are."""

    def __init__(self, parsed: Parsed) -> None:
        self.func: PrimFunc = parsed.func
        self.captures: tuple[Capture, ...] = parsed.captures
        self.written = written_buffers(parsed.func)
        self.guarded = find_guarded(self.func, self.written, self.captures)
        self.natives: dict[Layout, NativeKernel] = {}

    def is_current(self) -> bool:
        """True while what the script took from around it has not changed."""
        return all(capture.is_current() for capture in self.captures)

    @cached_property
    def _interpreter(self) -> Callable[[Sequence[object]], object]:
        return compile_func(self.func)

    def interpret(self, args: Sequence[Any]) -> object:
        """Run the IR in the interpreter."""
        self._check(args)
        return self._interpreter(args)

    def run(self, args: Sequence[Any]) -> object:
        """Run native code, made when arguments with this layout come for the first time."""
        _, native = self.prepare(args)
        return native(args)

    def prepare(self, args: Sequence[Any]) -> tuple[Layout, NativeKernel]:
        """The code for arguments that lie in memory as these do, and how they lie there."""
        self._check(args)
        layout = self._layout(args)
        return layout, self.compile(layout)

    def _check(self, args: Sequence[Any]) -> None:
        """Refuse to write where that would not mean what the script says."""
        check_writable(self.func, self.written, args)
        check_not_captured(self.func, self.written, args, self.guarded)

    def _layout(self, args: Sequence[Any]) -> Layout:
        is_disjoint = not share_memory(self.func, self.written, args)
        return layout_of(self.func, args, is_disjoint=is_disjoint)

    def compile(self, layout: Layout) -> NativeKernel:
        """The code for arguments with this layout, made once."""
        found = self.natives.get(layout)
        if found is None:
            with COMPILE_LOCK:
                found = self.natives.get(layout)
                if found is None:
                    found = self.natives[layout] = compile_native(self.func, layout)
        return found

    def layout(self, specs: Sequence[Spec], values: Sequence[Any]) -> Layout:
        """The layout of arguments; types given in their place stand for disjoint C order."""
        if any(value is spec for spec, value in zip(specs, values, strict=True)):
            return Layout((ArrayLayout(),) * len(self.func.buffers), True)
        return self._layout(flatten(specs, values))
