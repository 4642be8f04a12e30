"""Which loops are worth lanes, on which processor."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeGuard

from hybridjit.analysis.cost import operation_cost
from hybridjit.analysis.limits import Limits, limits_of_loop, loop_extent, most_iterations
from hybridjit.analysis.traffic import bytes_of
from hybridjit.analysis.vector_width import count_lanes, has_masks
from hybridjit.arith.linear import linear_form
from hybridjit.ir.dtype import INT64, DType
from hybridjit.ir.expr import (
    Add,
    Binary,
    Buffer,
    Call,
    Const,
    Expr,
    FloorDiv,
    Load,
    Mod,
    Node,
    Sub,
    Var,
)
from hybridjit.ir.stmt import Allocate, For, If, Let, Stmt, Store, While, flat_stmts
from hybridjit.ir.visit import children, substitute, walk, walk_stmts
from hybridjit.target import Target

# Loops inside, such as those over the window of a stencil, that run at most so often in all: longer
# ones had better have lanes themselves. Not those that work on an array of their own iteration,
# step by step, as a sort does: they run as often in every lane.
MAX_INSIDE = 49
MAX_INSIDE_ARRAYS = 1 << 12
# That is worth more than to gather elements, or to scatter them, if so many times as many of those
# arrays are touched: a row of five that is sorted takes 80 us instead of 1,900, a sum of three 42
# instead of 50.
_MIN_OWN = 4
# What lanes keep of such arrays, in bytes of all of them: beside others on the stack (emit/memory).
MAX_ARRAY_BYTES = 1 << 12
# Fewer iterations are not worth a vector, and a rest.
MIN_EXTENT = 4
# Elements so many apart are loaded with those between them, and picked: faster than a gather.
MAX_CLOSE_STEP = 4
# Long vectors have an instruction that picks from any places of two of them: elements that lie
# further apart than that are loaded with what is between them there, too.
_MAX_LONG_STEP, _LONG_BITS = 8, 512
# Shorter vectors do not store elements that lie apart.
SCATTER_BITS = 512
# Operations on elements that are to be stored apart from each other: taking vectors apart takes
# longer than so few of them save.
MAX_SCATTERED_WORK = 4


def pays(loop: For, target: Target) -> bool:
    """True for a loop over enough iterations, along the rows of its arrays if it does more."""
    loop, extent = spelled_out(loop), loop_extent(loop)
    if (extent is not None and extent < MIN_EXTENT) or is_copy(loop):
        return False
    nodes = list(walk(loop.body))
    if _divides(loop, nodes) or _waits(loop, nodes, target):
        return False
    branches = [node for node in nodes if isinstance(node, If)]
    sides = [side for branch in branches for side in (branch.then, branch.otherwise) if side]
    own = [node.buffer for node in nodes if isinstance(node, Allocate)]
    if not all(has_masks(side, target, own) for side in sides):
        return False
    has_arrays = not all(buffer.is_register for buffer in own)
    inside = _count_inside(loop.body, {})
    if inside is None or inside > (MAX_INSIDE_ARRAYS if has_arrays else MAX_INSIDE):
        return False
    if has_arrays and _is_mostly_own(loop, own):
        return True
    if branches:
        return all(_is_along(node, loop) for node in nodes)
    if inside:
        return all(_is_along(node, loop) or _is_close(node, loop) for node in nodes)
    return not _scatters(loop, nodes) and (target.has_quick_gathers or not _gathers(loop, nodes))


def _count_inside(stmt: Stmt, known: Mapping[Var, Limits]) -> int | None:
    """How often the innermost loops in `stmt` run at most, one after the other; None if unknown."""
    if isinstance(stmt, For):
        trips, each = (
            most_iterations(stmt, known),
            _count_inside(stmt.body, _with_limits(stmt, known)),
        )
        return None if trips is None or each is None else trips * max(1, each)
    if isinstance(stmt, While):
        return 1 if _is_worth_waiting(stmt) else None
    parts = (child for child in children(stmt) if isinstance(child, Stmt))
    counts = [_count_inside(part, known) for part in parts]
    return None if None in counts else sum(count or 0 for count in counts)


def _is_worth_waiting(loop: While) -> bool:
    """True for a loop of operations on floats, in variables: lanes wait for that with most rounds.

    Even if few of them are busy most of the time, a round of all takes no longer than one. Not so
    where it has the length of a complex number, which is rarely computed one by one to be compared
    (codegen/emit/magnitude.py), but always in lanes: twice the time.
    """
    nodes = list(walk(loop))
    has_loops = any(isinstance(node, For | While) for node in nodes[1:])
    if has_loops or any(map(_is_of_complex, nodes)):
        return False
    return any(isinstance(node, Binary) and node.dtype.is_inexact for node in nodes)


def _is_of_complex(node: Node) -> bool:
    return isinstance(node, Call) and node.name == "abs" and node.args[0].dtype.is_complex


def _with_limits(loop: For, known: Mapping[Var, Limits]) -> Mapping[Var, Limits]:
    limits = limits_of_loop(loop, known)
    return known if limits is None else {**known, loop.var: limits}


def _is_mostly_own(loop: For, own: Collection[Buffer]) -> bool:
    """True if far more is done in arrays of the iteration than with elements that lie apart."""
    runs = [(node, times) for node, times in _runs(loop.body, 1, {}) if _is_access(node)]
    apart = sum(times for node, times in runs if not _is_along(node, loop))
    return sum(times for node, times in runs if node.buffer in own) >= _MIN_OWN * apart


def _runs(stmt: Stmt, times: int, known: Mapping[Var, Limits]) -> Iterator[tuple[Node, int]]:
    """All nodes that `times` executions of `stmt` execute, and how often, at most."""
    if isinstance(stmt, For):
        times, known = times * (most_iterations(stmt, known) or 0), _with_limits(stmt, known)
    yield stmt, times
    for child in children(stmt):
        if isinstance(child, Stmt):
            yield from _runs(child, times, known)
        else:
            yield from ((node, times) for node in walk(child))


def fit_in_lanes(arrays: Iterable[Buffer], lanes: int) -> bool:
    """Whether each of so many lanes may have small arrays of its own, without asking for memory."""
    return sum(map(bytes_of, arrays)) * lanes <= MAX_ARRAY_BYTES


def reduction_pays(loop: For) -> bool:
    """False for reductions over few elements, perhaps, that are gathered one by one."""
    loop = spelled_out(loop)
    nodes = list(walk(loop.body))
    return loop_extent(loop) is not None or all(_is_along(node, loop) for node in nodes)


def selection_pays(loop: For) -> bool:
    """True if all that is compared lies along rows."""
    loop = spelled_out(loop)
    return all(_is_along(node, loop) for node in walk(loop.body))


def spelled_out(loop: For) -> For:
    """`loop` with indices as they are computed: a name does not tell how far they go.

    row = i_0 * 12 + i_1
    c[row, j] = ...         -->     c[i_0 * 12 + i_1, j] = ...
    """
    names: dict[Var, Expr] = {}
    for node in walk_stmts(loop.body):
        if (
            isinstance(node, Let)
            and node.var.dtype.is_integer
            and linear_form(node.value) is not None
        ):
            names[node.var] = substitute(node.value, names)
    return dataclasses.replace(loop, body=substitute(loop.body, names)) if names else loop


def is_copy(loop: For) -> bool:
    """True for what LLVM makes a call of C's memcpy or memset of."""
    match flat_stmts(loop.body):
        case [Store(value=Load() as load) as store]:
            return _is_along(store, loop) and _is_along(load, loop)
        case [Store(value=Const(value)) as store]:
            return _is_along(store, loop) and value == 0
        case _:
            return False


