"""One translation of a script, and the code made of it for each layout of the arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from hybridjit import config
from hybridjit.codegen.engine import code_bytes
from hybridjit.codegen.forks import COMPILE_LOCK
from hybridjit.codegen.layout import ArrayLayout, Layout
from hybridjit.fresh_stack import on_fresh_stack
from hybridjit.frontend.captures import Capture
from hybridjit.interp.run import compile_func, compile_prologue
from hybridjit.interp.scope import Scope
from hybridjit.ir.expr import Buffer
from hybridjit.ir.header import Header
from hybridjit.ir.signature import ArrayResult, ScalarResult
from hybridjit.kept_property import kept_property
from hybridjit.lazy import lazy_module
from hybridjit.processor import current_target
from hybridjit.runtime.arguments import check_writable, flatten, has_types, share_memory
from hybridjit.runtime.cache.disk_cache import active_store
from hybridjit.runtime.captured_arrays import check_not_captured
from hybridjit.runtime.compile_times import Compiled, Source, Stages
from hybridjit.runtime.generators import LentGenerators
from hybridjit.runtime.native import NativeKernel, find_code, keep_code, layout_of, load_native
from hybridjit.runtime.out_arrays import check_out
from hybridjit.runtime.slow_notice import noticed
from hybridjit.runtime.translation import Request, SavedTranslation, Summary
from hybridjit.scalars.specs import Spec, is_known_size

if TYPE_CHECKING:
    from hybridjit.frontend.parse import Parsed
    from hybridjit.ir.func import PrimFunc
    from hybridjit.optimize.optimize import Optimized
    from hybridjit.runtime import compiler
    from hybridjit.runtime.cache import kernel_key as kernel_cache
else:
    compiler = lazy_module("hybridjit.runtime.compiler")
    kernel_cache = lazy_module("hybridjit.runtime.cache.kernel_key")


class Specialization:
    """A script translated for one set of argument types, valid while its captures are.

    Where an earlier process left its summary and its code, the script is not parsed.
    """

    def __init__(self, request: Request) -> None:
        self._begin()
        self._request = request
        self._saved = SavedTranslation(request, active_store())
        self.summary = self._saved.find() or self._translate()

    def specs_of(self, specs: tuple[Spec, ...]) -> tuple[Spec, ...]:
        """What arguments of these types are to this code: some sizes may be left to run time."""
        pairs = zip(specs, self._request.specs, strict=True)
        return tuple(made if is_known_size(spec) else spec for spec, made in pairs)

    def _begin(self) -> None:
        """There is no code yet."""
        self._is_void = False
        self._stages = Stages()
        self._times: dict[Layout, tuple[Source, Stages]] = {}
        self.natives: dict[Layout, NativeKernel] = {}

    def _translate(self) -> Summary:
        with self._stages.timed("parse"):
            self.parsed = parsed = compiler.translate(self._request)
        summary = compiler.summarize(parsed.func, parsed.captures)
        self._saved.keep(summary, parsed.callees)
        return summary

    @kept_property
    def parsed(self) -> Parsed:
        """The translation of the script."""
        with self._stages.timed("parse"):
            return self._checked(compiler.translate(self._request))

    @property
    def func(self) -> PrimFunc:
        """The IR of the script, as its schedule makes it."""
        return self.parsed.func

    @kept_property
    def func_in_order(self) -> PrimFunc:
        """The IR for arguments that share memory: neither a schedule nor a proof counts there."""
        return self._checked(compiler.translate_in_order(self._request)).func

    def in_order(self, args: Sequence[Any], *, keeps_names: bool = False) -> Parsed:
        """The program as it is written, one iteration after the other, for a call with `args`; for
        debuggers with the names of the script.
        """
        options = {"shares_memory": not self._layout(args).is_disjoint, "keeps_names": keeps_names}
        return self._checked(compiler.translate_in_order(self._request, **options))

    @kept_property
    def optimized(self) -> Optimized:
        """The IR made fast, as far as no schedule says how it runs."""
        return self._make_fast(in_c_order=True)

    @kept_property
    def _optimized_for_strides(self) -> Optimized:
        return self._make_fast(in_c_order=False)

    def _make_fast(self, *, in_c_order: bool) -> Optimized:
        parsed, says_order = self.parsed, self.is_scheduled
        with self._stages.timed("optimise"):
            return compiler.make_fast(
                parsed.func, parsed.as_written, says_order=says_order, in_c_order=in_c_order
            )

    def _checked(self, parsed: Parsed) -> Parsed:
        """A translation that was made after the summary, of the same values if possible.

        Where another thread changes a value meanwhile, this call runs with the one or the other,
        and the next one starts afresh.
        """
        if not all(capture.is_current() for capture in (*self.captures, *parsed.captures)):
            self._is_void = True
        return parsed

    @property
    def header(self) -> Header:
        """What a call passes and gets. Its variables may be others than those of `func`."""
        return self.summary.header

    @property
    def captures(self) -> tuple[Capture, ...]:
        """What the script took from around it."""
        return self.summary.captures

    def is_current(self) -> bool:
        """True while what the script took from around it has not changed."""
        return not self._is_void and all(capture.is_current() for capture in self.captures)

    @kept_property
    def _interpreter(self) -> Callable[[Sequence[object]], object]:
        return compile_func(self.func)

    @kept_property
    def _interpreter_in_order(self) -> Callable[[Sequence[object]], object]:
        return compile_func(self.func_in_order)

    def interpret(self, args: Sequence[Any], out: object = None) -> object:
        """Run the IR in the interpreter; `out` are the arrays that are to take its results."""
        self._check(args)
        self.check_out(args, out)
        if sys.gettrace() is not None:  # somebody looks: the program as it is written
            shown = self.in_order(args, keeps_names=True)
            return compile_func(shown.func, has_steps=True, aliases=shown.aliases)(args)
        if self._layout(args).is_disjoint:
            return self._interpreter(args)
        return self._interpreter_in_order(args)

    def check_out(self, args: Sequence[Any], out: object) -> None:
        """Refuse arrays for the results before anything runs, if their sizes are known by then."""
        if out is None or self._make_returned is None:
            return
        check_out(self._make_returned(args), out)

    @kept_property
    def _make_returned(self) -> Callable[[Sequence[Any]], list[NDArray[Any]]] | None:
        """What makes the arrays that a call returns, without their elements."""
        header = self.header
        arrays = [item for item in header.returns or () if not isinstance(item, ScalarResult)]
        if header.nesting is not None or any(isinstance(item, ArrayResult) for item in arrays):
            return None
        scope = Scope(span=header.span)
        begin = compile_prologue(header, scope, range(len(header.outputs)))
        slots = [scope.slot(item) for item in arrays if isinstance(item, Buffer)]
        return lambda args: list(map(begin(args).__getitem__, slots))

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
        written = self.summary.written
        check_writable(self.header, written, args)
        check_not_captured(self.header, written, args, self.summary.guarded)

    def _layout(self, args: Sequence[Any]) -> Layout:
        is_disjoint = not share_memory(self.header, self.summary.written, args)
        counters = self.summary.counters
        return layout_of(self.header, args, is_disjoint=is_disjoint, counters=counters)

    def compile(self, layout: Layout) -> NativeKernel:
        """The code for arguments with this layout, made once."""
        found = self.natives.get(layout)
        if found is None:
            with COMPILE_LOCK:
                found = self.natives.get(layout)
                if found is None:
                    with noticed(self.header.name):
                        found = self.natives[layout] = self._compile(layout)
        return found

    def _compile(self, layout: Layout) -> NativeKernel:
        root = self.header.span
        key = self._known_key(layout)
        may_reorder = self.may_reorder(layout)
        # What is made for debuggers is neither kept nor found.
        is_special = config.current().perf or config.current().debug
        if key is None:
            func = self.compiled_func(layout)
            key = kernel_cache.find_key(func, layout, current_target(), may_reorder=may_reorder)
        stages = Stages()
        with stages.timed("read"):
            code = None if key is None or is_special else find_code(key, root)
        source: Source = "read from disk"
        if code is None:
            func = self.compiled_func(layout)
            code = on_fresh_stack(lambda: compiler.build(func, layout, may_reorder=may_reorder))
            source, stages = "compiled now", Stages({**self._stages, **code.seconds})
            if key is not None and not is_special and self.is_current():
                keep_code(key, code, root)
        with stages.timed("link"):
            native = on_fresh_stack(lambda: load_native(self.header, layout, code))
        self._times[layout] = source, stages
        return native

    def compiled(self, layout: Layout) -> Compiled:
        """What is known of the code for arguments with this layout, made now if there is none."""
        was_there = layout in self.natives
        code = self.compile(layout).code
        source, stages = self._times[layout]
        is_kept = code.is_kept and active_store().location.path is not None
        return Compiled(
            "in memory" if was_there else source, code_bytes(code.image), is_kept, stages
        )

    def _known_key(self, layout: Layout) -> bytes | None:
        """The key of the code in the disk cache, if it is known without the IR."""
        return self._saved.code_key(layout)

    def may_reorder(self, layout: Layout) -> bool:
        """Whether loops may run in another order: no schedule says how, and no arrays overlap."""
        return layout.is_disjoint and not self.is_scheduled

    @property
    def is_scheduled(self) -> bool:
        """True if a schedule says in which order loops run."""
        schedule = self._request.schedule
        if schedule is None:
            return False
        return self.parsed.says_order if callable(schedule) else schedule.says_order

    def compiled_func(self, layout: Layout) -> PrimFunc:
        """What code is made of: the optimised program, unless arguments share memory, or somebody
        looks for an error.
        """
        return compiler.with_small(self._func_for(layout), layout.small)

    def _func_for(self, layout: Layout) -> PrimFunc:
        if not self.is_optimized(layout):
            return self.func_in_order
        if layout.in_c_order or not self.optimized.decisions.minds_strides:
            return self.optimized.func
        return self._optimized_for_strides.func

    def is_optimized(self, layout: Layout) -> bool:
        """Whether code for this layout is made of the optimised program."""
        return layout.is_disjoint and not config.current().debug

    def layout(self, specs: Sequence[Spec], values: Sequence[Any]) -> Layout:
        """The layout of arguments; types in their place stand for disjoint C order, small ints."""
        if has_types(specs, values):
            arrays = (ArrayLayout(),) * len(self.header.buffers)
            return Layout(arrays, True, self.summary.counters)
        with LentGenerators(values) as lent:
            return self._layout(flatten(specs, lent))
