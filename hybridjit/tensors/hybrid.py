"""Scripts called on tensors: their bodies become operations of the graph.

@hybrid.script
def outer(a, b):
    c = output_tensor((a.shape[0], b.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i] * b[j]
    return c

C = outer(A, B)  # a tensor, if A is one

A script may write to its arguments: see `written_tensors`. One that returns an argument makes a
tensor that starts as a copy of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hybridjit.errors import ArgumentError
from hybridjit.ir.expr import Buffer, Const
from hybridjit.ir.func import PrimFunc
from hybridjit.scalars.kinds import field_names, is_array
from hybridjit.scalars.specs import ConstantSpec, ScalarSpec, Spec, TupleSpec
from hybridjit.tensors.expression import Expression
from hybridjit.tensors.inlined import Hybrid, make_operation
from hybridjit.tensors.sizes import SizeNames
from hybridjit.tensors.substitution import Argument, substitute_arguments
from hybridjit.tensors.tensor import Tensor, TensorPart


class TensorCall:
    """A call of a script on tensors: the types of its arguments, then its results."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._sizes = SizeNames()
        self._args: list[Argument] = []
        self.specs: tuple[Spec, ...] = tuple(
            self._spec(name, value) for name, value in arguments.items()
        )

    def _spec(self, name: str, value: Any) -> Spec:
        match value:
            case Tensor():
                self._args.append(value.buffer)
                return self._sizes.spec(value.buffer)
            case TensorPart():
                raise ArgumentError(
                    f"argument '{name}' is a part of the tensor '{value.tensor.name}'",
                    help="make a tensor of the part with te.compute",
                )
            case Expression() if not isinstance(value.expr, Const):
                self._args.append(value.expr)
                return ScalarSpec(value.scalar.type)
            case Expression():
                return ConstantSpec(_number(value))
            case tuple() | list():
                items = cast("Sequence[Any]", value)
                return TupleSpec(
                    tuple(self._spec(f"{name}[{k}]", item) for k, item in enumerate(items)),
                    field_names(items),
                )
            case _ if is_array(value):
                raise ArgumentError(
                    f"argument '{name}' is an array beside tensors",
                    help="pass a te.placeholder for it, or let the script capture it",
                )
            case _:
                return ConstantSpec(value)

    def results(self, func: PrimFunc) -> Any:
        """The tensors that `func`, the script for these arguments, gives."""
        buffers = [arg for arg in self._args if isinstance(arg, Buffer)]
        found = substitute_arguments(func, self._args, buffers)
        if not found.results:
            raise ArgumentError(
                f"'{func.name}' returns nothing, so it makes no tensor",
                help="return an output_tensor(shape, dtype), or a parameter that it writes to",
            )
        op = make_operation(
            Hybrid, func.name, found.body, found.results, found.constants, copied=found.copied
        )
        return tuple(op.outputs) if func.returns_tuple else op.outputs[0]


def _number(value: Expression) -> Any:
    """A constant as the script sees it: a Python number, or a NumPy scalar."""
    assert isinstance(value.expr, Const)
    number = value.expr.value
    return number if value.scalar.type.weak else value.dtype.numpy.type(number)
