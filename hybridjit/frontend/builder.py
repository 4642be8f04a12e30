"""The builder: where statements go, what names mean, what went wrong.

One builder is passed to every function of the front end. What those functions do is found from the
tables of a `Language` (frontend/language.py), so that a function may hand any part of the source
back without knowing who translates it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hybridjit.arith.ranges import Ranges
from hybridjit.errors import HybridError, ParseError, Span, TypeMismatch
from hybridjit.frontend.captures import MISSING, AttributeSource, Capture, NameSource
from hybridjit.frontend.frame import (
    Carry,
    Copy,
    Enclosing,
    Frame,
    Key,
    LoopEnd,
    Path,
    Pending,
    Resizable,
    Segment,
    Signature,
    Skip,
    Variable,
)
from hybridjit.frontend.knowledge import Knowledge
from hybridjit.frontend.library.table import is_in_library
from hybridjit.frontend.lift import lift
from hybridjit.frontend.values import (
    AnyArray,
    Array,
    ArrayExpr,
    Builtin,
    Callee,
    Foreign,
    InnerFunction,
    Items,
    Value,
    View,
    buffers_of,
    describe,
)
from hybridjit.frontend.variables import Web
from hybridjit.ir.dtype import INT64, UINT64, WEAK_INT, DType, ScalarType, find_dtype
from hybridjit.ir.expr import Buffer, Cast, Const, Expr, Load, Var
from hybridjit.ir.signature import ConstantArray
from hybridjit.ir.stmt import Allocate, Evaluate, Let, Raise, Seq, Stmt, Store
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.scalars.conversion import convert, join_types, store_value
from hybridjit.scalars.kinds import field_names, is_array, is_masked_array, is_sequence
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.specs import Spec
from hybridjit.scalars.suggest import did_you_mean
from hybridjit.source import FunctionSource, span_of

if TYPE_CHECKING:
    from hybridjit.frontend import refusals
    from hybridjit.frontend.aliases import Alias
    from hybridjit.frontend.arrays import refusals as array_refusals
    from hybridjit.frontend.guards import Fault, Kept
else:
    array_refusals = lazy_module("hybridjit.frontend.arrays.refusals")
    refusals = lazy_module("hybridjit.frontend.refusals")

T = TypeVar("T")


# Functions that only printed programs call.
PRINTED = ("reserve", "list_of", "view_of")
# A captured array becomes part of the code; a larger one belongs among the arguments.
MAX_CONSTANT_ELEMENTS = 4096


class Never(Exception):
    """Raised where the script is sure to end: the rest of the statement is never reached.

    `ending` is what ends it, if that is not emitted yet; it comes in the place of the statement.

    An exception, not a value: there is no value where a call always raises, and whoever evaluates
    an operand, in a hundred places, would have to ask for it, to do nothing but hand it on. As an
    error does, it leaves the statement at once; only who runs statements knows of it.
    """

    def __init__(self, *ending: Stmt) -> None:
        super().__init__()
        self.ending = ending


@record
class Language:
    """Which function translates what: the way from any part of the source to those that know it.

    Functions of the front end import only what stands below them; what stands above, they reach
    through these tables. A statement's function gives False if no other can follow it.
    """

    expressions: Mapping[type[ast.expr], Callable[[Builder, Any], Value]]
    statements: Mapping[type[ast.stmt], Callable[[Builder, Any], bool | None]]
    run_block: Callable[[Builder, Sequence[ast.stmt], int], bool]
    inline: Callable[[Builder, Callee | InnerFunction, ast.Call], Value]
    array_of_items: Callable[[Builder, Value, ast.expr], AnyArray]


class Builder:
    """What is being built, and what is known where it is."""

    def __init__(
        self, language: Language, knowledge: Knowledge, frame: Frame, specs: Sequence[Spec]
    ) -> None:
        self.language = language
        self.knowledge = knowledge
        self.unit = knowledge.new_unit()
        self.root = frame.source
        self.frame: Frame = frame
        self.signature = Signature(specs)
        self.body: list[Stmt] = []
        self.hint: str | None = None
        # The statements around, each with the block that it stands in.
        self.around: list[Enclosing] = []
        # The blocks in which the mutable variables live.
        self.homes: dict[tuple[Path, Web], list[Stmt]] = {}
        # Indices that were computed: the block they stand in, what they are, and their variable.
        self.computed_indices: list[tuple[list[Stmt], Expr, Expr]] = []
        # Indices that were checked against sizes, and the block in which they were.
        self.checked_rows: list[tuple[list[Stmt], tuple[Expr, Expr]]] = []
        self.aliases: list[Alias] = []
        self.depth = 0
        # The loops around, and the names that each loop carries from round to round.
        self.carries: list[Carry] = []
        self.carried: dict[Copy, list[Web]] = {}
        self.resized: dict[Copy, dict[Web, Resizable]] = {}
        # A loop that has come to its end in states in which names do not stand for one thing.
        self.divided_end: LoopEnd | None = None
        # What follows the block that is being translated, if it belongs to a branch of its own.
        self.chain: Sequence[Segment] = ()
        # Expressions that have been evaluated before what they are a part of is translated.
        self.evaluated: dict[ast.expr, Value] = {}
        # The statements of the sides of choices that are being translated.
        self.sides: list[list[Stmt]] = []
        # Of the handlers around: where the number of their error is, and what the numbers mean.
        self.handled: list[tuple[Buffer, Mapping[int, Fault], Kept | None]] = []
        self.tries = 0  # how many `try` are around: what is sure to fail there is caught
        # The last error in what may not be reached.
        self.unsure: HybridError | None = None
        # The functions around that are being inlined.
        self.stack: tuple[FunctionSource, ...] = ()

    @property
    def is_in_statement(self) -> bool:
        """True where what is emitted comes before the statement that is translated, or in the side
        of a choice in it, for sure.
        """
        return any(self.body is block for block in (self.around[-1].block, *self.sides[-1:]))

    def reached(
        self, evaluate: Callable[[], T], *, is_sure: bool = False
    ) -> tuple[T | None, list[Stmt]]:
        """A value, and the statements that it needs; None if they are sure to end the script.

        It may not be needed, and then its errors are none, unless `is_sure`.
        """
        with self.collect() if is_sure else self.collect_lazily() as stmts:
            self.sides.append(stmts)
            try:
                return evaluate(), stmts
            except Never as never:
                stmts.extend(never.ending)
                return None, stmts
            finally:
                self.sides.pop()

    def fail(self, failure: Raise) -> None:
        """Emit an error that is sure to be raised here: nothing that follows is reached."""
        self.emit(failure)
        if self.is_in_statement:
            raise Never

    # -- source --------------------------------------------------------------------------------

    def span(self, node: ast.AST) -> Span:
        """Where `node` stands in the source of the function being translated."""
        return span_of(node, self.frame.source, self.frame.call)

    def refuse(self, message: str, node: ast.AST, help: str | None = None) -> ParseError:
        """The error for source that the language does not have."""
        return ParseError(message, self.span(node), help=help)

    def mismatch(self, message: str, node: ast.AST, help: str | None = None) -> TypeMismatch:
        """The error for a value of the wrong kind, type or shape."""
        return TypeMismatch(message, self.span(node), help=help)

    def is_made_here(self, buffer: Buffer) -> bool:
        """True for an array that the script makes."""
        return buffer not in self.signature.params

    @property
    def ranges(self) -> Ranges:
        """What is known of the variables in sizes and indices."""
        return Ranges(self.unit.loop_ranges, self.unit.let_values, self.unit.sizes)

    # -- statements ----------------------------------------------------------------------------

    def emit(self, stmt: Stmt) -> None:
        """Add a statement to the block being built."""
        if isinstance(stmt, Allocate):
            self.unit.made.setdefault(stmt.buffer, len(self.unit.made))
        self.body.append(stmt)

    @contextmanager
    def collect(self) -> Generator[list[Stmt]]:
        """Statements emitted inside go to a list of their own, with what is known after them."""
        outer, self.body = self.body, []
        sizes = self.unit.sizes
        try:
            yield self.body
        finally:
            self.body = outer
            self.unit.sizes = sizes

    @contextmanager
    def collect_lazily(self) -> Generator[list[Stmt]]:
        """As `collect`, for statements that may not be reached; neither may their errors."""
        with self.collect() as stmts:
            try:
                yield stmts
            except HybridError as error:
                self.unsure = error
                raise

    @contextmanager
    def trying(self) -> Generator[None]:
        """Statements of a `try` are translated inside."""
        self.tries += 1
        try:
            yield
        finally:
            self.tries -= 1

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
        """`value` evaluated here, once; constants, variables and sizes stand for themselves."""
        if isinstance(value.expr, (Const, Var)) or value.expr in self.unit.sizes:
            return value
        var = Var(name, value.expr.dtype, span=span)
        self.unit.let_values[var] = value.expr
        self.emit(Let(var, value.expr, span=span))
        return Scalar(var, value.type)

    # -- names ---------------------------------------------------------------------------------

    def read_name(self, node: ast.Name) -> Value:
        """What a name of the source stands for here."""
        if node in self.frame.fixed:
            return self.frame.fixed[node]
        fixed = self.frame.variables.direct.get(node)
        if fixed is not None and fixed in self.frame.fixed:
            return self.frame.fixed[fixed]
        web = self.frame.variables.reads.get(node)
        if web is not None:
            return self._read_web(web, node)
        if node.id in self.frame.undefined:
            raise Skip
        if node.id in self.frame.variables.names:
            raise self._used_before_assigned(node)
        if self.frame.definer is not None:
            with self.inside(self.frame.definer):
                return self.read_name(node)
        return self.read_outer(node)

    @contextmanager
    def inside(self, frame: Frame) -> Generator[None]:
        """Names mean what they mean in another function, as far as that has come."""
        outer, self.frame = self.frame, frame
        try:
            yield
        finally:
            self.frame = outer

    def _used_before_assigned(self, node: ast.Name) -> ParseError:
        help = "assign it on a line before this one"
        meant = did_you_mean(node.id, self.frame.variables.names - {node.id})
        if self.frame.environment.find(node.id) is not MISSING:
            help = (
                f"a name that the function assigns anywhere is local to it: use another name, "
                f"or assign '{node.id}' before this line"
            )
        elif meant is not None:
            help = f"{help}, or {meant}"
        return self.refuse(f"'{node.id}' is used before it is assigned", node, help=help)

    def _read_web(self, web: Web, node: ast.Name) -> Value:
        if web in self.frame.poisoned:
            raise Skip
        bound = self.frame.bindings.get(web)
        if bound is None:
            raise Skip(self._used_before_assigned(node))
        if not isinstance(bound, Variable):
            if web in self.frame.maybe_unbound:
                flag = Load(self.frame.maybe_unbound[web], (), span=self.span(node))
                self.emit(Evaluate(flag, span=self.span(node)))
            return bound
        if bound.buffer is None:
            # Its type is found by a later statement; the next round knows it.
            bound.type = self.unit.types.get(bound.key)
            is_never_set = bound.type is None and self._is_never_set(web)
            if self.unit.is_first or not (is_never_set or self._is_guarded(web)):
                raise Skip(self._used_before_assigned(node))
            if bound.type is None:
                self.check_divisible(web)  # what is given an array later on may have it by then
                raise self._unbound(web.name, self.span(node))
            bound.buffer = Buffer(bound.name, bound.type.dtype, (), Buffer.REGISTER)
        assert bound.type is not None
        return Scalar(Load(bound.buffer, (), span=self.span(node)), bound.type)

    def _unbound(self, name: str, span: Span) -> Never:
        """A name that has no value is read: at run time, that is an error."""
        never = Buffer(name, INT64, (), Buffer.REGISTER)
        read = Evaluate(Load(never, (), span=span), span=span)
        return Never(Allocate(never, zero=False), read)

    def _is_never_set(self, web: Web) -> bool:
        """True if whatever assigns a name fails before it does, as `x = min(())` does."""
        assigned = (d.node for d in web.definitions if d.merges is None)
        return all(node in self.frame.unreached for node in assigned)

    def _is_guarded(self, web: Web) -> bool:
        """True if a name is read only on a condition: when that is true, it may have a value."""
        home = self.home_of(web)
        blocks = [enclosing.block is home for enclosing in self.around]
        inside = self.around[blocks.index(True) :] if True in blocks else []
        if web.may_be_unbound and any(isinstance(enclosing.stmt, ast.If) for enclosing in inside):
            self.knowledge.guarded.add(web)
        return web in self.knowledge.guarded

    def bound_values(self, without: Sequence[Web] = ()) -> Iterator[Value | Variable]:
        """What every name stands for, but some, here and in the functions around a call."""
        frame: Frame | None = self.frame
        while frame is not None:
            yield from (value for web, value in frame.bindings.items() if web not in without)
            frame = frame.caller

    def is_shared(self, buffer: Buffer, web: Web) -> bool:
        """True if another name stands for an array, or for a part of it, too."""
        return any(buffer in buffers_of(value) for value in self.bound_values([web]))

    def read_outer(self, node: ast.Name) -> Value:
        """What a name from around the function stands for; it becomes a constant."""
        environment, name = self.frame.environment, node.id
        value = environment.find(name)
        self.capture(name, value, NameSource(environment, name))
        if value is MISSING and self.frame.source.is_printed and name in PRINTED:
            return Builtin(name)
        if value is MISSING:
            help = refusals.OTHER_NAMES.get(name)
            help = help or did_you_mean(name, [*self.frame.variables.names, *environment.names()])
            help = help or environment.find_alias(name) or "define it outside, or pass it in"
            raise self.refuse(f"'{name}' is not defined", node, help=help)
        return self.lift(value, name, node)

    def capture(self, name: str, value: object, read: NameSource | AttributeSource) -> None:
        """Remember a value from around the script: when it changes, the translation is stale.

        What the functions that stand for NumPy's have around them is a part of the compiler.
        """
        if is_in_library(self.frame.source.file):
            return
        self.unit.captures.append(Capture.take(name, read, value))

    def lift(self, value: object, name: str, node: ast.AST) -> Value:
        """What a Python object stands for; a small array becomes a constant of the script."""
        if is_array(value):
            return self._constant_array(value, name, node)
        if is_sequence(value):
            items = tuple(self.lift(item, name, node) for item in value)
            return Items(items, fields=field_names(value))
        return lift(value)

    def _constant_array(self, array: NDArray[Any], name: str, node: ast.AST) -> Array:
        if is_masked_array(array):
            raise self.mismatch(
                f"the captured array '{name}' is a masked array, whose mask would be ignored",
                node,
                help=f"capture {name}.filled(0), or its data and its mask separately",
            )
        dtype = find_dtype(array.dtype)
        if dtype is None:
            raise self.mismatch(
                f"the captured array '{name}' has dtype {array.dtype}, which is not supported",
                node,
                help=_convertible(array.dtype, name),
            )
        if array.size > MAX_CONSTANT_ELEMENTS:
            raise self.mismatch(
                f"the captured array '{name}' has {array.size} elements; "
                f"at most {MAX_CONSTANT_ELEMENTS} can be part of the code",
                node,
                help="pass it as an argument",
            )
        key = id(array), name
        if key not in self.unit.captured_arrays:
            made = self.make_constant(name, dtype, np.array(array, order="C"))
            self.unit.captured_arrays[key] = array, made
        _, constant = self.unit.captured_arrays[key]
        return Array(constant.buffer)

    def make_constant(self, name: str, dtype: DType, data: NDArray[Any]) -> ConstantArray:
        """Make `data`, which nobody else holds, a read-only array of the script."""
        data.flags.writeable = False
        shape = tuple(Const(extent) for extent in data.shape)
        constant = ConstantArray(Buffer(name, dtype, shape), data)
        self.unit.constants.append(constant)
        return constant

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
        self.emit(Store(variable.buffer, (), self._stored(variable, value, type, span), span=span))

    def _stored(
        self, variable: Variable, value: Scalar, type: ScalarType, span: Span | None
    ) -> Expr:
        """`value` as the variable holds it."""
        try:
            return store_value(value, type.dtype, span)
        except TypeMismatch as error:
            # What reads the variable is passed over from here on, and so may be what gave it this
            # type: forgotten, it would be found again by the next round, and so on without end.
            self.join_type(variable.key, type, span)
            if variable.declared is not None or not _is_wider(value, type.dtype):
                raise
            raise TypeMismatch(
                error.message,
                error.span,
                help=f"elsewhere '{variable.name}' is given values of {type}: say that it holds "
                f"larger ones, as in {variable.name}: int64 = {value.constant}",
            ) from None

    def home_of(self, web: Web) -> list[Stmt] | None:
        """The block in which a mutable variable lives; an expanded loop has no blocks."""
        path = self.frame.path
        homes = (self.homes.get((path[:depth], web)) for depth in range(len(path), -1, -1))
        return next((home for home in homes if home is not None), None)

    def check_divisible(self, web: Web, *, loops: bool = True, is_resized: bool = False) -> None:
        """Give up, if a branch or a loop stands between a name and where it lives.

        The next round divides the branch, or lets the loop carry the name: one that `is_resized`
        as an array of any size.
        """
        home = self.home_of(web)
        if home is None or home is self.body:
            return
        inside = [enclosing for enclosing in self.around if enclosing.block is home]
        if not inside or (not loops and isinstance(inside[-1].stmt, (ast.For, ast.While, ast.Try))):
            return
        if isinstance(inside[-1].stmt, ast.Try):  # it may be left anywhere, with either
            raise self.refuse(
                f"'{web.name}' is given another array, tuple or list inside try, and used after it",
                inside[-1].stmt,
                help="try only what may fail, and give the name its value after it",
            )
        is_expanded = any(isinstance(outer.stmt, ast.For) for outer in inside[:-1])
        # What follows a divided `if` would have to be translated for each round that is left.
        if is_expanded and isinstance(inside[-1].stmt, ast.If):
            return
        # A static `if` and `with np.errstate()` have no block of their own: what follows the
        # outermost of them is divided, too.
        loops_inside = [e for e in inside if isinstance(e.stmt, (ast.For, ast.While))]
        divided = loops_inside[-1] if loops_inside else inside[0]
        self.knowledge.divided.setdefault((divided.path, divided.stmt), []).append(web)
        if is_resized and loops_inside:
            self.knowledge.resized.setdefault((divided.path, divided.stmt), set()).add(web.name)
        self.unit.found_division = True
        raise Skip

    # -- evaluation ----------------------------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression. Statements that it needs are emitted first."""
        if node in self.evaluated:
            return self.evaluated[node]
        translate = self.language.expressions.get(type(node))
        if translate is None:
            raise refusals.refusal(node, self.span(node))
        return translate(self, node)

    def run_statement(self, stmt: ast.stmt) -> bool:
        """Translate one statement; return whether another can follow it."""
        translate = self.language.statements.get(type(stmt))
        if translate is None:
            raise refusals.refusal(stmt, self.span(stmt))
        return translate(self, stmt) is not False

    def run_block(self, body: Sequence[ast.stmt], first: int = 0) -> bool:
        """Translate the statements of a block, from `first` on; True if its end can be reached."""
        return self.language.run_block(self, body, first)

    def scalar(self, node: ast.expr, what: str = "a number") -> Scalar:
        """The value of an expression that must be a number."""
        return self.as_scalar(self.evaluate(node), node, what)

    def as_scalar(self, value: Value, node: ast.AST, what: str = "a number") -> Scalar:
        """`value`, which must be a number."""
        if isinstance(value, Scalar):
            return value
        if isinstance(value, Array):
            raise self.mismatch(
                f"{describe(value)} is used where {what} is needed",
                node,
                help=f"use one element, as in {array_refusals.element_of(value)}",
            )
        raise self.mismatch(
            f"expected {what}, found {describe(value)}", node, help=_number_help(value)
        )

    def as_operands(
        self, values: Sequence[Value], nodes: Sequence[ast.expr], whole: ast.expr
    ) -> list[Scalar]:
        """Values that must be numbers; a whole array is refused with the expression it is in."""
        for value, node in zip(values, nodes, strict=True):
            if isinstance(value, (View, ArrayExpr)):
                raise array_refusals.refuse_whole(value, whole, self.span(whole))
            if isinstance(value, Array):
                span = self.span(node if value.indices else whole)
                raise array_refusals.refuse_array_expression(value, whole, span)
        return [self.as_scalar(value, node) for value, node in zip(values, nodes, strict=True)]

    def index(self, node: ast.expr, what: str) -> Expr:
        """An expression that must be an integer, as int64."""
        value = self.scalar(node, what)
        return self.as_index(value, node, what)

    def as_index(self, value: Scalar, node: ast.AST, what: str) -> Expr:
        """`value` as int64; it must be an integer."""
        if not value.type.dtype.is_integer:
            raise self.mismatch(
                f"{what} must be an integer, found {describe(value)}",
                node,
                help=_integer_help(value, node),
            )
        if value.type.dtype.name == "uint64" and not isinstance(value.expr, Const):
            # A huge unsigned value must not become a negative index.
            return Cast(INT64, value.expr, checked=True, span=self.span(node))
        if isinstance(value.constant, int) and value.constant > INT64.bounds[1]:
            raise self.mismatch(f"{what} must fit in 64 bits, found {value.constant}", node)
        return convert(value, INT64, self.span(node))


