"""What unrolled loops grow to: the statements that are there once they are written out."""

from __future__ import annotations

from hybridjit.analysis.limits import loop_extent
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.stmt import Block, Break, For, LoopKind, Seq, Stmt, While
from hybridjit.ir.visit import children, walk
from hybridjit.record import record

# Statements that unrolling may make of one loop: LLVM takes 0.1 s for 1,000, and 6 s for 10,000.
MAX_STATEMENTS = 4096


@record(eq=False)
class LongLoop:
    """An unrolled loop that would be too long."""

    loop: For
    message: str
    help: str = "write range, or split the loop and unroll the inner one"


def find_long_loop(body: Stmt) -> LongLoop | None:
    """The first unrolled loop in `body` that makes more statements than `MAX_STATEMENTS`."""
    for node in walk(body):
        if not isinstance(node, For) or node.kind is not LoopKind.UNROLLED:
            continue
        trips, each = count_copies(node), count_statements(node.body)
        if trips is not None and trips * each > MAX_STATEMENTS:
            message = (
                f"cannot unroll loop '{node.var.name}': {trips} copies of {each} statements "
                f"are more than {MAX_STATEMENTS}"
            )
            return LongLoop(node, message)
    return None


def count_copies(loop: For) -> int | None:
    """How many copies of its body an unrolled loop is; None if it stays a loop."""
    is_simple = isinstance(loop.step, Const) and isinstance(loop.start, Const | Var)
    return loop_extent(loop) if is_simple and not _breaks(loop.body) else None


def count_statements(stmt: Stmt) -> int:
    """The statements of `stmt`, with its unrolled loops written out."""
    inner = [child for child in children(stmt) if isinstance(child, Stmt)]
    count = sum(map(count_statements, inner)) + (not isinstance(stmt, Seq | Block))
    if isinstance(stmt, For) and stmt.kind is LoopKind.UNROLLED:
        count *= loop_extent(stmt) or 1
    return count


def _breaks(stmt: Stmt) -> bool:
    """True if `stmt` breaks out of the loop around it."""
    if isinstance(stmt, For | While):
        return False
    inner = [child for child in children(stmt) if isinstance(child, Stmt)]
    return isinstance(stmt, Break) or any(_breaks(child) for child in inner)
