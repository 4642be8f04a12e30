"""What a script may call outside itself: a C function, or a Python function as a callback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from hybridjit.ir.dtype import DType
from hybridjit.record import record


@record
class Pointer:
    """The C type "pointer to elements of `dtype`": how an array is passed to a C function.

    Through one to constant elements, they are only read.
    """

    dtype: DType
    is_const: bool = False


@record(eq=False)
class Extern:
    """A function outside the IR, called by `ExternCall`. Identity is the function.

    `params` are the C parameter types, or None for a Python callback, which takes anything:
    arrays arrive as NumPy views of the same memory, scalars as NumPy scalars. A function may bring
    its LLVM text along, where it is called `symbol`: then it becomes a part of its callers. With a
    symbol alone, it is one that every process knows by it: code that calls it can be kept; so are
    those that a text `uses`. One that `is_reentrant` touches nothing but the arrays that it is
    given, and may run on several threads at once.
    """

    name: str
    call: Callable[..., Any]
    result: DType | None
    params: tuple[DType | Pointer, ...] | None = None
    symbol: str = field(default="", kw_only=True)
    text: str | None = field(default=None, kw_only=True)
    uses: tuple[str, ...] = field(default=(), kw_only=True)
    is_reentrant: bool = field(default=False, kw_only=True)

    def writes(self, place: int) -> bool:
        """Whether it may write to the array that is passed in this place."""
        param = None if self.params is None else self.params[place]
        return not (isinstance(param, Pointer) and param.is_const)

    @property
    def is_packed(self) -> bool:
        return self.params is None

    @property
    def is_known(self) -> bool:
        return self.text is None and bool(self.symbol)


@record(eq=False)
class ExternFamily:
    """Functions that do the same for arrays of different types; the first argument chooses."""

    name: str
    members: Mapping[DType, Extern]
