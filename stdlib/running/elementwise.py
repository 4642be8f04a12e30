"""What all elementwise operators share: how they are defined, and how they run on arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.shapes import broadcast
from hybridjit.stdlib.running.compiled import Recipe
from hybridjit.stdlib.running.operator import Operator
from hybridjit.stdlib.running.schedules import as_written

F = TypeVar("F", bound=Callable[..., Any])
RECIPE = Recipe(as_written, elementwise=True)


@overload
def elementwise(define: F, /) -> F: ...
@overload
def elementwise(*, differentiable: bool) -> Callable[[F], F]: ...
def elementwise(define: Any = None, /, *, differentiable: bool = True) -> Any:
    """An operator each element of which is made of one element of each operand."""
    if define is None:
        return partial(_make_operator, differentiable=differentiable)
    return _make_operator(define, differentiable=differentiable)


def _make_operator(define: F, *, differentiable: bool) -> F:
    made: Any = Operator(define, RECIPE, differentiable=differentiable)
    return made


def each(function: str, *operands: Any, name: str | None = None) -> Any:
    """NumPy's `function` of every element of operands that are broadcast."""
    return broadcast(partial(call, function), *operands, name=name or function)
