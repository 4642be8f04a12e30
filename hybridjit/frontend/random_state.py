"""The state of NumPy's global generator, which a script that draws from it borrows.

x = np.random.rand()          borrow_random_state(words, places, gauss)
return x              -->     x = <a draw from them>
                              give_back_random_state(words, places, gauss)
                              return x
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from hybridjit.errors import Span
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Skip
from hybridjit.frontend.values import Array, Callee, Items
from hybridjit.ir.dtype import FLOAT64, INT64, UINT32
from hybridjit.ir.expr import Buffer, BufferRef, Const, ExternCall
from hybridjit.ir.extern import Extern
from hybridjit.ir.stmt import Allocate, Evaluate
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.frontend.library import legacy_random
else:
    legacy_random = lazy_module("hybridjit.frontend.library.legacy_random")

_PARTS = (("words", UINT32, 624), ("places", INT64, 2), ("gauss", FLOAT64, 1))


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
    _call(build, legacy_random.BORROW, None)


def give_back_state(build: Builder, span: Span | None) -> None:
    """Before a script that draws returns, leave the state to whoever draws next."""
    if build.signature.random_state is not None:
        _call(build, legacy_random.GIVE_BACK, span)


def _call(build: Builder, extern: Extern, span: Span | None) -> None:
    assert build.signature.random_state is not None
    arrays = [item for item in build.signature.random_state.items if isinstance(item, Array)]
    call = ExternCall(extern, tuple(BufferRef(array.buffer) for array in arrays), span=span)
    build.emit(Evaluate(call, span=span))
