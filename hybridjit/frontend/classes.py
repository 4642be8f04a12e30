"""`isinstance`: what a value is, is known when the script is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments
from hybridjit.frontend.values import (
    Array,
    ArrayExpr,
    ArrayFunction,
    ElementType,
    Foreign,
    GrowingList,
    Items,
    Nothing,
    PythonType,
    Text,
    Value,
    View,
    describe,
)
from hybridjit.ir.dtype import BOOL, WEAK_BOOL, ScalarType
from hybridjit.ir.expr import Const
from hybridjit.scalars.scalar import Scalar

_PYTHON: dict[str, type] = {"bool": bool, "int64": int, "float64": float, "complex128": complex}


def is_instance(build: Builder, node: ast.Call) -> Scalar:
    """`isinstance(x, (int, np.ndarray))`, a constant."""
    value, classes = arguments(build, node, "obj", "class_or_tuple", required=2).values()
    cls = _class_of(build.evaluate(value))
    if cls is None:
        raise build.refuse(f"isinstance of {ast.unparse(value)} is not known", value)
    wanted = tuple(_classes(build, build.evaluate(classes), classes))
    found = issubclass(cls, wanted)
    return Scalar(Const(found, BOOL, span=build.span(node)), WEAK_BOOL)


def _class_of(value: Value) -> type | None:
    match value:
        case Scalar(_, kind):
            return _class_of_number(kind)
        case Array() | View() | ArrayExpr():
            return np.ndarray
        case Items(maker=type() as maker):
            return maker
        case Items(fields=None, is_list=is_list):
            return list if is_list else tuple
        case GrowingList():
            return list
        case Text():
            return str
        case Nothing():
            return type(None)
        case _:
            return None


def _class_of_number(kind: ScalarType) -> type:
    return _PYTHON[kind.dtype.name] if kind.weak else kind.dtype.numpy.type


def _classes(build: Builder, value: Value, node: ast.expr) -> Iterator[type]:
    match value:
        case PythonType(found):
            yield _PYTHON[found.dtype.name]
        case ElementType(dtype):
            yield dtype.numpy.type
        case ArrayFunction("empty"):  # np.ndarray makes an array as np.empty does
            yield np.ndarray
        case Foreign(type() as cls):
            yield cls
        case Items(items):
            for item in items:
                yield from _classes(build, item, node)
        case _:
            raise build.mismatch(
                f"isinstance takes classes, found {describe(value)}",
                node,
                help="name a class, or a tuple of classes",
            )
