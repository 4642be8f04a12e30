"""Operations with statements of their own: scripts called on tensors, and externs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hybridjit.analysis.coverage import Coverage, is_set_afresh
from hybridjit.analysis.first_writes import prove_set
from hybridjit.analysis.instances import infer_instances
from hybridjit.ir.expr import Buffer, BufferRef, Const, Expr, ExternCall, Load, Var, const
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ConstantArray
from hybridjit.ir.stmt import Block, For, Iter, Stmt, Store
from hybridjit.ir.visit import rewrite, substitute, walk, walk_stmts
from hybridjit.record import record
from hybridjit.tensors.block_map import BlockMap
from hybridjit.tensors.compute import choose_tag
from hybridjit.tensors.tensor import Axis, AxisKind, Operation, Tensor, TensorBuffer


@record(eq=False, repr=False)
class Inlined(Operation):
    """A statement over tensors and `results`, the buffers that stand for the outputs in it.

    The outputs among `zeroed` have to be zero when it starts, those of `copied` what another buffer
    is. `loops` are in the order of the text.
    """

    body: Stmt
    results: tuple[Buffer, ...]
    zeroed: frozenset[Buffer]
    constants: tuple[ConstantArray, ...]
    inputs: list[Tensor]
    loops: tuple[Axis, ...]
    copied: Mapping[Buffer, Buffer]

    @property
    def axis(self) -> tuple[Axis, ...]:
        return self.loops

    @property
    def reduce_axis(self) -> tuple[Axis, ...]:
        """None of its loops is known to reduce."""
        return ()

    @property
    def input_tensors(self) -> list[Tensor]:
        return self.inputs

    @property
    def zeroed_outputs(self) -> list[Tensor]:
        """The outputs that have to be zero when it starts."""
        pairs = zip(self.outputs, self.results, strict=True)
        return [tensor for tensor, result in pairs if result in self.zeroed]

    @property
    def written_inputs(self) -> list[Tensor]:
        """The inputs that it writes to."""
        written = {node.buffer for node in walk_stmts(self.body) if isinstance(node, Store)}
        return [tensor for tensor in self.inputs if tensor.buffer in written]


class Hybrid(Inlined):
    """A script called on tensors."""

    __slots__ = ()


class Extern(Inlined):
    """A statement that calls something outside, or that was built by hand."""

    __slots__ = ()


def make_operation(
    kind: type[Inlined],
    name: str,
    body: Stmt,
    results: Sequence[Buffer],
    constants: tuple[ConstantArray, ...] = (),
    *,
    tag: str = "",
    attrs: dict[str, Any] | None = None,
    copied: Mapping[Buffer, Buffer] | None = None,
) -> Inlined:
    """The operation that runs `body`, and its outputs, one for each of `results`.

    Those of `copied` start as copies of tensors.
    """
    axes = tuple(
        Axis(node.var, node.start, node.stop, AxisKind.DATA)
        for node in walk_stmts(body)
        if isinstance(node, For)
    )
    unset = [buffer for buffer in results if not _is_overwritten(body, buffer)]
    sources = {buffer: source for buffer, source in (copied or {}).items() if buffer in unset}
    op = kind(
        name,
        choose_tag(tag),
        dict(attrs or {}),
        body,
        tuple(results),
        frozenset(buffer for buffer in unset if buffer not in sources),
        constants,
        _find_inputs(body, results, list(sources.values())),
        axes,
        sources,
    )
    for place, result in enumerate(results):
        buffer = TensorBuffer(result.name, result.dtype, result.shape, op=op, place=place)
        op.outputs.append(Tensor(op, place, buffer))
    return op


def _find_inputs(body: Stmt, results: Sequence[Buffer], copied: Sequence[Buffer]) -> list[Tensor]:
    """The tensors that a statement reads, writes to or passes on, and those `copied`, each once."""
    reached = [node.buffer for node in walk(body) if isinstance(node, Load | Store | BufferRef)]
    return list(
        dict.fromkeys(
            buffer.op.outputs[buffer.place]
            for buffer in (*reached, *copied)
            if isinstance(buffer, TensorBuffer) and buffer not in results
        )
    )


def _is_overwritten(body: Stmt, buffer: Buffer) -> bool:
    """Whether it makes no difference what `buffer` holds when `body` starts.

    Every element is sure to be written, and none is read before.
    """
    if any(isinstance(node, ExternCall) for node in walk(body)):
        return False
    if prove_set(body, buffer):
        return True  # and isl need not be asked
    part = infer_instances(PrimFunc("te", (), body), body)
    if not is_set_afresh(body, part.names, buffer):
        return False
    inside: list[str] = []
    for axis, extent in enumerate(buffer.shape):
        size = part.names.affine(extent)
        inside.append(f"x{axis} >= 0" if size is None else f"0 <= x{axis} < {size}")
    coverage = Coverage(part, body, buffer)
    return coverage.prove_written(inside) and coverage.prove_read_after_write()


def make_inlined(op: Inlined, places: BlockMap) -> list[Stmt]:
    """The statement, with names of blocks that no other block of the function has."""
    for axis in op.axis:
        places.note_loop(op, axis, axis.var)
    outputs: dict[Buffer, Buffer] = {
        result: tensor.buffer for result, tensor in zip(op.results, op.outputs, strict=True)
    }
    body = substitute(op.body, {}, outputs)
    if not any(isinstance(node, Block) for node in walk_stmts(body)):
        return [Block(places.name_block(op), (), body)]

    def rename(node: object) -> Block | None:
        if not isinstance(node, Block):
            return None
        return replace(node, name=places.name_block(op, base=node.name))

    return [rewrite(body, rename)]


def make_zero(op: Inlined, tensor: Tensor, places: BlockMap) -> Stmt:
    """A nest that sets all elements of an output to zero."""
    name = places.name_block(op, base=f"{tensor.name}_zero")
    return _make_nest(name, tensor.buffer, lambda _: const(0, tensor.dtype))


def make_copy(op: Inlined, source: Buffer, target: Buffer, places: BlockMap) -> Stmt:
    """A nest that sets all elements of `target` to those of `source`."""
    name = places.name_block(op, base=f"{target.name}_copy")
    return _make_nest(name, target, lambda indices: Load(source, indices))


def _make_nest(name: str, buffer: Buffer, value: Callable[[tuple[Expr, ...]], Expr]) -> Stmt:
    loops = [Var(f"i{dim}") for dim in range(buffer.ndim)]
    iters = tuple(Iter(Var(var.name), var) for var in loops)
    indices = tuple(item.var for item in iters)
    body: Stmt = Block(name, iters, Store(buffer, indices, value(indices)))
    for var, extent in reversed(list(zip(loops, buffer.shape, strict=True))):
        body = For(var, Const(0), extent, Const(1), body)
    return body
