"""@operator: one definition, on tensors and on arrays.

    @operator
    def relu(x: T) -> T:
        return broadcast(lambda v: maximum(v, 0), x)

The definition makes tensors out of tensors. Called on tensors, that is all: what comes back is a
part of the caller's graph, to be scheduled like any stage. Called on NumPy arrays, the definition
is given placeholders of their shapes and types, once; the graph is compiled, kept, and run.

Parameters that are annotated with T are operands, with Sequence[T] several of them. The others are
options, which are constants of the code. A number in the place of an operand is passed to the code
when it runs. An operator with a parameter `like` makes arrays of options alone, or a tensor if
`like` is one, as NumPy's functions do.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import numpy as np

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError
from hybridjit.interp.base_array import base_array
from hybridjit.ir.expr import Const
from hybridjit.ir.signature import ScalarParam
from hybridjit.lazy import lazy_module
from hybridjit.runtime.dispatch.call_shape import CallShape
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from hybridjit.runtime.dispatch.objects import NativeCallable, native_calls
from hybridjit.runtime.modules.module import Module
from hybridjit.runtime.out_arrays import store_results
from hybridjit.scalars.specs import ArraySpec, ConstantSpec, Spec, TupleSpec
from hybridjit.schedule.recipe import apply_recipe
from hybridjit.schedule.schedule import Schedule
from hybridjit.stdlib.running.compiled import Compiled, Recipe, compile_operator, scheduled_by
from hybridjit.stdlib.running.definition import Definition, Description
from hybridjit.stdlib.running.operands import (
    Operand,
    Parameter,
    check_operands,
    stand_in_for,
)
from hybridjit.stdlib.running.schedules import as_written
from hybridjit.te import Expression, Tensor
from hybridjit.tuning.entry import SETTINGS, read_settings, tune_scheduled
from hybridjit.tuning.result import Tuned

if TYPE_CHECKING:
    import pathlib

    from hybridjit.profiling import measure as measuring
    from hybridjit.profiling.profile import Profile
    from hybridjit.runtime.inspection import StageName
    from hybridjit.runtime.report import Report
    from hybridjit.viewing import kernel_page as pages
    from hybridjit.viewing import program_page as program_pages
else:
    measuring = lazy_module("hybridjit.profiling.measure")
    pages = lazy_module("hybridjit.viewing.kernel_page")
    program_pages = lazy_module("hybridjit.viewing.program_page")

F = TypeVar("F", bound=Callable[..., Any])
# Of one operator. The oldest goes when there are more: code for shapes that are not used any more.
MAX_COMPILED = 512
# Calls that need no Python are looked for one by one.
MAX_NATIVE = 64
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
_INEXACT: tuple[type[Any], ...] = (float, complex, np.inexact)
_ITEM = Parameter(may_be_number=False)


@overload
def operator(define: F, /) -> F: ...
@overload
def operator(*, recipe: Recipe | None = None, differentiable: bool = True) -> Callable[[F], F]: ...
def operator(
    define: Any = None, /, *, recipe: Recipe | None = None, differentiable: bool = True
) -> Any:
    """Let a definition on tensors work on arrays, too, scheduled by a recipe.

    te.gradient goes through its stages if it is `differentiable`.
    """
    if define is None:
        return functools.partial(Operator, recipe=recipe, differentiable=differentiable)
    return Operator(define, recipe, differentiable=differentiable)


@native_calls
class Operator(Definition, NativeCallable):
    """A definition, and the code that was compiled of it for the arrays it was called on."""

    def __init__(
        self,
        define: Callable[..., Any],
        recipe: Recipe | None = None,
        *,
        differentiable: bool = True,
    ) -> None:
        super().__init__(define)
        self._recipe = scheduled_by(as_written) if recipe is None else recipe
        self._differentiable = differentiable
        self._creates = "like" in self._operands
        self._takes_out = "out" not in self._signature.parameters
        self._places = {
            place: self._operands[name]
            for place, name in enumerate(self._signature.parameters)
            if name in self._operands
        }
        self._compiled: dict[Hashable, Compiled] = {}
        self.native_calls = NativeCalls()

    def describe(self) -> Description:
        """What `hs.OPERATORS` says."""
        is_scheduled = self._recipe.schedule is not as_written
        return replace(
            super().describe(), has_schedule=is_scheduled, has_gradient=self._differentiable
        )

    @api_edge
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Calls like earlier ones do not come here: the dispatcher runs them.
        out = kwargs.pop("out", None) if self._takes_out else None
        result = self._call(args, kwargs, out)
        if out is None:
            return result
        if isinstance(result, Tensor):
            raise ArgumentError(
                f"{self._name}: out= takes the result of a call on arrays, and this is a tensor",
                help="a tensor is computed where its graph is built: pass the array there",
            )
        return store_results(result, out)

    def _call(self, args: Sequence[Any], kwargs: Mapping[str, Any], out: object) -> Any:
        key, values = self._read_call(args, kwargs)
        compiled = self._find(key)
        if compiled is None:
            return self._first_call(args, kwargs, out)
        return self._run(compiled, values, (args, kwargs), out)

    def _run(
        self,
        compiled: Compiled,
        values: Sequence[Any],
        given: tuple[Sequence[Any], Mapping[str, Any]],
        out: object,
    ) -> Any:
        result, ran = compiled.run(values, out)
        if ran is not None and len(self.native_calls.tables) < MAX_NATIVE:
            self._learn(*given, replace(ran, seen=compiled.seen(values)))
        return result

    @api_edge
    def tune(self, *args: Any, budget: str | float | None = None, **options: Any) -> Tuned:
        """Search for the fastest way to run on arrays like these; later calls take it.

        `budget`, `trials`, `executor`, `seed` and the like are those of `kernel.tune`; what else is
        given are options of the operator. What is returned tells how the search went.
        """
        chosen = {name: options.pop(name) for name in SETTINGS if name in options}
        settings = read_settings(budget=budget, **chosen)
        given, options = self._frozen_options(args, options)
        named = self._bind(given, options)
        operands = self._operands_in(named)
        if not operands or check_operands(self._name, operands) is Tensor:
            raise ArgumentError(
                f"{self._name}: tune takes arrays", help="as in hs.matmul.tune(a, b)"
            )
        values = [operand.value for operand in operands]
        made: list[Any] = []

        def make(opened: Schedule) -> tuple[Module, Schedule]:
            made.append(tune_scheduled(opened, _arguments(opened, values), settings))
            trace = made[0].tuned.trace
            return made[0], opened if trace is None else apply_recipe(opened.original, trace)

        define = functools.partial(self._call_definition, given, options)
        compiled = compile_operator(self._name, operands, define, self._recipe, make)
        if not made:
            raise ArgumentError(f"{self._name}: arrays without elements need no tuning")
        self._keep(self._read_call(given, options)[0], compiled)
        return made[0].tuned

    @api_edge
    def inspect(self, stage: StageName, /, *args: Any, **options: Any) -> str:
        """The code for operands like these as text, at a stage: see `Kernel.inspect`."""
        compiled, values = self._compile(args, options)
        return compiled.code.inspect(stage, *compiled.arguments(values))

    @api_edge
    def report(self, *args: Any, **options: Any) -> Report:
        """How each loop runs on operands like these, and why not better: see `Kernel.report`."""
        compiled, values = self._compile(args, options)
        return compiled.code.report(*compiled.arguments(values))

    @api_edge
    def profile(self, *args: Any, **options: Any) -> Profile:
        """Where the time of a call with these operands goes: see `Kernel.profile`."""
        if any(isinstance(value, ArraySpec) for value in (*args, *options.values())):
            raise ArgumentError(
                f"{self._name}.profile(): a profile is of a run, which types do not give",
                help="pass arrays and numbers",
            )
        compiled, values = self._compile(args, options)
        function = compiled.function
        bound = function.bind(compiled.arguments(values), {})
        return measuring.profile_call(function.specialization, bound, self, args, options)

    @api_edge
    def view(
        self, *args: Any, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> pathlib.Path:
        """Write a page that a browser opens, with the code for operands like these at every stage:
        see `Kernel.view`.
        """
        compiled, values = self._compile(args, options)
        page = program_pages.make_program_page(compiled.opened, compiled.arguments(values))
        return pages.write_page(page, path)

    def clear(self) -> None:
        """Forget all compiled code."""
        self.native_calls.clear()
        self._compiled.clear()

    # -- calls like earlier ones -------------------------------------------------------------------

    def _read_call(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Hashable, list[Any]]:
        """What the code depends on, and the values that are passed to it."""
        key: list[Any] = []
        values: list[Any] = []
        for place, value in enumerate(args):
            self._read_value(value, self._places.get(place), key, values)
        for name, value in kwargs.items():
            key.append(name)
            self._read_value(value, self._operands.get(name), key, values)
        return tuple(key), values

    def _read_value(
        self, value: Any, parameter: Parameter | None, key: list[Any], values: list[Any]
    ) -> None:
        key.append(type(value))
        if parameter is not None and isinstance(value, np.ndarray):
            array = base_array(cast("Any", value))
            key += (array.shape, array.dtype)
            if self._recipe.elementwise:
                key.append(array.flags.c_contiguous)
            values.append(array)
        elif parameter is None:
            key.append(_typed(value))
        elif isinstance(value, _SEQUENCE):
            self._read_sequence(cast("Sequence[Any]", value), key, values)
        elif value is not None:
            values.append(value)

    def _read_sequence(self, value: Sequence[Any], key: list[Any], values: list[Any]) -> None:
        key.append(len(value))
        for item in value:
            self._read_value(item, _ITEM, key, values)

    def _find(self, key: Hashable) -> Compiled | None:
        try:
            return self._compiled.get(key)
        except TypeError:  # an option that cannot be hashed, such as a list
            return None

    def _learn(self, args: Sequence[Any], kwargs: Mapping[str, Any], ran: CallShape) -> None:
        """Let the dispatcher run calls like this one."""
        given = self._signature.bind(*args, **kwargs).arguments
        passed = [*itertools.islice(self._signature.parameters, len(args)), *kwargs]
        if [*given] != passed:
            return  # the code takes operands in the order in which they were passed
        flat, specs, values = iter(ran.specs), list[Spec](), list[Any]()
        for name, parameter in self._signature.parameters.items():
            value = given.get(name, parameter.default)
            is_passed = name in given and name in self._operands and value is not None
            specs.append(self._spec(name, value, flat) if is_passed else ConstantSpec(value))
            values.append(value)
        call = replace(ran, signature=self._signature, specs=tuple(specs), values=values)
        self.native_calls.learn(self, call)

    def _spec(self, name: str, value: Any, flat: Iterator[Spec]) -> Spec:
        """What an operand is to the dispatcher; `flat` are the arguments of the code."""
        if self._operands[name].is_sequence:
            return TupleSpec(tuple(itertools.islice(flat, len(value))))
        return next(flat)

    # -- first calls -------------------------------------------------------------------------------

    def _first_call(self, args: Sequence[Any], kwargs: Mapping[str, Any], out: object) -> Any:
        args, kwargs = self._frozen_options(args, kwargs)
        named = self._bind(args, kwargs)
        operands = self._operands_in(named)
        if self._kind(operands, named) is Tensor:
            return self._apply(args, kwargs)
        compiled, values = self._compile_frozen(args, kwargs, operands)
        return self._run(compiled, values, (args, kwargs), out)

    def _compile(
        self, args: Sequence[Any], options: Mapping[str, Any]
    ) -> tuple[Compiled, list[Any]]:
        """The code for these operands, arrays, numbers or types, and what it is given of them."""
        args = [self._of_type(value) for value in args]
        options = {name: self._of_type(value) for name, value in options.items()}
        args, options = self._frozen_options(args, options)
        named = self._bind(args, options)
        operands = self._operands_in(named)
        if self._kind(operands, named) is Tensor:
            raise ArgumentError(
                f"{self._name}: code is made for arrays, and a tensor is a part of a graph",
                help=f"pass arrays, as in hs.{self._name}.report(x), or build the graph, as in "
                "hj.build(te.create_schedule(C.op), [A, C]).report()",
            )
        return self._compile_frozen(args, options, operands)

    def _of_type(self, value: Any) -> Any:
        """An array in the place of a type."""
        if not isinstance(value, ArraySpec):
            return value
        sizes = [size for size in value.shape if isinstance(size, int)]
        if len(sizes) < len(value.shape):
            raise ArgumentError(
                f"{self._name}: code is made for arrays of known sizes, got {value}",
                help="give numbers for its sizes, as in hj.f32[64, 64]",
            )
        made: Any = np.empty(sizes, value.dtype.numpy)
        return made

    def _compile_frozen(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], operands: Sequence[Operand]
    ) -> tuple[Compiled, list[Any]]:
        key, values = self._read_call(args, kwargs)
        compiled = self._find(key)
        if compiled is None:
            define = functools.partial(self._call_definition, args, kwargs)
            compiled = compile_operator(self._name, operands, define, self._recipe)
            self._keep(key, compiled)
        return compiled, values

    def _kind(self, operands: Sequence[Operand], named: Mapping[str, Any]) -> type[Any]:
        """What the results are: arrays or tensors."""
        if self._creates and all(operand.is_number for operand in operands):
            return Tensor if any(map(_has_expression, named.values())) else np.ndarray
        return check_operands(self._name, operands)

    def _call_definition(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], tensors: Mapping[str, Any]
    ) -> Any:
        """The definition on `tensors`, by parameter, in the place of the operands."""

        def given(name: str, value: Any) -> Any:
            parameter = self._operands.get(name)
            return value if parameter is None else stand_in_for(name, value, parameter, tensors)

        names = list(self._signature.parameters)
        return self._apply(
            [given(name, value) for name, value in zip(names, args, strict=False)],
            {name: given(name, value) for name, value in kwargs.items()},
        )

    def _keep(self, key: Hashable, compiled: Compiled) -> None:
        while len(self._compiled) >= MAX_COMPILED:
            self._drop(next(iter(self._compiled)))
        self._drop(key)
        self._compiled[key] = compiled

    def _drop(self, key: Hashable) -> None:
        old = self._compiled.pop(key, None)
        if old is not None:
            self.native_calls.forget(old.function.specialization)


def _arguments(opened: Schedule, values: Sequence[Any]) -> list[Any]:
    """What the code of an operator is called with: operands in the shapes that it takes them in."""
    made: list[Any] = []
    for value, param in zip(values, opened.original.params, strict=True):
        if isinstance(param, ScalarParam):
            made.append(value)
            continue
        shape = tuple(int(size.value.real) for size in param.shape if isinstance(size, Const))
        made.append(value.reshape(shape))
    return made


def _typed(value: Any) -> Any:
    """An option as a key, in which 1, 1.0 and True are not the same, nor are 0.0 and -0.0."""
    if isinstance(value, tuple):
        return tuple(map(_typed, cast("tuple[Any, ...]", value)))
    return type(value), repr(value) if isinstance(value, _INEXACT) else value


def _has_expression(value: Any) -> bool:
    """Whether an option is a te expression, or has one in it, as a shape may."""
    if isinstance(value, tuple):
        return any(map(_has_expression, cast("tuple[Any, ...]", value)))
    return isinstance(value, Expression)
