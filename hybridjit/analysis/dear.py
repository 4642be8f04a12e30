"""Which expressions take many instructions."""

from __future__ import annotations

from collections.abc import Iterable

from hybridjit.ir.expr import Call, Div, FloorDiv, Mod, Node, Pow
from hybridjit.ir.visit import walk

# Functions that take an instruction or two.
_CHEAP_CALLS = frozenset(
    ("abs", "minimum", "maximum", "floor", "ceil", "real", "imag", "conj", "isnan", "fma")
)
_DIVISIONS = (Div, FloorDiv, Mod)


def is_dear(roots: Iterable[Node], *, divisions: bool) -> bool:
    """True if expressions call functions of many instructions; or divide, if that counts."""
    for root in roots:
        for node in walk(root):
            if isinstance(node, Pow) or (divisions and isinstance(node, _DIVISIONS)):
                return True
            if isinstance(node, Call) and node.name not in _CHEAP_CALLS and node.name != "sqrt":
                return True
    return False
