"""Headers and error sites as JSON, for the disk.

Lines are counted from the first line of the script, which may move in its file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.codegen.sites import Failure, Site
from hybridjit.errors import Span
from hybridjit.ir import expr as nodes
from hybridjit.ir.dtype import INT64, DType, dtype_named
from hybridjit.ir.expr import Binary, Buffer, Call, Cast, Const, Expr, Select, Unary, Var
from hybridjit.ir.header import Header
from hybridjit.ir.signature import (
    ArrayResult,
    Nesting,
    Param,
    Part,
    Result,
    ScalarParam,
    ScalarResult,
)
from hybridjit.runtime.cache.entry import Json

# What sizes of outputs are made of, besides numbers, variables, casts and calls; one with anything
# else in it is not kept. All that such a node has are its operands.
_OPERATORS: dict[str, Any] = {
    name: cls
    for name, cls in vars(nodes).items()
    if isinstance(cls, type) and issubclass(cls, Unary | Binary | Select)
}


class Unsavable(Exception):
    """A header cannot be written down."""


# Places


def encode_span(span: Span | None, root: Span | None) -> Json:
    """A place, as seen from the script at `root`."""
    if span is None or root is None:
        return None
    file = None if span.file == root.file else span.file
    first = root.line
    return [file, span.line - first, span.col, span.end_line - first, span.end_col]


def decode_span(encoded: Any, root: Span | None) -> Span | None:
    """The place that `encode_span` wrote, now that the script stands at `root`."""
    if encoded is None or root is None:
        return None
    file, line, col, end_line, end_col = encoded
    first = root.line
    return Span(file or root.file, line + first, col, end_line + first, end_col)


# Sites


def encode_sites(sites: Sequence[Site], root: Span | None) -> Json:
    """What `decode_sites` reads."""
    return [
        [
            site.failure.value,
            encode_span(site.span, root),
            [part if isinstance(part, str) else [part.name] for part in site.parts],
            site.loops,
        ]
        for site in sites
    ]


def decode_sites(encoded: Any, root: Span | None) -> tuple[Site, ...]:
    """The sites that `encode_sites` wrote."""
    return tuple(
        Site(
            Failure(failure),
            decode_span(span, root),
            tuple(_decode_part(part) for part in parts),
            tuple(loops),
        )
        for failure, span, parts, loops in encoded
    )


def _decode_part(part: Any) -> str | DType:
    return part if isinstance(part, str) else dtype_named(part[0])


# Headers


def encode_header(header: Header) -> Json:
    """What `decode_header` reads; raises `Unsavable` if a size is too involved."""
    writer = _Writer(header)
    return {
        "name": header.name,
        "params": [writer.param(param) for param in header.params],
        "outputs": [writer.buffer(buffer) for buffer in header.outputs],
        "returns": None if header.returns is None else [*map(writer.result, header.returns)],
        "returns_tuple": header.returns_tuple,
        "nesting": None if header.nesting is None else _encode_nesting(header.nesting),
        "span": encode_span(header.span, header.span),
    }


def decode_header(encoded: Any, root: Span | None) -> Header:
    """The header that `encode_header` wrote, of the script at `root`."""
    reader = _Reader(root)
    params = tuple([reader.param(param) for param in encoded["params"]])
    outputs = tuple([reader.buffer(buffer) for buffer in encoded["outputs"]])
    given = encoded["returns"]
    return Header(
        encoded["name"],
        params,
        outputs,
        None if given is None else tuple([reader.result(result) for result in given]),
        encoded["returns_tuple"],
        None if encoded["nesting"] is None else _decode_nesting(encoded["nesting"]),
        span=decode_span(encoded["span"], root),
    )


def _encode_nesting(nesting: Nesting) -> Json:
    maker = nesting.maker
    parts = [None if part is None else _encode_nesting(part) for part in nesting.parts]
    if maker is list:
        return [parts, _LIST]
    if not isinstance(maker, Part | None):
        raise Unsavable(f"a result of the class {maker.__name__}")  # which its name does not find
    return [parts, None if maker is None else [maker.axes, maker.ndim, maker.way]]


def _decode_nesting(encoded: Any) -> Nesting:
    inside, maker = encoded
    parts = tuple([None if part is None else _decode_nesting(part) for part in inside])
    if maker == _LIST:
        return Nesting(parts, list)
    return Nesting(parts, None if maker is None else Part(tuple(maker[0]), *maker[1:]))


_LIST = "list"


class _Writer:
    """Variables and buffers go by their number, in the order in which they come first."""

    def __init__(self, header: Header) -> None:
        self._root = header.span
        self._vars: dict[Var, int] = {}
        self._buffers: dict[Buffer, int] = {}

    def param(self, param: Param) -> Json:
        if isinstance(param, ScalarParam):
            return ["number", self.expr(param.var), param.weak]
        return self.buffer(param)

    def buffer(self, buffer: Buffer) -> Json:
        self._buffers[buffer] = len(self._buffers)
        shape = [self.expr(extent) for extent in buffer.shape]
        return ["array", buffer.name, buffer.dtype.name, buffer.scope, shape]

    def result(self, result: Result) -> Json:
        if isinstance(result, ScalarResult):
            return ["number", result.dtype.name, result.weak]
        if isinstance(result, ArrayResult):
            return ["array", result.dtype.name, result.ndim, result.place, result.weak]
        if result not in self._buffers:
            raise Unsavable(f"the result {result.name}")
        return self._buffers[result]

    def expr(self, expr: Expr) -> Json:
        match expr:
            case Var() if expr in self._vars:
                return [self._vars[expr]]
            case Var():
                self._vars[expr] = len(self._vars)
                place = encode_span(expr.span, self._root)
                return ["var", expr.name, expr.dtype.name, place]
            case Const(int() as value) if expr.dtype is INT64:
                return int(value)
            case Const(bool() | int() | float() as value, dtype):
                return ["const", value, dtype.name]
            case _:
                return [*self._operation(expr), encode_span(expr.span, self._root)]

    def _operation(self, expr: Expr) -> list[Json]:
        """A node and its operands."""
        match expr:
            case Unary(value):
                return [type(expr).__name__, self.expr(value)]
            case Binary(lhs, rhs):
                return [type(expr).__name__, self.expr(lhs), self.expr(rhs)]
            case Select(cond, then, otherwise):
                return ["Select", *map(self.expr, (cond, then, otherwise))]
            case Cast(to, value, checked):
                return ["cast", to.name, checked, self.expr(value)]
            case Call(name, args):
                return ["call", name, *map(self.expr, args)]
            case _:
                raise Unsavable(f"a size with {type(expr).__name__} in it")


class _Reader:
    def __init__(self, root: Span | None) -> None:
        self._root = root
        self._vars: list[Var] = []
        self._buffers: list[Buffer] = []

    def param(self, encoded: Any) -> Param:
        if encoded[0] != "number":
            return self.buffer(encoded)
        _, var, weak = encoded
        self.expr(var)
        return ScalarParam(self._vars[-1], weak)

    def buffer(self, encoded: Any) -> Buffer:
        _, name, dtype, scope, shape = encoded
        extents = tuple([self.expr(extent) for extent in shape])
        self._buffers.append(Buffer(name, dtype_named(dtype), extents, scope))
        return self._buffers[-1]

    def result(self, encoded: Any) -> Result:
        if isinstance(encoded, int):
            return self._buffers[encoded]
        kind, name, detail, *form = encoded
        if kind != "array":
            return ScalarResult(dtype_named(name), detail)
        place, weak = form
        return ArrayResult(dtype_named(name), detail, None if place is None else tuple(place), weak)

    def expr(self, encoded: Any) -> Expr:
        match encoded:
            case int():
                return Const(encoded)
            case [int() as number]:
                return self._vars[number]
            case ["var", name, dtype, place]:
                span = decode_span(place, self._root)
                self._vars.append(Var(name, dtype_named(dtype), span=span))
                return self._vars[-1]
            case ["const", value, dtype]:
                return Const(value, dtype_named(dtype))
            case [*operation, place]:
                return self._operation(operation, decode_span(place, self._root))
            case _:
                raise Unsavable(f"cannot read {encoded!r}")

    def _operation(self, encoded: Any, span: Span | None) -> Expr:
        match encoded:
            case ["cast", to, checked, value]:
                return Cast(dtype_named(to), self.expr(value), checked, span=span)
            case ["call", name, *args]:
                return Call(name, tuple(map(self.expr, args)), span=span)
            case [operator, *operands]:
                return _OPERATORS[operator](*map(self.expr, operands), span=span)
            case _:
                raise Unsavable(f"cannot read {encoded!r}")
