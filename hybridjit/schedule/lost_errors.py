"""Errors that a rewrite would lose: code that is left out may have raised one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hybridjit.analysis.inside import find_outside
from hybridjit.analysis.instances import Instances, Part, infer_instances
from hybridjit.analysis.reordering import find_skipped
from hybridjit.arith.failures import describe_failure
from hybridjit.arith.totality import operation_may_fail
from hybridjit.ir.expr import Load, Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Stmt, Store
from hybridjit.ir.visit import walk
from hybridjit.schedule.refusal import refuse
from hybridjit.schedule.stages import Stage


def check_errors(
    func: PrimFunc, stage: Stage, moved: tuple[PrimFunc, Stmt] | None, step: str
) -> None:
    """Refuse if an iteration of the nests of `stage` that may raise an error would not run.

    `moved` is the function and the sequence after the step; None if what runs then is not known.
    """
    old = infer_instances(func, stage.scope)
    statements = [found for nest in stage.nests for found in old.inside(nest)]
    fault = find_failing(old, stage.nests, statements)
    if fault is None:
        return
    if moved is not None and find_skipped(old, infer_instances(*moved), statements) is None:
        return
    raise refuse(
        func,
        f"{step}: iterations whose result nothing needs would be left out, and with them the "
        f"errors that they may raise: {describe_fault(fault)}",
        [fault] if isinstance(fault, Stmt) else stage.nests,
    )


def find_failing(part: Part, stmts: Iterable[Stmt], statements: Sequence[Instances]) -> Node | None:
    """What may raise an error in `stmts`: an operator, or an index that may be out of bounds."""
    for stmt in stmts:
        for node in walk(stmt):
            if operation_may_fail(node):
                return node
    for buffer in dict.fromkeys(a.buffer for found in statements for a in found.accesses):
        access = find_outside(part, buffer, None, statements)
        if access is not None:
            return access.node
    return None


def describe_fault(node: Node) -> str:
    """What `find_failing` found, in words."""
    if isinstance(node, Load | Store):
        return f"an index of '{node.buffer.name}' is not proved to be in bounds"
    return describe_failure(node)
