"""Refuse a function that is sure to end in an IndexError: what follows need not be compiled.

    for i in range(65):           IndexError: index 64 is out of bounds for axis 0 of 'a'
        out[i] = a[i]      -->        with size 64, in iteration i=64

Relies on: checked indices. Nothing has run yet, so that all arrays are as they were.
"""

from __future__ import annotations

from hybridjit.analysis.refutation import find_refutation
from hybridjit.errors import RefutedIndex
from hybridjit.ir.func import PrimFunc

_WHEN = "this is sure to happen: the kernel was not run"


def refute_bounds(func: PrimFunc) -> PrimFunc:
    """`func` itself, unless all of its runs fail."""
    found = find_refutation(func)
    if found is None:
        return func
    access = found.access
    values = ", ".join(f"{name}={value}" for name, value in found.iteration)
    raise RefutedIndex(
        f"index {found.index} is out of bounds for axis {access.axis} "
        f"of '{access.buffer}' with size {found.size}",
        access.span,
        notes=(f"in iteration {values}", _WHEN) if values else (_WHEN,),
    )