def _divides(loop: For, nodes: list[Node]) -> bool:
    """Whether each iteration has a long division of its own."""
    own = {loop.var}

    def is_own(expr: Expr) -> bool:
        return any(isinstance(part, Load) or part in own for part in walk(expr))

    for node in nodes:  # what is named stands before what uses the name
        if isinstance(node, Let | For):
            bounds = (node.value,) if isinstance(node, Let) else (node.start, node.stop, node.step)
            if any(map(is_own, bounds)):
                own.add(node.var)
    return any(
        isinstance(node, Expr) and _is_long_division(node) and is_own(node) for node in nodes
    )


def _is_long_division(node: Node) -> bool:
    """True for what takes the high half of a product of 64 bits, which vectors do not have."""
    if not isinstance(node, FloorDiv | Mod) or not node.dtype.is_integer or node.dtype.bits < 64:
        return False
    divisor = node.rhs.value.real if isinstance(node.rhs, Const) else 0
    return divisor <= 0 or int(divisor) & (int(divisor) - 1) != 0


def _waits(loop: For, nodes: list[Node], target: Target) -> bool:
    """True if lanes, fewer than four, would wait for the one that takes most rounds.

    Those of a remainder, or of a loop.
    """
    has_rounds = any(
        isinstance(node, While) or (isinstance(node, Call) and node.name == "fmod")
        for node in nodes
    )
    return has_rounds and count_lanes(loop.body, target) < MIN_EXTENT


