"""Fields of structured arrays: the field is taken first, which is an array with memory to write to.

a[i]["x"] = 2.0    -->    a["x"][i] = 2.0
a["x"] = 0.0       -->    a["x", ...][...] = 0.0
"""

from __future__ import annotations

import ast

from hybridjit.frontend.hoisting import at_place


def is_by_name(node: ast.AST) -> bool:
    """True for `a["x"]`."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    )


class FieldsFirst(ast.NodeTransformer):
    """Rewrites subscripts by name."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """The same element or field, found by its field first."""
        self.generic_visit(node)
        if not is_by_name(node):
            return node
        if isinstance(node.value, ast.Subscript) and not is_by_name(node.value):
            inner = node.value
            field = self.visit_Subscript(_at(inner.value, node.slice, ast.Load(), node))
            return _at(field, inner.slice, node.ctx, node)
        if isinstance(node.ctx, ast.Store):
            memory = ast.Tuple([node.slice, ast.Constant(...)], ast.Load())
            field = _at(node.value, memory, ast.Load(), node)
            return _at(field, ast.Constant(...), node.ctx, node)
        return node


def _at(
    value: ast.expr, place: ast.expr, context: ast.expr_context, node: ast.expr
) -> ast.Subscript:
    return at_place(ast.Subscript(value, place, context), node)
