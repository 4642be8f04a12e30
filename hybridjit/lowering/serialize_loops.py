"""Run every loop in order: for arguments that share memory, where no proof of independence holds.

for i in parallel(n):      -->     for i in range(n):
    body                               body
"""

from __future__ import annotations

import dataclasses

from hybridjit.ir.expr import Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, LoopKind
from hybridjit.ir.visit import rewrite


def serialize_loops(func: PrimFunc) -> PrimFunc:
    """`func` without concurrent loops."""
    body = rewrite(func.body, _serialize)
    return func if body is func.body else dataclasses.replace(func, body=body)


def _serialize(node: Node) -> Node | None:
    if not isinstance(node, For) or not node.kind.is_concurrent:
        return None
    return dataclasses.replace(node, kind=LoopKind.SERIAL, thread=None)
