"""Names whose arrays have another size in each round of a loop.

    while x.size > 1:                  home, start, size = a copy of x, 0, x.size
        x = x[x > x.mean()]    -->     while size > 1:
                                           x = home[start : start + size]
                                           new = x[x > x.mean()]
                                           home, start, size = a copy of new, 0, new.size

The array that a name stands for when a round begins lies in a growing array, its home. A round that
leaves a part of that, such as x[1:], only moves the start and the size; any other array is copied
there at the end of the round. All but the first axis keep their sizes.
"""

from __future__ import annotations

from hybridjit.arith.ranges import ZERO
from hybridjit.frontend.arrays.memory import copied, elements_of, nest, view_of
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Resizable
from hybridjit.frontend.values import Array, Place, Value, View
from hybridjit.frontend.variables import Web
from hybridjit.ir.dtype import INT64, WEAK_INT
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr, Load, Var
from hybridjit.ir.stmt import Allocate, Reserve, Store
from hybridjit.scalars.scalar import Scalar


def make_home(build: Builder, web: Web, value: Array | View) -> Resizable:
    """A home for what a name stands for, before the loop that changes its size."""
    view = view_of(build, value)
    shape = (Const(Buffer.MANY), *view.shape[1:])
    home = Buffer(web.name, view.dtype, shape, Buffer.GROWING)
    start, size = (Buffer(f"{web.name}_{part}", INT64, (), Buffer.REGISTER) for part in _PARTS)
    for buffer in (home, start, size):
        build.emit(Allocate(buffer, zero=False))
    made = Resizable(home, start, size)
    _move_in(build, view, made)
    return made


_PARTS = ("start", "size")


def as_view(build: Builder, resizable: Resizable) -> View:
    """What a name stands for as it is now."""
    home = resizable.home
    start, size = (
        build.let(Scalar(Load(register), WEAK_INT), part, None).expr
        for register, part in ((resizable.start, "start"), (resizable.size, "size"))
    )
    build.unit.sizes |= {var for var in (start, size) if isinstance(var, Var)}
    rest = tuple(Place(ZERO, 1, axis) for axis in range(1, home.ndim))
    return View(home, (Place(start, 1, 0), *rest), (size, *home.shape[1:]))


def fits(build: Builder, value: Value, resizable: Resizable) -> bool:
    """True for an array of the type, the rank and the rows of what the home was made for."""
    if not isinstance(value, (Array, View)):
        return False
    home, shape = resizable.home, value.shape
    is_alike = value.buffer.dtype is home.dtype and len(shape) == home.ndim
    return is_alike and all(map(build.ranges.same, shape[1:], home.shape[1:]))


def keep(build: Builder, value: Array | View, resizable: Resizable) -> None:
    """Leave an array to the next round of the loop."""
    view = view_of(build, value)
    if view.buffer is not resizable.home:
        _move_in(build, view, resizable)
    elif _is_part(build, view):
        _set_range(build, resizable, view.places[0].start, view.shape[0])
    else:
        moved = copied(build, elements_of(build, view), resizable.home.name, None)
        _move_in(build, view_of(build, Array(moved)), resizable)


def _is_part(build: Builder, view: View) -> bool:
    """True for whole rows of a home that follow each other."""
    first, *rest = view.places
    if len(view.shape) != len(view.places) or (first.step, first.axis) != (1, 0):
        return False
    whole = [(place.start, place.step, place.axis) for place in rest]
    is_whole = whole == [(ZERO, 1, axis) for axis in range(1, len(view.places))]
    return is_whole and all(map(build.ranges.same, view.shape[1:], view.buffer.shape[1:]))


def _set_range(build: Builder, resizable: Resizable, start: Expr, size: Expr) -> None:
    build.emit(Store(resizable.start, (), start))
    build.emit(Store(resizable.size, (), size))


def _move_in(build: Builder, view: View, resizable: Resizable) -> None:
    """Copy an array from elsewhere to its home."""
    home = resizable.home
    build.emit(Reserve(BufferRef(home), view.shape[0]))
    elements = elements_of(build, view)
    nest(
        build,
        view.shape,
        lambda at: build.emit(Store(home, at, elements.element(at).expr)),
        None,
    )
    _set_range(build, resizable, ZERO, view.shape[0])
