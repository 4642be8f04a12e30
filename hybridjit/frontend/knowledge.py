"""What one round of translating a script hands to the next.

The types of variables depend on what is stored in them, which depends on the types of variables:
each round works with the types that the round before found.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from types import CodeType, FunctionType

from hybridjit.frontend.captures import Environment
from hybridjit.frontend.frame import Copy, Key, Unit
from hybridjit.frontend.recursion import as_loops
from hybridjit.frontend.values import Items
from hybridjit.frontend.variables import Variables, Web, find_variables
from hybridjit.ir.dtype import ScalarType
from hybridjit.record import record
from hybridjit.source import FunctionSource, read_function


@record(eq=False, frozen=False)
class Knowledge:
    """What one round hands to the next.

    `taken` holds the `if`s whose condition was the same constant whenever it was looked at,
    `undecided` those that were not; what they rule out is no part of any variable. `divided` holds
    the branches and loops in which names are given other arrays than they stand for around them:
    such an `if` is divided (branches.py), such a loop carries the names (carried.py), those that
    are `resized` by homes for arrays of any size (resized.py). These go by their names: variables
    that other branches make need not be looked for again. `ended_apart` are loops after which what
    follows is translated for each state in which they may end (branches.py). `guarded` are names
    that are read on some condition before they are given a value. `spread` are tuples of numbers
    that change in loops, in the first form that they have (tuple_variables.py), `growing` are
    expressions that make lists which are changed later (arrays/lists.py). A script that `draws`
    borrows the state of NumPy's global generator (random_state.py). A program that `keeps_names`
    is for debuggers (noted_names.py). One that `copies_views` returns no views of its own arrays.
    """

    printed: ast.FunctionDef | None
    is_first: bool = True
    shares_memory: bool = False
    keeps_names: bool = False
    copies_views: bool = False
    types: dict[Key, ScalarType] = field(default_factory=dict[Key, ScalarType])
    common_results: set[int] = field(default_factory=set[int])
    computed_results: set[int] = field(default_factory=set[int])
    taken: dict[ast.If, bool] = field(default_factory=dict[ast.If, bool])
    undecided: set[ast.If] = field(default_factory=set[ast.If])
    divided: dict[Copy, list[Web]] = field(default_factory=dict[Copy, "list[Web]"])
    resized: dict[Copy, set[str]] = field(default_factory=dict[Copy, "set[str]"])
    ended_apart: set[Copy] = field(default_factory=set[Copy])
    guarded: set[Web] = field(default_factory=set[Web])
    draws: bool = False
    spread: dict[Web, Items] = field(default_factory=dict[Web, Items])
    growing: set[ast.expr] = field(default_factory=set[ast.expr])
    variables: dict[ast.FunctionDef, Variables] = field(
        default_factory=dict[ast.FunctionDef, Variables]
    )
    callees: dict[CodeType, FunctionSource] = field(default_factory=dict[CodeType, FunctionSource])

    def new_unit(self) -> Unit:
        """What a round begins with."""
        return Unit(
            self.types,
            self.is_first,
            shares_memory=self.shares_memory,
            common_results=set(self.common_results),
            computed_results=set(self.computed_results),
            copies_views=self.copies_views,
        )

    def divided_at(self, place: Copy) -> list[Web]:
        """The names that a branch or a loop gives other arrays."""
        return [web for web in self.divided.get(place, ()) if web not in self.spread]

    def variables_of(self, node: ast.FunctionDef) -> Variables:
        """The variables of a function, with what is known of its static branches."""
        found = self.variables.get(node)
        if found is None:
            found = find_variables(node, self.taken, printed=node is self.printed)
            self.variables[node] = found
        return found

    def read_callee(self, pyfunc: FunctionType) -> FunctionSource:
        """The source of a function that is called; it is read once."""
        code = pyfunc.__code__
        if code not in self.callees:
            self.callees[code] = as_loops(read_function(pyfunc), Environment.of(pyfunc))
        return self.callees[code]

    def knows_results(self, unit: Unit) -> bool:
        """Whether a round found the results to be of the kinds that it was told."""
        known = self.common_results, self.computed_results, self.copies_views
        return known == (unit.common_results, unit.computed_results, unit.copies_views)

    def learn(self, unit: Unit) -> bool:
        """Take over what a round found; True if it had known all of it."""
        if unit.found_growing:
            # Names that stand for such lists are others now: what was learnt of types is void.
            self._forget()
            self.resized.clear()
            self.common_results, self.computed_results = set[int](), set[int]()
            return False
        is_settled = all(
            self.types.get(key, unit.first.get(key)) == type for key, type in unit.found.items()
        )
        if unit.skipped:  # a type that is new may be what was missing
            is_settled = is_settled and self.types.keys() == unit.found.keys()
            is_settled = is_settled and not unit.is_first
        if self.is_first:
            self.resized.clear()
            self.divided.clear()  # with types that are not known yet, arrays may be others
        self.is_first = False
        self.types = dict(unit.found)
        is_settled = is_settled and self.knows_results(unit)
        self.common_results = unit.common_results
        self.computed_results = unit.computed_results
        if self.copies_views != unit.copies_views:  # results are at other positions now
            self.common_results, self.computed_results = set[int](), set[int]()
            self.copies_views = unit.copies_views
        if self._learn_branches(unit.branches):
            return is_settled and not unit.found_division
        # Other branches make other variables: what is known of the old ones is void.
        self.variables.clear()
        self._forget()
        return False

    def _forget(self) -> None:
        self.types.clear()
        self.divided.clear()
        self.ended_apart.clear()
        self.guarded.clear()

    def _learn_branches(self, branches: Mapping[ast.If, set[bool | None]]) -> bool:
        """Note which way each static `if` goes; True if that was known."""
        taken = dict(self.taken)
        for stmt, seen in branches.items():
            outcomes = seen | {taken[stmt]} if stmt in taken else seen
            if stmt not in self.undecided and outcomes in ({True}, {False}):
                taken[stmt] = True in outcomes
            else:
                self.undecided.add(stmt)
                taken.pop(stmt, None)
        was_known = taken == self.taken
        self.taken = taken
        return was_known
