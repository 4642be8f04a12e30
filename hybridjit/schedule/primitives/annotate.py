"""annotate, prefetch: hints on loops and blocks, which never change what a program computes."""

from __future__ import annotations

import dataclasses

from hybridjit.ir.expr import Load
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import (
    ARRAY,
    AT_MOST,
    AUTOMATIC,
    HINTS,
    LANES,
    STORED_ONCE,
    UNBOUND,
    UNSAFE,
    Annotations,
    Block,
    For,
)
from hybridjit.ir.visit import walk
from hybridjit.schedule.buffers import find_buffer
from hybridjit.schedule.program import replace_stmt
from hybridjit.schedule.refusal import check_int, refuse

Hint = bool | int | float | str
PREFETCH = "prefetch_"
# What the compiler notes of what it has proved, and what steps of their own check.
RESERVED = (*HINTS, ARRAY, STORED_ONCE, UNBOUND, UNSAFE, LANES, AT_MOST, AUTOMATIC[0])


def annotate(func: PrimFunc, target: For | Block, name: str, value: Hint) -> PrimFunc:
    """Put a hint on a loop or a block, in the place of an older one with the same name.

    for i in range(n):     -->     for i in serial(n, annotations={"name": value}):
        body                           body
    """
    check_annotate(func, target, name, value)
    return make_annotated(func, target, name, value)


def check_annotate(func: PrimFunc, target: For | Block, name: str, value: Hint) -> None:
    """Refuse what is no hint."""
    if not isinstance(name, str) or not name.isidentifier():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refuse(func, f"annotate: {name!r} is no name for a hint", [target])
    if name in RESERVED:
        raise refuse(
            func,
            f"annotate: '{name}' is no name for a hint of yours: the compiler has a meaning for it",
            [target],
            help="steps such as s.in_lanes and s.on_threads put such hints, and check them",
        )
    if not isinstance(value, Hint) or value != value:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refuse(func, f"annotate: a hint is a number or a string, got {value!r}", [target])
    if name.startswith(PREFETCH):
        check_int(value, f"annotate: '{name}'")


def make_annotated(func: PrimFunc, target: For | Block, name: str, value: Hint) -> PrimFunc:
    """`func` with a hint on a loop or a block."""
    hints: Annotations = tuple(item for item in target.annotations if item[0] != name)
    changed = dataclasses.replace(target, annotations=(*hints, (name, value)))
    return replace_stmt(func, target, changed)


def prefetch(func: PrimFunc, loop: For, buffer: str, distance: int) -> PrimFunc:
    """Ask for the elements of `buffer` that a loop reads `distance` iterations later.

    for i in range(n):     -->     for i in serial(n, annotations={"prefetch_a": 8}):
        c[i] = a[i]                    c[i] = a[i]
    """
    check_prefetch(func, loop, buffer, distance)
    return make_annotated(func, loop, f"{PREFETCH}{buffer}", distance)


def check_prefetch(func: PrimFunc, loop: For, buffer: str, distance: int) -> None:
    """Refuse to ask for what a loop does not read, or for what it reads now."""
    found = find_buffer(func, buffer)
    if not any(isinstance(node, Load) and node.buffer is found for node in walk(loop.body)):
        raise refuse(func, f"prefetch: loop '{loop.var.name}' does not read '{buffer}'", [loop])
    if distance < 1:
        raise refuse(func, f"prefetch: the distance must be at least 1, got {distance}", [loop])
