"""From the source of a script and the types of its arguments to a PrimFunc.

The types of variables depend on what is stored in them, which depends on the types of variables:
the script is translated in rounds, each with the types that the round before found, until
nothing changes. Most scripts need two.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType

from hybridjit import config
from hybridjit.analysis.make_blocks import Known, make_blocks
from hybridjit.errors import ParseError, combine
from hybridjit.fresh_stack import on_fresh_stack
from hybridjit.frontend.annotations import specs_in
from hybridjit.frontend.captures import Capture, Environment
from hybridjit.frontend.drop_asserts import drop_asserts
from hybridjit.frontend.frame import Frame, Key, Unit
from hybridjit.frontend.inline import annotations_in
from hybridjit.frontend.options import printed_options
from hybridjit.frontend.signature import SignatureTranslator
from hybridjit.frontend.specs import Spec
from hybridjit.frontend.variables import Variables, find_variables
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import Buffer, Expr
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Stmt
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import substitute
from hybridjit.source import FunctionSource, read_function, read_text, span_of

# Each round can only widen types or settle branches; real scripts need two or three.
MAX_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Parsed:
    """A translated script, and what it depends on: values from around it, functions it calls.

    If a schedule has changed `func`, it was `as_written` before.
    """

    func: PrimFunc
    captures: tuple[Capture, ...]
    callees: Mapping[CodeType, FunctionSource]
    as_written: PrimFunc | None = None


@dataclass(eq=False, slots=True)
class _Knowledge:
    """What one round hands to the next.

    `taken` holds the `if`s whose condition was the same constant whenever it was looked at,
    `undecided` those that were not; what they rule out is no part of any variable.
    """

    printed: ast.FunctionDef | None
    is_first: bool = True
    shares_memory: bool = False
    types: dict[Key, ScalarType] = field(default_factory=dict[Key, ScalarType])
    common_results: set[int] = field(default_factory=set[int])
    taken: dict[ast.If, bool] = field(default_factory=dict[ast.If, bool])
    undecided: set[ast.If] = field(default_factory=set[ast.If])
    variables: dict[ast.FunctionDef, Variables] = field(
        default_factory=dict[ast.FunctionDef, Variables]
    )
    callees: dict[CodeType, FunctionSource] = field(default_factory=dict[CodeType, FunctionSource])

    def learn(self, unit: Unit) -> bool:
        """Take over what a round found; True if it had known all of it."""
        is_settled = all(
            self.types.get(key, unit.first.get(key)) == type for key, type in unit.found.items()
        )
        if unit.skipped:  # a type that is new may be what was missing
            is_settled = is_settled and self.types.keys() == unit.found.keys()
            is_settled = is_settled and not unit.is_first
        self.is_first = False
        self.types = dict(unit.found)
        is_settled = is_settled and unit.common_results == self.common_results
        self.common_results = unit.common_results
        if self._learn_branches(unit.branches):
            return is_settled
        # Other branches make other variables: what is known of the old ones is void.
        self.variables.clear()
        self.types.clear()
        return False

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


def parse(
    source: FunctionSource,
    environment: Environment,
    specs: Sequence[Spec],
    *,
    blocks: bool = True,
    fastmath: tuple[str, ...] = (),
    parallel: bool = False,
    shares_memory: bool = False,
) -> Parsed:
    """Translate a script for arguments of the given types, one for each parameter.

    With `shares_memory`, arrays may lie in each other's memory: statements on whole arrays then
    compute all of their right side before they store any of it.
    """
    printed = source.node if source.is_printed else None
    knowledge = _Knowledge(printed, shares_memory=shares_memory)
    try:
        parsed = on_fresh_stack(lambda: _parse(source, environment, specs, blocks, knowledge))
        return replace(parsed, func=replace(parsed.func, fastmath=fastmath, parallel=parallel))
    except RecursionError:
        raise ParseError(
            f"'{source.name}' is nested too deeply",
            span_of(source.node, source),
            help="split long expressions into several statements",
        ) from None


def _parse(
    source: FunctionSource,
    environment: Environment,
    specs: Sequence[Spec],
    blocks: bool,
    knowledge: _Knowledge,
) -> Parsed:
    for _ in range(MAX_ROUNDS):
        script = _Script(source, environment, specs, knowledge)
        is_whole = script.run()
        if knowledge.learn(script.unit):
            return script.parsed(is_whole=is_whole, blocks=blocks)
    raise ParseError(
        f"the types of the variables of '{source.name}' do not settle",
        span_of(source.node, source),
        help="give the type of a variable, as in x: float64 = 0",
    )


def parse_text(text: str, names: Mapping[str, object] | None = None) -> PrimFunc:
    """Read a printed function back. `names` are the externs and functions that it calls."""
    source = read_text(text)
    environment = Environment({}, dict(names or {}))
    specs = specs_in(source, environment)
    return parse(source, environment, specs, **printed_options(source)).func


class _Script(SignatureTranslator):
    """One round of translating the script itself."""

    def __init__(
        self,
        source: FunctionSource,
        environment: Environment,
        specs: Sequence[Spec],
        knowledge: _Knowledge,
    ) -> None:
        self.knowledge = knowledge
        frame = Frame(
            source,
            environment,
            self.variables_of(source.node),
            annotations=annotations_in(source.node),
        )
        unit = Unit(
            knowledge.types,
            knowledge.is_first,
            shares_memory=knowledge.shares_memory,
            common_results=set(knowledge.common_results),
        )
        super().__init__(unit, frame, specs)
        self.root = source
        self.output_shapes: dict[Buffer, tuple[Expr, ...]] = {}

    @property
    def root_name(self) -> str:
        return self.root.name

    def variables_of(self, node: ast.FunctionDef) -> Variables:
        found = self.knowledge.variables.get(node)
        if found is None:
            printed = node is self.knowledge.printed
            found = find_variables(node, self.knowledge.taken, printed=printed)
            self.knowledge.variables[node] = found
        return found

    def read_callee(self, pyfunc: FunctionType) -> FunctionSource:
        code = pyfunc.__code__
        if code not in self.knowledge.callees:
            self.knowledge.callees[code] = read_function(pyfunc)
        return self.knowledge.callees[code]

    def run(self) -> bool:
        """Translate the script; False if this round could not translate all of it."""
        node = self.frame.source.node
        self.bind_parameters(node)
        goes_on = self.run_block(node.body)
        if goes_on and self.results is not None:
            self.unit.errors.append(
                self.refuse(
                    "not every path through the script returns a value: this may come to its end",
                    node.body[-1],
                    help="add a return after it",
                )
            )
        if self.unit.errors or self.unit.skipped:
            return False
        returned = [r for r in self.results or () if isinstance(r, Buffer)]
        outputs = self.find_outputs(returned)
        if self.unit.errors or self.unit.common_results != self.knowledge.common_results:
            return False
        self.output_shapes = {buffer: self.output_shape(buffer) for buffer in outputs}
        return not self.unit.errors

    def parsed(self, *, is_whole: bool, blocks: bool) -> Parsed:
        """The outcome of the last round: the function, or the errors that it found."""
        if self.unit.errors:
            raise combine(self.unit.errors)
        if not is_whole:  # statements that no round could translate
            raise self.unit.unresolved or ParseError(
                f"'{self.frame.source.name}' reads a variable that is never given a value",
                self.span(self.frame.source.node),
            )
        func = self._finish(blocks)
        if config.current().verify:
            verify(func, Stage.BLOCKS)
        captures = tuple(self.unit.captures)
        return Parsed(func, captures, self.knowledge.callees)

    def _finish(self, blocks: bool) -> PrimFunc:
        """The function that was translated; only the last round comes to that."""
        shapes = self.output_shapes
        body = self.close([stmt for stmt in self.body if not _makes(stmt, shapes)])
        if blocks:
            known = Known(self.unit.array_loops, self.unit.reassociable)
            body = make_blocks(body, self.unit.automatic_blocks, known)
        final = {old: Buffer(old.name, old.dtype, shape) for old, shape in shapes.items()}
        func = PrimFunc(
            self.frame.source.name,
            tuple(self.params),
            substitute(body, {}, final),
            tuple(final.values()),
            tuple(self.unit.constants),
            self.final_results(final),
            self.returns_tuple,
            span=self.span(self.frame.source.node),
        )
        return func if self.knowledge.printed is not None else drop_asserts(func)


def _makes(stmt: Stmt, outputs: Collection[Buffer]) -> bool:
    return isinstance(stmt, Allocate) and stmt.buffer in outputs
