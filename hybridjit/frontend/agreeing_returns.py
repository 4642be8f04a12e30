"""Several returns of a script: whether they give the same, and what each does for the others."""

from __future__ import annotations

import ast

from hybridjit.errors import TypeMismatch
from hybridjit.frontend.builder import Builder
from hybridjit.frontend.frame import Key, ListResult
from hybridjit.ir.expr import Buffer
from hybridjit.ir.signature import ArrayResult, Nesting, Part

# An array of the call, a computed one, or the key of a number's type.
Given = Buffer | ArrayResult | ListResult | Key


def agree(
    build: Builder, results: list[Given] | None, nesting: Nesting | None, stmt: ast.Return
) -> None:
    """Every return must give the same arrays and the same number of scalars."""
    if not build.signature.has_returned:
        build.signature.has_returned = True
        build.signature.results = results
        build.signature.first_return = stmt
        build.signature.nesting = nesting
        return
    is_of_a_kind = _are_of_a_kind(results, build.signature.results)
    if not is_of_a_kind or not _nests_alike(build, results, nesting):
        if _has_views(build, results, nesting) and not build.unit.copies_views:
            build.unit.copies_views = True
            return
        assert build.signature.first_return is not None
        line = build.span(build.signature.first_return).line
        raise build.refuse(
            f"this returns {_described(results, nesting)}, and the return in line "
            f"{line} {_described(build.signature.results, build.signature.nesting)}",
            stmt,
            help=_help_to_agree(build, results, nesting),
        )
    for position, (found, other) in enumerate(
        zip(results or (), build.signature.results or (), strict=True)
    ):
        if isinstance(found, ListResult) or isinstance(other, ListResult):
            _check_lists(build, found, other, stmt)
            continue
        if isinstance(found, ArrayResult) and isinstance(other, ArrayResult) and found != other:
            raise other_array(build, _computed_text(found), _computed_text(other), stmt)
        if found != other and position not in build.unit.computed_results:
            _check_new(build, found, other, stmt)
            build.unit.common_results.add(position)


def _nests_alike(build: Builder, results: list[Given] | None, nesting: Nesting | None) -> bool:
    """Whether this return makes the same of its results; a view of an argument is one of no other
    array.
    """
    if build.signature.nesting != nesting:
        return False
    if nesting is None or not nesting.has_views:
        return True
    params = build.signature.params
    pairs = zip(results or (), build.signature.results or (), strict=True)
    return all((found in params) == (other in params) for found, other in pairs)


def _has_views(build: Builder, results: list[Given] | None, nesting: Nesting | None) -> bool:
    """Whether this return or the first one gives a view of an array that the script made."""
    both = ((results, nesting), (build.signature.results, build.signature.nesting))
    for found, how in both:
        if how is not None and how.has_views:
            arrays = [one for one in found or () if isinstance(one, (Buffer, ArrayResult))]
            if any(one not in build.signature.params for one in arrays):
                return True
    return False


def _help_to_agree(build: Builder, results: list[Given] | None, nesting: Nesting | None) -> str:
    if results is None or build.signature.results is None:
        return (
            "return as many arrays and numbers on every path; a number such as -inf, inf or nan in "
            "place of None"
        )
    makers = [found.maker for found in (nesting, build.signature.nesting) if found is not None]
    if any(isinstance(maker, Part) for maker in makers):
        return "return an array of its own on every path: .copy() makes one of a view"
    return "return as many arrays and numbers, in the same order, on every path"


def _check_lists(build: Builder, found: Given, other: Given, stmt: ast.Return) -> None:
    """Refuse lists of different items, and a list where another return gives an array."""
    if found != other:
        texts = [_described_one(result) for result in (found, other)]
        texts = texts if texts[0] != texts[1] else ["a list", "one of other items"]
        raise other_array(build, texts[0], texts[1], stmt)


def _are_of_a_kind(results: list[Given] | None, others: list[Given] | None) -> bool:
    """Whether two returns give arrays and numbers in the same order."""
    if results is None or others is None:
        return results is others
    return [isinstance(r, tuple) for r in results] == [isinstance(r, tuple) for r in others]


def _check_new(build: Builder, found: Given, other: Given, stmt: ast.Return) -> None:
    """Refuse to return one argument or another: what is returned would be a copy of it."""
    if found in build.signature.params and other in build.signature.params:
        assert isinstance(found, Buffer)
        assert isinstance(other, Buffer)
        raise build.refuse(
            f"this returns the argument '{found.name}' itself, and another return '{other.name}'",
            stmt,
            help=f"return a new array on every path, as in return {found.name}.copy()",
        )


def other_array(build: Builder, found: str, other: str, node: ast.AST) -> TypeMismatch:
    assert build.signature.first_return is not None
    line = build.span(build.signature.first_return).line
    return build.mismatch(
        f"this returns {found}, and the return in line {line} {other}",
        node,
        help="return arrays of one type and rank on every path",
    )


def _computed_text(result: ArrayResult) -> str:
    return f"{result.dtype} in {result.ndim} dimensions"


def _described(results: list[Given] | None, nesting: Nesting | None) -> str:
    if results is None:
        return "nothing"
    items = list(map(_described_one, results))
    return items[0] if nesting is None else nesting.text(iter(items), in_words=True)


def _described_one(result: Given) -> str:
    if isinstance(result, Buffer):
        return f"the array '{result.name}'"
    if isinstance(result, ListResult):
        return "a list"
    return "an array" if isinstance(result, ArrayResult) else "a number"