def _convertible(dtype: Any, name: str) -> str:
    if find_dtype(dtype.newbyteorder("=")) is not None:
        return f"make one of {name}.astype({name}.dtype.newbyteorder('='))"
    if dtype.kind in "mM":
        return f"make one of {name}.astype(np.int64)"
    return "keep numbers in it, such as np.float64"


def _is_wider(value: Scalar, dtype: DType) -> bool:
    """True for a Python int that int64 holds, as it holds all that `dtype` does."""
    if value.type != WEAK_INT or dtype is UINT64 or not isinstance(value.constant, int):
        return False
    return INT64.bounds[0] <= value.constant <= INT64.bounds[1]


def _number_help(value: Value) -> str | None:
    match value:
        case Builtin(name):
            return f"call it, as in {name}(...)"
        case Callee(pyfunc):
            return f"call it, as in {pyfunc.__name__}(...)"
        case InnerFunction(node):
            return f"call it, as in {node.name}(...)"
        case Items(items) if items:
            return "take one of its items by its index, such as [0]"
        case Foreign(Enum()):
            return "take its number, with .value"
        case _:
            return None


def _integer_help(value: Scalar, node: ast.AST) -> str | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return f"divide with //, as in {ast.unparse(node.left)} // {ast.unparse(node.right)}"
    if value.type.dtype.is_float or value.type.dtype.is_bool:
        return f"convert it with int({ast.unparse(node)})" if isinstance(node, ast.expr) else None
    return None
