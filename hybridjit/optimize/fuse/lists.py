"""The lists of statements that a program is made of, from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hybridjit.ir.stmt import For, If, Seq, Stmt, While, seq


def change_lists(body: Stmt, change: Callable[[Sequence[Stmt]], list[Stmt]]) -> Stmt:
    """`body` with other lists of statements; the same object if `change` changes none."""
    match body:
        case For() | While():
            inner = change_lists(body.body, change)
            return body if inner is body.body else replace(body, body=inner)
        case If(_, then, otherwise):
            ours = change_lists(then, change)
            theirs = None if otherwise is None else change_lists(otherwise, change)
            is_same = ours is then and theirs is otherwise
            return body if is_same else replace(body, then=ours, otherwise=theirs)
        case Seq():
            done = change([change_lists(stmt, change) for stmt in body.stmts])
            is_same = [*map(id, done)] == [*map(id, body.stmts)]
            return body if is_same else seq(*done)
        case _:
            return body
