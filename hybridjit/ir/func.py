"""PrimFunc: a whole function of the IR, with its parameters, outputs and results."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hybridjit.errors import Span
from hybridjit.html_text import preformatted
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.header import Header, buffers_in, dimensions_in
from hybridjit.ir.signature import ConstantArray, Nesting, Param, Result
from hybridjit.ir.stmt import Stmt
from hybridjit.lazy import lazy_module
from hybridjit.record import record

if TYPE_CHECKING:
    from hybridjit.ir import printer
else:
    printer = lazy_module("hybridjit.ir.printer")  # for what is shown, and for errors


@record(eq=False, repr=False)
class PrimFunc:
    """A function: parameters in order, arrays it makes, and the statement that it runs.

    A buffer parameter's shape may hold Vars: they are the run-time dimensions, bound by the
    first buffer that has them as a whole dimension. `outputs` are made by the call, zero-filled,
    before the body runs; their shapes depend only on parameters. `returns` lists the results:
    buffers (a parameter or an output), scalars, and local arrays that the caller is given, whose
    shapes may be computed (both named by `Return`); None means no result. `nesting` says how they
    stand in tuples, if it is more than one tuple of all.
    `fastmath` is what native code may do to floats: flags of ir/fastmath.py, in their order.
    `parallel` asks for all cores: loops may run on several threads where that changes nothing.
    `is_checked` says that every index of a `Load` or `Store` is inside its array, [0, n): proofs
    that two indices are different elements rely on it, where a negative one counts from the end.
    """

    name: str
    params: tuple[Param, ...]
    body: Stmt
    outputs: tuple[Buffer, ...] = ()
    constants: tuple[ConstantArray, ...] = ()
    returns: tuple[Result, ...] | None = None
    returns_tuple: bool = False
    fastmath: tuple[str, ...] = ()
    nesting: Nesting | None = field(default=None, kw_only=True)
    parallel: bool = field(default=False, kw_only=True)
    is_checked: bool = field(default=False, kw_only=True)
    span: Span | None = field(default=None, repr=False, kw_only=True)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffer parameters, in order."""
        return buffers_in(self.params)

    @property
    def dimensions(self) -> tuple[Var, ...]:
        """The run-time dimensions of the parameters, in order of first appearance."""
        return dimensions_in(self.params)

    @property
    def header(self) -> Header:
        """What a call needs to know."""
        return Header(
            self.name,
            self.params,
            self.outputs,
            self.returns,
            self.returns_tuple,
            self.nesting,
            span=self.span,
        )

    def __str__(self) -> str:
        return printer.print_func(self)

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def __repr__(self) -> str:
        params = ", ".join(param.name for param in self.params)
        return f"PrimFunc {self.name}({params}): print it to see its text"
