"""Steps that move where a buffer is computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hybridjit.arith.polyhedra import within_limit
from hybridjit.ir.func import PrimFunc
from hybridjit.schedule.handles import BlockLike, LoopLike
from hybridjit.schedule.primitives.compute_at import compute_at
from hybridjit.schedule.primitives.compute_inline import compute_inline
from hybridjit.schedule.primitives.compute_root import compute_root
from hybridjit.schedule.primitives.reverse_compute_at import reverse_compute_at
from hybridjit.schedule.primitives.reverse_compute_inline import reverse_compute_inline
from hybridjit.schedule.recording import step
from hybridjit.schedule.refusal import refuse
from hybridjit.schedule.state import State

# Some projections of isl grow without end. Steps on programs of a page take 10,000 operations;
# this many take about five seconds.
MAX_ISL_OPERATIONS = 1_500_000


class StageSteps(State):
    """compute_at, reverse_compute_at, compute_inline, reverse_compute_inline, compute_root."""

    @step
    def compute_at(self, block: BlockLike, loop: LoopLike) -> None:
        """Compute the buffer of a block in a loop that reads it, as much as an iteration needs.

            for i in range(n):                for i in range(n - 1):
                t[i] = f(a[i])                    for j in range(i, i + 2):
            for i in range(n - 1):     -->            t[j] = f(a[j])
                c[i] = t[i] + t[i + 1]            c[i] = t[i] + t[i + 1]

        What two iterations need is computed twice, unless the buffer is used elsewhere, too: then
        that is refused. Refused if what the block reads is written in between.

        >>> s.compute_at("t", "j")
        """
        apply = partial(compute_at, self.func, self.find_name(block), self.find_var(loop))
        self.func = _within_isl_budget(self.func, "compute_at", apply)

    @step
    def compute_inline(self, block: BlockLike) -> None:
        """Put the value that a block stores in the place of every read of its buffer.

            for i in range(n):
                t[i] = a[i] * 2               for i in range(n - 1):
            for i in range(n - 1):     -->        c[i] = a[i] * 2 + a[i + 1] * 2
                c[i] = t[i] + t[i + 1]

        The block stores each element once, at its loop variables, from what is the same later on.

        >>> s.compute_inline("t")
        """
        apply = partial(compute_inline, self.func, self.find_name(block))
        self.func = _within_isl_budget(self.func, "compute_inline", apply)

    @step
    def reverse_compute_at(self, block: BlockLike, loop: LoopLike) -> None:
        """Run the nest of a block in a loop before it, each iteration as soon as it is ready.

            for i in range(n):                for i in range(n):
                t[i] = f(a[i])         -->        t[i] = f(a[i])
            for i in range(n):                    for j in range(i, i + 1):
                c[i] = t[i] + 1                       c[j] = t[j] + 1

        Refused unless each of its iterations still runs once, after what it depends on.

        >>> s.reverse_compute_at("c", "i")
        """
        apply = partial(reverse_compute_at, self.func, self.find_name(block), self.find_var(loop))
        self.func = _within_isl_budget(self.func, "reverse_compute_at", apply)

    @step
    def compute_root(self, block: BlockLike) -> None:
        """Compute the buffer of a block before the loops that it is computed in.

            for i in range(n - 1):                for j in range(n):
                for j in range(i, i + 2):             t[j] = f(a[j])
                    t[j] = f(a[j])         -->    for i in range(n - 1):
                c[i] = t[i] + t[i + 1]                c[i] = t[i] + t[i + 1]

        This takes a `compute_at` back. Refused unless each iteration computes the same.

        >>> s.compute_root("t")
        """
        apply = partial(compute_root, self.func, self.find_name(block))
        self.func = _within_isl_budget(self.func, "compute_root", apply)

    @step
    def reverse_compute_inline(self, block: BlockLike) -> None:
        """Let the block that computes a buffer do what this block makes of its elements.

            for i in range(n):                for i in range(n):
                t[i] = f(a[i])         -->        x = f(a[i])
            for i in range(n):                    c[i] = x + 1
                c[i] = t[i] + 1

        Refused unless each element is stored once, read here only, and may be used at once.

        >>> s.reverse_compute_inline("c")
        """
        apply = partial(reverse_compute_inline, self.func, self.find_name(block))
        self.func = _within_isl_budget(self.func, "reverse_compute_inline", apply)


def _within_isl_budget(func: PrimFunc, step: str, rewrite: Callable[[], PrimFunc]) -> PrimFunc:
    """What `rewrite` makes of `func`; refused if its analysis takes too long."""
    made = within_limit(rewrite, MAX_ISL_OPERATIONS)
    if made is None:
        raise refuse(
            func,
            f"{step}: the analysis of the program takes too long",
            help="take the step before loops are split, or in a simpler program",
        )
    return made
