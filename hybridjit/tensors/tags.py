"""Tags: names for kinds of operations, given one by one or to all in a `with` block."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from hybridjit.errors import ArgumentValueError

_current: ContextVar[str] = ContextVar("hybridjit_te_tag", default="")


def current_tag() -> str:
    """The tag of the `tag_scope` around, or an empty string."""
    return _current.get()


@contextmanager
def tag_scope(tag: str) -> Generator[None]:
    """Give all operations made inside this tag; works as a decorator, too."""
    if _current.get():
        raise ArgumentValueError(
            f"tag_scope('{tag}') stands inside tag_scope('{_current.get()}')",
            help="an operation has one tag: leave one of the scopes out, or end it before",
        )
    token = _current.set(tag)
    try:
        yield
    finally:
        _current.reset(token)
