"""compute_inline: compute the elements of a buffer where they are read, and do without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hybridjit.analysis.accesses import find_accesses, scope_of
from hybridjit.analysis.coverage import Coverage
from hybridjit.analysis.first_writes import prove_sets_all
from hybridjit.analysis.footprint import find_footprint
from hybridjit.analysis.inside import find_outside, prove_inside
from hybridjit.analysis.instances import Instances, infer_instances
from hybridjit.analysis.overwriting import Overwriting, find_overwriting
from hybridjit.arith.linear import linear_form
from hybridjit.arith.simplify import simplify
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import And, Buffer, Const, Expr, Load, Or, Select, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Block, For, Iter, Let, Seq, Stmt, Store, While, seq
from hybridjit.ir.visit import Mutator, children, substitute, walk, walk_stmts
from hybridjit.record import record
from hybridjit.schedule.bind_loops import bind_loops
from hybridjit.schedule.buffers import check_not_passed, find_allocation
from hybridjit.schedule.lost_errors import describe_fault, find_failing
from hybridjit.schedule.primitives.array_fusion import find_inlined
from hybridjit.schedule.program import loops_around, path_to, replace_stmts, the_block, variables_in
from hybridjit.schedule.refusal import check_concurrent, refuse
from hybridjit.schedule.stages import check_nest, count_accesses, touches, written_buffer

STEP = "compute_inline"


@record(eq=False)
class Definition:
    """`buffer[indices] = value` for all iterations of `nest`, a statement of `scope`."""

    buffer: Buffer
    scope: Seq
    nest: Stmt
    store: Store
    values: Mapping[Var, Expr]

    @property
    def users(self) -> tuple[Stmt, ...]:
        """The statements after the nest."""
        return self.scope.stmts[self.scope.stmts.index(self.nest) + 1 :]


def compute_inline(func: PrimFunc, block_name: str) -> PrimFunc:
    """Put the value that a block stores in the place of every read of its buffer.

        for i in range(n):
            with block("t", i):
                t[i] = a[i] * 2               for i in range(n - 1):
        for i in range(n - 1):         -->        with block("c", i):
            with block("c", i):                       c[i] = a[i] * 2 + a[i + 1] * 2
                c[i] = t[i] + t[i + 1]

    The block stores each element once, at its loop variables, and does nothing else; every element
    that is read has been stored, and what it is computed from is the same where it is read.
    """
    made = find_inlined(func, block_name)
    if made is not None:
        return made
    check_compute_inline(func, block_name)
    return make_compute_inline(func, block_name)


def make_compute_inline(func: PrimFunc, block_name: str) -> PrimFunc:
    """`func` without the buffer of a block."""
    definition = _find_definition(func, the_block(func, block_name))
    inline = _Inline(definition, _invert(func, definition))
    users = [inline.rewrite(stmt) for stmt in definition.users]
    kept = definition.scope.stmts[: -len(users) - 1]
    changes: dict[Stmt, Stmt] = {}
    allocation = find_allocation(func, definition.buffer)
    if allocation is not None and allocation not in kept:
        changes[allocation] = Seq(())
    changes[definition.scope] = seq(*(stmt for stmt in kept if stmt is not allocation), *users)
    return bind_loops(replace_stmts(func, changes))


# -- check -----------------------------------------------------------------------------------------


def check_compute_inline(func: PrimFunc, block_name: str) -> None:
    """Refuse a value that is not the same where it is read, or that a reader may do without."""
    definition = _find_definition(func, the_block(func, block_name))
    _check_written_once(func, definition)
    if not _prove_same_values(func, definition):
        _check_reads(func, definition)
        _check_inputs(func, definition)
    made = make_compute_inline(func, block_name)
    inside = [
        node for stmt in definition.users for node in walk_stmts(stmt) if isinstance(node, For)
    ]
    check_concurrent(made, [*loops_around(func, definition.scope), *inside], STEP)


def _prove_same_values(func: PrimFunc, definition: Definition) -> bool:
    """The quick proof of what `_check_reads` and `_check_inputs` ask isl for.

    The nest sets the whole buffer, all indices are inside, and nobody writes to what it reads.
    """
    nest, users = definition.nest, definition.users
    if not prove_sets_all(nest, definition.buffer) or any(map(operation_may_fail, walk(nest))):
        return False
    around = scope_of(func.body, definition.scope)
    needed = find_accesses(nest)
    used = [access for access in find_accesses(*users) if access.buffer is definition.buffer]
    if not all(prove_inside(func, around, access) for access in (*needed, *used)):
        return False
    read = {access.buffer for access in needed if not access.is_write}
    return read.isdisjoint(written for stmt in users for written in find_footprint(stmt).writes)


def _find_definition(func: PrimFunc, block: Block) -> Definition:
    buffer = written_buffer(func, block, STEP)
    if find_allocation(func, buffer) is None:
        raise refuse(
            func, f"{STEP}: '{buffer.name}' is not scratch memory of the function", [block]
        )
    check_not_passed(func, buffer, STEP)
    scope, nest = _find_scope(func, block, buffer)
    check_nest(func, nest, [buffer], STEP)
    stores = [node for node in walk_stmts(nest) if isinstance(node, Store)]
    if len(stores) != 1 or count_accesses(nest, buffer) != 1:
        raise refuse(
            func,
            f"{STEP}: '{buffer.name}' is not computed by one store that does not read it",
            [nest],
            help="s.compute_at can move any computation",
        )
    return Definition(buffer, scope, nest, stores[0], _values(nest))


def _find_scope(func: PrimFunc, block: Block, buffer: Buffer) -> tuple[Seq, Stmt]:
    """The innermost sequence around the block in which the buffer is used later on."""
    path = path_to(func, block)
    for scope, nest in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
        if not isinstance(scope, Seq):
            continue
        users = scope.stmts[scope.stmts.index(nest) + 1 :]
        if not any(touches(stmt, buffer) for stmt in users):
            continue
        inside = sum(count_accesses(stmt, buffer) for stmt in (nest, *users))
        if inside == count_accesses(func.body, buffer):
            return scope, nest
        break
    raise refuse(
        func,
        f"{STEP}: '{buffer.name}' must be used only after block '{block.name}', beside the loops "
        "around it",
        [block],
    )


def _check_written_once(func: PrimFunc, definition: Definition) -> None:
    buffer, nest = definition.buffer, definition.nest
    for stmt in definition.users:
        if any(isinstance(node, Store) and node.buffer is buffer for node in walk(stmt)):
            raise refuse(func, f"{STEP}: '{buffer.name}' is written a second time", [nest, stmt])


def _check_reads(func: PrimFunc, definition: Definition) -> None:
    """Refuse unless every element that is read has been stored, and is in bounds."""
    buffer, nest = definition.buffer, definition.nest
    part = infer_instances(func, definition.scope)
    inverse = _invert(func, definition)
    asked = [axis for axis in range(buffer.ndim) if not _hands_on(definition, inverse, axis)]
    if find_outside(part, buffer, asked) is not None:
        raise refuse(
            func, f"{STEP}: an index of '{buffer.name}' is not proved to be in bounds", [nest]
        )
    if not Coverage(part, definition.scope, buffer).prove_read_after_write():
        raise refuse(
            func, f"{STEP}: an element of '{buffer.name}' may be read that is not stored", [nest]
        )
    fault = find_failing(part, [nest], part.inside(nest))
    if fault is not None:
        raise refuse(
            func,
            f"{STEP}: computing '{buffer.name}' may raise an error, which would be lost where "
            f"nothing reads it: {describe_fault(fault)}",
            [nest],
        )


def _hands_on(
    definition: Definition, inverse: Mapping[Var, tuple[int, Expr, int]], axis: int
) -> bool:
    """Whether the index on an axis only chooses elements of arrays that are as long there.

    Then it need not be in bounds: these arrays refuse what the buffer would have refused, and count
    from their end what it would have.
    """
    for var, (its_axis, offset, sign) in inverse.items():
        if (its_axis, offset, sign) == (axis, Const(0), 1):
            value, extent = _value(definition), definition.buffer.shape[axis]
            uses = sum(node is var for node in walk(value))
            chosen = [load for load in _sure_loads(value) if _chooses(load, var, extent)]
            return 0 < uses == sum(index is var for load in chosen for index in load.indices)
    return False


def _chooses(load: Load, var: Var, extent: Expr) -> bool:
    """Whether `var` is an index of the load on axes of this extent only."""
    pairs = zip(load.indices, load.buffer.shape, strict=True)
    return all(size == extent for index, size in pairs if index is var)


def _sure_loads(expr: Expr) -> Iterator[Load]:
    """The loads that are done wherever the value is needed."""
    if isinstance(expr, Load):
        yield expr
    if not isinstance(expr, Select | And | Or):
        for child in children(expr):
            if isinstance(child, Expr):
                yield from _sure_loads(child)


def _check_inputs(func: PrimFunc, definition: Definition) -> None:
    """Refuse if what the value is computed from is written before it is read."""
    part = infer_instances(func, definition.scope)
    inside = part.inside(definition.nest)
    (store,) = (found for found in inside if found.node is definition.store)
    users = [found for stmt in definition.users for found in part.inside(stmt)]
    found = find_overwriting(part, store, inside, users)
    if found is None:
        found = next(
            (Overwriting(b, u, u) for u in users for b in _changed_inside(inside, u)), None
        )
    if found is not None:
        raise refuse(
            func,
            f"{STEP}: '{found.buffer.name}', which '{definition.buffer.name}' is computed from, "
            "changes before that is used",
            [found.writer.node, definition.nest],
        )


def _changed_inside(inputs: Sequence[Instances], user: Instances) -> list[Buffer]:
    """The inputs that a while loop, which is one instance with all its rounds, changes itself."""
    if not isinstance(user.node, While):
        return []
    read = {access.buffer for found in inputs for access in found.accesses if not access.is_write}
    return [access.buffer for access in user.accesses if access.is_write and access.buffer in read]


def _values(nest: Stmt) -> dict[Var, Expr]:
    """What names for values in the nest stand for, and iters that are loops or known outside."""
    loops = {node.var for node in walk_stmts(nest) if isinstance(node, For)}
    values: dict[Var, Expr] = {}
    for node in walk(nest):
        if isinstance(node, Let):
            values[node.var] = substitute(node.value, values)
        elif isinstance(node, Iter):
            value = substitute(node.value, values)
            if isinstance(value, Var) or not loops.intersection(variables_in(value)):
                values[node.var] = value
    return values


def _invert(func: PrimFunc, definition: Definition) -> Mapping[Var, tuple[int, Expr, int]]:
    """For each loop or iter that the value depends on: the axis, offset and sign of its index."""
    bound = {node.var for node in walk(definition.nest) if isinstance(node, For | Iter)}
    found: dict[Var, tuple[int, Expr, int]] = {}
    for axis, index in enumerate(definition.store.indices):
        index = simplify(substitute(index, definition.values))
        form = linear_form(index)
        own = [var for var in (form.terms if form else ()) if var in bound]
        if form is not None and len(own) == 1 and abs(form.terms[own[0]]) == 1:
            sign = form.terms[own[0]]
            found.setdefault(own[0], (axis, simplify(index - own[0] * sign), sign))
    used = {node for node in walk(_value(definition)) if isinstance(node, Var)}
    if missing := used & bound - found.keys():
        names = ", ".join(sorted(f"'{var.name}'" for var in missing))
        raise refuse(
            func,
            f"{STEP}: the value of '{definition.buffer.name}' depends on {names}, which cannot be "
            "told from its indices",
            [definition.nest],
        )
    return found


def _value(definition: Definition) -> Expr:
    return substitute(definition.store.value, definition.values)


# -- build -----------------------------------------------------------------------------------------


class _Inline(Mutator):
    """Put the value in the place of loads; `made` are the loads that it brings along."""

    def __init__(
        self, definition: Definition, inverse: Mapping[Var, tuple[int, Expr, int]]
    ) -> None:
        self.buffer = definition.buffer
        self.value = _value(definition)
        self.inverse = inverse

    def rewrite_Load(self, node: Load) -> Expr:
        load: Load = self.generic(node)
        if load.buffer is not self.buffer:
            return load
        loops: dict[Var, Expr] = {}
        for var, (axis, offset, sign) in self.inverse.items():
            moved = load.indices[axis] - offset
            loops[var] = simplify(moved if sign > 0 else offset - load.indices[axis])
        return simplify(substitute(self.value, loops))
