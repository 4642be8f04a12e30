"""tir.call_intrin, tir.call_extern and tir.call_packed inside of scripts."""

from __future__ import annotations

import ast

from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import dtype_argument, number_arguments, text_argument
from hybridjit.frontend.extern_calls import call_extern
from hybridjit.frontend.values import ExternValue, Nothing, Value
from hybridjit.ir.dtype import DType
from hybridjit.ir.intrinsics import CUSTOM_INTRINSICS, INTRINSICS
from hybridjit.scalars.functions import apply, arity_of
from hybridjit.scalars.style import Style
from hybridjit.scalars.suggest import did_you_mean


def call_intrinsic_by_name(build: Builder, node: ast.Call) -> Value:
    """`call_intrin(dtype, name, *args)`: an intrinsic of the language."""
    _check_leading(build, node, 2, "a type and a name")
    name = text_argument(build, node.args[1], "the name of an intrinsic").removeprefix("tir.")
    if name in CUSTOM_INTRINSICS:
        # A name would not tell a later process whether it still means the same.
        raise build.refuse(
            f"'{name}' is an intrinsic of your own, which a script calls by itself",
            node.args[1],
            help=f"keep what tir.register_intrin gives, and write {name}(...)",
        )
    if name not in INTRINSICS:
        help = did_you_mean(name, list(INTRINSICS))
        raise build.refuse(f"there is no intrinsic '{name}'", node.args[1], help=help)
    numbers = number_arguments(build, _without(node, 2), arity_of(name))
    result = apply(name, Style.LANGUAGE, numbers, build.span(node))
    _check_result(build, node.args[0], name, result.type.dtype)
    return result


def _check_result(build: Builder, declared: ast.expr, name: str, found: DType) -> None:
    if isinstance(build.evaluate(declared), Nothing):
        return
    wanted = dtype_argument(build, declared)
    if wanted is not found:
        raise build.mismatch(f"intrinsic '{name}' gives {found} here, not {wanted}", declared)


def call_declared(build: Builder, node: ast.Call, leading: int) -> Value:
    """A call of the C function or callback that is the last of the leading arguments."""
    _check_leading(build, node, leading, "the function")
    callee = node.args[leading - 1]
    value = build.evaluate(callee)
    if not isinstance(value, ExternValue):
        raise build.refuse(
            f"a script calls functions that are declared outside of it, found "
            f"`{ast.unparse(callee)}`",
            callee,
            help='as in f = hybrid.extern("sinf", "float32", ["float32"]) or '
            "f = hybrid.packed(function), then f(x)",
        )
    return call_extern(build, value.extern, _without(node, leading))


def _check_leading(build: Builder, node: ast.Call, count: int, what: str) -> None:
    if len(node.args) < count:
        raise build.refuse(f"{ast.unparse(node.func)} takes {what} first", node)


def _without(node: ast.Call, count: int) -> ast.Call:
    """The call without its first arguments."""
    return ast.copy_location(ast.Call(node.func, node.args[count:], node.keywords), node)
