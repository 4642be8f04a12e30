"""create_prim_func: a graph of tensors as a function of the IR, one stage per operation.

Operations come in the order of `operations_of`, producers first. Each is one stage:

- A compute is one perfect nest: a loop for each data axis, in order, then for each reduced axis,
  around one block. The block is named after the operation (`C`; `C_1` if another one has that
  name), each loop variable after its axis. A reduction that may have nothing to reduce, or whose
  ranges depend on each other, has a second nest before it, with the block `C_init`.
- A scan is a nest of blocks `<scan>_init` that copies the first steps, then one loop of kind scan
  over its time axis, in which every stage of `Scan.stages` has its nest as above, the loop over
  its time axis left out.
- A script called on tensors is its body: its loops and blocks have the names they have there. What
  it writes to may be copies, see `written_tensors`.
- An extern is one block without iters, named after it, unless its body has blocks of its own.

`create_program` gives the function together with `BlockMap`: the blocks of each operation by name,
the main one first, and the variable of the loop over each of its axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.arith.simplify import simplify
from hybridjit.config import api_edge
from hybridjit.ir.expr import Buffer, Const, Le
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, If, Raise, Stmt, seq
from hybridjit.ir.verify import Stage, verify
from hybridjit.record import record
from hybridjit.tensors.arguments import Arguments, check_placeholders, read_arguments
from hybridjit.tensors.block_map import BlockMap
from hybridjit.tensors.expression import name_of
from hybridjit.tensors.inlined import (
    Extern,
    Hybrid,
    Inlined,
    make_copy,
    make_inlined,
    make_zero,
)
from hybridjit.tensors.nests import make_compute
from hybridjit.tensors.scan import Scan
from hybridjit.tensors.scan_nest import make_scan
from hybridjit.tensors.tensor import Compute, Operation, Placeholder, operations_of
from hybridjit.tensors.written_tensors import WrittenCopies, plan_copies

MAIN = "main"
NEEDS_ELEMENTS = "needs_elements"
"""The attribute of a compute that says what is wrong if it has nothing to reduce."""


@record(eq=False)
class Program:
    """The function of a graph, and where its operations are in it."""

    func: PrimFunc
    places: BlockMap


@api_edge
def create_prim_func(args: Sequence[Any], name: str = MAIN) -> PrimFunc:
    """The function that computes the tensors in `args` which are not placeholders.

    Its parameters are `args`, in order: placeholders are read, other tensors are written. Tensors
    that are not among them are made on the way. `te.var`s may be parameters, too.
    """
    return create_program(args, name_of(name, "a function")).func


def create_program(
    args: Sequence[Any], name: str = MAIN, order: Sequence[Operation] | None = None
) -> Program:
    """The function of `create_prim_func`, and where each operation is in it.

    `order` gives the operations that make the tensors, each after its inputs, where a schedule
    has replaced some.
    """
    arguments = read_arguments(args)
    order = operations_of(arguments.tensors) if order is None else order
    check_placeholders(arguments, order)
    places = BlockMap()
    checks = [*arguments.checks, *(check for op in order for check in _checks(op))]
    copies = plan_copies(order, arguments.params)
    stages = [stmt for op in order for stmt in _stage(op, arguments, places, copies)]
    body = seq(*checks, *stages, *copies.store_back(places))
    arguments.check_variables(body)
    constants = [item for op in order if isinstance(op, Inlined) for item in op.constants]
    func = PrimFunc(name, arguments.params, body, constants=tuple(constants))
    verify(func, Stage.BLOCKS, "te")
    return Program(func, places)


def _checks(op: Operation) -> list[Stmt]:
    """What has to hold before anything is computed: a reduction without a value of nothing."""
    if not isinstance(op, Compute) or NEEDS_ELEMENTS not in op.attrs:
        return []
    sizes = [simplify(axis.stop - axis.start) for axis in op.reduce_axis]
    message = (str(op.attrs[NEEDS_ELEMENTS]),)
    return [
        If(Le(size, Const(0)), Raise("ValueError", message))
        for size in sizes
        if not isinstance(size, Const) or size.value.real <= 0
    ]


# -- stages ----------------------------------------------------------------------------------------

Make = Callable[[Any, BlockMap], list[Stmt]]


def _stage(
    op: Operation, arguments: Arguments, places: BlockMap, copies: WrittenCopies
) -> list[Stmt]:
    """The statements that compute the outputs of `op`, room for those that are not passed first."""
    if isinstance(op, Placeholder):
        return []
    main = MAKERS[type(op)](op, places)
    if not isinstance(op, Inlined):
        return [*(Allocate(made, zero=False) for made in _not_passed(op, arguments)), *main]
    zeroed = [tensor.buffer for tensor in op.zeroed_outputs]
    begin: list[Stmt] = [Allocate(made, zero=made in zeroed) for made in _not_passed(op, arguments)]
    for tensor, result in zip(op.outputs, op.results, strict=True):
        if result in op.copied:
            begin.append(make_copy(op, op.copied[result], tensor.buffer, places))
        elif tensor.buffer in zeroed and tensor.buffer in arguments.params:
            begin.append(make_zero(op, tensor, places))
    return [*begin, *copies.redirect(op, main, places)]


def _not_passed(op: Operation, arguments: Arguments) -> list[Buffer]:
    made: list[Buffer] = [tensor.buffer for tensor in op.outputs]
    return [buffer for buffer in made if buffer not in arguments.params]


MAKERS: dict[type[Operation], Make] = {
    Compute: make_compute,
    Scan: make_scan,
    Hybrid: make_inlined,
    Extern: make_inlined,
}
"""How each kind of operation becomes statements."""
