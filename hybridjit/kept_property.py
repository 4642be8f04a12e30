"""A property that is computed once and kept with its object."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import Self  # takes 3 ms to load

T = TypeVar("T")


class kept_property(Generic[T]):
    """As `functools.cached_property`, without its lock.

    Before Python 3.12 that lock is one for all objects: threads that compile would wait for each
    other, and a forked child for ever if another thread held it. Here, threads that ask at once may
    all compute; what the first of them found is what everybody gets.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    if TYPE_CHECKING:
        # What is set stands in the object's own dict, which Python asks first.
        def __set__(self, instance: object, value: T) -> None: ...

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Self | T:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._compute(instance))
