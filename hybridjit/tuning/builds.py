"""`hj.build`: modules, under the steps that searches kept for their functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hybridjit import config
from hybridjit.config import api_edge
from hybridjit.errors import ArgumentValueError
from hybridjit.lazy import lazy_module
from hybridjit.runtime.modules.module import Module, build_functions
from hybridjit.schedule.recipe import apply_recipe
from hybridjit.schedule.scheduled import Scheduled, as_functions

if TYPE_CHECKING:
    from hybridjit.tuning import remembered
else:
    remembered = lazy_module("hybridjit.tuning.remembered")


@api_edge
def build(
    source: Any,
    args: Sequence[Any] | None = None,
    target: str | None = None,
    *,
    name: str | None = None,
    passes: Sequence[Any] = (),
) -> Module:
    """A module with a schedule, with tensors or with a function of the IR, ready to be called.

    `args` are the parameters of a schedule of tensors, in order. A dict gives several functions
    by name: `{"add": (s, [A, B, C])}`; so does a list of functions of the IR. The target is "llvm",
    this processor. `passes` are functions from PrimFunc to PrimFunc that rewrite each of them. Code
    is made when arguments with a new layout come for the first time, and kept on disk, as for
    kernels. What has no steps of its own takes those that the database in use has for it
    (`hj.tune.use`).

    >>> add = hj.build(s, [A, B, C], name="add")
    """
    if target not in (None, "llvm"):
        raise ArgumentValueError(
            f"there is no code for the target {target!r}",
            help='code is for this processor: leave target out, or write "llvm"; '
            "a name for the function is name=",
        )
    made = as_functions(source, args, name)
    if config.tune_database() is not None:
        made = {key: _as_tuned(item) for key, item in made.items()}
    return build_functions(made, passes)


def _as_tuned(made: Scheduled) -> Scheduled:
    """A function with the steps that won for it, unless it has steps of its own."""
    if made.func.body is not made.original.body:
        return made
    found = remembered.find_for_function(made.func)
    return made if found is None else replace(made, func=apply_recipe(made.func, found).func)
