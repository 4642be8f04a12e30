"""Tensor intrinsics: a small program, and a better way to do the same."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from hybridjit.arith.simplify import simplify
from hybridjit.errors import ArgumentValueError, ScheduleError
from hybridjit.interp.run import interpret
from hybridjit.intrinsics.reach import check_touched
from hybridjit.ir.expr import Buffer, Const, Expr, Var, const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Return
from hybridjit.ir.visit import substitute, walk_stmts
from hybridjit.record import record

Strides = Mapping[Var, tuple[Buffer, int]]
# Random arguments that the two sides are compared on when an intrinsic is declared.
_TRIALS = 3
# Numbers that scalars are in these comparisons.
_SCALARS = (2, 3)


@record(eq=False)
class Intrinsic:
    """`implementation` computes what `description` does, on the same buffers.

    Unless it `is_exact`, results may be rounded otherwise. `strides` are variables of the
    implementation that stand for the strides, in elements, of its buffers where they lie, `scalars`
    those of both that stand for numbers of the program.
    """

    name: str
    description: PrimFunc
    implementation: PrimFunc
    is_exact: bool
    strides: Strides = field(default_factory=dict[Var, tuple[Buffer, int]])
    scalars: tuple[Var, ...] = ()


class Intrinsics:
    """The intrinsics of this process, by name: traces find them again."""

    def __init__(self) -> None:
        self._known: dict[str, Intrinsic] = {}
        self._postponed: dict[str, Callable[[], None]] = {}

    def declare(
        self,
        name: str,
        description: PrimFunc,
        implementation: PrimFunc,
        strides: Strides | None = None,
        scalars: Sequence[Var] = (),
    ) -> Intrinsic:
        """Remember an intrinsic, after a look at whether the two sides agree."""
        alone = _with_strides(implementation, strides or {})
        _check_alike(name, description, alone)
        is_exact = True
        for number in _SCALARS if scalars else _SCALARS[:1]:
            sides = [_with_scalars(func, scalars, number) for func in (description, alone)]
            check_touched(name, *sides)
            is_exact &= _check_equal(name, *sides)
        self._known[name] = Intrinsic(
            name, description, implementation, is_exact, strides or {}, tuple(scalars)
        )
        return self._known[name]

    def postpone(self, name: str, declare: Callable[[], None]) -> None:
        """Declare an intrinsic when it is looked for: what it calls is not there yet."""
        self._known.pop(name, None)
        self._postponed[name] = declare

    def find(self, name: str) -> Intrinsic | None:
        """The intrinsic called `name`."""
        for whole in (name, name.removesuffix("_update")):
            if whole in self._postponed:
                self._postponed[whole]()
                del self._postponed[whole]
        return self._known.get(name)

    def free_name(self, name: str) -> str:
        """`name`, or with a number if an intrinsic is called so."""
        taken = {*self._known, *self._postponed}
        names = (f"{name}_{place}" if place else name for place in itertools.count())
        return next(free for free in names if not taken & {free, f"{free}_update"})

    def clear(self) -> None:
        """Forget all of them."""
        self._known.clear()
        self._postponed.clear()


INTRINSICS = Intrinsics()


def choose_part(name: str, *, is_partial: bool) -> str:
    """The intrinsic that does a reduction, or that does a step of it: `name_update`.

    The step is needed where a loop around reduces, too.
    """
    whole, update = INTRINSICS.find(name), INTRINSICS.find(f"{name}_update")
    if whole is not None and not is_partial:
        return name
    if whole is not None and update is None:
        raise ScheduleError(
            f"tensorize: a loop around reduces, too, and '{name}' does a whole reduction",
            help="give decl_tensor_intrin two statements: for the whole, and for an update",
        )
    return name if update is None else update.name


def _with_strides(implementation: PrimFunc, strides: Strides) -> PrimFunc:
    """The implementation on arrays that lie in memory by themselves."""
    values = {var: element_strides(buffer)[axis] for var, (buffer, axis) in strides.items()}
    if not values:
        return implementation
    return dataclasses.replace(implementation, body=substitute(implementation.body, values))


def _with_scalars(func: PrimFunc, scalars: Sequence[Var], number: int) -> PrimFunc:
    """`func` for scalars of this value."""
    values = {var: const(number, var.dtype) for var in scalars}
    return dataclasses.replace(func, body=substitute(func.body, values)) if values else func


def element_strides(buffer: Buffer) -> list[Expr]:
    """How many elements lie between neighbours along each axis, in C order."""
    strides: list[Expr] = []
    step: Expr = Const(1)
    for extent in reversed(buffer.shape):
        strides.insert(0, step)
        step = simplify(step * extent)
    return strides


def _check_alike(name: str, description: PrimFunc, implementation: PrimFunc) -> None:
    sides = [
        [(buffer.dtype, buffer.shape) for buffer in func.params if isinstance(buffer, Buffer)]
        for func in (description, implementation)
    ]
    count = len(description.params)
    if sides[0] != sides[1] or len(sides[0]) != count or len(implementation.params) != count:
        raise ArgumentValueError(
            f"intrinsic '{name}': description and implementation must take the same arrays, "
            "and nothing but arrays"
        )
    if not all(isinstance(extent, Const) for _, shape in sides[0] for extent in shape):
        raise ArgumentValueError(f"intrinsic '{name}': the sizes of its arrays must be constants")
    for func in (description, implementation):
        if func.outputs or any(isinstance(node, Return) for node in walk_stmts(func.body)):
            raise ArgumentValueError(
                f"intrinsic '{name}': it writes to its arguments and returns nothing"
            )
        if func.constants:
            raise ArgumentValueError(f"intrinsic '{name}': it cannot hold constant arrays")


def _check_equal(name: str, description: PrimFunc, implementation: PrimFunc) -> bool:
    """Whether the two sides agree to the last bit on any numbers; they must on small integers.

    On those, sums are exact in any order.
    """
    generator = np.random.default_rng(0)
    for _ in range(_TRIALS):
        args = [_random_integers(generator, buffer) for buffer in description.buffers]
        if not _agree(description, implementation, args):
            raise ArgumentValueError(
                f"intrinsic '{name}': the implementation does not compute what the description does"
            )
    return all(
        _agree(
            description,
            implementation,
            [_random_numbers(generator, buffer) for buffer in description.buffers],
        )
        for _ in range(_TRIALS)
    )


def _agree(description: PrimFunc, implementation: PrimFunc, args: Sequence[Any]) -> bool:
    expected, found = ([arg.copy() for arg in args] for _ in range(2))
    interpret(description, expected)
    interpret(implementation, found)
    return all(x.tobytes() == y.tobytes() for x, y in zip(expected, found, strict=True))


def _random_integers(generator: np.random.Generator, buffer: Buffer) -> Any:
    return np.asarray(generator.integers(0, 4, _shape(buffer)), buffer.dtype.numpy)


def _random_numbers(generator: np.random.Generator, buffer: Buffer) -> Any:
    """Numbers of all sizes, so that sums are rounded."""
    if not buffer.dtype.is_inexact:
        return _random_integers(generator, buffer)
    numbers: Any = generator.normal(size=_shape(buffer)) * 2.0 ** generator.integers(-8, 8)
    return np.asarray(numbers, buffer.dtype.numpy)


def _shape(buffer: Buffer) -> list[int]:
    return [int(extent.value.real) for extent in buffer.shape if isinstance(extent, Const)]
