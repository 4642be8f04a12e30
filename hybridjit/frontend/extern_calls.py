"""Calls of C functions and Python callbacks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hybridjit.frontend.arrays import count
from hybridjit.frontend.casts import CastTranslator
from hybridjit.frontend.conversion import convert
from hybridjit.frontend.values import Array, Nothing, Scalar, Value, describe
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import BufferRef, Expr, ExternCall
from hybridjit.ir.extern import Extern, Pointer
from hybridjit.ir.stmt import Evaluate


class ExternTranslator(CastTranslator):
    """Calls that leave the script."""

    def call_extern(self, extern: Extern, node: ast.Call) -> Value:
        """The value of a call to a C function or a callback, made here and now."""
        if node.keywords:
            raise self.refuse_keyword(ast.unparse(node.func), node.keywords[0])
        if extern.params is not None and len(node.args) != len(extern.params):
            raise self.refuse(
                f"{ast.unparse(node.func)} takes {count(len(extern.params), 'argument')}, "
                f"found {len(node.args)}",
                node,
            )
        values = self.evaluate_all(node.args)
        params: Sequence[DType | Pointer | None] = extern.params or [None] * len(values)
        args = tuple(
            self._extern_argument(value, param, arg)
            for value, param, arg in zip(values, params, node.args, strict=True)
        )
        call = ExternCall(extern, args, span=self.span(node))
        if extern.result is None:
            self.emit(Evaluate(call, span=self.span(node)))
            return Nothing()
        return self.let(Scalar(call, ScalarType(extern.result)), extern.name, self.span(node))

    def _extern_argument(self, value: Value, param: DType | Pointer | None, node: ast.expr) -> Expr:
        match value, param:
            case Array(buffer, ()), None:
                return BufferRef(buffer, span=self.span(node))
            case Array(buffer, ()), Pointer(dtype) if buffer.dtype is dtype:
                return BufferRef(buffer, span=self.span(node))
            case Scalar(), None:
                return convert(value, value.type.dtype, self.span(node))
            case Scalar(), DType():
                return self._converted_argument(value, param, node)
            case _:
                needed = "an array or a number" if param is None else _parameter_text(param)
                raise self.mismatch(
                    f"an argument of this call must be {needed}, found {describe(value)}", node
                )

    def _converted_argument(self, value: Scalar, dtype: DType, node: ast.expr) -> Expr:
        if value.type.dtype.is_complex and not dtype.is_complex:
            raise self.mismatch(
                f"an argument of this call must be {dtype}, found {value.type}", node
            )
        return convert(value, dtype, self.span(node))


def _parameter_text(param: DType | Pointer) -> str:
    return f"an array of {param.dtype}" if isinstance(param, Pointer) else param.name
