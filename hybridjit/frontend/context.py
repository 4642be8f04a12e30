"""The state of a translation: where statements go, what names mean, what went wrong."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hybridjit.errors import HybridError, ParseError, Span, TypeMismatch
from hybridjit.frontend.captures import MISSING, Capture, Environment, lift, snapshot
from hybridjit.frontend.conversion import convert, join_types, store_value
from hybridjit.frontend.suggest import did_you_mean
from hybridjit.frontend.values import Array, Foreign, Items, Scalar, Value, describe
from hybridjit.frontend.variables import Variables, Web
from hybridjit.ir.dtype import INT64, ScalarType, find_dtype
from hybridjit.ir.expr import Buffer, Cast, Const, Expr, Load, Var
from hybridjit.ir.signature import ConstantArray
from hybridjit.ir.stmt import Allocate, Block, Let, LoopKind, Seq, Stmt, Store
from hybridjit.source import FunctionSource, span_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Path = tuple[tuple[int, int], ...]
Key = tuple[Path, object]

# A captured array becomes part of the code; a larger one belongs among the arguments.
MAX_CONSTANT_ELEMENTS = 4096


class Skip(Exception):
    """A statement that depends on one that already failed, or on a type not yet known."""


@dataclass(eq=False, slots=True)
class Variable:
    """A mutable scalar variable of one inlined copy; its buffer is made once its type is known."""

    key: Key
    name: str
    declared: ScalarType | None = None
    type: ScalarType | None = None
    buffer: Buffer | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Pending(Stmt):
    """Where the `Allocate` of a variable will stand."""

    variable: Variable = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class LoopScope:
    """A loop around the statement being translated, for `break`, `continue` and `return`."""

    kind: LoopKind | None
    word: str
    is_expanded: bool = False
    is_grid: bool = False


@dataclass(eq=False, slots=True)
class Frame:
    """One function being translated: the script itself, or a call that is inlined."""

    source: FunctionSource
    environment: Environment
    variables: Variables
    path: Path = ()
    bindings: dict[Web, Value | Variable] = field(default_factory=dict[Web, "Value | Variable"])
    fixed: dict[ast.AST, Value] = field(default_factory=dict[ast.AST, Value])
    loops: list[LoopScope] = field(default_factory=list[LoopScope])
    poisoned: set[Web] = field(default_factory=set[Web])
    annotations: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    is_root: bool = True


@dataclass(eq=False, slots=True)
class Unit:
    """What one round of translating a whole script finds out."""

    # The types of variables: as found by the round before, first seen and joined in this one.
    types: Mapping[Key, ScalarType]
    first: dict[Key, ScalarType] = field(default_factory=dict[Key, ScalarType])
    found: dict[Key, ScalarType] = field(default_factory=dict[Key, ScalarType])
    branches: dict[ast.If, set[bool | None]] = field(
        default_factory=dict[ast.If, "set[bool | None]"]
    )
    errors: list[HybridError] = field(default_factory=list[HybridError])
    skipped: int = 0
    captures: list[Capture] = field(default_factory=list[Capture])
    constants: dict[int, ConstantArray] = field(default_factory=dict[int, ConstantArray])
    let_values: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    declared_outputs: dict[Buffer, Span] = field(default_factory=dict[Buffer, Span])
    automatic_blocks: list[Block] = field(default_factory=list[Block])


class Context:
    """The part of the translator that everything else builds on."""

    def __init__(self, unit: Unit, frame: Frame) -> None:
        self.unit = unit
        self.frame = frame
        self.body: list[Stmt] = []
        self.hint: str | None = None
        self.depth = 0

    # -- source --------------------------------------------------------------------------------

    def span(self, node: ast.AST) -> Span:
        return span_of(node, self.frame.source)

    def refuse(self, message: str, node: ast.AST, help: str | None = None) -> ParseError:
        """The error for source that the language does not have."""
        return ParseError(message, self.span(node), help=help)

    def mismatch(self, message: str, node: ast.AST, help: str | None = None) -> TypeMismatch:
        """The error for a value of the wrong kind, type or shape."""
        return TypeMismatch(message, self.span(node), help=help)

    # -- statements ----------------------------------------------------------------------------

    def emit(self, stmt: Stmt) -> None:
        self.body.append(stmt)

    @contextmanager
    def collect(self) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to a list of their own."""
        outer, self.body = self.body, []
        try:
            yield self.body
        finally:
            self.body = outer

    def close(self, stmts: Sequence[Stmt]) -> Stmt:
        """The statements of a block, with the variables that live in it made."""
        closed: list[Stmt] = []
        for stmt in stmts:
            if not isinstance(stmt, Pending):
                closed.append(stmt)
            elif stmt.variable.buffer is not None:
                closed.append(Allocate(stmt.variable.buffer, zero=False, span=stmt.span))
        return closed[0] if len(closed) == 1 else Seq(tuple(closed))

    def let(self, value: Scalar, name: str, span: Span | None) -> Scalar:
        """`value` evaluated here, once; constants and variables stand for themselves."""
        if isinstance(value.expr, (Const, Var)):
            return value
        var = Var(name, value.expr.dtype, span=span)
        self.unit.let_values[var] = value.expr
        self.emit(Let(var, value.expr, span=span))
        return Scalar(var, value.type)

    # -- names ---------------------------------------------------------------------------------

    def read_name(self, node: ast.Name) -> Value:
        fixed = self.frame.variables.direct.get(node)
        if fixed is not None and fixed in self.frame.fixed:
            return self.frame.fixed[fixed]
        web = self.frame.variables.reads.get(node)
        if web is not None:
            return self._read_web(web, node)
        if node.id in self.local_names:
            raise self.refuse(
                f"'{node.id}' is used before it is assigned",
                node,
                help="assign it first; a name that the function assigns anywhere is local to it",
            )
        return self.read_outer(node)

    @property
    def local_names(self) -> frozenset[str]:
        return frozenset(web.name for web in self.frame.variables.writes.values())

    def _read_web(self, web: Web, node: ast.Name) -> Value:
        if web in self.frame.poisoned:
            raise Skip
        bound = self.frame.bindings.get(web)
        if bound is None:
            raise (
                Skip
                if web.is_mutable
                else self.refuse(
                    f"'{node.id}' has no value here",
                    node,
                    help="assign it on every path to this line",
                )
            )
        if not isinstance(bound, Variable):
            return bound
        if bound.buffer is None:
            raise Skip  # its type is found by a later statement; the next round knows it
        assert bound.type is not None
        return Scalar(Load(bound.buffer, (), span=self.span(node)), bound.type)

    def read_outer(self, node: ast.Name) -> Value:
        environment, name = self.frame.environment, node.id
        value = environment.find(name)
        if value is MISSING:
            raise self.refuse(
                f"'{name}' is not defined",
                node,
                help=did_you_mean(name, [*self.local_names, *environment.names()]),
            )
        self.capture(name, value, lambda: environment.find(name))
        return self.lift(value, name, node)

    def capture(self, name: str, value: object, read: Any) -> None:
        """Remember a value from around the script: when it changes, the translation is stale."""
        self.unit.captures.append(Capture(name, read, snapshot(value)))

    def lift(self, value: object, name: str, node: ast.AST) -> Value:
        if isinstance(value, np.ndarray):
            return self._constant_array(value, name, node)
        lifted = lift(value)
        if isinstance(lifted, Items) and any(isinstance(i, Foreign) for i in lifted.items):
            assert isinstance(value, (tuple, list))
            return Items(tuple(self.lift(item, name, node) for item in value))
        return lifted

    def _constant_array(self, array: np.ndarray[Any, Any], name: str, node: ast.AST) -> Array:
        dtype = find_dtype(array.dtype)
        if dtype is None:
            raise self.mismatch(f"the captured array '{name}' has dtype {array.dtype}", node)
        if array.size > MAX_CONSTANT_ELEMENTS:
            raise self.mismatch(
                f"the captured array '{name}' has {array.size} elements; "
                f"at most {MAX_CONSTANT_ELEMENTS} can be part of the code",
                node,
                help="pass it as an argument",
            )
        known = self.unit.constants.get(id(array))
        if known is None:
            shape = tuple(Const(extent) for extent in array.shape)
            data = np.ascontiguousarray(array).reshape(array.shape).copy()
            data.flags.writeable = False
            known = ConstantArray(Buffer(name, dtype, shape), data)
            self.unit.constants[id(array)] = known
        return Array(known.buffer)

    # -- mutable variables ---------------------------------------------------------------------

    def join_type(self, key: Key, type: ScalarType, span: Span | None) -> ScalarType:
        """Add a value's type to what `key` holds; return the type that this round works with."""
        unit = self.unit
        found = unit.found.get(key)
        unit.found[key] = type if found is None else join_types(found, type, span)
        return unit.types.get(key) or unit.first.setdefault(key, type)

    def assign_variable(self, variable: Variable, value: Scalar, span: Span | None) -> None:
        """Store into a mutable variable; its type is the join of all that is stored in it."""
        type = variable.type = self.join_type(variable.key, variable.declared or value.type, span)
        if variable.buffer is None:
            variable.buffer = Buffer(variable.name, type.dtype, (), Buffer.REGISTER)
        self.emit(Store(variable.buffer, (), store_value(value, type.dtype, span), span=span))

    # -- what the layers above provide ---------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression. Statements that it needs are emitted first."""
        raise NotImplementedError

    def scalar(self, node: ast.expr, what: str = "a number") -> Scalar:
        """The value of an expression that must be a number."""
        return self.as_scalar(self.evaluate(node), node, what)

    def as_scalar(self, value: Value, node: ast.AST, what: str = "a number") -> Scalar:
        if isinstance(value, Scalar):
            return value
        if isinstance(value, Array):
            raise self.mismatch(
                f"{describe(value)} is used where {what} is needed",
                node,
                help=_index_help(value),
            )
        raise self.mismatch(f"expected {what}, found {describe(value)}", node)

    def index(self, node: ast.expr, what: str) -> Expr:
        """An expression that must be an integer, as int64."""
        value = self.scalar(node, what)
        return self.as_index(value, node, what)

    def as_index(self, value: Scalar, node: ast.AST, what: str) -> Expr:
        if not value.type.dtype.is_integer:
            raise self.mismatch(
                f"{what} must be an integer, found {describe(value)}",
                node,
                help="convert it with int(x)" if value.type.dtype.is_float else None,
            )
        if value.type.dtype.name == "uint64" and not isinstance(value.expr, Const):
            # A huge unsigned value must not become a negative index.
            return Cast(INT64, value.expr, checked=True, span=self.span(node))
        return convert(value, INT64, self.span(node))


def _index_help(value: Array) -> str:
    subscript = ", ".join("ijklmn"[: max(1, len(value.shape))]) if len(value.shape) <= 6 else "..."
    name = value.buffer.name
    return f"index one element, as in {name}[{subscript}], inside loops over its shape"
