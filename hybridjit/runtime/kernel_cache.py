"""Kernels on disk: what identifies one, and what is kept of it besides its object code.

The key is the printed IR, which holds everything the code is made of (captured values, constants
and inlined functions included), the places that errors name, the layout of the arguments, the
processor, and the versions of what made the code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from hybridjit.codegen.layout import Layout
from hybridjit.codegen.sites import Failure, Site
from hybridjit.codegen.target import Target, llvm_versions
from hybridjit.errors import Span
from hybridjit.ir.dtype import DType, dtype_named
from hybridjit.ir.expr import ExternCall
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import print_func
from hybridjit.ir.stmt import Print
from hybridjit.ir.visit import walk

_PACKAGE = Path(__file__).parent.parent


def find_key(func: PrimFunc, layout: Layout, target: Target) -> bytes | None:
    """The key of the code for `func`, or None if it cannot be kept: it calls out of itself."""
    if any(isinstance(node, ExternCall | Print) for node in walk(func.body)):
        return None
    ingredients = {
        "versions": [compiler_identity(), *llvm_versions()],
        "target": [target.triple, target.cpu, target.features],
        "layout": [[array.strides, array.align] for array in layout.arrays],
        "disjoint": layout.is_disjoint,
        "places": [_encode_span(span, func) for span in _spans(func)],
        "function": print_func(func),
    }
    return json.dumps(ingredients, separators=(",", ":")).encode()


@cache
def compiler_identity() -> str:
    """What tells this compiler from any other version of it: its own files.

    A release has other files than the one before, and so has a working copy after an edit.
    """
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        status = path.stat()
        name = path.relative_to(_PACKAGE)
        digest.update(f"{name}:{status.st_size}:{status.st_mtime_ns};".encode())
    return digest.hexdigest()


def _spans(func: PrimFunc) -> Iterator[Span | None]:
    seen: dict[Span | None, None] = {}
    for node in walk(func.body):
        seen.setdefault(node.span)
    return iter(seen)


def encode_sites(sites: tuple[Site, ...], func: PrimFunc) -> list[Any]:
    """Sites as JSON; lines are counted from the function, which may move in its file."""
    return [
        [
            site.failure.value,
            _encode_span(site.span, func),
            [part if isinstance(part, str) else [part.name] for part in site.parts],
            list(site.loops),
        ]
        for site in sites
    ]


def decode_sites(encoded: Any, func: PrimFunc) -> tuple[Site, ...]:
    """The sites that `encode_sites` wrote."""
    return tuple(
        Site(
            Failure(failure),
            _decode_span(span, func),
            tuple(_decode_part(part) for part in parts),
            tuple(loops),
        )
        for failure, span, parts, loops in encoded
    )


def _decode_part(part: Any) -> str | DType:
    return part if isinstance(part, str) else dtype_named(part[0])


def _encode_span(span: Span | None, func: PrimFunc) -> list[Any] | None:
    if span is None or func.span is None:
        return None
    first = func.span.line
    file = None if span.file == func.span.file else span.file
    return [file, span.line - first, span.col, span.end_line - first, span.end_col]


def _decode_span(encoded: list[Any] | None, func: PrimFunc) -> Span | None:
    if encoded is None or func.span is None:
        return None
    file, line, col, end_line, end_col = encoded
    first = func.span.line
    return Span(file or func.span.file, line + first, col, end_line + first, end_col)
