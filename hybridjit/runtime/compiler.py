"""The compiler, as the runtime sees it: from a script to its translation, and on to object code.

The runtime loads this module, and with it the front end, the passes and code generation, when it
needs code that is not on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hybridjit import config
from hybridjit.analysis.cost import estimate_work
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.codegen.engine import emit_object, optimize
from hybridjit.codegen.kernel import Extras, KernelModule, emit_kernel
from hybridjit.codegen.layout import Layout
from hybridjit.collection import no_collection
from hybridjit.fresh_stack import on_fresh_stack
from hybridjit.frontend.captures import Capture, Environment
from hybridjit.frontend.parse import Parsed, parse
from hybridjit.ir.expr import Buffer, BufferRef, Expr, ExternCall, Load, Var
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.stmt import Allocate, For, Let, LoopKind, Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.lazy import lazy_module
from hybridjit.lowering.pipeline import lower, lower_to_debug
from hybridjit.optimize.optimize import Optimized
from hybridjit.optimize.optimize import optimize as optimize_program
from hybridjit.processor import current_target
from hybridjit.runtime.callbacks import Callbacks
from hybridjit.runtime.compile_times import Stages
from hybridjit.runtime.native import Code
from hybridjit.runtime.translation import Request, Summary, Work

if TYPE_CHECKING:
    from hybridjit.analysis import first_writes
    from hybridjit.lowering import choices, custom_passes
    from hybridjit.lowering import serialize_loops as serializing
    from hybridjit.optimize import receipt
    from hybridjit.schedule import recipe, schedule
    from hybridjit.schedule.schedule import Schedule
else:
    choices = lazy_module("hybridjit.lowering.choices")
    custom_passes = lazy_module("hybridjit.lowering.custom_passes")
    receipt = lazy_module("hybridjit.optimize.receipt")
    recipe = lazy_module("hybridjit.schedule.recipe")
    schedule = lazy_module("hybridjit.schedule.schedule")
    serializing = lazy_module("hybridjit.lowering.serialize_loops")
    first_writes = lazy_module("hybridjit.analysis.first_writes")


def translate(request: Request) -> Parsed:
    """The IR of a script, as its schedule and its passes make it."""
    return _scheduled(request, _translate_as_written(request))


def translate_for_tensors(request: Request) -> Parsed:
    """The same for tensors, which have no views: each result has memory of its own."""
    return _scheduled(request, _translate_as_written(request, copies_views=True))


def _scheduled(request: Request, parsed: Parsed) -> Parsed:
    if request.schedule is not None:
        made = recipe.apply_recipe(parsed.func, request.schedule)
        says_order = made.trace.says_order
        parsed = replace(parsed, func=made.func, as_written=parsed.func, says_order=says_order)
    return _with_passes(parsed, request)


def translate_in_order(
    request: Request, *, shares_memory: bool = True, keeps_names: bool = False
) -> Parsed:
    """The IR of a script without a schedule, every loop in order, as arguments that share memory
    need it; one that `keeps_names` is for debuggers.
    """
    parsed = _translate_as_written(request, shares_memory=shares_memory, keeps_names=keeps_names)
    parsed = replace(parsed, func=serializing.serialize_loops(parsed.func))
    return _with_passes(parsed, request)


def _with_passes(parsed: Parsed, request: Request) -> Parsed:
    if not request.passes:
        return parsed
    return replace(parsed, func=custom_passes.apply_passes(parsed.func, request.passes))


def open_schedule(request: Request) -> Schedule:
    """A schedule of a script, with the steps of its own taken already."""
    func = _translate_as_written(request).func
    if request.schedule is None:
        return schedule.Schedule(func)
    return recipe.apply_recipe(func, request.schedule)


def auto_schedule(request: Request) -> Schedule:
    """A schedule of a script with the steps of its own, and those that the optimiser takes.

    What later passes decide are hints, its last steps.
    """
    opened = open_schedule(request)
    as_written = None if request.schedule is None else opened.original
    take_own_steps(opened, as_written)
    return opened


def take_own_steps(opened: Schedule, as_written: PrimFunc | None) -> None:
    """Take the steps of the compiler, after those that made `opened` of the program `as_written`;
    that is None without such steps.
    """
    on_fresh_stack(lambda: _take_steps(opened, as_written))


def _take_steps(opened: Schedule, as_written: PrimFunc | None) -> None:
    target, says_order = current_target(), opened.trace.says_order
    # Which loops a step makes depends on sizes: their lanes are left to those who replay it. Loops
    # that the script itself puts on threads are given lanes by whoever lowers them.
    loops = (stmt for stmt in walk_stmts(opened.func.body) if isinstance(stmt, For))
    own = {loop.var for loop in loops if loop.kind is LoopKind.SERIAL}
    receipt.make_receipt(opened, target, as_written, says_order=says_order)
    for choice in choices.find_choices(opened.func, target, may_reorder=not says_order):
        if choice.on_threads:
            loop = receipt.find_handle(opened, choice.var, by_name=choice.var not in own)
            opened.on_threads(loop, if_possible=True)
        if choice.lanes > 1 and choice.var in own:
            loop = receipt.find_handle(opened, choice.var)
            opened.in_lanes(loop, choice.lanes, if_possible=True)


def _translate_as_written(
    request: Request,
    *,
    shares_memory: bool = False,
    keeps_names: bool = False,
    copies_views: bool = False,
) -> Parsed:
    environment = Environment.of(request.function)
    with no_collection():
        return parse(
            request.source,
            environment,
            request.specs,
            fastmath=request.fastmath,
            parallel=request.parallel,
            shares_memory=shares_memory,
            keeps_names=keeps_names,
            copies_views=copies_views,
        )


def make_fast(
    func: PrimFunc,
    as_written: PrimFunc | None = None,
    *,
    says_order: bool = True,
    in_c_order: bool = True,
) -> Optimized:
    """What is compiled of a program, for arguments that share no memory.

    With a schedule, what it did not touch of the program `as_written` is made fast.
    """
    with no_collection():
        return on_fresh_stack(
            lambda: optimize_program(
                func, current_target(), as_written, says_order=says_order, in_c_order=in_c_order
            )
        )


def build(func: PrimFunc, layout: Layout, *, may_reorder: bool = False) -> Code:
    """Object code for `func` on arguments that lie in memory as `layout` says."""
    with no_collection():
        return _build(func, layout, may_reorder=may_reorder)


def _build(func: PrimFunc, layout: Layout, *, may_reorder: bool) -> Code:
    target, stages, wanted = current_target(), Stages(), config.current()
    extras = Extras(has_lines=wanted.perf, fills_unset=wanted.debug)

    def emit() -> tuple[KernelModule, frozenset[Buffer]]:
        may_vectorize = layout.is_disjoint
        with stages.timed("lower"):
            if wanted.debug:
                lowered = lower_to_debug(func)
            else:
                lowered = lower(func, target, may_reorder=may_reorder, may_vectorize=may_vectorize)
        with stages.timed("emit"):
            module = emit_kernel(lowered, layout, target, extras=extras)
            return module, _find_set_outputs(func)

    module, are_set = on_fresh_stack(emit)
    with stages.timed("LLVM"):
        optimized = optimize(module.text, target)
    with stages.timed("assemble"):
        image = emit_object(optimized, target)
    constants = frozenset(array.buffer for array in func.constants)
    callbacks = Callbacks(module.callbacks, constants)
    set_outputs = tuple(k for k, buffer in enumerate(func.outputs) if buffer in are_set)
    direct_outputs = set_outputs if module.is_settled and not callbacks.addresses else ()
    return Code(
        image,
        module.sites,
        set_outputs,
        direct_outputs,
        module.known,
        callbacks.addresses,
        callbacks,
        stages,
    )


def _find_set_outputs(func: PrimFunc) -> frozenset[Buffer]:
    """The outputs that a run sets before it reads any of their elements."""
    if not func.outputs:
        return frozenset()
    return first_writes.find_set_outputs(lower_blocks(func))


def summarize(func: PrimFunc, captures: tuple[Capture, ...] = ()) -> Summary:
    """What calls need to know about a function and what it took from around it."""
    written = _find_written(func)
    guarded = _find_guarded(func, written, captures)
    work, counters = Work(*estimate_work(func)), tuple(_find_counters(func))
    return Summary(func.header, captures, written, guarded, work, counters)


def _find_counters(func: PrimFunc) -> Iterator[int]:
    """The numbers of the Python ints that loops, sizes and indices depend on."""
    counting = set(_counting_variables(func))
    for number, param in enumerate(func.params):
        if isinstance(param, ScalarParam) and param.weak and param.var in counting:
            yield number


def _counting_variables(func: PrimFunc) -> set[Var]:
    exprs: list[Expr] = [size for buffer in func.outputs for size in buffer.shape]
    lets: list[Let] = []
    for node in walk(func.body):
        match node:
            case For():
                exprs += (node.start, node.stop, node.step)
            case Load() | Store():
                exprs += node.indices
            case Allocate(buffer):
                exprs += buffer.shape
            case Let():
                lets.append(node)
            case _:
                pass
    counting = {node for expr in exprs for node in walk(expr) if isinstance(node, Var)}
    for let in reversed(lets):  # a name is bound before it is used
        if let.var in counting:
            counting.update(node for node in walk(let.value) if isinstance(node, Var))
    return counting


def with_small(func: PrimFunc, numbers: Sequence[int]) -> PrimFunc:
    """`func` whose parameters with these numbers are small ints: the caller sees to it."""
    if not numbers:
        return func
    params = list(func.params)
    for number in numbers:
        param = params[number]
        assert isinstance(param, ScalarParam)
        params[number] = replace(param, is_small=True)
    return replace(func, params=tuple(params))


def _find_written(func: PrimFunc) -> frozenset[Buffer]:
    """The parameters that a run may write to."""
    written: set[Buffer] = set()
    for node in walk(func.body):
        if isinstance(node, Store):
            written.add(node.buffer)
        elif isinstance(node, ExternCall):
            written.update(
                arg.buffer
                for place, arg in enumerate(node.args)
                if isinstance(arg, BufferRef) and node.callee.writes(place)
            )
    return frozenset(written & set(func.buffers))


def _find_guarded(
    func: PrimFunc, written: frozenset[Buffer], captures: tuple[Capture, ...]
) -> tuple[Capture, ...]:
    """The captures whose elements `func` reads, if it writes to arguments as well.

    A script that only asks for the shape of an array may be given that array to write to.
    """
    if not written or not func.constants:
        return ()
    read = {node.buffer for node in walk(func.body) if isinstance(node, (Load, BufferRef))}
    names = {constant.buffer.name for constant in func.constants if constant.buffer in read}
    return tuple(capture for capture in captures if capture.name.rpartition(".")[2] in names)
