"""How a vector loop is cut: lanes of a vector, vectors of a round, and the form of the rest."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from hybridjit.analysis.cost import is_function, operation_cost
from hybridjit.analysis.limits import loop_extent
from hybridjit.arith.linear import linear_form
from hybridjit.ir.dtype import INT64, DType
from hybridjit.ir.expr import Bounded, Buffer, Call, Const, Expr, Load, Node, Var
from hybridjit.ir.stmt import IN_LANES, Assert, For, If, Raise, Stmt, Store, While
from hybridjit.ir.visit import children, walk
from hybridjit.record import record
from hybridjit.target import Target

# Several vectors at once hide the latency of chains of operations, where registers are enough.
# The size of the body, in nodes, and for how many vectors it is small enough.
_SIZES = ((40, 4), (100, 2))
_CALL_NODES = 10  # times what it costs
# Sums of integers do not wait for each other for long: so many vectors of them are enough.
_INTEGER_SUMS = 2
# A loop over long vectors whose number of iterations is known is unrolled by LLVM, which does not
# mix the copies: from so many nodes on they wait for themselves.
_LONG_BITS = 512
_CHAIN_NODES = 16
# Math functions are long chains of instructions. Long vectors run one after the other: a processor
# finds enough to do in the next one, and has the registers for each. Shorter ones gain 5 to 25 % by
# two at once, if there are no more calls than that; and these functions do so in any case.
_MAX_CALLS = 2
_WAITING_FUNCTIONS = ("gamma", "lgamma")
# The smallest elements that vectors of a size can load and store under a mask. Where there are no
# masks, LLVM takes the lanes apart, each behind a branch.
_MASKED_BITS = {512: 32, 256: 32}
_MAX_HALVES = 2


@record
class Width:
    """The lanes of a vector, and of all those that a round of the loop runs.

    A round of several vectors runs each operation in all of them. The last iterations run under a
    mask, or else in smaller vectors and one by one. Up to `whole` vectors need no rounds: LLVM cuts
    one wide vector into registers.
    """

    lanes: int
    wide: int
    is_masked: bool = True
    whole: int = 4

    @property
    def halves(self) -> list[int]:
        """The smaller vectors, down to two lanes."""
        return [1 << k for k in range(self.lanes.bit_length() - 2, 0, -1)]


def find_width(loop: For, target: Target, partial_results: Sequence[DType] = ()) -> Width:
    """As many lanes as the widest values of the loop leave room for.

    Partial results are handed on from one vector to the next.
    """
    nodes = list(walk(loop.body))
    lanes = find_lanes_wanted(loop, target)
    extent = loop_extent(loop)
    while extent is not None and lanes > max(2, extent):
        lanes //= 2
    if partial_results or not any(map(is_function, nodes)):
        is_known = extent is not None and not partial_results
        factor = _find_factor(nodes, is_unrolled=is_known and target.vector_bits >= _LONG_BITS)
        if partial_results and not any(dtype.is_inexact for dtype in partial_results):
            factor = min(factor, _INTEGER_SUMS)
    else:
        factor = _count_side_by_side(nodes, is_long=target.vector_bits >= _LONG_BITS)
    if target.vector_bits >= _LONG_BITS and _loads_one_by_one(loop, nodes, target):
        factor = 1  # it takes so many instructions that nothing waits
    wide = lanes if extent is not None and extent < 2 * lanes * factor else lanes * factor
    is_masked = has_masks(loop.body, target) and not (
        _updates(nodes) or _has_short_rest(loop, lanes) or would_gather(loop, nodes, target)
    )
    return Width(lanes, wide, is_masked)


def find_lanes_wanted(loop: For, target: Target) -> int:
    """How many lanes a loop gets that has iterations for them: a hint says, or the machine."""
    return loop.hint(IN_LANES) or count_lanes(loop.body, target)


def count_lanes(body: Stmt, target: Target) -> int:
    """How many of the widest values in `body` a vector of `target` holds."""
    return max(2, target.vector_bits // max(_value_bits(body), default=64))


def has_masks(stmt: Stmt, target: Target, own: Collection[Buffer] = ()) -> bool:
    """Whether `target` loads and stores some lanes only, for all that `stmt` touches.

    What is the `own` of a lane may be stored as it was.
    """
    sizes = [
        node.buffer.dtype.component.bits
        for node in walk(stmt)
        if isinstance(node, Load | Store) and node.indices and node.buffer not in own
    ]
    least = 8 if target.has("avx512bw") else _MASKED_BITS.get(target.vector_bits, math.inf)
    return all(size >= least for size in sizes)


def _updates(nodes: Sequence[Node]) -> bool:
    """True if a loop without functions writes to arrays that it reads.

    What was stored under a mask is not forwarded to loads that follow: rows of 11 doubles, each
    updated, took 1.5 times as long.
    """
    stored = {node.buffer for node in nodes if isinstance(node, Store) and node.indices}
    loaded = {node.buffer for node in nodes if isinstance(node, Load)}
    return _is_simple(nodes) and not stored.isdisjoint(loaded)


def _has_short_rest(loop: For, lanes: int) -> bool:
    """True if the rest of a simple loop is two smaller vectors at most: quicker than a mask."""
    extent = loop_extent(loop)
    is_short = extent is not None and (extent % lanes).bit_count() <= _MAX_HALVES
    return is_short and _is_simple(list(walk(loop.body)))


def would_gather(loop: For, nodes: Sequence[Node], target: Target) -> bool:
    """True if a mask would have elements gathered that are loaded otherwise without.

    Those a few apart are picked from rows: an average of windows of 3 x 3, every second one, took
    1.4 times as long. Others are loaded one by one, which is quicker in smaller vectors, too, but
    for what calls functions for each.
    """
    if _picks(loop, nodes):
        return True
    is_cheap = not any(isinstance(node, If) or is_function(node) for node in nodes)
    return is_cheap and _loads_one_by_one(loop, nodes, target)


def _loads_one_by_one(loop: For, nodes: Sequence[Node], target: Target) -> bool:
    loads = (node for node in nodes if isinstance(node, Load) and node.indices)
    return not target.has_quick_gathers and any(_is_apart(load, loop.var) for load in loads)


def _picks(loop: For, nodes: Sequence[Node]) -> bool:
    rows = (node.indices[-1] for node in nodes if isinstance(node, Load) and node.indices)
    steps = (form.terms.get(loop.var, 0) for row in rows if (form := linear_form(row)))
    return loop_extent(loop) is not None and any(step > 1 for step in steps)


def _is_apart(load: Load, lane: Var) -> bool:
    """True if neighbouring lanes do not read the same element, nor elements side by side."""
    forms = [linear_form(index) for index in load.indices]
    steps = [None if form is None else form.terms.get(lane, 0) for form in forms]
    unknown = (index for index, step in zip(load.indices, steps, strict=True) if step is None)
    if any(lane in walk(index) for index in unknown):
        return True
    *outer, last = (step or 0 for step in steps)
    return any(outer) or abs(last) > 1


def _is_simple(nodes: Sequence[Node]) -> bool:
    """True for a line of operations, which may be repeated in smaller vectors."""
    return not any(isinstance(node, Call | If | For | While) for node in nodes)


def _value_bits(node: Node) -> Iterator[int]:
    """The sizes of the values that are computed; indices count only as far as they are data."""
    match node:
        case Load():
            yield node.dtype.component.bits
            return
        case Bounded() | Assert() | Raise() | Var() | Const():
            return  # a name is as wide as its value, which counts if it is computed here
        case Store():
            yield node.buffer.dtype.component.bits
            yield from _value_bits(node.value)
            return
        case For():
            yield from _value_bits(node.body)
            return
        case Expr() if node.dtype is not INT64:
            yield node.dtype.component.bits
        case _:
            pass
    for child in children(node):
        yield from _value_bits(child)


def _find_factor(nodes: Sequence[Node], *, is_unrolled: bool) -> int:
    if any(isinstance(node, For | While) for node in nodes):
        return 1  # what the inner loop carries along needs the registers
    size = sum(
        _CALL_NODES * operation_cost(node)
        if isinstance(node, Call)
        else not isinstance(node, Const)
        for node in nodes
    )
    factor = next((factor for most, factor in _SIZES if size <= most), 1)
    if is_unrolled:
        return min(factor, 2 if size >= _CHAIN_NODES else 1)
    return factor


def _count_side_by_side(nodes: Sequence[Node], *, is_long: bool) -> int:
    calls = [node for node in nodes if is_function(node)]
    names = {node.name for node in calls if isinstance(node, Call)}
    is_waiting = not is_long or not names.isdisjoint(_WAITING_FUNCTIONS)
    return 2 if is_waiting and len(calls) <= _MAX_CALLS else 1
