"""Which instances of statements depend on each other, and whether a new order keeps that.

Two instances conflict when they touch the same element and one of them writes it. A conflict
keeps its order under every legal schedule. Updates of one element by the same associative and
commutative operator do not conflict where reordering cannot change the result: for integers, and
for floats when the function allows it (reassociation, or for min and max any sign of zero), or the
block that they stand in (`reassociate`). `and` and `or` evaluate an update only where the result is
still open, which is a matter of the order: what an update may raise must not be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from hybridjit.analysis.elements import Elements, where
from hybridjit.analysis.examples import Run, common_element
from hybridjit.analysis.inside import find_outside
from hybridjit.analysis.instances import AffineAccess, Instances, Part
from hybridjit.analysis.reduction import Reduction, ReductionOp
from hybridjit.arith.polyhedra import Polyhedron, load_isl, within_limit
from hybridjit.arith.products import facts_about, primed
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import Buffer, Load, Node
from hybridjit.ir.visit import walk
from hybridjit.record import record

Times = Callable[[Instances], Sequence[str]]
"""When an instance runs: a vector of texts over its dimensions, compared from the left."""

# An example that is as small as can be helps a reader: it is not worth more than this.
_EXAMPLE_OPERATIONS = 100_000

_EXTREMA = (ReductionOp.MIN, ReductionOp.MAX, ReductionOp.MINIMUM, ReductionOp.MAXIMUM)
_LAZY = (ReductionOp.AND, ReductionOp.OR)


def may_reorder(reduction: Reduction, fastmath: Sequence[str]) -> bool:
    """Whether the updates of a reduction give the same result in every order, or one as good."""
    if not reduction.buffer.dtype.is_inexact or "reassoc" in fastmath or reduction.is_open:
        return True
    # 0.0 and -0.0 are equal: which of them an extremum keeps is a matter of the order.
    return reduction.op in _EXTREMA and "nsz" in fastmath


@record(eq=False)
class Endpoint:
    """One of two conflicting instances: the statement, the node that touches, the iteration."""

    statement: Instances
    node: Node
    is_write: bool
    iteration: tuple[tuple[str, int], ...]


@record(eq=False)
class Conflict:
    """Two instances, the one that runs first and the one that runs later, at one element.

    `buffer` is None where the order of effects (print, extern calls, errors) is at stake.
    `parameters` are values of outer variables for which it happens. If it `is_example`, it can be
    seen to happen, or depends on what arrays hold; if not, it was only not shown to be impossible.
    """

    first: Endpoint
    later: Endpoint
    buffer: Buffer | None
    element: tuple[int, ...]
    parameters: tuple[tuple[str, int], ...]
    is_example: bool = True


class Dependences:
    """The conflicts between the statements of a part of a program."""

    def __init__(self, part: Part, fastmath: Sequence[str] = (), *, ordered: bool = False) -> None:
        """With `ordered`, the updates of a reduction conflict like all other accesses."""
        self.part = part
        self.fastmath = fastmath
        self.ordered = ordered
        self._isl: Polyhedron = load_isl()
        self._elements = Elements(part)

    def find_reversed(self, old: Times, new: Times) -> Conflict | None:
        """A conflict whose instances run in the order of `old` and not strictly so in `new`."""

        def turned(statements: Sequence[Instances]) -> list[Polyhedron]:
            before, after = self._time_map(old, statements), self._time_map(new, statements)
            return [before.lex_lt_union_map(before), after.lex_ge_union_map(after)]

        return self._find(turned)

    def find_carried(self, depth: int, besides: Collection[Buffer | None] = ()) -> Conflict | None:
        """A conflict between different iterations of the loop at this `depth`.

        Accesses to the buffers in `besides` do not count, nor do effects if it has None.
        """

        def apart(statements: Sequence[Instances]) -> list[Polyhedron]:
            inside = [found for found in statements if len(found.dims) > depth]
            old = self._time_map(lambda statement: statement.time, inside)
            loop = self._time_map(lambda statement: (statement.dims[depth],), inside)
            others = loop.lex_lt_union_map(loop).union(loop.lex_gt_union_map(loop))
            return [others, old.lex_lt_union_map(old)]

        return self._find(apart, besides)

    def find_lost(self, kept: Polyhedron) -> Conflict | None:
        """A conflict, in the order of the program, that the relation `kept` does not hold."""

        def lost(statements: Sequence[Instances]) -> list[Polyhedron]:
            times = self._time_map(lambda statement: statement.time, statements)
            return [times.lex_lt_union_map(times).subtract(kept)]

        return self._find(lost)

    def find_before(
        self,
        firsts: Sequence[Instances],
        laters: Sequence[Instances],
        besides: Collection[Buffer | None] = (),
    ) -> Conflict | None:
        """A conflict of one of `firsts` with one of `laters` that runs after it."""
        if not firsts or not laters:
            return None
        length = max(len(statement.time) for statement in self.part.statements)

        def time(statement: Instances) -> Sequence[str]:
            return (*statement.time, *["0"] * (length - len(statement.time)))

        order = self._time_map(time, firsts).lex_lt_union_map(self._time_map(time, laters))
        return self._find(lambda _: [order], besides)

    def _find(
        self,
        wrong: Callable[[Sequence[Instances]], Sequence[Polyhedron]],
        besides: Collection[Buffer | None] = (),
    ) -> Conflict | None:
        """A conflict of two instances that are in all of the `wrong` relations."""
        for buffer, statements in self._touching():
            if buffer in besides:
                continue
            relations = wrong([*dict.fromkeys(statement for statement, _ in statements)])
            for conflicts in self._conflicts(buffer, statements):
                violated = self._possible(_intersection([conflicts, *relations]))
                if violated is not None:
                    return self._sample(violated, buffer)
        return None

    def _possible(self, pairs: Polyhedron) -> Polyhedron | None:
        """Those of `pairs` that may be, of two of the statements; None if there are none."""
        found = pairs.get_map_list()
        for position in range(found.n_map()):
            candidates = found.get_at(position)
            narrowed = within_limit(partial(self._narrowed, candidates))
            possible = candidates if narrowed is None else narrowed
            if not possible.is_empty():
                return possible
        return None

    def _narrowed(self, pairs: Polyhedron) -> Polyhedron:
        """`pairs`, of two statements, without those that the products in both rule out.

        This takes long, and few pairs come as far as here.
        """
        first, later = self._ends(pairs)
        names = self.part.names
        for fact in facts_about(first.products, later.products, names.constants, names.multiples):
            if pairs.is_empty():
                break
            pairs = pairs.intersect(self._relation((first, later), [fact]))
        return pairs

    # -- conflicts ---------------------------------------------------------------------------------

    def _touching(
        self,
    ) -> Iterator[tuple[Buffer | None, list[tuple[Instances, AffineAccess | None]]]]:
        """Each buffer that is written with the accesses to it; None for the effects."""
        found: dict[Buffer, list[tuple[Instances, AffineAccess | None]]] = {}
        for statement in self.part.statements:
            for access in statement.accesses:
                found.setdefault(access.buffer, []).append((statement, access))
        for buffer, accesses in found.items():
            if any(access is not None and access.is_write for _, access in accesses):
                yield buffer, accesses
        effects = [(statement, None) for statement in self.part.statements if statement.has_effects]
        if effects:
            yield None, [*effects]

    def _conflicts(
        self, buffer: Buffer | None, accesses: Sequence[tuple[Instances, AffineAccess | None]]
    ) -> Iterator[Polyhedron]:
        groups: dict[ReductionOp | None, list[tuple[Instances, AffineAccess | None]]] = {}
        for statement, access in accesses:
            groups.setdefault(self._commutes(statement, buffer), []).append((statement, access))
        maps = {
            op: (self._writes(group), self._elements.union(group)) for op, group in groups.items()
        }
        for op, other_op in product(groups, groups):
            if op is None or op is not other_op:
                (writes, touches), (other_writes, other_touches) = maps[op], maps[other_op]
                yield writes.apply_range(other_touches.reverse())
                yield touches.apply_range(other_writes.reverse())

    def _commutes(self, statement: Instances, buffer: Buffer | None) -> ReductionOp | None:
        reduction = statement.reduction
        if self.ordered or reduction is None or reduction.buffer is not buffer:
            return None
        if reduction.op in _LAZY and self._may_fail(statement, reduction):
            return None
        return reduction.op if may_reorder(reduction, self.fastmath) else None

    def _may_fail(self, statement: Instances, reduction: Reduction) -> bool:
        """Whether an update may raise an error: by an operator, or an index out of bounds."""
        nodes = [*walk(reduction.update)]
        loads = {node for node in nodes if isinstance(node, Load)}
        reads = tuple(access for access in statement.accesses if access.node in loads)
        update = replace(statement, accesses=reads)
        return any(map(operation_may_fail, nodes)) or any(
            find_outside(self.part, load.buffer, None, [update]) is not None for load in loads
        )

    def _writes(self, accesses: Sequence[tuple[Instances, AffineAccess | None]]) -> Polyhedron:
        return self._elements.union(
            [found for found in accesses if found[1] is None or found[1].is_write]
        )

    def _time_map(self, times: Times, statements: Sequence[Instances]) -> Polyhedron:
        vectors = [list(times(statement)) for statement in statements]
        length = max(map(len, vectors), default=0)
        maps = [
            f"{statement.name}[{', '.join(statement.space)}] -> "
            f"[{', '.join(vector + ['0'] * (length - len(vector)))}]"
            for statement, vector in zip(statements, vectors, strict=True)
        ]
        return self._isl.UnionMap(f"{self.part.parameters} -> {{ {'; '.join(maps)} }}")

    # -- an example --------------------------------------------------------------------------------

    def _sample(self, pairs: Polyhedron, buffer: Buffer | None) -> Conflict:
        """One of the pairs of instances of two statements: small sizes, early iterations."""
        isl = self._isl
        first, later = self._ends(pairs)
        for limits in self._limits(first, later):
            limited = pairs.intersect(self._relation((first, later), limits))
            is_empty = within_limit(limited.is_empty, _EXAMPLE_OPERATIONS)
            pairs = limited if is_empty is False else pairs
        point = within_limit(partial(self._early_point, pairs), _EXAMPLE_OPERATIONS)
        if point is None:
            point = pairs.wrap().sample_point()
        values = [
            point.get_coordinate_val(isl.dim_type.set, k).to_python()
            for k in range(len(first.space) + len(later.space))
        ]
        parameters = {
            name: point.get_coordinate_val(isl.dim_type.param, k).to_python()
            for k, name in enumerate(_parameter_names(point, isl))
        }
        ends = (values[: len(first.space)], values[len(first.space) :])
        return self._conflict(first, later, ends, buffer, parameters)

    def _early_point(self, pairs: Polyhedron) -> Polyhedron:
        """One of `pairs`, of some sizes the earliest."""
        sizes = self._isl.Set.from_point(pairs.params().sample_point())
        return _earliest(pairs.intersect_params(sizes).wrap())

    def _limits(self, first: Instances, later: Instances) -> Iterator[list[str]]:
        """What an example had better keep to: products that are right, and small sizes."""
        there = [product.elsewhere for product in later.products]
        products = [*first.products, *there, *self.part.names.constants]
        yield [product.small for product in products]
        yield [f"-16 <= {name} <= 16" for name in self.part.names.parameters]

    def _ends(self, pairs: Polyhedron) -> tuple[Instances, Instances]:
        """The two statements whose instances a map is about."""
        kinds = self._isl.dim_type
        names = (pairs.get_tuple_name(kinds.in_), pairs.get_tuple_name(kinds.out))
        by_name = {statement.name: statement for statement in self.part.statements}
        return by_name[names[0]], by_name[names[1]]

    def _relation(self, ends: tuple[Instances, Instances], facts: Sequence[str]) -> Polyhedron:
        """The pairs of instances of two statements of which `facts` hold."""
        source, target = ends[0].space, [primed(dim) for dim in ends[1].space]
        pair = f"{ends[0].name}[{', '.join(source)}] -> {ends[1].name}[{', '.join(target)}]"
        return self._isl.Map(f"{self.part.parameters} -> {{ {pair} {where(facts)} }}")

    def _conflict(
        self,
        first: Instances,
        later: Instances,
        values: tuple[Sequence[int], Sequence[int]],
        buffer: Buffer | None,
        parameters: dict[str, int],
    ) -> Conflict:
        shown = tuple(
            (var.name, parameters[text])
            for text, var in self.part.names.parameters.items()
            if text in parameters
        )
        for a, b in product(_accesses(first, buffer), _accesses(later, buffer)):
            if a is not None and b is not None and not (a.is_write or b.is_write):
                continue
            element = self._element_in_sets(
                (first, a, values[0]), (later, b, values[1]), parameters
            )
            if element is not None:
                ends = (_endpoint(first, a, values[0]), _endpoint(later, b, values[1]))
                runs = [Run(first, a, values[0]), Run(later, b, values[1])]
                real = common_element(self.part, runs, element, parameters)
                return Conflict(*ends, buffer, real or element, shown, real is not None)
        raise AssertionError("a conflict without a common element")

    def _element_in_sets(
        self,
        first: tuple[Instances, AffineAccess | None, Sequence[int]],
        later: tuple[Instances, AffineAccess | None, Sequence[int]],
        parameters: dict[str, int],
    ) -> tuple[int, ...] | None:
        """An element that both touch, as far as their sets of instances say."""
        isl: Polyhedron = self._isl
        touched: list[Polyhedron] = []
        for statement, access, values in (first, later):
            facts = [f"{dim} = {value}" for dim, value in zip(statement.space, values, strict=True)]
            facts += [f"{name} = {value}" for name, value in parameters.items()]
            dims = ", ".join(statement.space)
            at = isl.Set(f"{self.part.parameters} -> {{ {statement.name}[{dims}] {where(facts)} }}")
            touched.append(at.apply(self._elements.touched(statement, access)))
        common = touched[0].intersect(touched[1])
        if common.is_empty():
            return None
        point = common.sample_point()
        count = common.dim(isl.dim_type.set)
        private = 0 if first[1] is None else len(self.part.private.get(first[1].buffer, ()))
        coordinates = (point.get_coordinate_val(isl.dim_type.set, k) for k in range(private, count))
        return tuple(coordinate.to_python() for coordinate in coordinates)


def _intersection(relations: Sequence[Polyhedron]) -> Polyhedron:
    found = relations[0]
    for relation in relations[1:]:
        if found.is_empty():
            break
        found = found.intersect(relation)
    return found


def _accesses(statement: Instances, buffer: Buffer | None) -> list[AffineAccess | None]:
    if buffer is None:
        return [None]
    return [access for access in statement.accesses if access.buffer is buffer]


def _endpoint(statement: Instances, access: AffineAccess | None, values: Sequence[int]) -> Endpoint:
    node = statement.node if access is None else access.node
    iteration = tuple(
        (loop.var.name, value) for loop, value in zip(statement.loops, values, strict=False)
    )
    return Endpoint(statement, node, access is None or access.is_write, iteration)


def _earliest(points: Polyhedron) -> Polyhedron:
    """The first of `points`, as far as there is a first."""
    dims = load_isl().dim_type.set
    for position in range(points.dim(dims)):
        least = points.dim_min_val(position)
        earlier = points.fix_val(dims, position, least) if least.is_int() else points
        points = points if earlier.is_empty() else earlier
    return points.sample_point()


def _parameter_names(point: Polyhedron, isl: Polyhedron) -> list[str]:
    space = point.get_space()
    kind = isl.dim_type.param
    return [space.get_dim_name(kind, k) for k in range(space.dim(kind))]