def _is_access(node: Node) -> TypeGuard[Load | Store]:
    """True for a load or a store of an element."""
    return isinstance(node, Load | Store) and bool(node.indices)


def _is_along(node: Node, loop: For) -> bool:
    """False for an access that neither stays where it is nor goes to the next element."""
    if not _is_access(node):
        return True
    step = _step_in_row(node, loop)
    return step is not None and abs(step) <= 1


def _is_close(node: Node, loop: For) -> bool:
    """True for a load that goes on by a few elements: it is picked from whole rows."""
    step = _step_in_row(node, loop) if isinstance(node, Load) else None
    return step is not None and 0 < step <= MAX_CLOSE_STEP


def _step_in_row(node: Load | Store, loop: For) -> int | None:
    """How far an access goes along the last axis in each iteration; None along another one."""
    steps = [find_step(index, loop.var) for index in node.indices]
    each = int(loop.step.value.real) if isinstance(loop.step, Const) else None
    if steps[-1] is None or each is None or any(step != 0 for step in steps[:-1]):
        return None
    return steps[-1] * each


def find_step(index: Expr, var: Var) -> int | None:
    """How far an index goes in each iteration; None if that is not known."""
    match index:
        case Add(x, y) | Sub(x, y):
            first, second = find_step(x, var), find_step(y, var)
            if first is None or second is None:
                return None
            return first + second if isinstance(index, Add) else first - second
        case _:
            form = linear_form(index)
            if form is not None:
                return form.terms.get(var, 0)
            return None if var in walk(index) else 0


def max_picked_step(vector_bits: int) -> int:
    """How far apart elements may lie that are picked from whole rows."""
    return _MAX_LONG_STEP if vector_bits >= _LONG_BITS else MAX_CLOSE_STEP


def packs(dtype: DType, target: Target) -> bool:
    """Whether `target` stores some lanes of a vector of such elements next to each other."""
    if dtype.bits < 32:
        return target.has("avx512vbmi2")
    return target.has("avx512f") or target.has("avx2")


def _gathers(loop: For, nodes: list[Node]) -> bool:
    """True if little work is done on elements from anywhere in an array."""
    indices = [index for node in nodes if isinstance(node, Load) for index in node.indices]
    is_anywhere = any(find_step(index, loop.var) is None for index in indices)
    return is_anywhere and _count_work(nodes) <= MAX_SCATTERED_WORK


def _count_work(nodes: list[Node]) -> int:
    own = (node for node in nodes if isinstance(node, Binary | Call) and node.dtype is not INT64)
    return sum(operation_cost(node) if isinstance(node, Call) else 1 for node in own)


def _scatters(loop: For, nodes: list[Node]) -> bool:
    """True if vectors would have to be taken apart for every store, after little work on them."""
    stores = [node for node in nodes if isinstance(node, Store) and node.indices]
    return (
        bool(stores)
        and _count_work(nodes) <= MAX_SCATTERED_WORK
        and not any(_is_along(store, loop) for store in stores)
    )
