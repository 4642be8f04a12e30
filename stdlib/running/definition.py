"""What an operator is defined by: its operands, and what tables say of it.

A result whose size depends on values is no tensor: `@on_arrays` is for a definition that calls a
script on arrays. Others are operators (`operator.py`), which take tensors as well.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, TypeVar, cast

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, HybridError
from hybridjit.html_text import heading, preformatted
from hybridjit.record import record
from hybridjit.source import read_function
from hybridjit.stdlib.running.operands import (
    Operand,
    Parameter,
    check_operands,
    find_parameters,
    operands_of,
)
from hybridjit.stdlib.running.options import Kind, check_kinds, find_kinds, frozen, single
from hybridjit.te import Tensor

F = TypeVar("F", bound=Callable[..., Any])


@record
class Description:
    """A row of `hs.OPERATORS`. The family is the file that an operator is defined in."""

    name: str
    family: str
    has_schedule: bool
    has_gradient: bool


def on_arrays(define: F) -> F:
    """Let a definition take arrays only: the sizes of its results depend on values."""
    made: Any = ArrayOperator(define)
    return made


def describe(made: Any) -> Description:
    """What is known of an operator."""
    assert isinstance(made, Definition)
    return made.describe()


class Definition:
    """A definition with its operands, and what tables say of it."""

    def __init__(self, define: Callable[..., Any]) -> None:
        made: Any = self
        functools.update_wrapper(made, define)
        self._name = define.__name__
        self._define = cast("FunctionType", define)
        self._signature = inspect.signature(define)
        self._operands: dict[str, Parameter] = find_parameters(define)

    def __repr__(self) -> str:
        return f"operator {self._name}{self._signature}"

    def _repr_html_(self) -> str:
        return heading(repr(self)) + "\n" + preformatted(read_function(self._define).text)

    def describe(self) -> Description:
        """What `hs.OPERATORS` says."""
        family = self._define.__module__.rpartition(".")[2]
        return Description(self._name, family, has_schedule=False, has_gradient=False)

    def _operands_in(self, named: Mapping[str, Any]) -> list[Operand]:
        return [
            operand
            for name, value in named.items()
            if name in self._operands
            for operand in operands_of(self._name, name, value, self._operands[name])
        ]

    def _bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What is passed, by parameter, in the order in which it is passed."""
        try:
            bound = self._signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise ArgumentError(
                f"{self._name}: {error}", help=f"it is called as {self._shown_call()}"
            ) from None
        names = [*list(self._signature.parameters)[: len(args)], *kwargs]
        named = {name: bound[name] for name in names}
        check_kinds(self._name, self._kinds, named)
        return named

    def _frozen_options(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """What is passed, with options that can be hashed."""
        names = [*self._signature.parameters, *("" for _ in args)]
        given = [self._frozen(name, value) for name, value in zip(names, args, strict=False)]
        return given, {name: self._frozen(name, value) for name, value in kwargs.items()}

    def _frozen(self, name: str, value: Any) -> Any:
        if name in self._operands:
            return value
        made = frozen(self._name, name, value)
        return single(made) if name in self._kinds else made

    @functools.cached_property
    def _kinds(self) -> dict[str, tuple[Kind, ...]]:
        return find_kinds(self._define)

    def _apply(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the definition makes. Its errors name the operator, not lines of its scripts."""
        try:
            return self._define(*args, **kwargs)
        except HybridError as error:
            if re.match(rf"{self._name}\b|\w+: ", error.message):
                raise
            made = error.diagnostics[0]
            raise type(error)(
                f"{self._name}: {error.message}", help=made.help, notes=made.notes
            ) from None

    def _shown_call(self) -> str:
        """The parameters and their defaults; several operands in a tuple."""
        shown: list[inspect.Parameter] = []
        for name, parameter in self._signature.parameters.items():
            many = name in self._operands and self._operands[name].is_sequence
            shown.append(parameter.replace(annotation="(a, b, ...)" if many else parameter.empty))
        text = str(inspect.Signature(shown)).replace("'(a, b, ...)'", "(a, b, ...)")
        return f"hs.{self._name}{text}"


class ArrayOperator(Definition):
    """A definition on arrays."""

    @api_edge
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given, options = self._frozen_options(args, kwargs)
        operands = self._operands_in(self._bind(given, options))
        if check_operands(self._name, operands) is Tensor:
            raise ArgumentError(
                f"{self._name}: the size of its result depends on values, and a tensor needs one",
                help="call it on arrays",
            )
        return self._apply(given, options)
