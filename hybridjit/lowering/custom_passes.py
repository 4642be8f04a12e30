"""Passes of the user's own, which run on one function before those of the pipeline.

def count_down(func: PrimFunc) -> PrimFunc: ...

hj.build(s, [A, B], passes=[count_down])

A pass runs while blocks are still there, or right after they are lowered to plain loops. What it
gives is the function from then on: for the interpreter, for native code, for `inspect`, and for
the key of the code on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, cast, overload

from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.errors import ArgumentError, InternalError, PassError
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.verify import Stage, verify
from hybridjit.record import record

Transform = Callable[[PrimFunc], PrimFunc]
StageName = Literal["blocks", "loops"]


@record
class CustomPass:
    """A function from PrimFunc to PrimFunc, and the stage that it runs at."""

    run: Transform
    stage: Stage = Stage.BLOCKS

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.run, "__name__", type(self.run).__name__)

    def __call__(self, func: PrimFunc) -> PrimFunc:
        """What the pass makes of a function, checked."""
        result = cast("object", self.run(func))
        if not isinstance(result, PrimFunc):
            raise PassError(
                f"pass '{self.name}' returned {result!r}, and a pass returns a PrimFunc",
                help="return the function itself where nothing changes",
            )
        self._check(result, func)
        return result

    def _check(self, result: PrimFunc, before: PrimFunc) -> None:
        if (result.params, result.outputs, result.returns) != (
            before.params,
            before.outputs,
            before.returns,
        ):
            raise PassError(
                f"pass '{self.name}' changed the parameters, outputs or results of "
                f"'{before.name}', which its callers rely on",
                help="change the body: dataclasses.replace(func, body=...)",
            )
        try:
            verify(result, self.stage, self.name)
        except InternalError as error:
            raise PassError(
                f"pass '{self.name}' broke the function: {error.args[0]}",
                help="tir.simplify(expr) computes what is constant, and tir.fresh_copy(stmt) "
                "renames what a copy binds",
                notes=error.diagnostic.notes,
            ) from None


@overload
def prim_func_pass(run: Transform, *, stage: StageName = "blocks") -> CustomPass: ...
@overload
def prim_func_pass(
    run: None = None, *, stage: StageName = "blocks"
) -> Callable[[Transform], CustomPass]: ...
def prim_func_pass(
    run: Transform | None = None, *, stage: StageName = "blocks"
) -> CustomPass | Callable[[Transform], CustomPass]:
    """Make a pass of a function, for the stage that is named; without it, for "blocks".

    >>> @tir.prim_func_pass(stage="loops")
    ... def my_pass(func): ...
    """
    if stage not in {item.value for item in Stage}:
        raise ArgumentError(
            f"there is no stage {stage!r} for a pass",
            help='a pass runs at "blocks", or at "loops", after blocks are lowered',
        )

    def made(function: Transform) -> CustomPass:
        return CustomPass(function, Stage(stage))

    return made if run is None else made(run)


def read_passes(passes: Iterable[Any]) -> tuple[CustomPass, ...]:
    """Passes as they are given: functions, and what `prim_func_pass` made of functions."""
    if callable(passes) or not isinstance(passes, Sequence):
        raise ArgumentError(f"passes are a list of functions, got {passes!r}")
    return tuple(map(_read_pass, passes))


def _read_pass(given: Any) -> CustomPass:
    if isinstance(given, CustomPass):
        return given
    run: Any = given
    if not callable(run):
        raise ArgumentError(
            f"a pass is a function from PrimFunc to PrimFunc, got {given!r}",
            help="tir.prim_func_pass says at which stage it runs",
        )
    return CustomPass(cast("Transform", run))


def apply_passes(func: PrimFunc, passes: Sequence[CustomPass]) -> PrimFunc:
    """`func` after the passes: those for blocks first, in their order, then those for loops."""
    for custom in passes:
        if custom.stage is Stage.BLOCKS:
            func = custom(func)
    late = [custom for custom in passes if custom.stage is Stage.LOOPS]
    if late:
        func = lower_blocks(func)
    for custom in late:
        func = custom(func)
    return func
