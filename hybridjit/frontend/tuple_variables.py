"""Names that stand for tuples of numbers which change: each number is a variable.

    best = (0, 0)                       best_0, best_1 = 0, 0
    for i in range(n):                  for i in range(n):
        if a[i] > limit:       -->          if a[i] > limit:
            best = (i, a[i])                    best_0, best_1 = i, a[i]

A tuple that is known when the script is translated stays so: its numbers may be constants, such as
the sizes of a shape. Only one that a loop gives other numbers is *spread* over variables, from the
next round of the translation on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hybridjit.errors import ParseError
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Pending, Skip, Variable
from hybridjit.frontend.values import ItemPlace, Items, Value, describe
from hybridjit.frontend.variables import Web
from hybridjit.ir.expr import Buffer, Load
from hybridjit.lazy import lazy_module
from hybridjit.scalars.scalar import Scalar

if TYPE_CHECKING:
    from hybridjit.interp import script_names
else:
    script_names = lazy_module("hybridjit.interp.script_names")


def spread(build: Builder, web: Web, value: Items) -> None:
    """Let a name have variables for the numbers of its tuples, if there is nothing else in them.

    It does not return then: the next round of the translation goes on.
    """
    if web in build.knowledge.spread or not all(
        isinstance(number, Scalar) for _, number in leaves_of(value)
    ):
        return
    build.knowledge.spread[web] = value
    build.unit.found_division = True
    raise Skip


def declare_tuple(build: Builder, web: Web, stmt: ast.stmt) -> None:
    """Make the variables of a name that is spread; it stands for what is in them."""
    form = build.knowledge.spread[web]
    variables = {
        place: Variable((build.frame.path, (web, place)), web.name) for place, _ in leaves_of(form)
    }
    build.frame.tuples[web] = variables
    for place, variable in variables.items():
        variable.block = build.body
        variable.type = build.unit.types.get(variable.key)
        if variable.type is not None:
            name = (
                script_names.name_of_part(web.name, place)
                if build.knowledge.keeps_names
                else web.name
            )
            variable.buffer = Buffer(name, variable.type.dtype, (), Buffer.REGISTER)
        build.emit(Pending(variable=variable, span=build.span(stmt)))
    if all(variable.buffer is not None for variable in variables.values()):
        build.frame.bindings[web] = read_tuple(form, variables)


def assign_tuple(build: Builder, web: Web, value: Value, target: ast.AST) -> None:
    """Store the numbers of a tuple, which is as it is now, in the variables of a name."""
    variables = build.frame.tuples[web]
    numbers = dict(leaves_of(value))
    if numbers.keys() != variables.keys():
        raise _refuse_form(build, web, value, target)
    span = build.span(target)
    for place, variable in variables.items():
        number = numbers[place]
        build.assign_variable(variable, build.as_scalar(number, target), span)


def leaves_of(value: Value) -> Iterator[tuple[ItemPlace, Value]]:
    """What stands in a tuple, and in tuples in it, with its place."""
    if not isinstance(value, Items):
        yield (), value
        return
    for position, item in enumerate(value.items):
        for place, leaf in leaves_of(item):
            yield (position, *place), leaf


def read_tuple(form: Items, variables: Mapping[ItemPlace, Variable]) -> Items:
    """A tuple of the numbers in variables, in the form of another."""
    items: list[Value] = []
    for position, item in enumerate(form.items):
        inside = {place[1:]: v for place, v in variables.items() if place[0] == position}
        items.append(read_tuple(item, inside) if isinstance(item, Items) else _read(inside[()]))
    return replace(form, items=tuple(items), origin=None)


def _read(variable: Variable) -> Scalar:
    assert variable.buffer is not None
    assert variable.type is not None
    return Scalar(Load(variable.buffer), variable.type)


def _refuse_form(build: Builder, web: Web, value: Value, target: ast.AST) -> ParseError:
    return build.refuse(
        f"'{web.name}' is {describe(build.knowledge.spread[web])} whose numbers change in a "
        f"loop, and cannot become {describe(value)}",
        target,
        help="use another name for the other value",
    )
