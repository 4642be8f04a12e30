"""Bugs in what people bring: tuples that change, lists in order, generators behind conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from hybridjit.frontend import (
    assignments,
    branches,
    guards,
    hoisting,
    item_arrays,
    item_loops,
    nested_results,
    object_methods,
    patterns,
    records,
    recursion,
    signature,
    tail_calls,
)
from hybridjit.frontend.arrays import lists as growing_lists
from hybridjit.frontend.arrays import subscripts as array_subscripts
from hybridjit.frontend.library import decompositions, elements, legacy_random
from hybridjit.frontend.library import python as library_python
from hybridjit.frontend.values import Items, Nothing
from hybridjit.ir.expr import Const, Ge, Lt, Or
from hybridjit.ir.extern import Extern
from hybridjit.ir.signature import Nesting, Part
from hybridjit.runtime import arguments, brought_arrays, native
from tests.brought.check import check_program
from tests.brought.generate import make_program
from tests.brought.records import try_number as try_records
from tests.differential import test_brought_syntax as brought_syntax
from tests.differential import test_decompositions as decomposed
from tests.differential import test_float_parts as float_parts
from tests.differential import test_global_random as draws
from tests.differential import test_growing_lists as growing
from tests.differential import test_items_by_index as by_index
from tests.differential import test_returned_views as views
from tests.differential import test_structured_arrays as structured
from tests.differential import test_tuples as tuples
from tests.frontend import test_plain_syntax as syntax
from tests.frontend import test_record_arguments as record_arguments
from tests.frontend import test_recursion as recursions
from tests.frontend import test_tail_calls as tails
from tests.frontend import test_tries as tries
from tests.planted.bugs import Bug, Check, RandomCheck, always, replaced
from tests.planted.computed import plain_python
from tests.planted.native import forward_strides
from tests.runtime import test_brought_arrays as arrays_of_others
from tests.runtime import test_outside as outside
from tests.support.oracle import fresh


def _tuples(kernel: Any) -> Check:
    def check() -> None:
        tuples.test_as_plain_python(fresh(kernel))

    return check


def as_it_is(build: Any, value: Any, name: str, stmt: Any) -> Any:
    return value


def all_of_one(build: Any, chains: Any, stood: Any, stmt: Any, webs: Any) -> Any:
    return _divided(build, chains, [stood[0]] * len(stood), stmt, webs)


def flat(self: Nesting, results: Iterator[Any]) -> Any:
    return tuple(results)


def always_reached(self: Any, node: ast.expr, visit: Any, read: set[str]) -> Any:
    return visit(node), []


def takes_either(one: Any, other: Any, reverse: bool) -> bool:
    return one <= other if not reverse else other <= one


_divided = branches._divided  # pyright: ignore[reportPrivateUsage]


def from_the_front(self: Part, axis: Any, left: Iterator[int]) -> Any:
    entry = _entry(self, axis, left)
    return slice(0, entry.stop, entry.step) if isinstance(entry, slice) else entry


_entry = Part._entry  # pyright: ignore[reportPrivateUsage]


def _tail_calls() -> None:
    with pytest.MonkeyPatch.context() as patch:
        tails.test_a_name_that_is_given_another_function(patch)


def keeps_too_little(cutter: Any) -> Any:
    return {place: names[1:] for place, names in _kept(cutter).items()}


_kept = recursion._kept  # pyright: ignore[reportPrivateUsage]


def _recursions() -> None:
    recursion._known.clear()  # pyright: ignore[reportPrivateUsage]
    recursions.test_as_plain_python(recursions.fibonacci, [(9,)])


def from_zero(index: Any, size: Any) -> Any:
    return Or(Lt(index, Const(0)), Ge(index, size))


def copied(value: Any) -> Any:
    return None if _find_array(value) is None else np.array(_find_array(value))


_find_array = brought_arrays._find_array  # pyright: ignore[reportPrivateUsage]


def other_field(build: Any, owner: Any, name: str, node: Any) -> Any:
    return owner.columns[0]


def one_square(a: Any, q: Any, r: Any, is_complete: Any) -> None:
    q[...], r[...] = np.linalg.qr(a, "complete" if is_complete else "reduced")
    q *= -1


def without_step(build: Any, value: Any, place: ast.expr) -> Any:
    return _slice_of(build, replace(value, step=Nothing()), place)


_slice_of = array_subscripts._slice_of  # pyright: ignore[reportPrivateUsage]


def unguarded(case: ast.match_case, subject: Any) -> ast.expr:
    return patterns._test(case.pattern, subject)  # pyright: ignore[reportPrivateUsage]


def at_the_start(build: Any, owner: Any, at: Any, node: Any) -> Any:
    return _record_at(build, owner, Const(0), node)


_record_at = records.record_at


def without_way(view: Any, value: Any, how: Any, node: Any) -> Any:
    return nested_results._part(  # pyright: ignore[reportPrivateUsage]
        nested_results.view_of(view, how.source), node
    )


def further_away(size: Any, is_larger: bool) -> Any:
    return size * 2 if is_larger else size / 2


def nameless(name: str, value: object, fields: tuple[str, ...], maker: Any = None) -> Any:
    return _record_spec(name, value, fields)


_record_spec = arguments._record_spec  # pyright: ignore[reportPrivateUsage]


def backwards(build: Any, owner: Items, name: str, node: ast.AST) -> Any:
    return _store(build, replace(owner, items=owner.items[::-1]), name, node)


_store = item_arrays._store  # pyright: ignore[reportPrivateUsage]


def as_tuples(build: Any, name: str, spec: Any, span: Any) -> Any:
    value = _parameter(build, name, spec, span)
    return replace(value, is_list=False) if isinstance(value, Items) else value


_parameter = signature._parameter  # pyright: ignore[reportPrivateUsage]


def numbers_of_one_element(self: Part, array: Any, left: Iterator[int]) -> Any:
    view = _view(self, array, left)
    return view.copy() if view.size == 1 else view


_view = Part._view  # pyright: ignore[reportPrivateUsage]


def _first_programs() -> None:
    """Random scripts of what people bring: the first ones of a campaign."""
    for number in range(40):
        check_program(make_program(f"0/{number}"))


def _random_records(first: int) -> RandomCheck:
    def check(number: int) -> None:
        assert try_records(0, number).failures == []

    return RandomCheck("records", check, first, 12)


BUGS = (
    Bug(
        "all fields are the first one, in random loops",
        [replaced(records, "field_of", other_field)],
        _random_records(0),
    ),
    Bug(
        "fields of reversed records lie the other way round",
        [replaced(native, "_array_layout", forward_strides)],
        _random_records(0),
    ),
    Bug(
        "lists in lists are tuples",
        [replaced(growing_lists, "IN_LIST", 0)],
        growing.test_items_are_lists_or_tuples,
    ),
    Bug(
        "the largest item has the smallest key",
        [replaced(library_python, "largest_by", library_python.smallest_by)],
        partial(syntax.test_items_by_keys, "largest"),
    ),
    Bug(
        "a method that was replaced goes on",
        [replaced(object_methods, "_note", always(None))],
        record_arguments.test_a_class_that_is_given_another_method,
    ),
    Bug(
        "parts of locals are copies",
        [replaced(nested_results, "_is_named", always(False))],
        _first_programs,
    ),
    Bug(
        "a view of one element is a copy",
        [replaced(Part, "_view", numbers_of_one_element)],
        _first_programs,
    ),
    Bug(
        "records that are arguments have no class",
        [replaced(arguments, "_record_spec", nameless)],
        record_arguments.test_classes_of_the_same_fields_are_told_apart,
    ),
    Bug(
        "records that may be changed are returned",
        [replaced(nested_results, "_is_constant", always(True))],
        record_arguments.test_what_may_be_changed_is_not_returned,
    ),
    Bug(
        "items by an index come from the other end",
        [replaced(item_arrays, "_store", backwards)],
        _first_programs,
    ),
    Bug(
        "lists that are arguments are tuples",
        [replaced(signature, "_parameter", as_tuples)],
        by_index.test_lists_and_tuples_are_told_apart,
    ),
    Bug(
        "every record is the first one, in random scripts",
        [replaced(item_loops, "record_at", at_the_start)],
        _first_programs,
    ),
    Bug(
        "arrays of others are copied, in random scripts",
        [replaced(brought_arrays, "_find_array", copied)],
        _first_programs,
    ),
    Bug(
        "guards of matches are forgotten",
        [replaced(patterns, "_test_of_case", unguarded)],
        plain_python(syntax.matches_with_guards),
    ),
    Bug(
        "every record is the first one",
        [replaced(item_loops, "record_at", at_the_start)],
        structured.test_as_numpy,
    ),
    Bug(
        "arguments in another shape keep theirs",
        [replaced(nested_results, "_arranged", without_way)],
        lambda: views.test_what_is_a_view_where_strides_allow("C", None),
    ),
    Bug(
        "the next number is the one after it",
        [replaced(elements, "_beside", further_away)],
        partial(float_parts.test_neighbours, "float64", "uint64"),
    ),
    Bug(
        "refusals name no way out",
        [replaced(arguments, "_conversion_help", always(None))],
        lambda: outside.test_arguments("a dict"),
    ),
    Bug(
        "a slice that has a name forgets its step",
        [replaced(array_subscripts, "_slice_of", without_step)],
        brought_syntax.test_slices_that_have_names,
    ),
    Bug(
        "an orthonormal matrix has another sign",
        [replaced(decompositions, "call_qr", Extern("lapack_qr", one_square, None))],
        partial(decomposed.test_as_numpy, decomposed.orthonormal),
    ),
    Bug(
        "arrays of others are copied",
        [replaced(brought_arrays, "_find_array", copied)],
        partial(arrays_of_others.test_memory_is_shared, "column"),
    ),
    Bug(
        "all fields are the first one",
        [replaced(records, "field_of", other_field)],
        structured.test_fields_of_every_other_record,
    ),
    Bug(
        "an index that counts from the end is caught",
        [replaced(guards, "_is_outside", from_zero)],
        partial(tries.test_as_plain_python, tries.element, tries.CASES[tries.element]),
    ),
    Bug(
        "a call forgets a number that is read after it",
        [replaced(recursion, "_kept", keeps_too_little)],
        _recursions,
    ),
    Bug(
        "a function of the same name is taken for the function itself",
        [replaced(tail_calls, "is_itself", always(True))],
        _tail_calls,
    ),
    Bug(
        "views begin where the array does",
        [replaced(Part, "_entry", from_the_front)],
        lambda: views.test_parts_are_views("C", None),
    ),
    Bug(
        "the second number of a pair is forgotten",
        [replaced(legacy_random, "OURS", 0)],
        lambda: draws.test_streams(draws.mixture, 0),
    ),
    Bug(
        "what was kept is drawn again",
        [replaced(signature, "give_back_state", always(None))],
        draws.test_a_normal_number_that_numpy_keeps,
    ),
    Bug(
        "the items of tuples are computed later",
        [replaced(assignments, "frozen", as_it_is)],
        _tuples(tuples.kept_as_they_were),
    ),
    Bug(
        "a loop ends in its first state",
        [replaced(branches, "_divided", all_of_one)],
        _tuples(tuples.none_or_a_number),
    ),
    Bug(
        "tuples in tuples are one tuple",
        [replaced(Nesting, "put_together", flat)],
        _tuples(tuples.nested),
    ),
    Bug(
        "generators are run unasked",
        [replaced(hoisting.Hoist, "_aside", always_reached)],
        plain_python(syntax.behind_conditions),
    ),
    Bug(
        "equal items change places",
        [replaced(library_python, "_is_before", takes_either)],
        plain_python(syntax.equal_in_order),
    ),
)
