"""Steps that say where data is kept, and in which order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

from hybridjit.config import api_edge
from hybridjit.ir.expr import Buffer
from hybridjit.ir.printer import name_buffers
from hybridjit.ir.stmt import Store
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.buffers import find_buffer
from hybridjit.schedule.handles import BlockHandle, BlockLike, LoopLike
from hybridjit.schedule.index_map import IndexFunction, parse_index_map, text_of
from hybridjit.schedule.primitives.cache_read import cache_read
from hybridjit.schedule.primitives.cache_write import cache_write
from hybridjit.schedule.primitives.double_buffer import double_buffer
from hybridjit.schedule.primitives.rolling_buffer import rolling_buffer
from hybridjit.schedule.primitives.set_scope import set_scope
from hybridjit.schedule.primitives.storage_align import storage_align
from hybridjit.schedule.primitives.transform_layout import transform_layout
from hybridjit.schedule.program import the_block
from hybridjit.schedule.recording import step
from hybridjit.schedule.refusal import check_int, refuse
from hybridjit.schedule.state import State

S = TypeVar("S", bound="MemorySteps")
TransformLayout = Callable[[S, str, "str | IndexFunction"], None]


def _with_text(method: TransformLayout[S]) -> TransformLayout[S]:
    """`method` with its index map as text, which is what the trace can hold."""

    @api_edge
    @functools.wraps(method)
    def called(self: S, buffer: str, index_map: str | IndexFunction) -> None:
        method(self, buffer, text_of(index_map))

    return called


class MemorySteps(State):
    """set_scope, storage_align, transform_layout and their kin. Buffers go by their names."""

    @step
    def set_scope(self, target: BlockHandle | str, scope: str) -> None:
        """Say in which memory a scratch buffer lives: "global", "shared", "local", "register".

            t = allocate((8,), "float32", "global")   -->   t = allocate((8,), "float32", "local")

        `target` is the name of the buffer, or a block that writes nothing else.

        >>> s.set_scope("t", "local")
        """
        self.func = set_scope(self.func, self._find_target(target), scope)

    @step
    def storage_align(self, buffer: str, axis: int, factor: int, offset: int | None = None) -> None:
        """Pad a scratch buffer: the stride of an axis becomes `offset` + a multiple of `factor`.

            t = allocate((8, 30), "float32", "local")   -->   t = allocate((8, 33), ...)

        as `axis=0, factor=32, offset=1` do. Strides count elements.

        >>> s.storage_align("t", 0, 32, 1)
        """
        for name, number in (("axis", axis), ("factor", factor), ("offset", offset or 0)):
            check_int(number, f"storage_align: the {name}")
        found = find_buffer(self.func, buffer)
        self.func = storage_align(self.func, found, axis, factor, offset or 0)

    @_with_text
    @step
    def transform_layout(self, buffer: str, index_map: str | IndexFunction) -> None:
        """Keep the elements of a scratch buffer in another order.

            t = allocate((64, n), ...)                t = allocate((16, n, 4), ...)
            t[i, j] = a[i, j]                  -->    t[i // 4, j, i % 4] = a[i, j]

        as the index map `lambda i, j: (i // 4, j, i % 4)` does, or its text. Refused if two
        elements would share a place.

        >>> s.transform_layout("t", "i, j -> i // 4, j, i % 4")
        """
        found = find_buffer(self.func, buffer)
        self.func = transform_layout(self.func, found, parse_index_map(text_of(index_map)))

    @step
    def cache_read(
        self, block: BlockLike, buffer: str, scope: str, *, at: LoopLike | None = None
    ) -> BlockHandle:
        """Let a block read a copy of a buffer; gives the block that copies.

            for i in range(n):                a_local = allocate((n,), "float32", "local")
                with block("c", i):           for ax0 in range(n):
                    c[i] = a[i] + 1    -->        with block("a_local", ax0):
                                                      a_local[ax0] = a[ax0]
                                              for i in range(n):
                                                  with block("c", i):
                                                      c[i] = a_local[i] + 1

        With `at`, each iteration of that loop copies what it reads. Refused if the buffer is
        written between the copy and the reads.

        >>> copy = s.cache_read("c", "a", "local")
        """
        found = find_buffer(self.func, buffer)
        loop = None if at is None else self.find_var(at)
        self.func, name = cache_read(self.func, self.find_name(block), found, scope, loop)
        return BlockHandle(name)

    @step
    def cache_write(
        self, block: BlockLike, buffer: str, scope: str, *, at: LoopLike | None = None
    ) -> BlockHandle:
        """Let a block write to a copy of a buffer; gives the block that writes it back.

            for i in range(n):                    c_local = allocate((n,), "float32", "local")
                with block("c", i):               for i in range(n):
                    c[i] = a[i] + 1                   with block("c", i):
                                           -->            c_local[i] = a[i] + 1
                                                  for ax0 in range(n):
                                                      with block("c_local", ax0):
                                                          c[ax0] = c_local[ax0]

        With `at`, each iteration of that loop copies what it touches: this is how the tile of a
        matrix product stays in registers. What is not overwritten is read into the copy first.

        >>> copy = s.cache_write("c", "c", "local")
        """
        found = find_buffer(self.func, buffer)
        loop = None if at is None else self.find_var(at)
        self.func, name = cache_write(self.func, self.find_name(block), found, scope, loop)
        return BlockHandle(name)

    @step
    def double_buffer(self, buffer: str) -> None:
        """Give a scratch buffer of a loop's body two places, and fill it one iteration ahead.

            for i in range(n):                        t = allocate((2, 8), ...)
                t = allocate((8,), ...)               if 0 < n:
                fill(t, i)                                fill(t[0], 0)
                use(t, i)                      -->    for i in range(n):
                                                          if i + 1 < n:
                                                              fill(t[(i + 1) % 2], i + 1)
                                                          use(t[i % 2], i)

        Refused if filling depends on what an earlier iteration did with the buffer.

        >>> s.double_buffer("t")
        """
        self.func = double_buffer(self.func, find_buffer(self.func, buffer))

    @step
    def rolling_buffer(self, buffer: str, *, axis: int | None = None) -> None:
        """Fold a scratch buffer along an axis: it keeps only values that are still needed.

            t = allocate((n,), ...)                   t = allocate((3,), ...)
            for i in range(n):                        for i in range(n):
                t[i] = f(a[i])                -->         t[i % 3] = f(a[i])
                if i >= 2:                                if i >= 2:
                    b[i] = t[i] + t[i - 2]                    b[i] = t[i % 3] + t[(i - 2) % 3]

        Refused if all elements are needed at some time. Without an axis, the first one along
        which the buffer gets smaller.

        >>> s.rolling_buffer("t")
        """
        if axis is not None:
            check_int(axis, "rolling_buffer: the axis")
        self.func = rolling_buffer(self.func, find_buffer(self.func, buffer), axis)

    def _find_target(self, target: BlockHandle | str) -> Buffer:
        """The buffer of that name, or else the one that the block of that name writes."""
        if isinstance(target, str) and target in name_buffers(self.func):
            return find_buffer(self.func, target)
        block = the_block(self.func, self.find_name(target))
        written = {node.buffer: None for node in walk_stmts(block) if isinstance(node, Store)}
        if len(written) != 1:
            raise refuse(
                self.func,
                f"block '{block.name}' writes {len(written)} buffers",
                [block],
                help="give the name of the buffer",
            )
        return next(iter(written))
