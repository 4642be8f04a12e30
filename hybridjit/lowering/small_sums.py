"""Which variables have to be small for sums of loop variables not to overflow.

Loops over dimensions of arrays are small. A loop over a number that the caller gives, or that is
read from memory, is so only if that number is: which is then to be tested before it is relied on.
"""

from __future__ import annotations

from dataclasses import field

from hybridjit.analysis.bounds import Facts
from hybridjit.analysis.forms import Range
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Const, Expr, Le, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.stmt import For, Let
from hybridjit.ir.visit import walk
from hybridjit.record import record


@record(frozen=False)
class SmallSums:
    """The ranges of variables, if those whose range is not known are small.

    `sources` are the latter, for each variable whose range follows from theirs.
    """

    facts: Facts
    sources: dict[Var, frozenset[Var]] = field(default_factory=dict[Var, "frozenset[Var]"])

    @staticmethod
    def of(func: PrimFunc) -> SmallSums:
        """What is known where the body of `func` begins."""
        facts = Facts.of(func)
        return SmallSums(facts, dict.fromkeys((*facts.dimensions, *facts.ranges), frozenset()))

    def enter_loop(self, loop: For) -> None:
        """Note the range of a loop."""
        self.sources[loop.var] = self._sources_of(loop.start, loop.stop)
        self.facts.enter_loop(loop)

    def bind(self, let: Let) -> None:
        """Note what is known of a value."""
        if let.value.dtype is not INT64:
            return
        sources = self._sources_of(let.value)
        if self.facts.exact(let.value) is None:
            self._assume(let.var)
        else:
            self.sources[let.var] = sources
            self.facts.bind(let.var, let.value)

    def find(self, *sums: Expr) -> list[Expr] | None:
        """Conditions under which none of `sums` overflows; None if they may do so all the same."""
        sources = self._sources_of(*sums)
        if any(self.facts.exact(each) is None for each in sums):
            return None
        ordered = sorted(sources, key=self.facts.position)
        return [
            condition
            for var in ordered
            for condition in (Le(Const(-MAX_EXTENT), var), Le(var, Const(MAX_EXTENT)))
        ]

    def _sources_of(self, *exprs: Expr) -> frozenset[Var]:
        variables = {node for e in exprs for node in walk(e) if isinstance(node, Var)}
        integers = [var for var in variables if var.of is INT64]
        for var in integers:
            if var not in self.sources:
                self._assume(var)
        return frozenset[Var]().union(*(self.sources[var] for var in integers))

    def _assume(self, var: Var) -> None:
        self.facts.position(var)
        self.facts.ranges[var] = Range(least=-MAX_EXTENT, most=MAX_EXTENT)
        self.sources[var] = frozenset((var,))
