"""Parameter annotations that the language understands: `a: float32["n", 64]`, `x: float`.

`a: Annotated[NDArray[np.float32], float32["n", 64]]` says the same to us, and to a type checker.
"""

from __future__ import annotations

import ast
from typing import Annotated

from hybridjit.errors import ArgumentError, ParseError
from hybridjit.frontend.captures import MISSING, Environment
from hybridjit.ir.dtype import BOOL, DType, ScalarType
from hybridjit.scalars.builtins import ElementTypeObject, find_element_type
from hybridjit.scalars.kinds import find_weak_type
from hybridjit.scalars.specs import ArraySpec, ScalarSpec, Spec
from hybridjit.source import FunctionSource, span_of
from hybridjit.syntax import parse_expression


def specs_in(source: FunctionSource, environment: Environment) -> list[Spec]:
    """The types of all parameters of a printed function, every one of which is annotated."""
    args = source.node.args
    specs: list[Spec] = []
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        spec = None if arg.annotation is None else spec_of(arg.annotation, environment)
        if spec is None:
            raise ParseError(
                f"parameter '{arg.arg}' needs a type",
                span_of(arg, source),
                help=f"write it as {arg.arg}: float32[64, 64], or {arg.arg}: float",
            )
        specs.append(spec)
    return specs


def spec_of(node: ast.expr, environment: Environment) -> Spec | None:
    """What an annotation says about an argument, or None if it says nothing to us."""
    match node:
        case ast.Constant(value=str() as text):
            try:
                return spec_of(parse_expression(text), environment)
            except SyntaxError:
                return None
        case ast.Subscript(value=owner, slice=ast.Tuple(elts=[_, *metadata])) if (
            _find(owner, environment) is Annotated
        ):
            found = (spec_of(entry, environment) for entry in metadata)
            return next((spec for spec in found if spec is not None), None)
        case ast.Subscript(value=owner, slice=entries):
            dtype = _element_type(owner, environment)
            shape = _shape(entries, environment)
            if dtype is not None and shape is not None:
                return ArraySpec(dtype, shape)
            if isinstance(_find(owner, environment), ElementTypeObject):
                raise ArgumentError(
                    f"cannot read the annotation {ast.unparse(node)}",
                    help=f'write it as in {dtype}[64, "n"]; the size "n" is known at run time only',
                )
            return None
        case _:
            return _scalar(node, environment)


def _scalar(node: ast.expr, environment: Environment) -> Spec | None:
    value = _find(node, environment)
    type = find_weak_type(value)
    if type is None:
        dtype = find_element_type(value)
        type = None if dtype is None else ScalarType(dtype)
    return None if type is None else ScalarSpec(type)


def _element_type(node: ast.expr, environment: Environment) -> DType | None:
    value = _find(node, environment)
    return BOOL if value is bool else find_element_type(value)


def _find(node: ast.expr, environment: Environment) -> object:
    match node:
        case ast.Name(id=name):
            return environment.find(name)
        case ast.Attribute(value=owner, attr=name):
            return getattr(_find(owner, environment), name, MISSING)
        case _:
            return MISSING


def _shape(node: ast.expr, environment: Environment) -> tuple[int | str, ...] | None:
    entries = node.elts if isinstance(node, ast.Tuple) else [node]
    shape: list[int | str] = []
    for entry in entries:
        match entry:
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int() | str() as extent):
                shape.append(extent)
            case ast.Name() | ast.Attribute():
                found = _find(entry, environment)
                if type(found) is not int or found < 0:
                    return None
                shape.append(found)
            case _:
                return None
    return tuple(shape)


def annotations_in(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """The annotations of local names, the first one of each name."""
    found: dict[str, ast.expr] = {}
    stack: list[ast.stmt] = list(reversed(node.body))
    while stack:  # statements only: walking every expression takes ten times as long
        stmt = stack.pop()
        match stmt:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                found.setdefault(name, annotation)
            case ast.For(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
                stack.extend(reversed([*body, *orelse]))
            case ast.If(body=body, orelse=orelse):
                stack.extend(reversed([*body, *orelse]))
            case ast.With(body=body):
                stack.extend(reversed(body))
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
                handled = (inner for handler in handlers for inner in handler.body)
                stack.extend(reversed([*body, *handled, *orelse, *last]))
            case _:
                pass
    return found
