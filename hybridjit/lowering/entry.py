"""hj.lower: the IR of a schedule, of tensors or of a function, to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.config import api_edge
from hybridjit.ir.func import PrimFunc
from hybridjit.lowering.custom_passes import apply_passes, read_passes
from hybridjit.schedule.scheduled import as_scheduled


@api_edge
def lower(
    source: Any,
    args: Sequence[Any] | None = None,
    name: str | None = None,
    *,
    simple_mode: bool = False,
    passes: Sequence[Any] = (),
) -> PrimFunc:
    """The IR of a schedule, of tensors or of a function, as the pipeline gets it.

    `args` are the parameters, in order: tensors and te.vars. `passes` are functions from PrimFunc
    to PrimFunc that rewrite it. Printed, it is a script that parses back. `simple_mode` changes
    nothing: the loops are not cut yet here.

    >>> print(hj.lower(s, [A, B, C]))
    """
    made = as_scheduled(source, args, name)
    return apply_passes(made.func, read_passes(passes))
