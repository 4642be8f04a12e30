"""How large will an expanded loop become? Counted before it is: copies of copies take seconds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from hybridjit.frontend.captures import Environment
from hybridjit.syntax import nodes_of

# Deeper calls count for nothing: a script may call itself.
_MAX_CALLS = 8
_ESCAPES = (ast.Break, ast.Continue, ast.Return, ast.Raise)

# Gives how many copies of its body a loop becomes; 0 if that is not known.
Rounds = Callable[[ast.For], int]
# Gives the body of the function that a call inlines, and the names around it.
Inlined = Callable[[ast.Call, Environment], tuple[Sequence[ast.stmt], Environment] | None]


def least_statements(
    body: Sequence[ast.stmt],
    environment: Environment,
    rounds: Rounds,
    inlined: Inlined,
    depth: int = 0,
) -> int:
    """So many statements are translated at least when `body` is.

    What stands behind a `break` or a `return` that may be taken is not counted, nor what an `if`
    may leave out.
    """

    def least(stmt: ast.stmt) -> int:
        match stmt:
            case ast.For():
                copies = 0 if may_escape(stmt) else rounds(stmt)
                return 1 + copies * count(stmt.body)
            case ast.If():
                return 1 + min(count(stmt.body), count(stmt.orelse))
            case ast.With():
                return 1 + count(stmt.body)
            case ast.Expr(ast.Call() as call) | ast.Assign(value=ast.Call() as call):
                called = inlined(call, environment) if depth < _MAX_CALLS else None
                if called is None:
                    return 1
                # Its variables are not known yet: of loops, only what is written out counts.
                return 1 + least_statements(*called, written_rounds, inlined, depth + 1)
            case _:
                return 1

    def count(stmts: Sequence[ast.stmt]) -> int:
        total = 0
        for stmt in stmts:
            total += least(stmt)
            if may_escape(stmt):
                break
        return total

    return count(body)


def written_rounds(loop: ast.For) -> int:
    """How many copies `for i in const_range(8)` becomes; 0 if the number is not written there."""
    match loop.iter:
        case ast.Call(ast.Name("const_range"), [ast.Constant(int() as stop)], []):
            return stop
        case _:
            return 0


def may_escape(stmt: ast.stmt) -> bool:
    """True if control may leave `stmt` other than at its end."""
    return any(isinstance(node, _ESCAPES) for node in nodes_of(stmt))


def assigned_names(body: Sequence[ast.stmt]) -> set[str]:
    """The names that statements give values to."""
    nodes = (node for stmt in body for node in nodes_of(stmt))
    return {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
