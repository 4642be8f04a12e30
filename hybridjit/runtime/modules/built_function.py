"""Functions of the IR that are called like kernels: a PrimFunc in the place of a script."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from hybridjit import config
from hybridjit.codegen.layout import ArrayLayout, Layout
from hybridjit.config import api_edge
from hybridjit.frontend.parse import Parsed
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import Buffer, Const, Expr, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.header import Header
from hybridjit.ir.printer import format_expr
from hybridjit.ir.printer_names import Names
from hybridjit.ir.signature import Param, ScalarParam
from hybridjit.lowering.serialize_loops import serialize_loops
from hybridjit.runtime import compiler
from hybridjit.runtime.arguments import NamedCall, bind, flatten, spec_of_argument
from hybridjit.runtime.dispatch.call_shape import CallShape
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from hybridjit.runtime.dispatch.objects import NativeCallable, native_calls
from hybridjit.runtime.specialization import Specialization
from hybridjit.scalars.specs import ArraySpec, ScalarSpec, Spec


class BuiltSpecialization(Specialization):
    """A function of the IR, and the code made of it for each layout of the arguments.

    `as_written` runs where arguments share memory; it has the parameters of `func`, which steps of
    a schedule made of `original`.
    """

    def __init__(self, func: PrimFunc, as_written: PrimFunc, original: PrimFunc) -> None:
        self._begin()
        self._has_steps = func is not original
        self.parsed = Parsed(func, (), {}, original)
        self.func_in_order = serialize_loops(as_written)
        self.summary = compiler.summarize(func)

    def in_order(self, args: Sequence[Any], *, keeps_names: bool = False) -> Parsed:
        """The function as it is: no script has names for it."""
        return Parsed(self.func_in_order, (), {})

    @property
    def is_scheduled(self) -> bool:
        """Loops stay in the order that steps gave them."""
        return self._has_steps

    def _known_key(self, layout: Layout) -> None:
        return None  # the IR is there: its text finds the code


def usual_layout(header: Header) -> Layout:
    """The layout of arrays in C order that share no memory."""
    return Layout((ArrayLayout(),) * len(header.buffers), True)


@native_calls
class BuiltFunction(NativeCallable):
    """A function of the IR: call it on NumPy arrays, which it writes in place, and numbers."""

    def __init__(self, specialization: Specialization) -> None:
        self.specialization = specialization
        self.__name__ = specialization.header.name
        self.signature = signature_of(specialization.header)
        self._specs = [_spec_of(param) for param in specialization.header.params]
        self.native_calls = NativeCalls()

    @api_edge
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Calls like earlier ones do not come here: the dispatcher runs them.
        return self.call_as(self, self.native_calls, args, kwargs)

    @api_edge
    def interpret(self, *args: Any, **kwargs: Any) -> Any:
        """Run the IR in the interpreter."""
        with NamedCall(self.__name__):
            specs, values = self.bind(args, kwargs)
            return self.specialization.interpret(flatten(specs, values))

    def call_as(
        self,
        target: NativeCallable,
        calls: NativeCalls,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """Run on behalf of `target`, which may run calls like this one natively from now on."""
        result, ran = self.run(args, kwargs)
        if ran is not None:
            calls.learn(target, ran)
        return result

    def run(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], out: object = None
    ) -> tuple[Any, CallShape | None]:
        """The result of a call, and the call as it ran natively, if it did.

        The result is in the arrays of `out` if the code can write to them.
        """
        if config.current().interpret:
            return self.interpret(*args, **kwargs), None
        with NamedCall(self.__name__):
            specs, values = self.bind(args, kwargs)
            flat = flatten(specs, values)
            layout, native = self.specialization.prepare(flat)
            result = native(flat, out)
        ran = CallShape(self.signature, specs, values, self.specialization, layout, native)
        return result, ran

    def bind(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Spec, ...], list[Any]]:
        """The arguments in the order of the parameters, checked against their types."""
        values = bind(self.signature, args, kwargs)
        specs = tuple(
            spec_of_argument(name, value, declared)
            for name, value, declared in zip(
                self.signature.parameters, values, self._specs, strict=True
            )
        )
        return specs, values

    def layout(self, args: Sequence[Any]) -> Layout:
        """How these arguments lie in memory."""
        specs, values = self.bind(args, {})
        return self.specialization.layout(specs, values)

    def __repr__(self) -> str:
        return f"built function '{self.__name__}{self.signature}'"


def signature_of(header: Header) -> inspect.Signature:
    """The parameters of a function, by the names that they print as."""
    names = Names()
    return inspect.Signature(
        [
            inspect.Parameter(names.bind(_named(param)), inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for param in header.params
        ]
    )


def _named(param: Param) -> Var | Buffer:
    return param.var if isinstance(param, ScalarParam) else param


def _spec_of(param: Param) -> Spec:
    if isinstance(param, ScalarParam):
        return ScalarSpec(ScalarType(param.var.dtype))
    return ArraySpec(param.dtype, tuple(map(_extent, param.shape)))


def _extent(extent: Expr) -> int | str:
    """A size, or how it is written: one that is computed is checked when the others are known."""
    return int(extent.value.real) if isinstance(extent, Const) else format_expr(extent)
