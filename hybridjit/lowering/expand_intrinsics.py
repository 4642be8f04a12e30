"""Put expressions and calls of C functions in the place of intrinsics of the user's own.

    b[i] = twice(a[i])    -->    b[i] = a[i] + a[i]

Relies on: the rules give what their intrinsics mean. Intrinsics that LLVM has are left to it.
"""

from __future__ import annotations

import dataclasses

from hybridjit.errors import TypeMismatch
from hybridjit.ir.dtype import BFLOAT16
from hybridjit.ir.expr import Call, Expr, ExternCall, Node
from hybridjit.ir.extern import Extern
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.intrinsics import (
    CUSTOM_INTRINSICS,
    CustomIntrinsic,
    Expansion,
    LLVMIntrinsic,
)
from hybridjit.ir.visit import rewrite


def expand_intrinsics(func: PrimFunc) -> PrimFunc:
    """`func` with the rules of intrinsics applied."""
    if not CUSTOM_INTRINSICS:
        return func
    body = rewrite(func.body, _expand)
    return func if body is func.body else dataclasses.replace(func, body=body)


def _expand(node: Node) -> Node | None:
    if not isinstance(node, Call) or node.name not in CUSTOM_INTRINSICS:
        return None
    custom = CUSTOM_INTRINSICS[node.name]
    match custom.rule:
        case Expansion(make):
            return rewrite(_checked(make(*node.args), custom, node), _expand)
        case Extern() as function:
            return ExternCall(function, node.args, span=node.span)
        case LLVMIntrinsic(name):
            _check_type(name, custom, node)
            return None


def _check_type(name: str, custom: CustomIntrinsic, call: Call) -> None:
    """Refuse types that are none of LLVM's own."""
    dtype = call.args[0].dtype
    if dtype is BFLOAT16 or dtype.is_complex:
        raise TypeMismatch(
            f"the rule of intrinsic '{custom.name}', {name}, is not for {dtype}", call.span
        )


def _checked(made: object, custom: CustomIntrinsic, call: Call) -> Expr:
    if not isinstance(made, Expr) or made.dtype is not call.dtype:
        found = made.dtype if isinstance(made, Expr) else repr(made)
        raise TypeMismatch(
            f"the rule of intrinsic '{custom.name}' must give {call.dtype}, and gives {found}",
            call.span,
        )
    return made
