"""Kernels, what `@hybrid.script` makes of functions: where everything meets."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast, overload

from hybridjit import config
from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ScheduleError, shown_path
from hybridjit.frontend.annotations import spec_of
from hybridjit.frontend.captures import Environment
from hybridjit.frontend.constant_parameters import constant_parameters, size_parameters
from hybridjit.frontend.inner_functions import in_call_order
from hybridjit.html_text import heading, preformatted, table
from hybridjit.kept_property import kept_property
from hybridjit.lazy import lazy_module
from hybridjit.plain_function import plain_function
from hybridjit.runtime.arguments import (
    NamedCall,
    bind,
    check_declared,
    fix_numbers,
    fix_size,
    flatten,
    has_types,
    holds_tensors,
    omitted_parameters,
    read_signature,
    spec_of_argument,
)
from hybridjit.runtime.brought_arrays import as_arrays
from hybridjit.runtime.dispatch.call_shape import CallShape
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from hybridjit.runtime.dispatch.objects import NativeCallable, native_calls
from hybridjit.runtime.generators import LentGenerators
from hybridjit.runtime.out_arrays import store_results
from hybridjit.runtime.specialization import Specialization
from hybridjit.runtime.specializations import Specializations
from hybridjit.runtime.translation import Request, Summary
from hybridjit.scalars.contents import fresh_copies
from hybridjit.scalars.specs import Spec, holds_integers, holds_more_than_numbers
from hybridjit.source import FunctionSource, read_function

if TYPE_CHECKING:
    import pathlib

    from hybridjit.checking import check as checking
    from hybridjit.checking.check import Checked
    from hybridjit.checking.difference import Outcome
    from hybridjit.ir.func import PrimFunc
    from hybridjit.lowering import custom_passes
    from hybridjit.lowering.custom_passes import CustomPass, Transform
    from hybridjit.profiling import measure as measuring
    from hybridjit.profiling.profile import Profile
    from hybridjit.runtime import compiler, inspection, pickling
    from hybridjit.runtime import explanation as explaining
    from hybridjit.runtime import plain_failure as plain_failures
    from hybridjit.runtime import report as reports
    from hybridjit.runtime.explanation import Explanation
    from hybridjit.runtime.inspection import Safety, SpecializationInfo, StageName
    from hybridjit.runtime.pickling import Frozen
    from hybridjit.runtime.report import Report
    from hybridjit.schedule import recipe as recipes
    from hybridjit.schedule.recipe import Recipe
    from hybridjit.schedule.schedule import Schedule
    from hybridjit.tensors import hybrid as tensors
    from hybridjit.tuning import entry as tuning
    from hybridjit.tuning import remembered
    from hybridjit.tuning.result import Tuned
    from hybridjit.ufuncs import gufunc as gufuncs
    from hybridjit.ufuncs import ufunc as ufuncs
    from hybridjit.ufuncs.gufunc import Gufunc
    from hybridjit.viewing import kernel_page as pages
    from hybridjit.viewing.page import Page
else:
    checking = lazy_module("hybridjit.checking.check")
    compiler = lazy_module("hybridjit.runtime.compiler")
    custom_passes = lazy_module("hybridjit.lowering.custom_passes")
    explaining = lazy_module("hybridjit.runtime.explanation")
    inspection = lazy_module("hybridjit.runtime.inspection")
    reports = lazy_module("hybridjit.runtime.report")
    pages = lazy_module("hybridjit.viewing.kernel_page")
    plain_failures = lazy_module("hybridjit.runtime.plain_failure")
    measuring = lazy_module("hybridjit.profiling.measure")
    pickling = lazy_module("hybridjit.runtime.pickling")
    recipes = lazy_module("hybridjit.schedule.recipe")
    remembered = lazy_module("hybridjit.tuning.remembered")
    tensors = lazy_module("hybridjit.tensors.hybrid")
    tuning = lazy_module("hybridjit.tuning.entry")
    gufuncs = lazy_module("hybridjit.ufuncs.gufunc")
    ufuncs = lazy_module("hybridjit.ufuncs.ufunc")

# What other rooms ask of a kernel.
_INTERNAL = frozenset(
    [
        "annotated",
        "copy",
        "is_parallel",
        "learn",
        "native_calls",
        "options",
        "specializations",
        "summary",
        "view_schedule",
    ]
)
P = ParamSpec("P")
R = TypeVar("R")


@native_calls
class Kernel(NativeCallable, Generic[P, R]):
    """A script: call it on NumPy arrays and numbers.

    `kernel(...)` runs it, `kernel.interpret(...)` runs its IR in the interpreter,
    `kernel.py_func(...)` runs the function as plain Python. All three agree.
    """

    __name__: str
    __qualname__: str
    __doc__: str | None

    def __init__(
        self,
        pyfunc: FunctionType,
        fastmath: tuple[str, ...] = (),
        schedule: Any = None,
        passes: tuple[CustomPass, ...] = (),
        parallel: bool | None = None,
    ) -> None:
        functools.update_wrapper(self, pyfunc)
        self.__hybrid_function__ = pyfunc
        self.signature = read_signature(pyfunc)
        self.fastmath = fastmath
        self._recipe = schedule
        self._passes = passes
        self._parallel = parallel
        self.tuned: Tuned | None = None
        self.native_calls = NativeCalls()
        self._specializations = Specializations(self.native_calls.forget)
        self._source: FunctionSource | None = None
        self._declared: list[Spec | None] | None = None

    # Two signatures, since a ParamSpec cannot have a keyword more: the function's own, which
    # editors show, and the one with `out=`.
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, *args: Any, out: Any, **kwargs: Any) -> R: ...
    @api_edge
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Calls like earlier ones do not come here: the dispatcher runs them.
        return self._call(args, kwargs, interpret=config.current().interpret)

    @overload
    def interpret(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def interpret(self, *args: Any, out: Any, **kwargs: Any) -> R: ...
    @api_edge
    def interpret(self, *args: Any, **kwargs: Any) -> Any:
        """Run the IR of the script in the interpreter. A debugger of Python stops at breakpoints in
        the script, and shows its variables.
        """
        return self._call(args, kwargs, interpret=True)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """A kernel in a class is bound to instances as a function is; see @staticmethod."""
        return self if instance is None else MethodType(self, instance)

    @kept_property
    def py_func(self) -> Callable[P, R]:
        """The function as plain Python, the names of the language included."""
        return cast("Callable[P, R]", plain_function(self.__hybrid_function__, Kernel))

    @api_edge
    def prim_func(self, *args: Any, **kwargs: Any) -> PrimFunc:
        """The IR of the script for these arguments: values, or types such as `hj.f32[8, "n"]`."""
        specs, _ = self._bind(args, kwargs)
        return self._specialize(specs).func

    @api_edge
    def summary(self, *args: Any, **kwargs: Any) -> Summary:
        """What a call with these arguments, values or types, passes, gets and writes to."""
        specs, _ = self._bind(args, kwargs)
        return self._specialize(specs).summary

    @api_edge
    def schedule(self, *args: Any, **kwargs: Any) -> Schedule:
        """A schedule of the script for these arguments: values, or types such as `hj.f32[8, "n"]`.

        Take steps on it, then make a kernel of them with `kernel.with_schedule(s)`.
        """
        specs, _ = self._bind(args, kwargs)
        return self._with_origin(compiler.open_schedule(self._request(specs)))

    @api_edge
    def auto_schedule(self, *args: Any, **kwargs: Any) -> Schedule:
        """What the compiler makes of the script for these arguments: a schedule to read and edit.

        `print(s.trace)` shows its steps as Python; they replay on other shapes, and with
        `kernel.with_schedule(s.trace)`. Steps of the kernel's own schedule come first. Which loops
        run in vectors and on several threads are the last ones, hints to the passes that make them.
        """
        specs, _ = self._bind_to_run(args, kwargs)
        return self._with_origin(compiler.auto_schedule(self._request(specs)))

    def _with_origin(self, schedule: Schedule) -> Schedule:
        schedule.origin = Kernel(self.__hybrid_function__, self.fastmath, parallel=self._parallel)
        return schedule

    @api_edge
    def with_schedule(self, schedule: Recipe) -> Kernel[P, R]:
        """The same script under another schedule: a function of a `Schedule`, or a trace.

        The steps are taken anew for every specialisation. Where arguments share memory, the
        script runs as it is written.
        """
        recipe = recipes.check_recipe(schedule)
        return self._with(schedule=recipe)

    @api_edge
    def tune(self, *args: Any, budget: str | float | None = None, **settings: Any) -> Kernel[P, R]:
        """The same script under the fastest schedule that a search finds for these arguments.

        Candidates are checked like any schedule, run in processes of their own, compared with the
        script as it is, and timed in turns with the best so far. `tuned` of the kernel that is
        returned tells how it went: `print(fast.tuned)`. Ctrl-C ends the search with what there is.

        `budget` is how long to search ("60s", "5m", or seconds), `trials=` how many candidates to
        try (a minute if neither is given), `space=` a function of a Schedule that samples
        (`s.sample_categorical([4, 8])`), without which the compiler's own decisions are searched;
        `executor=` any of concurrent.futures, a pair of them, one to compile and one to measure, or
        a `distributed.Client`: workers with the resource "measure" measure, the others compile;
        `seed=`, `search=` "evolution", "random" or "grid", `cold=` whether caches are emptied
        before each run. With `hj.tune.use(path)` what is found is kept.
        """
        chosen = tuning.read_settings(budget=budget, **settings)
        found = tuning.tune_kernel(self, args, chosen)
        made = self.copy() if found.recipe is None else self.with_schedule(found.recipe)
        made.tuned = found
        return made

    def copy(self) -> Kernel[P, R]:
        """The same script, which knows nothing yet of this one's calls."""
        return self._with()

    @api_edge
    def with_passes(self, passes: Sequence[Transform | CustomPass]) -> Kernel[P, R]:
        """The same script, rewritten by these passes as well: functions of a PrimFunc.

        They run after the schedule; see `tir.prim_func_pass`.
        """
        made = (*self._passes, *custom_passes.read_passes(passes))
        return self._with(passes=made)

    def _with(self, **changes: Any) -> Kernel[P, R]:
        return Kernel(self.__hybrid_function__, **{**self.options, **changes})

    def as_gufunc(self, signature: str, *, dtypes: Any = None, parallel: bool = False) -> Gufunc:
        """The script on arrays with more dimensions, as a generalised ufunc.

        The signature names the dimensions that the script is for; those before them are broadcast
        and looped over, with `parallel` on several threads. A size such as in `(3),(3)->(3)` is
        frozen. The script returns its results, or has a parameter for each of them after the
        operands: then they are of the types `dtypes`, or of that in which the operands meet, and
        a result without dimensions is an array of one element to it.

        >>> product.as_gufunc("(n,k),(k,m)->(n,m)")(np.ones((5, 2, 3)), np.ones((3, 4))).shape
        (5, 2, 4)
        """
        return gufuncs.make_gufunc(self, signature, {"dtypes": dtypes, "parallel": parallel})

    @property
    def specializations(self) -> tuple[Specialization, ...]:
        """The translations made so far."""
        return tuple(self._specializations.known.values())

    @api_edge
    def inspect(self, stage: StageName, /, *args: Any, **kwargs: Any) -> str:
        """The kernel for these arguments as text, at a stage: "tir" is the program as written,
        "optimized" what was made of it, then "passes", "lowered", "llvm" or "asm".

        Arguments are values, or types such as `hj.f32[8, "n"]`: those stand for arrays in C order
        that share no memory.
        """
        inspection.check_stage(stage)
        specialization, specs, values = self._made_for(args, kwargs)
        layout = specialization.layout(specs, values)
        may_reorder = specialization.may_reorder(layout)
        func = specialization.func if stage == "tir" else specialization.compiled_func(layout)
        return inspection.show_stage(func, layout, stage, may_reorder=may_reorder)

    @api_edge
    def safety(self, *args: Any, **kwargs: Any) -> Safety:
        """Which indices are proved to be inside their arrays, and which are checked, and where."""
        made, specs, values = self._made_for(args, kwargs)
        return inspection.find_safety(made.compiled_func(made.layout(specs, values)))

    @api_edge
    def report(self, *args: Any, **kwargs: Any) -> Report:
        """How each loop runs and why not better, which indices are checked and where, which arrays
        between statements were fused away, which remain and why, and the memory that they take;
        the operations and bytes of each loop, and how the code came to be, which is made now if
        there is none.
        """
        made, specs, values = self._made_for(args, kwargs)
        return reports.report_on(made, made.layout(specs, values), _numbers(specs, values))

    @api_edge
    def profile(self, *args: Any, **kwargs: Any) -> Profile:
        """Where the time of a call with these arguments goes: measured for each loop that runs
        long enough, with the part of each thread, and how near it comes to the best that the
        machine can do.

        The kernel is run a few times, and so is a copy of it that has counters. What it would
        write to are copies: the arguments stay as they are.
        """
        made, specs, values = self._made_for(args, kwargs)
        return measuring.profile_call(made, (specs, values), self, args, kwargs)

    @api_edge
    def view(
        self, *args: Any, path: str | os.PathLike[str] | None = None, **kwargs: Any
    ) -> pathlib.Path:
        """Write a page that a browser opens: the script, the program after each step of its
        schedule, as it is optimised and lowered, LLVM and assembly, and how each loop runs. Lines
        that came from the same line of the script are lit together. One file, no network. If a step
        of the schedule is refused, it ends there, and an arrow shows what is in the way.

        Gives the path of the file, which is a temporary one unless `path` names it.
        """
        specs, values = self._bind_to_run(args, kwargs)
        return pages.write_page(self._make_page(specs, values), path)

    def _make_page(self, specs: tuple[Spec, ...], values: list[Any]) -> Page:
        request = self._request(specs)
        try:
            made = self._specialize(specs)
            specs = made.specs_of(specs)
        except ScheduleError:
            if self._recipe is None:
                raise
            return pages.make_refused_page(request)
        layout = made.layout(specs, values)
        subject = pages.script_subject(request, is_optimized=made.is_optimized(layout))
        return pages.make_page(subject, made, layout, _numbers(specs, values))

    def view_schedule(self, opened: Schedule, path: Any) -> pathlib.Path:
        """The page of a schedule of this script: see `Schedule.view`."""
        return pages.write_page(pages.make_schedule_page(self._read(), opened), path)

    @api_edge
    def explain(self, error: BaseException, /, *args: Any, **kwargs: Any) -> Explanation:
        """What the script was at when it failed with `error`: the iteration, and the values of all
        its variables. It is run again, in the interpreter and as plain Python, on copies of the
        arguments of that call; give them as they were before it.
        """
        made, specs, values = self._made_for(args, kwargs)
        again = functools.partial(self._plain_variables, args, kwargs)
        with LentGenerators(fresh_copies(values)) as lent:
            flat = flatten(specs, lent)
            func = made.in_order(flat).func
            return explaining.explain_failure(func, self._read(), flat, error, again)

    def _plain_variables(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception
    ) -> dict[str, Any] | None:
        """What variables hold where the plain function fails with `error`, on copies."""
        copies = fresh_copies([as_arrays(item) for item in (*args, *kwargs.values())])
        given = dict(zip(kwargs, copies[len(args) :], strict=True))
        plain = self._checked_against()
        call = functools.partial(plain, *copies[: len(args)], **given)
        return plain_failures.plain_variables(plain, call, error)

    @api_edge
    def check(self, *args: Any, **kwargs: Any) -> Checked:
        """Hold native code against the plain function on these arguments, which stay as they are.

        Results, written arguments and exceptions are compared: bit for bit, or within a bound where
        there are functions such as exp, sums of whole arrays, or `fastmath`. A difference is a
        `CheckError`, which says where it is and names a file that repeats the call. With
        HYBRIDJIT_CHECK=1 every call of a program is checked so.
        """
        copies = checking.fresh_copies([as_arrays(item) for item in (*args, *kwargs.values())])
        given = dict(zip(kwargs, copies[len(args) :], strict=True))
        with config.scope(check=False, interpret=False):
            return self._checked(copies[: len(args)], given)[1]

    def _checked(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Outcome, Checked]:
        # Arrays of others (memoryview, DLPack) as such: the plain function runs on copies of them.
        args = [as_arrays(item) for item in args]
        kwargs = {name: as_arrays(item) for name, item in kwargs.items()}
        is_own = "out" in self.signature.parameters
        own = {name: value for name, value in kwargs.items() if is_own or name != "out"}
        specs, _ = self._bind_to_run(args, own)
        func = self._select(specs).func  # what is to run, of any size or exact

        def native(*args: Any, **kwargs: Any) -> Any:
            return self._named_call(args, kwargs, interpret=False)

        return checking.Call(self, self._checked_against(), func, args, kwargs).run(native)

    def _checked_against(self) -> FunctionType:
        """The plain function; in scripts, unlike in NumPy, the elements of np.empty are settled."""
        if not checking.makes_empty_arrays(self.__hybrid_function__):
            return cast("FunctionType", self.py_func)
        return plain_function(self.__hybrid_function__, Kernel, checking.filled_stand_ins())

    @api_edge
    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Make native code now, for these arguments or types; it is kept on disk as well."""
        specialization, specs, values = self._made_for(args, kwargs)
        specialization.compile(specialization.layout(specs, values))

    def cache_info(self) -> tuple[SpecializationInfo, ...]:
        """What the kernel was translated for so far, why, and into how many pieces of code."""
        known = list(self._specializations.known.items())  # other threads may add meanwhile
        return tuple(
            inspection.SpecializationInfo(
                ", ".join(map(str, specs)),
                self._specializations.reason_for(specs),
                len(specialization.natives),
            )
            for specs, specialization in known
        )

    def clear(self) -> None:
        """Forget all translations and code in memory; the next call starts afresh."""
        self._specializations.clear()

    def __dir__(self) -> list[str]:
        """What is for users."""
        return sorted(
            name
            for name in object.__dir__(self)
            if name.startswith("__") or not (name.startswith("_") or name in _INTERNAL)
        )

    def _repr_html_(self) -> str:
        made = [(each.arguments, each.reason, str(each.layouts)) for each in self.cache_info()]
        parts = [heading(repr(self)), preformatted(self._read().text)]
        if made:
            parts.append(table([("compiled for", "why", "layouts"), *made], "<<>"))
        return "\n".join(parts)

    def __repr__(self) -> str:
        code = self.__hybrid_function__.__code__
        note = "" if self._recipe is None else ", scheduled"
        note += ", parallel" if self._parallel else ""
        place = f"{shown_path(code.co_filename)}:{code.co_firstlineno}"
        return f"hybridjit kernel '{self.__name__}' at {place}{note}"

    def _call(self, args: Sequence[Any], kwargs: dict[str, Any], *, interpret: bool) -> Any:
        with NamedCall(self.__name__):
            if holds_tensors((*args, *kwargs.values())):
                return self._call_on_tensors(args, kwargs)
            if config.current().check and not interpret:
                return self._checked(args, kwargs)[0].value()
            return self._named_call(args, kwargs, interpret=interpret)

    def _call_on_tensors(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The tensors that the script makes of te tensors: an operation of their graph."""
        values = bind(self.signature, args, kwargs)
        call = tensors.TensorCall(dict(zip(self.signature.parameters, values, strict=True)))
        for name, spec, declared in zip(
            self.signature.parameters, call.specs, self._declarations(), strict=True
        ):
            check_declared(name, spec, declared)
        return call.results(compiler.translate_for_tensors(self._request(call.specs)).func)

    def _named_call(self, args: Sequence[Any], kwargs: dict[str, Any], *, interpret: bool) -> Any:
        out = None
        if "out" in kwargs and "out" not in self.signature.parameters:
            kwargs = dict(kwargs)
            out = kwargs.pop("out")
        specs, values = self._bind_to_run(args, kwargs)
        with LentGenerators(values) as values:
            if interpret:
                made = self._specialize(specs)
                result = made.interpret(flatten(made.specs_of(specs), values), out)
            else:
                result = self._run(specs, values, out)
        return result if out is None else store_results(result, out)

    def _run(self, specs: tuple[Spec, ...], values: list[Any], out: object) -> object:
        """Run native code, and let the dispatcher have calls like this one."""
        specialization = self._select(specs)
        specs = specialization.specs_of(specs)
        flat = flatten(specs, values)
        layout, native = specialization.prepare(flat)
        specialization.check_out(flat, out)
        result = native(flat, out)
        self.learn(CallShape(self.signature, specs, values, specialization, layout, native))
        return result

    def learn(self, call: CallShape) -> None:
        """Note a call that ran through Python: calls like it may run natively."""
        self.native_calls.learn(self, call)

    def _bind(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[tuple[Spec, ...], list[Any]]:
        with NamedCall(self.__name__):
            values = bind(self.signature, args, kwargs)
            specs = tuple(
                spec_of_argument(name, value, declared)
                for name, value, declared in zip(
                    self.signature.parameters, values, self._declarations(), strict=True
                )
            )
        return self._fix_constants(specs, values), values

    def _fix_constants(self, specs: tuple[Spec, ...], values: list[Any]) -> tuple[Spec, ...]:
        """Make integers that the script has to know before it runs a part of the specialisation."""
        if not any(map(holds_integers, specs)):
            return specs
        named = dict(zip(self.signature.parameters, specs, strict=True))
        tuples = [name for name, spec in named.items() if holds_more_than_numbers(spec)]
        wanted = constant_parameters(self.__hybrid_function__, tuples)
        if not wanted:
            return specs
        return tuple(
            fix_numbers(spec, value, [part for each, part in wanted if each == name])
            for (name, spec), value in zip(named.items(), values, strict=True)
        )

    def _bind_to_run(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[tuple[Spec, ...], list[Any]]:
        """What a call runs: ints that arrays are made with, or that are left to their defaults,
        are a part of the code until they vary, too.
        """
        specs, values = self._bind(args, kwargs)
        if not any(map(holds_integers, specs)):
            return specs, values
        sizes = size_parameters(self.__hybrid_function__)
        omitted = omitted_parameters(self.signature, args, kwargs)
        fixed = tuple(
            fix_size(spec, value) if name in sizes or name in omitted else spec
            for name, spec, value in zip(self.signature.parameters, specs, values, strict=True)
        )
        return fixed, values

    def _declarations(self) -> list[Spec | None]:
        """What the annotations of the parameters say about them."""
        if self._declared is None:
            environment = Environment.of(self.__hybrid_function__)
            args = self._read().node.args
            self._declared = [
                None
                if arg.annotation is None or arg is args.vararg
                else spec_of(arg.annotation, environment)
                for arg in in_call_order(args)
            ]
        return self._declared

    def annotated(self) -> PrimFunc:
        """The IR for arguments of the types that the annotations of the parameters give."""
        specs = self._declarations()
        for parameter, spec in zip(self.signature.parameters, specs, strict=True):
            if spec is None:
                raise ArgumentError(
                    f"parameter '{parameter}' of '{self.__name__}' has no type",
                    help=f"annotate it, as in {parameter}: hj.f32[16]",
                )
        return self.prim_func(*specs)

    def _read(self) -> FunctionSource:
        if self._source is None:
            self._source = read_function(self.__hybrid_function__)
        return self._source

    def _select(self, specs: tuple[Spec, ...]) -> Specialization:
        return self._specializations.select(specs, self._request_to_run)

    def _specialize(self, specs: tuple[Spec, ...]) -> Specialization:
        return self._specializations.exact(specs, self._request_to_run)

    def _made_for(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Specialization, tuple[Spec, ...], list[Any]]:
        """The translation for such arguments, what they are to it, and their values."""
        specs, values = self._bind_to_run(args, kwargs)
        made = self._specialize(specs)
        return made, made.specs_of(specs), values

    def _request_to_run(self, specs: tuple[Spec, ...]) -> Request:
        """What is compiled: with the steps that a search kept, unless there are others."""
        request = self._request(specs)
        if self._recipe is not None or config.tune_database() is None:
            return request
        func = compiler.open_schedule(request).func
        options = self.fastmath, self.is_parallel
        return replace(request, schedule=remembered.find_remembered(func, specs, *options))

    def _request(self, specs: tuple[Spec, ...]) -> Request:
        options = self.fastmath, self._recipe, self._passes, self.is_parallel
        return Request(self.__hybrid_function__, self._read(), specs, *options)

    @property
    def is_parallel(self) -> bool:
        """Whether what is compiled now is for all cores: as the script says, or else the config."""
        return config.current().parallel if self._parallel is None else self._parallel

    @property
    def options(self) -> dict[str, Any]:
        """What the kernel was made with besides its function."""
        return {
            "fastmath": self.fastmath,
            "schedule": self._recipe,
            "passes": self._passes,
            "parallel": self._parallel,
        }

    def __reduce__(self) -> str | tuple[Any, ...]:
        return reduced(self)

    def __copy__(self) -> Kernel[P, R]:
        return self  # as of functions

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel[P, R]:
        return self


def _numbers(specs: Sequence[Spec], values: Sequence[Any]) -> list[Any]:
    """The arguments of the IR, or none if types stand for some of them."""
    return [] if has_types(specs, values) else flatten(specs, values)


def reduced(made: Any) -> str | tuple[Any, ...]:
    """Pickle by name, as functions do; what cannot be imported, as its text and values."""
    if pickling.is_importable(made):
        return made.__qualname__
    frozen = pickling.freeze(made)
    return _restore, (pickling.digest_of(frozen), frozen)


def _restore(digest: bytes | None, frozen: Frozen) -> Any:
    """The other side of `reduced`."""
    return pickling.restore(digest, frozen, _make_kernel)


def _make_kernel(function: FunctionType, options: Mapping[str, Any]) -> Any:
    """What a function was made into: a kernel, or a ufunc."""
    if "elementwise" in options:
        return ufuncs.Ufunc(function, options["elementwise"])
    made: Kernel[..., Any] = Kernel(function, **options)
    return made
