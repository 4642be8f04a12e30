"""What a template of AutoTVM leaves open: `cfg.define_split("tile_x", x, num_outputs=2)`.

A `Config` has chosen one entity for each name that the template defined.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.errors import ArgumentValueError
from hybridjit.record import record
from hybridjit.schedule.sampling_steps import find_tilings

Choose = Callable[[str, int], int]  # of the name and the number of candidates, one of them
UNROLLED_AT_MOST = 32  # iterations; more are not worth their code


@record
class Other:
    """A number, or anything else, of a list."""

    val: Any

    def __str__(self) -> str:
        return str(self.val)


@record
class Split:
    """The extents of the loops that an axis is split into, outermost first."""

    size: tuple[int, ...]

    def apply(self, s: Any, op: Any, axis: Any) -> list[Any]:
        """Split the axis of a stage; gives the loops, outermost first."""
        loops: list[Any] = []
        for factor in reversed(self.size[1:]):
            axis, inner = s[op].split(axis, factor=factor)
            loops.insert(0, inner)
        return [axis, *loops]

    def __str__(self) -> str:
        return str(list(self.size))


@record
class Reorder:
    """An order of axes, by their places."""

    perm: tuple[int, ...]

    def apply(self, s: Any, op: Any, axes: Sequence[Any]) -> list[Any]:
        """Put the axes of a stage in this order; gives them so."""
        ordered = [axes[place] for place in self.perm]
        s[op].reorder(*ordered)
        return ordered

    def __str__(self) -> str:
        return str(list(self.perm))


@record
class Annotate:
    """How each axis runs: "vec", "unroll" or "none"."""

    anns: tuple[str, ...]

    def apply(self, s: Any, op: Any, axes: Sequence[Any], **options: Any) -> list[Any]:
        """Say of the axes of a stage how they run; gives them."""
        del options
        for axis, kind in zip(axes, self.anns, strict=True):
            if kind == "vec":
                s[op].vectorize(axis)
            elif kind == "unroll":
                s[op].unroll(axis)
        return list(axes)

    def __str__(self) -> str:
        return str(list(self.anns))


class Config:
    """One candidate for each name; `space` is all of them, `places` which were chosen."""

    def __init__(self, choose: Choose, *, is_fallback: bool = False) -> None:
        self._choose = choose
        self._is_fallback = is_fallback
        self.space: dict[str, list[Any]] = {}
        self.places: dict[str, int] = {}
        self.flop = 0.0

    def define_knob(self, name: str, candidate: Sequence[Any]) -> None:
        """One of a list."""
        self._define(name, [Other(value) for value in candidate])

    def define_split(
        self,
        name: str,
        axis: Any,
        policy: str = "factors",
        num_outputs: int = 2,
        max_factor: int | None = None,
        filter: Callable[[Split], bool] | None = None,
        candidate: Sequence[Sequence[int]] | None = None,
        **options: Any,
    ) -> None:
        """Every way to split an axis into loops without a rest, or those of `candidate`."""
        del policy, options
        extent = axis if isinstance(axis, int) else axis.dom.extent
        if not isinstance(extent, int):
            raise ArgumentValueError(f"define_split of '{name}': the axis has no known extent")
        most = extent if max_factor is None else max_factor
        ways = find_tilings(extent, num_outputs, most) if candidate is None else candidate
        found = [Split(tuple(way)) for way in ways]
        self._define(name, [way for way in found if filter is None or filter(way)])

    def define_reorder(
        self, name: str, axes: Sequence[Any], policy: str = "all", candidate: Any = None
    ) -> None:
        """Every order of axes, or those of `candidate`."""
        orders = itertools.permutations(range(len(axes)))
        if policy == "identity":
            orders = iter([tuple(range(len(axes)))])
        elif policy == "candidate":
            places = [[_place(axis, axes) for axis in order] for order in candidate]
            orders = iter([tuple(order) for order in places])
        self._define(name, [Reorder(order) for order in orders])

    def define_annotate(
        self, name: str, axes: Sequence[Any], policy: str = "try_unroll_vec", **options: Any
    ) -> None:
        """Whether the last axis is run in lanes, and the others unrolled."""
        del options
        usual = ["none", "unroll"] if "unroll" in policy else ["none"]
        kinds = [usual if _extent(axis) <= UNROLLED_AT_MOST else ["none"] for axis in axes]
        if "vec" in policy and axes:
            kinds[-1] = [*kinds[-1], "vec"]
        self._define(name, [Annotate(way) for way in itertools.product(*kinds)])

    @staticmethod
    def axis(var: Any) -> Any:
        """An axis of the operation, as it is."""
        return var

    reduce_axis = axis

    @property
    def is_fallback(self) -> bool:
        """Whether nothing is known about what is best: the template may choose by itself."""
        return self._is_fallback

    def get(self, index: int) -> Config:
        """One of the configurations, by its number; the first name counts fastest."""
        if not 0 <= index < len(self):
            raise ArgumentValueError(f"there are {len(self)} configurations, and none is {index}")
        made = Config(self._choose)
        for name, candidates in self.space.items():
            made.space[name] = candidates
            index, made.places[name] = divmod(index, len(candidates))
        return made

    def add_flop(self, flop: float) -> None:
        """How many operations a run takes."""
        self.flop += float(flop)

    def _define(self, name: str, candidates: list[Any]) -> None:
        if not candidates:
            raise ArgumentValueError(f"there is no candidate for '{name}'")
        if name not in self.space:
            self.space[name] = candidates
            self.places[name] = self._choose(name, len(candidates))

    def __getitem__(self, name: str) -> Any:
        return self.space[name][self.places[name]]

    def __setitem__(self, name: str, entity: Any) -> None:
        self.space[name] = [entity]
        self.places[name] = 0

    def __len__(self) -> int:
        product = 1
        for candidates in self.space.values():
            product *= len(candidates)
        return product

    def __str__(self) -> str:
        lines = [f"{len(self)} configurations"]
        lines += [
            f"{name}: {self[name]} of {len(candidates)}" for name, candidates in self.space.items()
        ]
        return "\n".join(lines)


def _extent(axis: Any) -> int:
    extent = axis.dom.extent
    return extent if isinstance(extent, int) else UNROLLED_AT_MOST + 1


def _place(axis: Any, axes: Sequence[Any]) -> int:
    return next(place for place, other in enumerate(axes) if other is axis)
