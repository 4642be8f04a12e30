"""transform_layout: keep the elements of a buffer in another order."""

from __future__ import annotations

import dataclasses

from hybridjit.arith.polyhedra import AffineNames, Polyhedron, load_isl
from hybridjit.ir.expr import Buffer, Expr
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import format_expr
from hybridjit.schedule.buffers import (
    check_inside,
    check_not_passed,
    scope_of,
    the_scratch_array,
)
from hybridjit.schedule.index_map import IndexMap
from hybridjit.schedule.refusal import refuse
from hybridjit.schedule.reindex import reindex


def transform_layout(func: PrimFunc, buffer: Buffer, index_map: IndexMap) -> PrimFunc:
    """Keep the element of `buffer` at `indices` at `index_map(indices)` instead.

        t = allocate((64, n), ...)                t = allocate((16, n, 4), ...)
        t[i, j] = a[i, j]                  -->    t[i // 4, j, i % 4] = a[i, j]

    as `i, j -> i // 4, j, i % 4` does. Legal if no two elements get the same place; places that
    no element gets are padding, which is never touched.
    """
    check_transform_layout(func, buffer, index_map)
    return make_transform_layout(func, buffer, index_map)


def check_transform_layout(func: PrimFunc, buffer: Buffer, index_map: IndexMap) -> None:
    """Refuse a map that gives two elements one place, and indices that may count from the end."""
    allocation = the_scratch_array(func, buffer, "transform_layout")
    _check_map(func, buffer, index_map)
    check_inside(func, buffer, scope_of(func, allocation), "transform_layout")


def transform_argument(func: PrimFunc, buffer: Buffer, index_map: IndexMap) -> PrimFunc:
    """`func` whose argument `buffer` has its elements in other places: callers pass it so.

        def f(c: float32[64, "n"], ...)            def f(c: float32[16, "n", 4], ...)
            c[i, j] = a[i, j]               -->        c[i // 4, j, i % 4] = a[i, j]

    No step of a schedule, which keeps what a function takes. Padding is neither read nor written.
    """
    check_not_passed(func, buffer, "transform_layout")
    _check_map(func, buffer, index_map)
    check_inside(func, buffer, func.body, "transform_layout")
    made = dataclasses.replace(buffer, shape=index_map.shape_of_image(buffer.shape))
    params = tuple(made if param is buffer else param for param in func.params)
    body = reindex(func.body, buffer, made, index_map.apply)
    changed = dataclasses.replace(func, params=params, body=body)
    for size in func.dimensions:
        if size not in changed.dimensions:
            raise refuse(
                func,
                f"transform_layout: after '{index_map}' no argument has the size '{size.name}'",
                help=f"pass '{size.name}', or another tensor that has it, as an argument, too",
            )
    return changed


def make_transform_layout(func: PrimFunc, buffer: Buffer, index_map: IndexMap) -> PrimFunc:
    """`func` with the elements of a buffer in other places."""
    made = dataclasses.replace(buffer, shape=index_map.shape_of_image(buffer.shape))
    body = reindex(func.body, buffer, made, index_map.apply)
    return dataclasses.replace(func, body=body)


def _check_map(func: PrimFunc, buffer: Buffer, index_map: IndexMap) -> None:
    if len(index_map.inputs) != buffer.ndim:
        raise refuse(
            func,
            f"transform_layout: '{buffer.name}' has {buffer.ndim} axes, the index map "
            f"'{index_map}' takes {len(index_map.inputs)}",
        )
    elements = _Elements(func, buffer, index_map)
    for output in index_map.outputs:
        if elements.names.affine(output) is None:
            raise refuse(
                func,
                f"transform_layout: '{format_expr(output)}' is not a sum of multiples of indices",
                help="// and % take positive constants, and one side of each * is a constant",
            )
        if elements.may_be_negative(output):
            raise refuse(
                func, f"transform_layout: '{format_expr(output)}' may be negative in '{index_map}'"
            )
    clash = elements.find_clash(index_map)
    if clash is not None:
        raise refuse(
            func,
            f"transform_layout: '{index_map}' gives two elements of '{buffer.name}' the same "
            f"place, for example {_place(clash[0])} and {_place(clash[1])}",
        )


class _Elements:
    """The elements of a buffer, as a set of isl."""

    def __init__(self, func: PrimFunc, buffer: Buffer, index_map: IndexMap) -> None:
        self.isl: Polyhedron = load_isl()
        self.names = AffineNames()
        facts = [f"{self.names.parameter(dimension)} >= 0" for dimension in func.dimensions]
        dims = [self.names.fresh(var) for var in index_map.inputs]
        for dim, extent in zip(dims, buffer.shape, strict=True):
            stop = self.names.affine(extent)
            facts.append(f"0 <= {dim}" if stop is None else f"0 <= {dim} < {stop}")
        self.point = f"[{', '.join(dims)}]"
        self.facts = " and ".join(facts) or "true"

    @property
    def parameters(self) -> str:
        return f"[{', '.join(self.names.parameters)}]"

    def may_be_negative(self, output: Expr) -> bool:
        """Whether some element gets a negative index."""
        below = f"{self.facts} and {self.names.affine(output)} < 0"
        return not self.isl.Set(f"{self.parameters} -> {{ {self.point} : {below} }}").is_empty()

    def find_clash(self, index_map: IndexMap) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Two elements that get the same place."""
        outputs = ", ".join(str(self.names.affine(output)) for output in index_map.outputs)
        text = f"{self.parameters} -> {{ {self.point} -> [{outputs}] : {self.facts} }}"
        moved = self.isl.Map(text)
        if moved.is_injective():
            return None
        same = moved.apply_range(moved.reverse())
        pair = same.subtract(self.isl.Map.identity(same.get_space())).wrap().sample_point()
        count = len(index_map.inputs)
        values = [
            pair.get_coordinate_val(self.isl.dim_type.set, k).to_python() for k in range(2 * count)
        ]
        return tuple(values[:count]), tuple(values[count:])


def _place(indices: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, indices))}]"
