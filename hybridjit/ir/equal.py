"""Structural equality: the same program up to the names of its variables and buffers.

Variables and buffers correspond one to one: a binder of one side to the binder in the same place
of the other. What neither side binds corresponds only to itself. Names and spans do not count,
and a nested or trivial `Seq` is the statements in it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from hybridjit.ir.expr import Buffer, Const, Expr, Node, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr, format_stmt
from hybridjit.ir.signature import ConstantArray, Param, ScalarParam
from hybridjit.ir.stmt import Allocate, Stmt, flat_stmts

_CHILD = {"Expr", "Stmt", "Stmt | None"}
_TUPLE = {
    "tuple[Expr, ...]",
    "tuple[Stmt, ...]",
    "tuple[Iter, ...]",
    "tuple[Expr, Expr] | None",
    "tuple[str | Expr, ...]",
    "tuple[Expr | None, ...]",
}
_ATTRIBUTE = {
    "str",
    "int",
    "str | None",
    "bool",
    "bool | int | float | complex",
    "DType",
    "Extern",
    "LoopKind",
    "IterKind",
    "Annotations",
}


def structural_equal(a: PrimFunc | Node, b: PrimFunc | Node) -> bool:
    """True when `a` and `b` are the same program up to renaming."""
    return find_difference(a, b) is None


def find_difference(a: PrimFunc | Node, b: PrimFunc | Node) -> str | None:
    """Where `a` and `b` differ first and how, for a person to read; None when they are equal."""
    comparison = _Comparison()
    root = _Path(None, "")
    try:
        if isinstance(a, PrimFunc) and isinstance(b, PrimFunc):
            comparison.funcs(a, b, root)
        else:
            comparison.trees(a, b, root)
    except _DifferenceError as difference:
        return str(difference)
    return None


def find_correspondence(a: PrimFunc, b: PrimFunc) -> dict[Var | Buffer, Var | Buffer] | None:
    """What each variable and buffer of `a` is in `b`; None if the programs differ."""
    comparison = _Comparison()
    try:
        comparison.funcs(a, b, _Path(None, ""))
    except _DifferenceError:
        return None
    return comparison.forward


class _Path(NamedTuple):
    """The way from the root to a part; turned into text only when there is a difference."""

    parent: _Path | None
    step: str

    def __truediv__(self, step: str) -> _Path:
        return _Path(self, step)

    def __str__(self) -> str:
        steps: list[str] = []
        path: _Path | None = self
        while path is not None:
            steps.append(path.step)
            path = path.parent
        return "".join(reversed(steps)).removeprefix(".") or "root"


class _DifferenceError(Exception):
    """The first difference, with the two sides of it."""

    def __init__(self, path: _Path, a: object, b: object) -> None:
        self.args = (f"{path}: {_show(a)} != {_show(b)}",)


def _show(part: object) -> str:
    match part:
        case Expr():
            return f"{format_expr(part)} ({type(part).__name__})"
        case Stmt():
            return format_stmt(part).partition("\n")[0]
        case Buffer(name=name) | ScalarParam(name=name):
            return f"{type(part).__name__} {name}"
        case _:
            return repr(part)


_Pair = tuple[Any, Any, _Path]


class _Comparison:
    """The correspondence found so far between the two sides."""

    def __init__(self) -> None:
        self.forward: dict[Var | Buffer, Var | Buffer] = {}
        self._backward: dict[Var | Buffer, Var | Buffer] = {}

    def funcs(self, a: PrimFunc, b: PrimFunc, root: _Path) -> None:
        """Compare whole functions, but for their names."""
        # A shape may mention a dimension that a later parameter binds, so all of them bind first.
        for x, y, path in self._pairs(a.dimensions, b.dimensions, root / ".dimensions"):
            self._bind(x, y, path)
        for x, y, path in self._pairs(a.params, b.params, root / ".params"):
            self._param(x, y, path)
        for x, y, path in self._pairs(a.constants, b.constants, root / ".constants"):
            self._constant(x, y, path)
        for x, y, path in self._pairs(a.outputs, b.outputs, root / ".outputs"):
            self._bind_buffer(x, y, path)
        self._results(a, b, root / ".returns")
        self._same(a.fastmath, b.fastmath, root / ".fastmath")
        self._same(a.parallel, b.parallel, root / ".parallel")
        self.trees(a.body, b.body, root / ".body")

    def trees(self, a: object, b: object, path: _Path) -> None:
        """Compare two trees; without recursion, so that depth is no concern."""
        stack: list[_Pair] = [(a, b, path)]
        while stack:
            x, y, here = stack.pop()
            if _is_body(x) and _is_body(y):
                xs, ys = flat_stmts(x), flat_stmts(y)
                if len(xs) != 1 or len(ys) != 1:
                    stack.extend(reversed(self._pairs(xs, ys, here)))
                    continue
                x, y = xs[0], ys[0]
            stack.extend(reversed(self._node(x, y, here)))

    def _node(self, a: Any, b: Any, path: _Path) -> list[_Pair]:
        """Compare what two nodes hold themselves; return the pairs of their children."""
        if type(a) is not type(b):
            raise _DifferenceError(path, a, b)
        if isinstance(a, Var):
            self._refer(a, b, path)
            return []
        if not isinstance(a, Node) or isinstance(a, Const):
            self._same(a, b, path)
            return []
        pairs: list[_Pair] = []
        for name, role in field_roles(type(a)):
            pairs += self._field(role, getattr(a, name), getattr(b, name), path / f".{name}")
        return pairs

    def _field(self, role: str, a: Any, b: Any, path: _Path) -> list[_Pair]:
        match role:
            case "child":
                return [(a, b, path)]
            case "tuple":
                return self._pairs(a or (), b or (), path)
            case "binder":
                self._bind(a, b, path)
            case "allocation":
                self._bind_buffer(a, b, path)
            case "reference":
                self._refer(a, b, path)
            case _:
                self._same(a, b, path)
        return []

    def _param(self, a: Param, b: Param, path: _Path) -> None:
        if isinstance(a, Buffer) and isinstance(b, Buffer):
            self._bind_buffer(a, b, path)
        elif isinstance(a, ScalarParam) and isinstance(b, ScalarParam):
            self._same(a.weak, b.weak, path / ".weak")
            self._bind(a.var, b.var, path)
        else:
            raise _DifferenceError(path, a, b)

    def _constant(self, a: ConstantArray, b: ConstantArray, path: _Path) -> None:
        self._bind_buffer(a.buffer, b.buffer, path)
        self._same(a.data.dtype, b.data.dtype, path / ".data.dtype")
        self._same(a.data.shape, b.data.shape, path / ".data.shape")
        if a.data.tobytes() != b.data.tobytes():
            raise _DifferenceError(path / ".data", a.data.tolist(), b.data.tolist())

    def _results(self, a: PrimFunc, b: PrimFunc, path: _Path) -> None:
        if a.returns is None or b.returns is None:
            self._same(a.returns, b.returns, path)
            return
        for x, y, here in self._pairs(a.returns, b.returns, path):
            if isinstance(x, Buffer) and isinstance(y, Buffer):
                self._refer(x, y, here)
            else:
                self._same(x, y, here)
        self._same(a.returns_tuple, b.returns_tuple, path / " as a tuple")
        self._same(a.nesting, b.nesting, path / " in tuples")

    def _pairs(self, a: Sequence[Any], b: Sequence[Any], path: _Path) -> list[_Pair]:
        if len(a) != len(b):
            self._same(len(a), len(b), path / " count")
        return [(x, y, path / f"[{i}]") for i, (x, y) in enumerate(zip(a, b, strict=True))]

    def _bind_buffer(self, a: Buffer, b: Buffer, path: _Path) -> None:
        self._same(a.scope, b.scope, path / ".scope")
        for x, y, here in self._pairs(a.shape, b.shape, path / ".shape"):
            self.trees(x, y, here)
        self._bind(a, b, path)

    def _bind(self, a: Var | Buffer, b: Var | Buffer, path: _Path) -> None:
        self._same(a.dtype, b.dtype, path / ".dtype")
        self.forward[a] = b
        self._backward[b] = a

    def _refer(self, a: Var | Buffer, b: Var | Buffer, path: _Path) -> None:
        if self.forward.get(a, a) is not b or self._backward.get(b, b) is not a:
            raise _DifferenceError(path, a, b)

    def _same(self, a: object, b: object, path: _Path) -> None:
        if a != b:
            raise _DifferenceError(path, a, b)


def _is_body(part: object) -> bool:
    return part is None or isinstance(part, Stmt)


@cache
def field_roles(cls: type[Node]) -> tuple[tuple[str, str], ...]:
    """Each field of `cls` that counts, and how it is compared; TypeError for one of a new kind."""
    return tuple(
        (field.name, _role(cls, str(field.type)))
        for field in dataclasses.fields(cls)
        if field.compare
    )


def _role(cls: type[Node], annotation: str) -> str:
    if annotation in _CHILD:
        return "child"
    if annotation in _TUPLE:
        return "tuple"
    if annotation in _ATTRIBUTE:
        return "attribute"
    match annotation:
        case "Var":
            return "binder"
        case "Buffer":
            return "allocation" if cls is Allocate else "reference"
        case _:
            raise TypeError(f"{cls.__name__} has a field of type {annotation}: how is it compared?")
