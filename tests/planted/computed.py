"""Bugs in results of computed size, and in syntax that is written out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.arith.ranges import ZERO
from hybridjit.codegen.dispatcher.layout import Input
from hybridjit.codegen.emit import allocation as emit_allocation
from hybridjit.codegen.emit import emitter as emitters
from hybridjit.codegen.emit.emitter import Emitter
from hybridjit.codegen.emit.memory import call_malloc
from hybridjit.frontend import comprehensions, item_loops, plain_syntax
from hybridjit.frontend import resized as frontend_resized
from hybridjit.frontend.arrays import lists as array_lists
from hybridjit.frontend.arrays import memory as array_memory
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Buffer
from hybridjit.runtime import given_arrays, promotion, specializations
from hybridjit.runtime.dispatch import table as dispatch_table
from hybridjit.runtime.dispatch.inputs import constant_record
from tests.differential import test_computed_sizes as sizes
from tests.differential import test_growing_lists as lists
from tests.differential import test_resized_names as resized
from tests.frontend import test_plain_syntax as syntax
from tests.planted.bugs import Bug, Check, always, replaced
from tests.runtime import test_size_arguments as size_arguments
from tests.support.oracle import fresh


def _agree(kernel: Any) -> Check:
    def check() -> None:
        sizes.test_as_plain_python(fresh(kernel), "float64")

    return check


def plain_python(function: Callable[..., Any]) -> Check:
    """A script of tests/frontend/test_plain_syntax.py, written out anew."""

    def check() -> None:
        plain_syntax._known.clear()  # pyright: ignore[reportPrivateUsage]
        syntax.test_as_plain_python(function)

    return check


def _lists(kernel: Any) -> Check:
    def check() -> None:
        lists.test_as_plain_python(fresh(kernel))

    return check


def _resized(kernel: Any) -> Check:
    def check() -> None:
        resized.test_as_plain_python(kernel)

    return check


def always_from_zero(build: Any, resizable: Any, start: Any, size: Any) -> None:
    _set_range(build, resizable, ZERO, size)


def as_it_is(build: Any, value: Any, size: Any, node: Any) -> Any:
    return build.as_index(value, node, "an index")


def without_old_elements(b: Any, memory: Any, size: Any) -> Any:
    return call_malloc(b, size)


def leave_with_nothing(self: Emitter, status: int, kept: Sequence[Buffer] = ()) -> None:
    _leave(self, status)


_leave = Emitter.leave
_set_range = frontend_resized._set_range  # pyright: ignore[reportPrivateUsage]
_selected = array_memory.each_selected


def every_place(build: Any, mask: Any, span: Any) -> Any:
    return mask.chosen.shape[0]


def from_the_end(build: Any, mask: Any, body: Any, span: Any) -> None:
    """The last place is the first."""
    _selected(build, mask, lambda indices, position: body(indices[::-1], position), span)


class NotRenamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()


def as_at_first(spec: Any, sizes: object) -> Any:
    return spec


def as_they_are(specs: Any) -> Any:
    return specs


def any_int(*args: Any) -> list[int]:
    record = constant_record(*args)
    record[Input.LOW], record[Input.HIGH] = INT64.bounds
    return record


BUGS = (
    Bug(
        "what is given away is freed",
        [replaced(emitters.Emitter, "leave", leave_with_nothing)],
        _agree(sizes.selected),
    ),
    Bug(
        "as many elements as there are places",
        [replaced(array_memory, "count_chosen", every_place)],
        _agree(sizes.selected),
    ),
    Bug(
        "rows are selected by column",
        [replaced(array_memory, "each_selected", from_the_end)],
        _agree(sizes.selected_rows),
    ),
    Bug(
        "given memory is never freed",
        [replaced(given_arrays, "_free", always(None))],
        sizes.test_memory_is_freed_with_the_array_and_on_errors,
    ),
    Bug(
        "items of a list are not counted from its end",
        [replaced(array_lists, "_from_start", as_it_is)],
        _lists(lists.by_index),
    ),
    Bug(
        "a list is gone through as long as it was",
        [replaced(item_loops, "_changed", always(None))],
        _lists(lists.changed_meanwhile),
    ),
    Bug(
        "a growing array stays where it was",
        [replaced(emit_allocation, "call_realloc", without_old_elements)],
        _lists(lists.appended),
    ),
    Bug(
        "what is left of an array begins where it did",
        [replaced(frontend_resized, "_set_range", always_from_zero)],
        _resized(resized.of_an_argument),
    ),
    Bug(
        "a loop that is left is done",
        [replaced(plain_syntax, "has_jump", always(False))],
        plain_python(syntax.for_else),
    ),
    Bug(
        "names of generators are those around them",
        [replaced(comprehensions, "_Renaming", NotRenamed)],
        plain_python(syntax.folds),
    ),
    Bug(
        "the size of the first call is kept",
        [replaced(promotion, "_with_sizes", as_at_first)],
        size_arguments.test_a_size_that_varies_is_known_at_run_time,
    ),
    Bug(
        "what does not fit in an untaken branch is refused",
        [replaced(specializations, "with_free_sizes", as_they_are)],
        size_arguments.test_what_does_not_fit_is_told_where_it_runs,
    ),
    Bug(
        "any int is the size that the code is for",
        [replaced(dispatch_table, "constant_record", any_int)],
        size_arguments.test_native_calls_know_sizes_by_their_value,
    ),
)
