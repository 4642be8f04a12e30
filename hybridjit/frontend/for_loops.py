"""The `for` statement: over a range, a grid, the items of something, or expanded."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from hybridjit.frontend.arrays.memory import in_order
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.expansion import LOOP_HELP, LOOP_NAMES, expand_range
from hybridjit.frontend.loops import is_iterator, run_grid, run_range
from hybridjit.frontend.values import Builtin, Foreign
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.frontend import item_loops
else:
    item_loops = lazy_module("hybridjit.frontend.item_loops")  # not of ranges


# Deeper nests are a slip; the passes recurse over them.
MAX_LOOP_DEPTH = 16


def run_for(build: Builder, stmt: ast.For) -> bool:
    """A `for` loop."""
    depth = sum(1 for loop in build.frame.loops if not loop.is_expanded)
    if depth >= MAX_LOOP_DEPTH:
        raise build.refuse(
            f"loops are nested more than {MAX_LOOP_DEPTH} deep",
            stmt,
            help="loop over a product of extents in one loop, and find the indices with // and %",
        )
    # What is called is looked at several times, until it is known what is gone through.
    called = [stmt.iter.func] if isinstance(stmt.iter, ast.Call) else []
    with in_order(build, called):
        return _run(build, stmt)


def _run(build: Builder, stmt: ast.For) -> bool:
    grid = _as_grid(build, stmt)
    if grid is not None:
        run_grid(build, stmt, grid)
        return True
    name = _loop_name(build, stmt.iter)
    if name is None:
        return item_loops.run_items(build, stmt)
    if name == "const_range":
        return expand_range(build, stmt, stmt.iter)
    if name == "grid":
        run_grid(build, stmt, stmt.iter)
    else:
        run_range(build, stmt, name)
    return True


def _as_grid(build: Builder, stmt: ast.For) -> ast.Call | None:
    """`np.ndindex(...)` in `for i, j in np.ndindex(...)`, as the grid that it is."""
    match stmt:
        case ast.For(target=ast.Tuple(), iter=ast.Call(ast.Attribute() as func, args, [])) if args:
            callee = build.evaluate(func)
        case _:
            return None
    if not isinstance(callee, Foreign) or callee.value is not np.ndindex:
        return None
    name = ast.copy_location(ast.Name("grid", ast.Load()), func)
    build.frame.fixed[name] = Builtin("grid")
    is_shape = len(args) == 1 and not isinstance(args[0], ast.Starred)
    sizes = [ast.copy_location(ast.Starred(args[0]), args[0])] if is_shape else args
    return ast.copy_location(ast.Call(name, [*sizes], []), stmt.iter)


def _loop_name(build: Builder, node: ast.expr) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    callee = build.evaluate(node.func)
    if isinstance(callee, Builtin) and callee.name in (*LOOP_NAMES, "grid"):
        return callee.name
    if isinstance(callee, Foreign) and not is_iterator(callee.value):
        raise build.refuse(
            f"cannot loop over {ast.unparse(node.func)}(...)", node, help=_loop_help(node)
        )
    return None


def _loop_help(node: ast.Call) -> str:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    args = [ast.unparse(arg) for arg in node.args]
    first = args[0] if args else "n"
    match name:
        case "prange":
            return f"write parallel({', '.join(args)})"
        case "ndindex" | "product":
            is_shape = len(args) == 1 and first.endswith(".shape") and first[0] != "*"
            return f"write grid({'*' * is_shape}{', '.join(args)})"
        case _:
            return LOOP_HELP
