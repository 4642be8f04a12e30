"""Header: what a call of a function needs to know about it, without its body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hybridjit.errors import Span
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.signature import Nesting, Param, Result
from hybridjit.record import record

# The largest size of a dimension: more than any memory holds. Kernels refuse larger ones.
MAX_EXTENT = 1 << 48


@record(eq=False)
class Header:
    """The name, parameters, outputs and results of a `PrimFunc`, as described there."""

    name: str
    params: tuple[Param, ...]
    outputs: tuple[Buffer, ...] = ()
    returns: tuple[Result, ...] | None = None
    returns_tuple: bool = False
    nesting: Nesting | None = None
    span: Span | None = field(default=None, repr=False, kw_only=True)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffer parameters, in order."""
        return buffers_in(self.params)

    @property
    def dimensions(self) -> tuple[Var, ...]:
        """The run-time dimensions of the parameters, in order of first appearance."""
        return dimensions_in(self.params)


def buffers_in(params: Sequence[Param]) -> tuple[Buffer, ...]:
    """The buffers among `params`, in order."""
    return tuple(param for param in params if isinstance(param, Buffer))


def dimensions_in(params: Sequence[Param]) -> tuple[Var, ...]:
    """The run-time dimensions of `params`, in order of first appearance."""
    found: dict[Var, None] = {}
    for buffer in buffers_in(params):
        for extent in buffer.shape:
            if isinstance(extent, Var):
                found.setdefault(extent)
    return tuple(found)
