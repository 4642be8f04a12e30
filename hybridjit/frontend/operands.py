"""Is an array only computed with? Then a copy of it does as well as the array itself."""

from __future__ import annotations

import ast
from collections.abc import Collection

from hybridjit.syntax import children_of, nodes_of

_SIZES = ("shape", "ndim", "size", "dtype", "nbytes", "itemsize")
_NEW_ARRAYS = (
    *("sum", "prod", "min", "max", "mean", "std", "var", "argmin", "argmax", "any", "all"),
    *("copy", "astype", "dot", "round", "clip", "cumsum", "cumprod", "conj"),
)


def is_only_operand(names: Collection[str], stmt: ast.stmt) -> bool:
    """True if arrays of these names are read in `stmt`, and neither written to nor passed on.

    A view of one may be written to, and another name may stand for one: only what NumPy computes
    a new array or a number from is sure to leave it alone.
    """
    parents = {child: node for node in nodes_of(stmt) for child in children_of(node)}
    return all(
        _is_operand(node, parents)
        for node in parents
        if isinstance(node, ast.Name) and node.id in names
    )


def _is_operand(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    parent = parents[node]
    match parent:
        case ast.Assign(targets=[ast.Name() as target]) if target is node:
            return True
        case ast.Subscript(value=value) if value is node and isinstance(parent.ctx, ast.Load):
            return _is_operand(parent, parents)
        case ast.Attribute(attr=attr) if attr in _SIZES:
            return True
        case ast.Attribute(attr="T"):
            return _is_operand(parent, parents)
        case ast.Attribute(attr=attr):
            return isinstance(parents[parent], ast.Call) and attr in _NEW_ARRAYS
        case ast.Call(func=ast.Attribute(value=ast.Name()), args=args):
            return node in args[:2]  # of np.add(x, y, out), the third is written to
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return True
        case _:
            return False
