"""A call that ran: what the dispatcher learns from."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from hybridjit.codegen.layout import Layout
from hybridjit.ir.expr import Buffer
from hybridjit.ir.header import Header
from hybridjit.record import record
from hybridjit.runtime.native import NativeKernel
from hybridjit.runtime.specialization import Specialization
from hybridjit.runtime.translation import Summary
from hybridjit.scalars.specs import Spec


@record(eq=False)
class CallShape:
    """What a table is made of: a call that ran, and the code that it ran.

    `values` are the arguments, one for each parameter of `signature`. Callers see some arrays in
    other shapes than the code does, in C order: those of `seen`.
    """

    signature: inspect.Signature
    specs: tuple[Spec, ...]
    values: Sequence[Any]
    specialization: Specialization
    layout: Layout
    native: NativeKernel
    seen: Mapping[Buffer, Sequence[int]] = field(default_factory=dict[Buffer, Sequence[int]])

    @property
    def func(self) -> Header:
        """The function that the call runs."""
        return self.specialization.header

    @property
    def summary(self) -> Summary:
        """What is known about it."""
        return self.specialization.summary

    @property
    def written(self) -> frozenset[Buffer]:
        """The arrays that the call writes to."""
        return self.summary.written
