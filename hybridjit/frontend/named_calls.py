"""tir.call_intrin, tir.call_extern and tir.call_packed inside of scripts."""

from __future__ import annotations

import ast

from hybridjit.frontend.extern_calls import ExternTranslator
from hybridjit.frontend.functions import apply, arity_of
from hybridjit.frontend.style import Style
from hybridjit.frontend.suggest import did_you_mean
from hybridjit.frontend.values import ExternValue, Nothing, Value
from hybridjit.ir.dtype import DType
from hybridjit.ir.intrinsics import CUSTOM_INTRINSICS, INTRINSICS


class NamedCallTranslator(ExternTranslator):
    """Calls whose first arguments say what is called."""

    def call_intrinsic_by_name(self, node: ast.Call) -> Value:
        """`call_intrin(dtype, name, *args)`: an intrinsic of the language."""
        self._check_leading(node, 2, "a type and a name")
        name = self.text_argument(node.args[1], "the name of an intrinsic").removeprefix("tir.")
        if name in CUSTOM_INTRINSICS:
            # A name would not tell a later process whether it still means the same.
            raise self.refuse(
                f"'{name}' is an intrinsic of your own, which a script calls by itself",
                node.args[1],
                help=f"keep what tir.register_intrin gives, and write {name}(...)",
            )
        if name not in INTRINSICS:
            help = did_you_mean(name, list(INTRINSICS))
            raise self.refuse(f"there is no intrinsic '{name}'", node.args[1], help=help)
        numbers = self.numbers(_without(node, 2), arity_of(name))
        result = apply(name, Style.LANGUAGE, numbers, self.span(node))
        self._check_result(node.args[0], name, result.type.dtype)
        return result

    def _check_result(self, declared: ast.expr, name: str, found: DType) -> None:
        if isinstance(self.evaluate(declared), Nothing):
            return
        wanted = self.dtype_argument(declared)
        if wanted is not found:
            raise self.mismatch(f"intrinsic '{name}' gives {found} here, not {wanted}", declared)

    def call_declared(self, node: ast.Call, leading: int) -> Value:
        """A call of the C function or callback that is the last of the leading arguments."""
        self._check_leading(node, leading, "the function")
        callee = node.args[leading - 1]
        value = self.evaluate(callee)
        if not isinstance(value, ExternValue):
            raise self.refuse(
                f"a script calls functions that are declared outside of it, found "
                f"`{ast.unparse(callee)}`",
                callee,
                help='as in f = hybrid.extern("sinf", "float32", ["float32"]) or '
                "f = hybrid.packed(function), then f(x)",
            )
        return self.call_extern(value.extern, _without(node, leading))

    def _check_leading(self, node: ast.Call, count: int, what: str) -> None:
        if len(node.args) < count:
            raise self.refuse(f"{ast.unparse(node.func)} takes {what} first", node)


def _without(node: ast.Call, count: int) -> ast.Call:
    """The call without its first arguments."""
    return ast.copy_location(ast.Call(node.func, node.args[count:], node.keywords), node)
