"""Windows that move over an axis: padding, stride, dilation, and how many of them there are."""

from __future__ import annotations

import operator as operators
from collections.abc import Sequence
from typing import Any, cast

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.record import record
from hybridjit.stdlib.parts.shapes import show_size
from hybridjit.stdlib.parts.types import Padding, Pair
from hybridjit.te import max as greatest
from hybridjit.te import min as least

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


@record
class Window:
    """A window of `size` elements, `dilation` apart, that moves by `stride` at a time.

    It begins `before` elements before the first one, and may end `after` after the last. With
    `is_rounded_up` there is one more at the end if elements would be left over.
    """

    size: Any
    stride: int
    dilation: int
    before: Any
    after: Any
    is_rounded_up: bool = False

    @property
    def reach(self) -> Any:
        """How many elements lie between the two ends, these included."""
        return (self.size - 1) * self.dilation + 1

    def count(self, extent: Any) -> Any:
        """How many windows there are on an axis."""
        room = extent + self.before + self.after - self.reach
        if not self.is_rounded_up:
            return room // self.stride + 1
        count = (room + self.stride - 1) // self.stride + 1
        # The last one must not begin beyond the last element.
        if (count - 1) * self.stride >= extent + self.before:
            count -= 1
        return count

    def reached(self, extent: Any) -> Any:
        """The size of an axis with all that windows reach beyond it."""
        end = (self.count(extent) - 1) * self.stride + self.reach
        whole = extent + self.before + self.after
        if isinstance(end, int) and isinstance(whole, int):
            return max(end, extent + self.before)
        return whole

    def place(self, window: Any, offset: Any) -> Any:
        """Where an element of a window is, counted with the padding."""
        return window * self.stride + offset * self.dilation

    def count_elements(self, window: Any, extent: Any, *, counts_padding: bool) -> Any:
        """How many elements a window has: what lies beyond the padding never counts."""
        if counts_padding and not self.is_rounded_up:
            return self.size
        start = window * self.stride - self.before
        if counts_padding:
            return least(self.size, self._count_steps(extent + self.after - start))
        skipped = greatest(self._count_steps(-start), 0)
        # Of a window that is all padding the sum is 0, and so is its average.
        return greatest(least(self.size, self._count_steps(extent - start)) - skipped, 1)

    def _count_steps(self, room: Any) -> Any:
        """How many elements of a window lie on so many places: less than one if there is none."""
        return room if self.dilation == 1 else (room + self.dilation - 1) // self.dilation


@record
class Movement:
    """How windows move over images, as it was given."""

    stride: Pair
    padding: Padding
    dilation: Pair
    is_rounded_up: bool = False


def read_windows(
    name: str, sizes: Sequence[Any], extents: Sequence[Any], movement: Movement
) -> tuple[Window, ...]:
    """The windows over each spatial axis; refused if there would not be a single one."""
    count = len(sizes)
    strides = read_sizes(name, "stride", movement.stride, count)
    dilations = read_sizes(name, "dilation", movement.dilation, count)
    reaches = [(size - 1) * step + 1 for size, step in zip(sizes, dilations, strict=True)]
    sides = read_padding(name, movement.padding, reaches, strides, extents)
    found = tuple(
        Window(size, stride, dilation, *side, movement.is_rounded_up)
        for size, stride, dilation, side in zip(sizes, strides, dilations, sides, strict=True)
    )
    for window, extent in zip(found, extents, strict=True):
        _check_count(name, window, extent)
    return found


def read_sizes(
    name: str, what: str, value: object, count: int, *, least: int = 1
) -> tuple[int, ...]:
    """A number for each of `count` axes, or one for all of them."""
    given = cast("Sequence[object]", value) if isinstance(value, _SEQUENCE) else (value,) * count
    try:
        numbers = tuple(operators.index(cast("Any", number)) for number in given)
    except TypeError:
        raise ArgumentError(
            f"{name}: {what} must be an integer{_OR[count]}, got {value!r}",
            help=f"as in {tuple(range(1, count + 1))}",
        ) from None
    if len(numbers) != count or min(numbers) < least:
        raise ArgumentValueError(
            f"{name}: {what} must be one{_OR[count]} {_NUMBERS[count]} of at least {least}, got "
            f"{value!r}"
        )
    return numbers


_OR = {1: "", 2: " or two", 3: " or three"}
_NUMBERS = {1: "number", 2: "numbers", 3: "numbers"}
_PADDINGS = {
    1: "give a number, (before, after), 'same' or 'valid'",
    2: "give a number, (rows, columns), (top, left, bottom, right), 'same' or 'valid'",
    3: "give a number, one for each axis, all before and all after, 'same' or 'valid'",
}


def read_padding(
    name: str,
    padding: object,
    reaches: Sequence[Any],
    strides: Sequence[int],
    extents: Sequence[Any],
) -> list[tuple[Any, Any]]:
    """Before and after each spatial axis."""
    count = len(reaches)
    if padding == "valid":
        return [(0, 0)] * count
    if padding == "same":
        return [_same(name, *sizes) for sizes in zip(reaches, strides, extents, strict=True)]
    given = list(cast("Sequence[object]", padding)) if isinstance(padding, _SEQUENCE) else None
    if given is not None and len(given) == 2 * count:
        befores = read_sizes(name, "padding", tuple(given[:count]), count, least=0)
        afters = read_sizes(name, "padding", tuple(given[count:]), count, least=0)
        return list(zip(befores, afters, strict=True))
    if isinstance(padding, str) or (given is not None and len(given) != count):
        raise ArgumentValueError(f"{name}: there is no padding {padding!r}", help=_PADDINGS[count])
    return [(side, side) for side in read_sizes(name, "padding", padding, count, least=0)]


def _same(name: str, reach: Any, stride: int, extent: Any) -> tuple[Any, Any]:
    """Padding for ceil(extent / stride) windows; where it is odd, one more after the last."""
    if stride == 1:
        total = reach - 1
    elif isinstance(extent, int) and isinstance(reach, int):
        total = max((-(-extent // stride) - 1) * stride + reach - extent, 0)
    else:
        raise ArgumentValueError(
            f"{name}: padding 'same' with a stride needs sizes that are known, got "
            f"{show_size(extent)}",
            help="give the padding as numbers",
        )
    return total // 2, total - total // 2


def _check_count(name: str, window: Window, extent: Any) -> None:
    room = extent + window.before + window.after
    if window.is_rounded_up and not isinstance(room, int):
        raise ArgumentValueError(
            f"{name}: ceil_mode needs sizes that are known, got {show_size(extent)}",
            help="use more padding at the end",
        )
    if isinstance(room, int) and isinstance(window.reach, int) and room < window.reach:
        raise ArgumentValueError(
            f"{name}: a window over {window.reach} elements does not fit on an axis of {extent}, "
            f"{room} with padding",
            help="use more padding, a smaller window or a smaller dilation",
        )
