"""The parameters of a function over tensors, and what their sizes say about variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Eq, Expr, Node, Var
from hybridjit.ir.header import dimensions_in
from hybridjit.ir.signature import Param, ScalarParam
from hybridjit.ir.stmt import Allocate, Assert, For, Iter, Let, Stmt
from hybridjit.ir.visit import walk
from hybridjit.record import record
from hybridjit.tensors.expression import Expression
from hybridjit.tensors.tensor import Operation, Placeholder, Tensor


@record(eq=False)
class Arguments:
    """Parameters of the IR for tensors and variables; `checks` is what has to hold of them."""

    tensors: list[Tensor]
    params: tuple[Param, ...]
    checks: list[Stmt]

    def check_variables(self, body: Stmt) -> None:
        """Refuse a variable that neither an argument nor a loop gives a value."""
        known = {param.var for param in self.params if isinstance(param, ScalarParam)}
        known.update(dimensions_in(self.params))
        known.update(node.var for node in walk(body) if isinstance(node, For | Let | Iter))
        for node in self._nodes(body):
            if isinstance(node, Var) and node not in known:
                raise ArgumentValueError(
                    f"nothing says what '{node.name}' is: no argument, no size of an argument and "
                    "no axis of the operation that reads it",
                    help=f"pass a te.var among the arguments, as in create_prim_func([{node.name}, "
                    "...]); reduce over a reduce_axis with te.sum(..., axis=...)",
                )

    def _nodes(self, body: Stmt) -> list[Node]:
        roots: list[Node] = [body]
        roots += [extent for tensor in self.tensors for extent in tensor.buffer.shape]
        for node in walk(body):
            if isinstance(node, Allocate):
                roots += node.buffer.shape
        return [node for root in roots for node in walk(root)]


def read_arguments(args: Sequence[Any]) -> Arguments:
    """The parameters that `args`, tensors and te.vars, stand for."""
    for place, arg in enumerate(args):
        if not isinstance(arg, Tensor) and _find_variable(arg) is None:
            raise ArgumentError(f"an argument is a tensor or a te.var, got {arg!r}")
        if any(arg is other for other in args[:place]):
            raise ArgumentValueError(f"the argument {arg!r} is given twice")
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    sizes = dimensions_in([tensor.buffer for tensor in tensors])
    checks: list[Stmt] = []
    params: list[Param] = []
    for arg in args:
        if isinstance(arg, Tensor):
            params.append(arg.buffer)
            continue
        variable = _find_variable(arg)
        assert variable is not None
        if variable in sizes:
            # An array has this size anyway: the number that is passed has to be the same.
            passed = Var(variable.name, variable.of)
            checks.append(_same_size(passed, variable))
            variable = passed
        params.append(ScalarParam(variable, weak=variable.of is INT64))
    return Arguments(tensors, tuple(params), checks)


def _same_size(passed: Var, size: Var) -> Stmt:
    message = f"argument '{size.name}' differs from the size of an array"
    return Assert(Eq(passed, size), (message,))


def _find_variable(arg: object) -> Var | None:
    """The variable that a te.var is, or None."""
    expr: Expr | None = arg.expr if type(arg) is Expression else None
    return expr if isinstance(expr, Var) else None


def check_placeholders(arguments: Arguments, order: Sequence[Operation]) -> None:
    """Refuse a graph that reads a placeholder which is not passed."""
    passed = {tensor.op for tensor in arguments.tensors}
    for op in order:
        if isinstance(op, Placeholder) and op not in passed:
            raise ArgumentValueError(
                f"placeholder '{op.name}' is read but is not among the arguments",
                help=f"pass it, as in create_prim_func([{op.name}, ...]); the state of a te.scan "
                "has a value only inside of the scan",
            )
