"""What the compilation of a function to closures knows: slots, enclosing loops, and places.

A frame is a list with one slot for each variable and buffer of the function. A variable's slot
holds its value; a buffer's slot holds its array, a register's slot its value or `UNSET`. A buffer
whose elements start unset has a second slot, with an array that says which of them are set. A
loop variable has a second slot, with its value as a Python int: the fastest index of an array.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import field
from enum import Enum
from typing import Any

from hybridjit.errors import (
    BoundsError,
    Diagnostic,
    DivisionByZero,
    InternalError,
    NarrowingError,
    Span,
    mark_raised,
    place_in_script,
)
from hybridjit.interp.scalars import Scalar
from hybridjit.ir.expr import Buffer, Expr, Node, Var
from hybridjit.record import record

Frame = list[Any]
Position = tuple[Scalar, ...]
Eval = Callable[[Frame], Scalar]


class Unset(Enum):
    """The value of a register before the first store."""

    UNSET = "unset"


UNSET = Unset.UNSET

# The first slots of every frame.
RESULTS = 0  # the values of the `Return` that ended the run
ERROR_STATE = 1  # NumPy's floating-point error handling outside, for callbacks
_FIRST_FREE = 2


@record
class Site:
    """A place in the source, and the loops around it: name and slot of each variable."""

    span: Span | None
    loops: tuple[tuple[str, int], ...]

    def notes(self, frame: Frame) -> tuple[str, ...]:
        """In which iteration of the loops around this place `frame` is."""
        if not self.loops:
            return ()
        values = ", ".join(f"{name}={frame[slot]}" for name, slot in self.loops)
        return (f"in iteration {values}",)

    def bounds_error(
        self, frame: Frame, buffer: Buffer, shape: tuple[int, ...], index: Position
    ) -> BoundsError:
        """The error for an index that lies outside an array."""
        for axis, (position, size) in enumerate(zip(index, shape, strict=True)):
            if not -size <= position < size:
                return self.out_of_bounds(frame, buffer.name, axis, position, size)
        raise InternalError(f"NumPy refused index {index} of '{buffer.name}'", span=self.span)

    def out_of_bounds(
        self, frame: Frame, buffer: str, axis: int, position: int, size: int
    ) -> BoundsError:
        """The error for one index outside [-size, size)."""
        return BoundsError(
            f"index {position} is out of bounds for axis {axis} of '{buffer}' with size {size}",
            self.span,
            notes=self.notes(frame),
        )

    def located(self, error: Exception, frame: Frame) -> Exception:
        """`error` with this place: as an error of ours where there is one, else in a note."""
        match error:
            case ZeroDivisionError():
                return DivisionByZero(str(error), self.span, notes=self.notes(frame))
            case OverflowError():
                return NarrowingError(str(error), self.span, notes=self.notes(frame))
            case _:
                return self.annotated(error, frame)

    def annotated(self, error: Exception, frame: Frame) -> Exception:
        """`error` with this place in a note, where Python has notes (from 3.11 on)."""
        return mark_raised(error, Diagnostic("raised here", self.span, notes=self.notes(frame)))


@record(frozen=False)
class Scope:
    """The names that are bound so far, while a function is compiled in the order of its text."""

    slots: dict[Var | Buffer, int] = field(default_factory=dict[Var | Buffer, int])
    masks: dict[Buffer, int] = field(default_factory=dict[Buffer, int])
    numbers: dict[Var, int] = field(default_factory=dict[Var, int])
    starts: dict[Var, Eval] = field(default_factory=dict[Var, Eval])
    loops: tuple[tuple[str, int], ...] = ()
    span: Span | None = None
    size: int = _FIRST_FREE
    # Of the function, whether a debugger is to see its lines, which these are, and what shows them.
    name: str = ""
    whole: Span | None = None
    has_steps: bool = False
    steps: list[tuple[Span, ...]] = field(default_factory=list[tuple[Span, ...]])
    show: Callable[[Frame, tuple[Span, ...]], None] = lambda frame, chain: None

    def reserve(self) -> int:
        """A new slot."""
        self.size += 1
        return self.size - 1

    def bind(self, name: Var | Buffer) -> int:
        """The slot of a variable or buffer that is bound here."""
        if name in self.slots:
            raise InternalError(f"'{name.name}' is bound twice", "interp", self.span)
        self.slots[name] = self.reserve()
        return self.slots[name]

    def bind_number(self, var: Var) -> tuple[int, int]:
        """The slot of a loop variable, and the one for its value as a Python int."""
        self.numbers[var] = self.reserve()
        return self.bind(var), self.numbers[var]

    def bind_alias(self, var: Var, other: Var) -> None:
        """Bind `var` to the slots of a variable that keeps its value as long as `var` is used."""
        self.slots[var] = self.slot(other)
        if other in self.numbers:
            self.numbers[var] = self.numbers[other]
        if other in self.starts:
            self.starts[var] = self.starts[other]

    def slot(self, name: Var | Buffer) -> int:
        """The slot of a variable or buffer that is in scope."""
        if name not in self.slots:
            raise InternalError(f"'{name.name}' is used but not bound", "interp", self.span)
        return self.slots[name]

    def find_number(self, index: Expr) -> int | None:
        """The slot that holds `index` as a Python int, if it is a loop variable."""
        return self.numbers.get(index) if isinstance(index, Var) else None

    def site(self, node: Node) -> Site:
        """The place of `node`; that of the statement around it where it has none of its own."""
        span = self.span if node.span is None else node.span
        return Site(None if span is None else place_in_script(span), self.loops)

    @contextmanager
    def at(self, span: Span | None) -> Generator[None]:
        """What is compiled in this context stands at `span`, or where it did if that is None."""
        outside = self.span
        self.span = outside if span is None else span
        yield
        self.span = outside

    @contextmanager
    def inside_loop(self, var: Var, span: Span | None) -> Generator[None]:
        """What is compiled in this context stands in the loop over `var`.

        Errors do not speak of loops of functions of ours that the script calls.
        """
        outside = self.loops
        if span is None or place_in_script(span) is span:
            self.loops = (*outside, (var.name, self.slot(var)))
        yield
        self.loops = outside

    def new_frame(self) -> Frame:
        """A frame with all slots empty."""
        return [None] * self.size
