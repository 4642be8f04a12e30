"""`match` on numbers, and on tuples of numbers, as a chain of `if`.

    match k, n:                       first, second = k, n
        case 0, 1 | 2:                if first == 0 and (second == 1 or second == 2):
            body                          body
        case x, _ if x > n:   -->     elif True and True and first > n:
            rest                          x = first
                                          rest

A guard reads what names are given of the pattern, which are assigned once it holds.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence

from hybridjit.frontend.hoisting import assign_at, at_place, name_at

Subject = str | tuple[str, ...]
"""The name of what is matched, or the names of the items of a tuple."""


class Unknown(Exception):
    """A pattern that is none of numbers, names, alternatives, and tuples of these."""


def subject_of(stmt: ast.Match, fresh: Callable[[str], str]) -> tuple[Subject, list[ast.stmt]]:
    """What is matched, under names of its own, and how they are assigned."""
    match stmt.subject:
        case ast.Tuple(elts=items) if not any(isinstance(item, ast.Starred) for item in items):
            names = tuple(fresh("subject") for _ in items)
            targets = [ast.Name(name, ast.Store()) for name in names]
            assign = ast.Assign([ast.Tuple([*targets], ast.Store())], stmt.subject)
            return names, [at_place(assign, stmt.subject)]
        case _:
            name = fresh("subject")
            return name, [assign_at(name, stmt.subject, stmt.subject)]


def chain_of(
    cases: Sequence[ast.match_case],
    subject: Subject,
    write_out: Callable[[list[ast.stmt]], list[ast.stmt]],
) -> list[ast.stmt]:
    """The cases as branches; raise Unknown, before anything is written out, if one is not known."""
    tests = [_test_of_case(case, subject) for case in cases]
    chain: list[ast.stmt] = []
    for case, test in zip(reversed(cases), reversed(tests), strict=True):
        given = _given(case.pattern, subject)
        bind = [assign_at(name, value, case.pattern) for name, value in given.items()]
        branch = ast.If(test, [*bind, *write_out(case.body)], chain)
        chain = [at_place(branch, case.pattern)]
    return chain


def _test_of_case(case: ast.match_case, subject: Subject) -> ast.expr:
    test = _test(case.pattern, subject)
    if case.guard is None:
        return test
    guard = _Given(_given(case.pattern, subject)).visit(case.guard)
    return ast.BoolOp(ast.And(), [test, guard])


def _test(pattern: ast.pattern, subject: Subject) -> ast.expr:
    """Whether a value matches a pattern."""
    match pattern:
        case ast.MatchAs(pattern=None):
            return ast.Constant(True)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _test(inner, subject)
        case ast.MatchOr(patterns=patterns) if not any(_given(p, subject) for p in patterns):
            return ast.BoolOp(ast.Or(), [_test(inner, subject) for inner in patterns])
        case ast.MatchValue(value=value) if isinstance(subject, str):
            return ast.Compare(name_at(subject, pattern), [ast.Eq()], [value])
        case ast.MatchSequence(patterns=patterns) if isinstance(subject, tuple):
            return _test_of_items(patterns, subject)
        case _:
            raise Unknown


def _test_of_items(patterns: Sequence[ast.pattern], subject: tuple[str, ...]) -> ast.expr:
    if any(isinstance(pattern, ast.MatchStar) for pattern in patterns):
        raise Unknown
    if len(patterns) != len(subject):
        return ast.Constant(False)
    tests = [_test(inner, item) for inner, item in zip(patterns, subject, strict=True)]
    return ast.BoolOp(ast.And(), tests) if len(tests) > 1 else (tests or [ast.Constant(True)])[0]


def _given(pattern: ast.pattern, subject: Subject) -> dict[str, ast.expr]:
    """What names are given by a pattern that matches."""
    given: dict[str, ast.expr] = {}
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                given |= _given(inner, subject)
            if name is not None:
                given[name] = _value(subject, pattern)
        case ast.MatchSequence(patterns=patterns) if isinstance(subject, tuple):
            for inner, item in zip(patterns, subject, strict=False):
                given |= _given(inner, item)
        case _:
            pass
    return given


def _value(subject: Subject, place: ast.AST) -> ast.expr:
    if isinstance(subject, str):
        return name_at(subject, place)
    return at_place(ast.Tuple([name_at(item, place) for item in subject], ast.Load()), place)


class _Given(ast.NodeTransformer):
    def __init__(self, given: dict[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return at_place(copy.deepcopy(self._given.get(node.id, node)), node)
