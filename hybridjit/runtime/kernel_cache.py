"""The key of code in the disk cache that is found by its IR, where its source cannot tell.

The printed IR holds everything the code is made of: captured values, constants and inlined
functions included. With it go the places that errors name, the layout of the arguments, the
processor, and the versions of what made the code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from hybridjit.codegen.layout import Layout
from hybridjit.codegen.target import Target
from hybridjit.errors import Span
from hybridjit.ir.expr import ExternCall
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import print_func
from hybridjit.ir.stmt import Print
from hybridjit.ir.visit import walk
from hybridjit.runtime.saved import encode_span
from hybridjit.runtime.versions import maker_identity


def find_key(func: PrimFunc, layout: Layout, target: Target) -> bytes | None:
    """The key of the code for `func`, or None if it cannot be kept: it calls out of itself."""
    if any(isinstance(node, ExternCall | Print) for node in walk(func.body)):
        return None
    ingredients = {
        "maker": maker_identity(target),
        "layout": [[array.strides, array.align] for array in layout.arrays],
        "disjoint": layout.is_disjoint,
        "places": [encode_span(span, func.span) for span in _spans(func)],
        "function": print_func(func),
    }
    return json.dumps(ingredients, separators=(",", ":")).encode()


def _spans(func: PrimFunc) -> Iterator[Span | None]:
    seen: dict[Span | None, None] = {}
    for node in walk(func.body):
        seen.setdefault(node.span)
    return iter(seen)
