"""Choose which loops keep the element that they update in a variable.

    for k in range(j):                             for k in serial(j, annotations={
        a[i, j] = a[i, j] - a[i, k] * a[k, j]  -->         "in_register": True}):
                                                       a[i, j] = a[i, j] - a[i, k] * a[k, j]

LLVM cannot always tell that it may, and sums that go to memory have no lanes. What becomes of such
a loop: lowering/keep_in_registers.py.
"""

from __future__ import annotations

from collections.abc import Callable

from hybridjit.analysis.counting_nest import Nest
from hybridjit.analysis.loop_mutator import LoopMutator
from hybridjit.ir.expr import Const, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import IN_REGISTER, For, LoopKind, Stmt
from hybridjit.schedule.arrays.update_nests import find_update, has_own_updates, is_one_element


def choose_promoted_sums(view: PrimFunc, is_free: Callable[[Var], bool]) -> list[Var]:
    """The loops of `view`, a program in plain loops, that update one element each.

    Only such whose order `is_free` to choose.
    """
    choose = _ChooseSums(view, is_free)
    choose.rewrite(view.body)
    return choose.found


class _ChooseSums(LoopMutator):
    def __init__(self, view: PrimFunc, is_free: Callable[[Var], bool]) -> None:
        LoopMutator.__init__(self, view)
        self.is_free = is_free
        self.found: list[Var] = []

    def rewrite_For(self, node: For) -> Stmt:
        if node.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED):
            return node
        nest = Nest.of(node)
        if any(loop.extent == Const(0) for loop in nest.loops):
            return node  # it never runs
        store = find_update(nest.body)
        if store is None or not is_one_element(nest, store):
            return self.go_inside(node)
        is_chosen = any(loop.hint(IN_REGISTER) is not None for loop in nest.loops)
        if self.is_free(node.var) and not is_chosen and has_own_updates(nest, self.independence()):
            self.found.append(node.var)
        return node
