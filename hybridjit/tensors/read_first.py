"""A function over tensors for arrays that share memory: what is read is read before all else.

    for i in range(n):                  A_before = allocate(...)
        B[i] = A[n - 1 - i]             for i in range(n):
                                -->         A_before[i] = A[i]
                                        for i in range(n):
                                            B[i] = A_before[n - 1 - i]

A tensor has one value, whatever memory it is passed in.
"""

from __future__ import annotations

import dataclasses

from hybridjit.analysis.make_blocks import make_blocks
from hybridjit.ir.expr import Buffer, BufferRef, Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Stmt, seq
from hybridjit.ir.visit import substitute, walk
from hybridjit.tensors.buffers import copy_elements
from hybridjit.tensors.tensor import Placeholder, TensorBuffer


def read_first(func: PrimFunc) -> PrimFunc:
    """`func` with copies of the placeholders that it reads."""
    read = {node.buffer for node in walk(func.body) if isinstance(node, Load | BufferRef)}
    before: list[Stmt] = []
    copies: dict[Buffer, Buffer] = {}
    for buffer in func.buffers:
        if buffer in read and _is_placeholder(buffer):
            copies[buffer] = Buffer(f"{buffer.name}_before", buffer.dtype, buffer.shape)
            before.append(Allocate(copies[buffer], zero=False))
            before.append(make_blocks(copy_elements(buffer, copies[buffer])))
    return dataclasses.replace(func, body=seq(*before, substitute(func.body, {}, copies)))


def _is_placeholder(buffer: Buffer) -> bool:
    return isinstance(buffer, TensorBuffer) and isinstance(buffer.op, Placeholder)
