"""Statements. Together with expr.py this is the reference of the language.

Statements have identity: compare them with `structural_equal`. Every Var and every Buffer is
bound exactly once in a function, so a loop is named by its Var and survives rewriting. `Let` and
`Allocate` bind for the rest of the `Seq` they stand in.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Add, Buffer, Const, Expr, FloorDiv, Max, Min, Node, Sub, Var
from hybridjit.record import record


class LoopKind(Enum):
    """How the iterations of a loop are run. The value is the word that prints it."""

    SERIAL = "range"
    PARALLEL = "parallel"
    VECTORIZED = "vectorize"
    UNROLLED = "unroll"
    SCAN = "scan"
    BOUND = "bind"

    @property
    def is_concurrent(self) -> bool:
        """True if the iterations have no order: they may run at the same time."""
        return self in (LoopKind.PARALLEL, LoopKind.VECTORIZED, LoopKind.BOUND)


class IterKind(Enum):
    """What an iteration variable of a block does.

    SPATIAL: different values touch different elements of the result. REDUCE: all values update
    the same element with a commutative, associative operator. SCAN: each step may depend on the
    ones before it.
    """

    SPATIAL = "spatial"
    REDUCE = "reduce"
    SCAN = "scan"


Annotations = tuple[tuple[str, "bool | int | float | str"], ...]
"""Hints of a schedule, names with values. They never change what a program computes."""

ARRAY = "array"
"""Marks a block of a statement on whole arrays. The value says how many of its iterations, the last
ones, are over elements: along these loops indices stay inside of their arrays, and the optimiser
may run them together with those of other statements. A loop over elements around others that are
not is marked itself.
"""

REASSOCIATE = "reassociate"
"""Marks a block that folds: the order in which its terms are combined is open, as in NumPy that of
sums, products and extrema of whole arrays, and a product may be rounded together with the sum that
it is added to (`fma`). The interpreter takes the terms in the order of the loops. Without
`fastmath`, no order is changed but of blocks that say so. Lowering, which has no blocks, marks the
parallel and vector loops around them.
"""

IN_LANES, ON_THREADS = "in_lanes", "on_threads"
"""Hints of loops: how many lanes they are to have, where that is proved to change nothing, or 1 for
none; and whether they are to run on several threads. Where that cannot be, it is an error.
"""

SUMS_IN_LANES, SUMS_IN_ROWS = "sums_in_lanes", "sums_in_rows"
"""Hints of loops around sums: so many iterations are to run side by side, each with its sums in
variables, as lanes of one of the loops and as rows of another one; 1 for none.
"""

IN_REGISTER = "in_register"
"""A hint of a loop over terms: whether the element that it updates is to be kept in a variable."""

IF_POSSIBLE = {
    name: f"{name}_if_possible" for name in (IN_LANES, ON_THREADS, SUMS_IN_LANES, IN_REGISTER)
}
"""Marks that stand beside a hint: where it cannot be carried out, the compiler chooses."""

ORIGIN, HAS_LANES, HAS_REGISTER = "origin", "has_lanes", "has_register"
"""What lowering keeps with loops that are numbered: the number, how many lanes they got, and that
what they update is in a variable.
"""

LANES = "lanes"
"""What lowering keeps with a parallel loop whose threads run their iterations in lanes."""

AT_MOST = "at_most"
"""What lowering keeps with a loop whose bounds do not say how often it runs: the most it may."""

FINDINGS = (LANES, AT_MOST)
"""What lowering has proved of loops, and later passes rely on: nobody else may say it."""

UNNAMED = "unnamed"
"""What lowering keeps with a loop that it has made of lines of the script, over parts of what they
do: no error speaks of its index, as of any that has no lines.
"""

HINTS = (
    *IF_POSSIBLE,
    *IF_POSSIBLE.values(),
    *(SUMS_IN_ROWS, REASSOCIATE, ORIGIN, HAS_LANES, HAS_REGISTER, UNNAMED),
)
"""Annotations that stay with a loop whatever becomes of it. With no others, it is a plain one."""

UNSAFE = "unsafe"
"""Marks a loop that has its kind without a proof, as a schedule or the script wants it."""

AUTOMATIC = ("automatic", True)
"""The annotation of a parallel loop that nobody asked to be one."""

UNROLL = "unroll"
"""Marks a loop, with the value False, that LLVM is not to unroll: a round of it is long enough."""

UNBOUND = "unbound"
"""Marks a block that only has a name yet: its iters are to be those of the loops around it."""

STORED_ONCE = "stored_once"
"""Marks a block that, with others so marked, stores each element of its array once, and cannot
fail: what is made of the elements may be stored in their place.
"""


class Stmt(Node):
    """Something that is executed."""

    __slots__ = ()


_LONGEST_STEP = 2**31


@record(eq=False)
class Seq(Stmt):
    """The statements one after the other. Empty means do nothing."""

    stmts: tuple[Stmt, ...]


@record(eq=False)
class For(Stmt):
    """`for var in range(start, stop, step)`: the bounds are evaluated once, before the loop.

    No iterations when the range is empty. The step may be negative; a zero step is a ValueError.
    `thread` is the axis that a BOUND loop is bound to, such as "threadIdx.x".
    """

    var: Var
    start: Expr
    stop: Expr
    step: Expr
    body: Stmt
    kind: LoopKind = LoopKind.SERIAL
    thread: str | None = None
    annotations: Annotations = ()

    @property
    def hints(self) -> Annotations:
        """The annotations that lowering keeps with the loop, whatever becomes of it."""
        return tuple(item for item in self.annotations if item[0] in HINTS)

    @property
    def has_own_annotations(self) -> bool:
        """True if there are annotations that are no hints."""
        return any(name not in HINTS for name, _ in self.annotations)

    def hint(self, name: str) -> Any:
        """The value of a hint; None without it."""
        return next((value for found, value in self.annotations if found == name), None)

    def asks(self, name: str) -> bool:
        """True if a hint wants something of the loop, and nothing else will do."""
        wanted: int = self.hint(name) or 0
        return (wanted is True or wanted > 1) and not self.hint(IF_POSSIBLE[name])

    @property
    def is_unsafe(self) -> bool:
        """True if the loop has its kind without a proof, as a schedule or the script wants it."""
        return (UNSAFE, True) in self.annotations

    @property
    def has_short_steps(self) -> bool:
        """True if the step is a constant, and so small that many together are a number, too: those
        of a round of lanes, or of a block of iterations for a thread.
        """
        return isinstance(self.step, Const) and abs(self.step.value.real) <= _LONGEST_STEP

    @property
    def extent(self) -> Expr:
        """The number of iterations; a constant when the range is.

        It overflows for an empty range whose bounds are far apart, as no sizes of arrays are.
        """
        return _extent(self.start, self.stop, self.step)

    @property
    def safe_extent(self) -> Expr:
        """The number of iterations, whatever the bounds are; the step is a constant."""
        starts_at_zero = isinstance(self.start, Const) and self.start.value == 0
        are_known = isinstance(self.start, Const) and isinstance(self.stop, Const)
        if not isinstance(self.step, Const) or starts_at_zero or are_known:
            return self.extent
        last = (Max if self.step.value.real > 0 else Min)(self.stop, self.start)
        if self.step.value == 1:
            return Sub(last, self.start)
        return -FloorDiv(Sub(self.start, last), self.step)


@record(eq=False)
class While(Stmt):
    """Run `body` as long as `cond`, evaluated before each round, is true."""

    cond: Expr
    body: Stmt


@record(eq=False)
class If(Stmt):
    """Run `then` if `cond` is true, else `otherwise`."""

    cond: Expr
    then: Stmt
    otherwise: Stmt | None = None


@record(eq=False)
class Store(Stmt):
    """Set the element of `buffer` at `indices` to `value`, which has the buffer's type.

    The value is evaluated first, then the indices. Indices are as in `Load`.
    """

    buffer: Buffer
    indices: tuple[Expr, ...]
    value: Expr


@record(eq=False)
class Let(Stmt):
    """Bind `var` to the value of `value`, evaluated here, for the rest of the enclosing `Seq`."""

    var: Var
    value: Expr


@record(eq=False)
class Allocate(Stmt):
    """Make `buffer` for the rest of the enclosing `Seq`; each execution makes a new one.

    Its elements are zero, or, with `zero` false, unset: reading an unset element is an error.
    """

    buffer: Buffer
    zero: bool = True


@record(eq=False)
class Reserve(Stmt):
    """See that a growing buffer has at least `size` elements along its first axis.

    It is a `BufferRef`. Elements that it has stay as they are, new ones are unset. Where it grows,
    it grows to more than is asked for, so that elements that are added one by one cost little.
    """

    array: Expr
    size: Expr


@record(eq=False)
class Iter(Node):
    """One iteration variable of a block: `var` takes the value of `value`, an index.

    A value that is a loop variable ranges over that loop. Any other value ranges over `domain`,
    the half-open interval (start, stop), which may mention variables of earlier iters.
    """

    var: Var
    value: Expr
    kind: IterKind = IterKind.SPATIAL
    domain: tuple[Expr, Expr] | None = None


@record(eq=False)
class Block(Stmt):
    """One named computation. It sees loops around it only through iters: its own and those outside.

    `init`, if any, runs before the body when every REDUCE iter is at the start of its range.
    """

    name: str
    iters: tuple[Iter, ...]
    body: Stmt
    init: Stmt | None = None
    annotations: Annotations = ()

    @property
    def is_open(self) -> bool:
        """True if the order of the terms that it folds is open."""
        return (REASSOCIATE, True) in self.annotations


@record(eq=False)
class Assert(Stmt):
    """An AssertionError unless `cond` is true. `message` holds strings and values to show.

    It is one string or value, or with `is_tuple` the items of a tuple, of any number.
    """

    cond: Expr
    message: tuple[str | Expr, ...] = ()
    is_tuple: bool = False


@record(eq=False)
class Raise(Stmt):
    """Leave the function with the built-in exception `error`, such as "ValueError".

    `message` holds its arguments, or with `is_tuple` the items of the tuple that is its only one,
    or with `is_text` a text with values in it (ir/texts.py).
    """

    error: str
    message: tuple[str | Expr, ...] = ()
    is_tuple: bool = False
    is_text: bool = False


@record(eq=False)
class Print(Stmt):
    """Write strings and values to standard output, as Python's print does.

    With `is_text` the message is a text with values in it (ir/texts.py), its line end included.
    """

    message: tuple[str | Expr, ...]
    is_text: bool = False


@record(eq=False)
class Evaluate(Stmt):
    """Evaluate `value` for its effect."""

    value: Expr


class Break(Stmt):
    """Leave the innermost `For` or `While`."""

    __slots__ = ()


class Continue(Stmt):
    """Go on with the next round of the innermost `For` or `While`."""

    __slots__ = ()


@record(eq=False)
class Return(Stmt):
    """Leave the function. `values` are its results that are not buffers, in their order.

    For an `ArrayResult` that is a `BufferRef`: its array, a local one, is given to the caller.
    """

    values: tuple[Expr, ...] = ()


# Where a loop may be bound: an axis of blocks, of the threads in a block, of virtual threads.
THREADS = (
    *("threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x", "blockIdx.y", "blockIdx.z"),
    *("vthread", "vthread.x", "vthread.y", "vthread.z"),
)


def _extent(start: Expr, stop: Expr, step: Expr) -> Expr:
    match start, stop, step:
        case Const(a), Const(b), Const(s) if s != 0:
            return Const(len(range(int(a.real), int(b.real), int(s.real))), INT64)
        case _, _, Const(1):
            return Max(_difference(stop, start), Const(0))
        case _:
            # ceil((stop - start) / step) by floor division, right for either sign of step
            rounded = -FloorDiv(Sub(start, stop), step)
            return Max(rounded, Const(0))


def _difference(stop: Expr, start: Expr) -> Expr:
    match stop, start:
        case _, Const(0):
            return stop
        case Add(x, Const(b)), Const(a):
            return Add(x, Const(int(b.real) - int(a.real)))
        case _:
            return Sub(stop, start)


def seq(*stmts: Stmt) -> Stmt:
    """The statements in order, nested sequences flattened; a lone statement stands for itself."""
    flat: list[Stmt] = []
    for stmt in stmts:
        flat.extend(stmt.stmts if isinstance(stmt, Seq) else (stmt,))
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def flat_stmts(stmt: Stmt | None) -> list[Stmt]:
    """The statements that `stmt` stands for, nested sequences flattened; none for None."""
    if stmt is None:
        return []
    if not isinstance(stmt, Seq):
        return [stmt]
    return [inner for outer in stmt.stmts for inner in flat_stmts(outer)]
