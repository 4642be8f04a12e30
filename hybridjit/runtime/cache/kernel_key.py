"""The key of code in the disk cache that is found by its IR, where its source cannot tell.

The printed IR holds everything the code is made of: captured values, constants and inlined
functions included. With it go the places that errors name, the layout of the arguments, the
processor, and the versions of what made the code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from hybridjit.codegen.layout import Layout
from hybridjit.errors import Span
from hybridjit.ir.expr import Call, ExternCall, Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.intrinsics import CUSTOM_INTRINSICS
from hybridjit.ir.printer import print_func
from hybridjit.ir.stmt import Print
from hybridjit.ir.visit import walk
from hybridjit.runtime.cache.serialization import encode_span
from hybridjit.runtime.cache.versions import maker_identity
from hybridjit.target import Target


def find_key(
    func: PrimFunc, layout: Layout, target: Target, *, may_reorder: bool = False
) -> bytes | None:
    """The key of the code for `func`, or None if it cannot be kept: it calls out of itself."""
    if any(_leads_out(node) for node in walk(func.body)):
        return None
    ingredients = {
        "maker": maker_identity(target),
        "layout": layout.encode(),
        "may_reorder": may_reorder,
        "places": [encode_span(span, func.span) for span in _spans(func)],
        "function": print_func(func),
        "callees": _callees(func),
    }
    return json.dumps(ingredients, separators=(",", ":")).encode()


def _leads_out(node: Node) -> bool:
    """Whether the text of a node does not tell what it does."""
    if isinstance(node, Call):
        return node.name in CUSTOM_INTRINSICS
    if isinstance(node, ExternCall):
        return node.callee.text is None and not node.callee.is_known
    return isinstance(node, Print)


def _callees(func: PrimFunc) -> dict[str, str | None]:
    """The LLVM text of the functions that are called, by their symbols."""
    calls = (node for node in walk(func.body) if isinstance(node, ExternCall))
    return {call.callee.symbol: call.callee.text for call in calls}


def _spans(func: PrimFunc) -> Iterator[Span | None]:
    seen: dict[Span | None, None] = {}
    for node in walk(func.body):
        seen.setdefault(node.span)
    return iter(seen)
