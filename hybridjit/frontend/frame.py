"""What a translation remembers: the variables, loops and functions around a statement."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from hybridjit.errors import HybridError, Span
from hybridjit.frontend.captures import Capture, Environment
from hybridjit.frontend.values import GrowingList, Items, Value
from hybridjit.frontend.variables import Variables, Web
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import Buffer, Expr, Var
from hybridjit.ir.signature import ArrayResult, ConstantArray, Nesting, Param
from hybridjit.ir.stmt import LoopKind, Stmt
from hybridjit.record import record
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.specs import Spec
from hybridjit.source import FunctionSource

if TYPE_CHECKING:
    from hybridjit.interp.script_names import Alias

Path = tuple[tuple[int, int], ...]
Key = tuple[Path, object]
Copy = tuple[Path, ast.stmt]
"""A statement, in one of the copies that expanded loops and inlined calls make of it."""


class Skip(Exception):
    """Raised in a statement that depends on one that already failed, or on a type not yet known.

    `unless_known` is the error to report if no round finds the type.

    It is an error that is not to be reported, and goes the way of one: from any depth of an
    expression to the statement, which is left out of this round. A value "not known" would have to
    be asked for, and handed on, wherever an operand is evaluated.
    """

    def __init__(self, unless_known: HybridError | None = None) -> None:
        super().__init__()
        self.unless_known = unless_known


@record(eq=False, frozen=False)
class Variable:
    """A mutable scalar variable of one inlined copy; its buffer is made once its type is known."""

    key: Key
    name: str
    declared: ScalarType | None = None
    type: ScalarType | None = None
    buffer: Buffer | None = None
    # The block that the variable lives in.
    block: list[Stmt] | None = None


@record(eq=False)
class Resizable:
    """A name that a loop gives arrays of other sizes: where they lie, begin, and how long they are.

    `home` is a growing array, `start` and `size` are registers (frontend/resized.py).
    """

    home: Buffer
    start: Buffer
    size: Buffer


@record(eq=False)
class Pending(Stmt):
    """Where the `Allocate` of a variable will stand."""

    variable: Variable = field(kw_only=True)


@record
class ListPlace:
    """A place in the items of the list that an expression makes: what is put there has a type."""

    origin: ast.expr
    place: tuple[int, ...]


@record
class ListResult:
    """A list that the script returns: what it holds at each place of its items."""

    columns: tuple[ArrayResult, ...]


@record
class LoopScope:
    """A loop around the statement being translated, for `break`, `continue` and `return`."""

    kind: LoopKind | None
    word: str
    is_expanded: bool = False
    is_grid: bool = False


class Enclosing(NamedTuple):
    """A statement around the one being translated: the block that it stands in, and its copy."""

    block: list[Stmt]
    stmt: ast.stmt
    path: Path


Segment = tuple[Sequence[ast.stmt], int]
"""A block, and the statement of it to begin with."""

State = tuple["Value | Variable | Resizable", ...]
"""What some names stand for."""


@record(eq=False, frozen=False)
class Carry:
    """A loop that is being translated, and what the names that it carries have stood for.

    A round begins in the state `entry`, with names for the arrays `known`; arrays numbered from
    `mark` on are its own. At the end of each of its `blocks`, the round is over. What it leaves to
    the next round is `renamed`: an array that there is, or itself, `hoisted` out of the loop;
    `lists` are those that it leaves, by what they are counted in, `numbers` the variables for what
    are numbers. The arrays of names that are `resized` have homes. The loop ends after a round, in
    one of the states `ended`, or on a `break`, in one of the states `left`.
    """

    stmt: ast.For | ast.While
    webs: Sequence[Web]
    register: Buffer
    states: list[State]
    resized: Mapping[Web, Resizable] = field(default_factory=dict[Web, Resizable])
    entry: int = 0
    blocks: list[list[Stmt]] = field(default_factory=list[list[Stmt]])
    known: set[Buffer] = field(default_factory=set[Buffer])
    mark: int = 0
    renamed: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])
    hoisted: list[Buffer] = field(default_factory=list[Buffer])
    lists: dict[Buffer, GrowingList] = field(default_factory=dict[Buffer, GrowingList])
    numbers: dict[tuple[Web, tuple[int, ...]], Variable] = field(
        default_factory=dict[tuple[Web, "tuple[int, ...]"], Variable]
    )
    ended: set[int] = field(default_factory=set[int])
    left: set[int] = field(default_factory=set[int])


@record(eq=False)
class LoopEnd:
    """The states in which a loop may have ended, by their positions in it."""

    carry: Carry
    exits: Sequence[int]


@record(eq=False, frozen=False)
class Frame:
    """One function being translated: the script itself, or a call that is inlined."""

    source: FunctionSource
    environment: Environment
    variables: Variables
    path: Path = ()
    bindings: dict[Web, Value | Variable] = field(default_factory=dict[Web, "Value | Variable"])
    # The variables of names that stand for tuples of numbers, by the places in the tuple.
    tuples: dict[Web, dict[tuple[int, ...], Variable]] = field(
        default_factory=dict[Web, "dict[tuple[int, ...], Variable]"]
    )
    fixed: dict[ast.AST, Value] = field(default_factory=dict[ast.AST, Value])
    loops: list[LoopScope] = field(default_factory=list[LoopScope])
    poisoned: set[Web] = field(default_factory=set[Web])
    # Names in and behind statements whose end is not reached: what assigns them may not, either.
    unreached: set[ast.Name] = field(default_factory=set[ast.Name])
    # Arrays that a loop may have left without a value: each has a register that is set if it has.
    maybe_unbound: dict[Web, Buffer] = field(default_factory=dict[Web, Buffer])
    # Functions, classes and modules that a refused statement would have defined.
    undefined: set[str] = field(default_factory=set[str])
    annotations: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    is_root: bool = True
    # The function that this one is called from, and where.
    caller: Frame | None = None
    call: Span | None = None
    # The function that this one is defined in, whose names it reads.
    definer: Frame | None = None


@record(eq=False, frozen=False)
class Unit:
    """What one round of translating a whole script finds out."""

    # The types of variables: as found by the round before, first seen and joined in this one.
    types: Mapping[Key, ScalarType]
    is_first: bool = True
    first: dict[Key, ScalarType] = field(default_factory=dict[Key, ScalarType])
    found: dict[Key, ScalarType] = field(default_factory=dict[Key, ScalarType])
    branches: dict[ast.If, set[bool | None]] = field(
        default_factory=dict[ast.If, "set[bool | None]"]
    )
    errors: list[HybridError] = field(default_factory=list[HybridError])
    skipped: int = 0
    # True if a branch or a loop was found that has to tell arrays of one name apart.
    found_division: bool = False
    # True if a list was found that is changed after it is made.
    found_growing: bool = False
    unresolved: HybridError | None = None
    # How many statements were translated, and where the outermost copying of code began.
    statements: int = 0
    copied_at: Span | None = None
    captures: list[Capture] = field(default_factory=list[Capture])
    constants: list[ConstantArray] = field(default_factory=list[ConstantArray])
    # The constants of captured arrays, by id and name: one array may have two names, and later
    # each of them another array. The arrays are kept, so that their ids stay unique.
    captured_arrays: dict[tuple[int, str], tuple[object, ConstantArray]] = field(
        default_factory=dict[tuple[int, str], tuple[object, ConstantArray]]
    )
    # The arrays that hold items of parameters, by the ids of the tuples: these live as long.
    item_arrays: dict[int, Buffer] = field(default_factory=dict[int, Buffer])
    let_values: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    declared_outputs: dict[Buffer, Span] = field(default_factory=dict[Buffer, Span])
    # Results, by their position, that are not the same array on every path, as far as is known:
    # each path stores its array in one that is made for all of them.
    common_results: set[int] = field(default_factory=set[int])
    # Results, by their position, whose size is computed on some path: the caller is given the
    # array that the path makes.
    computed_results: set[int] = field(default_factory=set[int])
    # The arrays that the script, and not the library, made and gave a name. Parts of these are
    # returned as views, unless paths disagree: then each path gives an array of its own.
    named_arrays: set[Buffer] = field(default_factory=set[Buffer])
    copies_views: bool = False
    # The bounds of the loops, and the variables that are sizes of arrays, which are not negative
    # up to the end of the block being built.
    loop_ranges: dict[Var, tuple[Expr, Expr, Expr]] = field(
        default_factory=dict[Var, tuple[Expr, Expr, Expr]]
    )
    sizes: frozenset[Expr] = frozenset()
    # The loops over elements of arrays.
    array_loops: set[Var] = field(default_factory=set[Var])
    # What elements are folded into in an order that NumPy leaves open.
    reassociable: set[Buffer] = field(default_factory=set[Buffer])
    # Scratch arrays that an assignment gives a new value as a whole.
    rebound: set[Buffer] = field(default_factory=set[Buffer])
    # Arrays that are written to in place.
    updated: set[Buffer] = field(default_factory=set[Buffer])
    # The arrays that the script makes, numbered in the order of the source, and those that became
    # others since they were made.
    made: dict[Buffer, int] = field(default_factory=dict[Buffer, int])
    renamed: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])
    # Copies of what may be another array, which would miss what is written to them: why, and help.
    standins: dict[Buffer, tuple[str, str]] = field(default_factory=dict[Buffer, tuple[str, str]])
    # What such copies are of: as soon as they have a name, that must not be written to either.
    copied_from: dict[Buffer, list[Buffer]] = field(default_factory=dict[Buffer, list[Buffer]])
    # True if arguments may share memory: then it matters in which order elements are written.
    shares_memory: bool = False
    # More names for arrays, for debuggers.
    aliases: list[Alias] = field(default_factory=list["Alias"])
    # The variables of the loops around, up to the nearest block.
    open_loops: tuple[Var, ...] = ()


@record(eq=False, frozen=False)
class Signature:
    """What the script takes and gives, as far as it is known."""

    specs: Sequence[Spec]
    params: list[Param] = field(default_factory=list[Param])
    # The parameters that are numbers, and the names of sizes.
    number_params: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    dimensions: dict[str, Var] = field(default_factory=dict[str, Var])
    # What the first `return` gives, and whether there was one.
    results: list[Buffer | ArrayResult | ListResult | Key] | None = None
    first_return: ast.Return | None = None
    has_returned: bool = False
    nesting: Nesting | None = None
    # The arrays that the state of NumPy's global generator lies in, if the script draws from it.
    random_state: Items | None = None
    # The types that a printed function declares for the numbers among its results.
    result_types: list[ScalarType | None] = field(default_factory=list["ScalarType | None"])
    # Arrays that stand for what every path returns at a position; all that is returned, and where.
    common: dict[int, Buffer] = field(default_factory=dict[int, Buffer])
    ever_returned: set[Buffer] = field(default_factory=set[Buffer])
    returned_at: dict[Buffer, Span] = field(default_factory=dict[Buffer, Span])
