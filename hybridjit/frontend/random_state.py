"""The state of NumPy's global generator, which a script that draws from it borrows.

x = np.random.randn()         address[0] = borrow_random_state()
return x              -->     x = <a draw>
                              if kept[0] == 1:
                                  give_back_random_state(gauss[0])
                              return x

Bits are drawn where NumPy has them, at the address, so that they are drawn for everybody, whatever
becomes of the script. Normal numbers come in pairs: the one that is kept for the next draw is no
part of that memory. It is taken over with the first normal draw, and given back if one is kept at
the end.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from hybridjit.errors import Span
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Skip
from hybridjit.frontend.values import Array, Callee, Items
from hybridjit.ir.dtype import FLOAT64, INT64, UINT64
from hybridjit.ir.expr import Buffer, Const, Eq, ExternCall, Load
from hybridjit.ir.stmt import Allocate, Evaluate, If, Store
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.frontend.library import legacy_random
else:
    legacy_random = lazy_module("hybridjit.frontend.library.legacy_random")

_PARTS = (("address", UINT64, 1), ("kept", INT64, 1), ("gauss", FLOAT64, 1))
_FIRST = (Const(0),)


def global_draw(value: object) -> Callee | None:
    """What stands for np.random.rand and others, the methods of NumPy's global generator."""
    module = sys.modules.get("numpy.random")
    name: str = getattr(value, "__name__", "")
    is_global = module is not None and getattr(module, name or "?", None) is value
    is_drawn = is_global and name in legacy_random.FUNCTIONS
    return Callee(legacy_random.FUNCTIONS[name]) if is_drawn else None


def random_state(build: Builder, node: ast.AST) -> Items:
    """The arrays that the state lies in; from the next round on, the script borrows it first."""
    if build.signature.random_state is None:
        build.knowledge.draws = True
        build.unit.found_division = True
        raise Skip
    return build.signature.random_state


def borrow_state(build: Builder) -> None:
    """At the beginning of a script that draws, take the state."""
    if not build.knowledge.draws:
        return
    buffers = [Buffer(name, dtype, (Const(size),)) for name, dtype, size in _PARTS]
    for buffer in buffers:
        build.emit(Allocate(buffer, zero=False))
    build.signature.random_state = Items(tuple(map(Array, buffers)))
    address, kept, _ = buffers
    build.emit(Store(address, _FIRST, ExternCall(legacy_random.BORROW, ())))
    build.emit(Store(kept, _FIRST, Const(legacy_random.THEIRS)))


def give_back_state(build: Builder, span: Span | None) -> None:
    """Before a script that draws returns, leave a number that it keeps to whoever draws next."""
    if build.signature.random_state is None:
        return
    arrays = [item for item in build.signature.random_state.items if isinstance(item, Array)]
    _, kept, gauss = (array.buffer for array in arrays)
    is_ours = Eq(Load(kept, _FIRST), Const(legacy_random.OURS))
    call = ExternCall(legacy_random.GIVE_BACK, (Load(gauss, _FIRST),), span=span)
    build.emit(If(is_ours, Evaluate(call, span=span), span=span))
