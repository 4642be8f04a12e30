"""From the source of a script and the types of its arguments to a PrimFunc.

The types of variables depend on what is stored in them, which depends on the types of variables:
the script is translated in rounds, each with the types that the round before found, until
nothing changes. Most scripts need two.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import CodeType
from typing import TYPE_CHECKING

from hybridjit import config
from hybridjit.analysis.make_blocks import Known, make_blocks
from hybridjit.errors import ParseError, combine
from hybridjit.fresh_stack import on_fresh_stack
from hybridjit.frontend.annotations import annotations_in, specs_in
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.captures import Capture, Environment
from hybridjit.frontend.drop_checks import drop_checks
from hybridjit.frontend.frame import Frame
from hybridjit.frontend.item_arrays import keep_indexed_items
from hybridjit.frontend.knowledge import Knowledge
from hybridjit.frontend.language import LANGUAGE
from hybridjit.frontend.random_state import borrow_state, give_back_state
from hybridjit.frontend.recursion import as_loops
from hybridjit.frontend.signature import bind_parameters, final_results, find_outputs, output_shape
from hybridjit.ir.expr import Buffer, Expr
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate, Stmt
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import substitute
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.scalars.specs import Spec
from hybridjit.source import FunctionSource, read_text, span_of

if TYPE_CHECKING:
    from hybridjit.frontend import options
    from hybridjit.interp.script_names import Alias
else:
    options = lazy_module("hybridjit.frontend.options")


# Each round can only widen types or settle branches; most scripts need two or three. One whose
# lists are made of lists, whose types numbers take on, needs a round for each of them.
MAX_ROUNDS = 60


@record
class Parsed:
    """A translated script, and what it depends on: values from around it, functions it calls.

    If a schedule has changed `func`, it was `as_written` before; `says_order` if that is about the
    order of its loops. `aliases` are names of arrays for debuggers.
    """

    func: PrimFunc
    captures: tuple[Capture, ...]
    callees: Mapping[CodeType, FunctionSource]
    as_written: PrimFunc | None = None
    says_order: bool = False
    aliases: tuple[Alias, ...] = ()


def parse(
    source: FunctionSource,
    environment: Environment,
    specs: Sequence[Spec],
    *,
    fastmath: tuple[str, ...] = (),
    parallel: bool = False,
    shares_memory: bool = False,
    keeps_names: bool = False,
    copies_views: bool = False,
) -> Parsed:
    """Translate a script for arguments of the given types, one for each parameter.

    With `shares_memory`, arrays may lie in each other's memory: statements on whole arrays then
    compute all of their right side before they store any of it. A program that `keeps_names` has
    notes of them for debuggers. One that `copies_views` returns no views of arrays that it makes.
    """
    source = as_loops(source, environment)
    printed = source.node if source.is_printed else None
    knowledge = Knowledge(
        printed, shares_memory=shares_memory, keeps_names=keeps_names, copies_views=copies_views
    )
    try:
        parsed = on_fresh_stack(lambda: _parse(source, environment, specs, knowledge))
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
    knowledge: Knowledge,
) -> Parsed:
    for _ in range(MAX_ROUNDS):
        variables = knowledge.variables_of(source.node)
        frame = Frame(source, environment, variables, annotations=annotations_in(source.node))
        build = Builder(LANGUAGE, knowledge, frame, specs)
        shapes = _run(build)
        if knowledge.learn(build.unit):
            return _parsed(build, shapes)
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
    return parse(source, environment, specs, **options.printed_options(source)).func


def _run(build: Builder) -> dict[Buffer, tuple[Expr, ...]] | None:
    """Translate the script: the shapes of its outputs, or None if this round could not do all."""
    unit, results = build.unit, build.signature
    node = build.root.node
    bind_parameters(build, node)
    keep_indexed_items(build, node)
    borrow_state(build)
    goes_on = build.run_block(node.body)
    if goes_on:
        give_back_state(build, None)
    if goes_on and results.results is not None:
        unit.errors.append(
            build.refuse(
                "not every path through the script returns a value: this may come to its end",
                node.body[-1],
                help="add a return after it",
            )
        )
    if unit.errors or unit.skipped:
        return None
    outputs = find_outputs(build, [r for r in results.results or () if isinstance(r, Buffer)])
    if unit.errors or not build.knowledge.knows_results(unit):
        return None
    shapes = {buffer: output_shape(build, buffer) for buffer in outputs}
    return None if unit.errors else shapes


def _parsed(build: Builder, shapes: Mapping[Buffer, tuple[Expr, ...]] | None) -> Parsed:
    """The outcome of the last round: the function, or the errors that it found."""
    if build.unit.errors:
        raise combine(build.unit.errors)
    if shapes is None:  # statements that no round could translate
        raise build.unit.unresolved or ParseError(
            f"'{build.root.name}' reads a variable that is never given a value",
            build.span(build.root.node),
        )
    func = _finish(build, shapes)
    if config.current().verify:
        verify(func, Stage.BLOCKS)
    aliases = tuple(_renamed(alias, shapes, func) for alias in build.unit.aliases)
    return Parsed(func, tuple(build.unit.captures), build.knowledge.callees, aliases=aliases)


def _renamed(alias: Alias, shapes: Mapping[Buffer, tuple[Expr, ...]], func: PrimFunc) -> Alias:
    """An alias of an array that may be an output, which has its shape only in the end."""
    final = dict(zip(shapes, func.outputs, strict=True))
    return replace(alias, buffer=final.get(alias.buffer, alias.buffer))


def _finish(build: Builder, shapes: Mapping[Buffer, tuple[Expr, ...]]) -> PrimFunc:
    """The function that was translated; only the last round comes to that."""
    body = build.close([stmt for stmt in build.body if not _makes(stmt, shapes)])
    body = make_blocks(body, Known(build.unit.array_loops, build.unit.reassociable))
    final = {old: Buffer(old.name, old.dtype, shape) for old, shape in shapes.items()}
    nesting = build.signature.nesting
    func = PrimFunc(
        build.root.name,
        tuple(build.signature.params),
        substitute(body, {}, final),
        tuple(final.values()),
        tuple(build.unit.constants),
        final_results(build, final),
        nesting is not None,
        nesting=None if nesting is None or nesting.is_flat else nesting,
        span=build.span(build.root.node),
    )
    return func if build.knowledge.printed is not None else drop_checks(func)


def _makes(stmt: Stmt, outputs: Collection[Buffer]) -> bool:
    return isinstance(stmt, Allocate) and stmt.buffer in outputs
