"""Label what each loop around a statement does to it: SPATIAL, REDUCE or SCAN.

A label is a claim about one statement, made cheaply and on the safe side; the exact dependences
of a whole program are another analysis. SPATIAL says that no two iterations which differ in the
loop's variable touch the same element of a buffer that the statement writes, unless both only
read it. REDUCE says that those which do only combine values into it (analysis/reduction.py).
SCAN says nothing.

The proof for SPATIAL: take the dimensions in which all accesses of the buffer have one and the
same index. Iterations that meet in an element agree on those indices, so a variable that can be
computed back from them (analysis/recovery.py) is the same in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hybridjit.analysis.context import Context, infer_context
from hybridjit.analysis.recovery import IterationSpace, recover_variables
from hybridjit.analysis.reduction import ReductionOp, find_guarded_reduction, find_reduction
from hybridjit.ir.expr import (
    Binary,
    Buffer,
    BufferRef,
    Const,
    Expr,
    ExternCall,
    Load,
    Node,
    Select,
    Var,
)
from hybridjit.ir.stmt import Allocate, For, If, IterKind, LoopKind, Print, Reserve, Stmt, Store
from hybridjit.ir.visit import children, walk
from hybridjit.record import record


def classify(
    stmt: Stmt, loops: Sequence[For], context: Context | None = None
) -> tuple[IterKind, ...]:
    """What each of `loops`, outermost first, does to `stmt`, which stands inside them all.

        for i in range(n):              SPATIAL   c[i] holds row i and no other
            for k in range(m):          REDUCE    every k adds to the same element
                c[i] += a[i, k]

        for t in range(1, n):           SCAN      step t reads what step t - 1 wrote
            s[t] = s[t - 1] + x[t]

    Variables bound by a `Let` around `stmt` are followed; a loop left by `break` or `return`, and
    every loop around an effect (an extern call, a print), is SCAN. `context` is that of a
    statement around the loops; without it the loops themselves are walked.
    """
    if context is None:
        context = infer_context(loops[0] if loops else stmt)
    accesses = _find_accesses(stmt, loops, context)
    if accesses.has_effects:
        return (IterKind.SCAN,) * len(loops)
    free: set[Var] = {loop.var for loop in loops}
    combined = set(free)
    for buffer in accesses.stores:
        recovered = _recover(buffer, accesses, loops, context)
        if not combined <= recovered and not accesses.is_reduction(buffer):
            combined &= recovered
        free &= recovered
    return tuple(_kind(loop, free, combined, context) for loop in loops)


def _kind(loop: For, spatial: set[Var], combined: set[Var], context: Context) -> IterKind:
    if loop.kind is LoopKind.SCAN or loop.var in context.left_early:
        return IterKind.SCAN
    if loop.var in spatial:
        return IterKind.SPATIAL
    return IterKind.REDUCE if loop.var in combined else IterKind.SCAN


@record(frozen=False)
class _Accesses:
    """The accesses of a statement to the buffers that it writes, and what it binds itself.

    `whole` are buffers handed over as a whole, `private` those that the statement allocates;
    `inner` are the loops inside the statement, `guarded` the stores that are all of an `If`.
    """

    stores: dict[Buffer, list[Store]] = field(default_factory=dict[Buffer, "list[Store]"])
    loads: dict[Buffer, list[Load]] = field(default_factory=dict[Buffer, "list[Load]"])
    whole: set[Buffer] = field(default_factory=set[Buffer])
    inner: list[For] = field(default_factory=list[For])
    guarded: dict[Store, If] = field(default_factory=dict[Store, If])
    private: set[Buffer] = field(default_factory=set[Buffer])
    has_effects: bool = False

    def add(self, node: Node) -> None:
        """Take note of one node of the statement."""
        match node:
            case Load():
                self.loads.setdefault(node.buffer, []).append(node)
            case Store():
                self.stores.setdefault(node.buffer, []).append(node)
            case For():
                self.inner.append(node)
            case Allocate():
                self.private.add(node.buffer)
            case BufferRef():
                self.whole.add(node.buffer)
            case ExternCall() | Print() | Reserve():
                self.has_effects = True
            case If(then=Store() as store, otherwise=None):
                self.guarded[store] = node
            case _:
                pass

    def indices(self, buffer: Buffer) -> list[tuple[Expr, ...]]:
        """The indices of every access to `buffer`."""
        accesses = (*self.stores[buffer], *self.loads.get(buffer, ()))
        return [access.indices for access in accesses]

    def is_reduction(self, buffer: Buffer) -> bool:
        """Whether `buffer` is only updated, by one operator, and not read for anything else."""
        if buffer in self.whole:
            return False
        ops: set[ReductionOp] = set()
        reads = 0
        for store in self.stores[buffer]:
            update: Store | If = store
            found = find_reduction(store)
            if found is None and store in self.guarded:
                update = self.guarded[store]
                found = find_guarded_reduction(update)
            if found is None:
                return False
            ops.add(found.op)
            reads += _count_loads(update, buffer)
        return len(ops) == 1 and reads == len(self.loads.get(buffer, ()))


def _count_loads(update: Store | If, buffer: Buffer) -> int:
    if isinstance(update, Store) and not isinstance(update.value, Select):
        return 1  # the element itself: the rest of a reduction does not read the buffer
    return sum(isinstance(node, Load) and node.buffer is buffer for node in walk(update))


def _find_accesses(stmt: Stmt, loops: Sequence[For], context: Context) -> _Accesses:
    """Collect from `stmt`, and from what decides over it each time: `Let`s, guards, loop bounds."""
    inside = {loop.var for loop in loops}
    accesses = _Accesses()
    stack: list[Node] = [stmt]
    stack.extend(guard.value for guard in context.guards[stmt] if guard.loop in inside)
    stack.extend(bound for loop in loops[1:] for bound in (loop.start, loop.stop, loop.step))
    followed: set[Var] = set()
    while stack:
        node = stack.pop()
        match node:
            case Const():
                pass
            case Var():
                binding = context.bindings.get(node)
                if binding is not None and binding.loop in inside and node not in followed:
                    followed.add(node)
                    stack.append(binding.value)
            case Binary(lhs, rhs):
                stack += (rhs, lhs)
            case _:
                if isinstance(node, For):
                    inside.add(node.var)
                accesses.add(node)
                stack.extend(reversed(list(children(node))))
    for buffer in accesses.private:
        accesses.stores.pop(buffer, None)
    return accesses


def _recover(
    buffer: Buffer, accesses: _Accesses, loops: Sequence[For], context: Context
) -> set[Var]:
    """The variables of `loops` that are the same in all iterations that meet in one element."""
    own = _own_loops(buffer, loops, context)
    if buffer in accesses.whole:
        return own
    variables = {loop.var: loop for loop in (*loops, *accesses.inner)}
    positive = frozenset(extent for extent in buffer.shape if isinstance(extent, Var))
    space = IterationSpace(variables, context, positive)
    return recover_variables(buffer, accesses.indices(buffer), space, own)


def _own_loops(buffer: Buffer, loops: Sequence[For], context: Context) -> set[Var]:
    """The loops each iteration of which allocates a buffer of its own."""
    around = context.allocations.get(buffer)
    variables = [loop.var for loop in loops]
    return set(variables[: variables.index(around) + 1]) if around in variables else set()
