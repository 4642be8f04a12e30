"""What goes in and out of a PrimFunc besides buffers: scalars, and arrays that are constants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Buffer, Var
from hybridjit.record import record


@record(eq=False)
class ScalarParam:
    """A scalar parameter. A weak one takes a Python number and gives way in arithmetic.

    The caller sees to it that one `is_small`: an int of either sign up to `MAX_EXTENT`.
    """

    var: Var
    weak: bool = False
    is_small: bool = False

    @property
    def name(self) -> str:
        return self.var.name

    @property
    def type(self) -> ScalarType:
        return ScalarType(self.var.dtype, self.weak)


@record(eq=False)
class ConstantArray:
    """A read-only array whose elements are part of the function: a captured NumPy array."""

    buffer: Buffer
    data: NDArray[Any]


@record
class ScalarResult:
    """A scalar that the function returns, as a NumPy scalar, or a Python number when weak."""

    dtype: DType
    weak: bool = False


# Added to the numbers of a place that stand in lists, and not in tuples: IN_LIST + 1 is the second
# number of [x, y].
IN_LIST = 1 << 20


@record
class ArrayResult:
    """An array that the function makes while it runs, and gives away: its size is computed.

    With a `place`, it holds the numbers at that place of the items of a list, which is returned in
    its stead: (1, 0) for x of (t, (x, y)), () for items that are numbers. The arrays of one list
    follow each other in the order of their places. Weak ones hold numbers of Python.
    """

    dtype: DType
    ndim: int
    place: tuple[int, ...] | None = None
    weak: bool = False

    @property
    def begins_list(self) -> bool:
        """True for the first array of a list."""
        return self.place is not None and all(number % IN_LIST == 0 for number in self.place)


@record
class Part:
    """What makes a view of an array that is returned: NumPy does, so that it is one of its own.

    `axes` says, for each dimension of the array, which axis of the view shows it, if one does;
    that is told by numbers that come with the array: the first index, and for an axis the step
    and how many there are. An axis that shows two dimensions is their diagonal. Other axes of the
    view have one place. With a `way`, the elements are arranged by that method of NumPy: a view
    again, if strides allow. `reshape` is given the sizes that are left of the numbers.
    """

    axes: tuple[int | None, ...]
    ndim: int
    way: str = ""

    def __call__(self, array: Any, *numbers: int) -> Any:
        if not self.way and self.ndim == len(self.axes) and self.axes == _IN_ORDER[: self.ndim]:
            # The usual case, without a detour: small kernels take no longer than this does.
            return array[tuple([_slice(*numbers[k : k + 3]) for k in range(0, len(numbers), 3)])]
        left = iter(numbers)
        view = self._view(array, left)
        if self.way and (view.shape, view.strides) == (array.shape, array.strides):
            view = array  # which is what some methods give then
        if self.way == "ascontiguousarray":
            return np.ascontiguousarray(view)
        return getattr(view, self.way)(*left) if self.way else view

    def _view(self, array: Any, left: Iterator[int]) -> Any:
        # With the ellipsis, one element is a view, too, and no number.
        view = array[(*[self._entry(axis, left) for axis in self.axes], ...)]
        shown = [axis for axis in self.axes if axis is not None]
        for axis in {axis for axis in shown if shown.count(axis) > 1}:
            first = shown.index(axis)
            view = view.diagonal(0, first, shown.index(axis, first + 1))
            shown = [*(other for other in shown if other != axis), axis]
        view = view.transpose(sorted(range(len(shown)), key=shown.__getitem__))
        if len(shown) == self.ndim:
            return view
        return view[tuple([slice(None) if k in shown else None for k in range(self.ndim)])]

    def _entry(self, axis: int | None, left: Iterator[int]) -> int | slice:
        start = next(left)
        if axis is None:
            return start
        return _slice(start, next(left), next(left))


_IN_ORDER = tuple(range(64))  # as many axes as NumPy knows


def _slice(start: int, step: int, extent: int) -> slice:
    stop = start + step * extent
    return slice(start, None if stop < 0 else stop, step) if extent > 0 else slice(0, 0)


@record
class Nesting:
    """How results stand in tuples: of `(x, (y, z))`, the parts are None and another nesting.

    With a `maker`, a class of named tuples or a dataclass, that is called on the parts; so is what
    makes a view of an argument. The maker `list` makes a list of them.
    """

    parts: tuple[Nesting | None, ...]
    maker: type[Any] | Part | None = None

    @property
    def is_flat(self) -> bool:
        """True for a plain tuple of results."""
        return self.maker is None and all(part is None for part in self.parts)

    @property
    def has_views(self) -> bool:
        """True if something is returned as a view of an array."""
        inner = any(part is not None and part.has_views for part in self.parts)
        return inner or isinstance(self.maker, Part)

    def put_together(self, results: Iterator[Any]) -> Any:
        """What the caller sees, from the results one after the other."""
        parts = [next(results) if p is None else p.put_together(results) for p in self.parts]
        if self.maker is None or self.maker is list:
            return parts if self.maker is list else tuple(parts)
        return self.maker(*parts)

    def text(self, results: Iterator[str], *, in_words: bool = False) -> str:
        """The source of what the caller sees, or that in words."""
        parts = [
            next(results) if p is None else p.text(results, in_words=in_words) for p in self.parts
        ]
        if isinstance(self.maker, Part):
            array, *numbers = parts
            how = [array, str(self.maker.axes), str(self.maker.ndim)]
            how += [repr(self.maker.way)] if self.maker.way else []
            return f"a view of {array}" if in_words else f"view_of({', '.join([*how, *numbers])})"
        if self.maker is list:
            return f"[{', '.join(parts)}]"
        if self.maker is not None:
            return f"{self.maker.__name__}({', '.join(parts)})"
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


Param = Buffer | ScalarParam
Result = Buffer | ScalarResult | ArrayResult
