"""Which elements of a buffer are sure to be written, and how long their values are needed.

Domains of statements are supersets where a program is not affine, and a statement may be jumped
over. The stores considered here are those that surely run in every iteration of their domain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hybridjit.analysis.elements import Elements, where
from hybridjit.analysis.instances import AffineAccess, Instances, Part
from hybridjit.arith.polyhedra import AffineNames, Polyhedron, load_isl
from hybridjit.ir.expr import And, Buffer, Compare, Const, Expr, Load, Not, Or
from hybridjit.ir.stmt import (
    Block,
    Break,
    Continue,
    For,
    If,
    IterKind,
    Return,
    Seq,
    Stmt,
    Store,
    While,
    flat_stmts,
    seq,
)
from hybridjit.ir.visit import children, walk, walk_stmts


class Coverage:
    """What the sure stores of `root`, which `part` is about, write to `buffer`."""

    def __init__(self, part: Part, root: Stmt, buffer: Buffer) -> None:
        self.part = part
        self.buffer = buffer
        self._isl: Polyhedron = load_isl()
        self._elements = Elements(part)
        sure = set(_sure_stores(root, part.names))
        self._writes = [
            (statement, access)
            for statement, access in self._accesses()
            if access.is_write and statement.node in sure and None not in access.element
        ]

    def _accesses(self) -> Iterator[tuple[Instances, AffineAccess]]:
        for statement in self.part.statements:
            for access in statement.accesses:
                if access.buffer is self.buffer:
                    yield statement, access

    def prove_read_after_write(self) -> bool:
        """Whether every read of the buffer is sure to come after a write of the same element."""
        reads = [(found, access) for found, access in self._accesses() if not access.is_write]
        if not reads:
            return True
        if not self._writes:
            return False
        read, written = self._map(reads), self._map(self._writes)
        times = self._times()
        same = read.apply_range(written.reverse())
        earlier = times.lex_gt_union_map(times)
        # Each store writes one element, so this is what earlier ones have written of it.
        covered = same.intersect(earlier).apply_range(written)
        return bool(read.is_subset(covered))

    def prove_written(self, constraints: Sequence[str]) -> bool:
        """Whether all elements [x0, x1 ...] that meet the constraints are sure to be written."""
        dims = ", ".join(f"x{axis}" for axis in range(self.buffer.ndim))
        facts = [*self.part.context, *constraints]
        wanted = self._isl.Set(f"{self.part.parameters} -> {{ B[{dims}] {where(facts)} }}")
        if not self._writes:
            return bool(wanted.is_empty())
        return bool(self._isl.UnionSet.from_set(wanted).is_subset(self._map(self._writes).range()))

    def find_window(self, axis: int) -> int | None:
        """The least number of places along `axis` that hold all values while they are needed.

        With them, the elements i and i + window share a place. A value is needed from its write
        up to the last read of it, and until then nothing may be written to its place. None if no
        number is enough.
        """
        written = self._map([found for found in self._accesses() if found[1].is_write])
        times = self._times()
        before = times.lex_lt_union_map(times)
        # The writes that come between a write and a read of what it wrote.
        between = self._flow(times).apply_range(before.reverse()).intersect(before)
        apart = written.reverse().apply_range(between).apply_range(written).deltas()
        sets = apart.get_set_list()
        spans = [self._span(sets.get_at(k), axis) for k in range(sets.n_set())]
        return None if None in spans else 1 + max((span for span in spans if span), default=0)

    def _flow(self, times: Polyhedron) -> Polyhedron:
        """From each write of the buffer to the reads of what it wrote."""
        unsure = [
            found for found in self._accesses() if found[1].is_write and found not in self._writes
        ]
        reads = [found for found in self._accesses() if not found[1].is_write]
        info = self._isl.UnionAccessInfo.from_sink(self._map(reads))
        info = info.set_must_source(self._map(self._writes)).set_may_source(self._map(unsure))
        return info.set_schedule_map(times).compute_flow().get_may_dependence()

    def _span(self, apart: Polyhedron, axis: int) -> int | None:
        """How far apart along `axis` elements are that agree in all other indices."""
        for other in range(self.buffer.ndim):
            if other != axis:
                apart = apart.fix_val(self._isl.dim_type.set, other, self._isl.Val(0))
        if apart.is_empty():
            return 0
        ends = [apart.dim_max_val(axis), apart.dim_min_val(axis)]
        if not all(end.is_int() for end in ends):
            return None
        return max(abs(end.to_python()) for end in ends)

    def _map(self, accesses: Sequence[tuple[Instances, AffineAccess]]) -> Polyhedron:
        return self._elements.union(accesses)

    def _times(self) -> Polyhedron:
        length = max(len(statement.time) for statement in self.part.statements)
        maps = [
            f"{statement.name}[{', '.join(statement.dims)}] -> "
            f"[{', '.join((*statement.time, *['0'] * (length - len(statement.time))))}]"
            for statement in self.part.statements
        ]
        return self._isl.UnionMap(f"{self.part.parameters} -> {{ {'; '.join(maps)} }}")


def is_set_afresh(root: Stmt, names: AffineNames, buffer: Buffer) -> bool:
    """Whether a sure store of `root` sets elements of `buffer` and reads none of it.

    Without one, the first store of all reads what nothing has written: what is summed up in place
    needs no isl to be told from what is set.
    """
    return any(
        isinstance(stmt, Store)
        and stmt.buffer is buffer
        and not any(isinstance(node, Load) and node.buffer is buffer for node in walk(stmt))
        for stmt in _sure_stores(root, names)
    )


def _sure_stores(root: Stmt, names: AffineNames) -> Iterator[Stmt]:
    """The stores in `root` that run in every iteration of their domain."""
    stmts = flat_stmts(root)
    if stmts and isinstance(stmts[-1], Return):
        stmts.pop()
    if not any(
        isinstance(node, While | Break | Continue | Return) for node in walk_stmts(seq(*stmts))
    ):
        yield from _visit(seq(*stmts), names, {})


def _visit(stmt: Stmt, names: AffineNames, starts: dict[Expr, Expr]) -> Iterator[Stmt]:
    match stmt:
        case Store():
            yield stmt
        case For(var, start, stop, Const(int()), body):
            if names.affine(start) is not None and names.affine(stop) is not None:
                yield from _visit(body, names, {**starts, var: start})
        case If(cond) if not is_exact(cond, names):
            pass
        case Block(init=Stmt()) if not _is_exact_init(stmt, names, starts):
            yield from _visit(stmt.body, names, starts)
        case Seq() | If() | Block():
            for child in children(stmt):
                if isinstance(child, Stmt):
                    yield from _visit(child, names, starts)
        case _:
            pass


def is_exact(cond: Expr, names: AffineNames) -> bool:
    """Whether isl can say exactly when `cond` holds."""
    match cond:
        case And(x, y) | Or(x, y):
            return is_exact(x, names) and is_exact(y, names)
        case Not(x):
            return is_exact(x, names)
        case Compare():
            return names.condition(cond) is not None
        case _:
            return False


def _is_exact_init(block: Block, names: AffineNames, starts: dict[Expr, Expr]) -> bool:
    """Whether isl can say exactly when the reduction of the block begins."""
    for item in block.iters:
        if item.kind is IterKind.REDUCE:
            start = item.domain[0] if item.domain is not None else starts.get(item.value)
            if start is None or names.affine(start) is None or names.affine(item.value) is None:
                return False
    return True
