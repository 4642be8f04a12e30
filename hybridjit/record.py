"""Records: frozen dataclasses with slots, whose methods are made when they are first needed.

`dataclass` writes the text of six methods for every class and has Python compile it: for some three
hundred classes that was most of the time of an import. The methods of a record are functions that
all records share, apart from `__init__`, `__eq__` and `__hash__`, which are called often: their
first call writes and compiles them.

To `match`, `dataclasses.fields` and `dataclasses.replace`, a record is a dataclass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[Any], Any]:
        """What type checkers read and Python 3.10 does not have."""
        return lambda decorator: decorator


T = TypeVar("T")


@overload
def record(cls: type[T]) -> type[T]: ...
@overload
def record(*, eq: bool = True, repr: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type | None = None, *, eq: bool = True, repr: bool = True) -> Any:
    """`@dataclass(frozen=True, slots=True)`; without `eq`, a record is equal to itself only."""
    decorate = partial(_make_record, eq=eq, repr=repr)
    return decorate if cls is None else decorate(cls)


def _make_record(cls: type, *, eq: bool, repr: bool) -> Any:
    # Who defines `__eq__` alone gets None for `__hash__` from Python.
    own = {name for name, value in vars(cls).items() if value is not None}
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # or `dataclass` would write one
    add_slots: Any = dataclass(init=False, repr=False, eq=False, slots=True)
    made = add_slots(cls)
    methods = dict(_SHARED)
    written = (_write_init, _write_eq, _write_hash) if eq else (_write_init,)
    methods |= {_name_of(write): _on_first_call(made, write) for write in written}
    if repr:
        methods["__repr__"] = _repr
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


# Methods that all records share


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: Sequence[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


_SHARED: dict[str, Any] = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _get_state,
    "__setstate__": _set_state,
}


# Methods that are written

# Gives the text of a method of a class, and adds what it needs to the names that it sees.
Write = Callable[[Any, dict[str, Any]], str]


def _name_of(write: Write) -> str:
    return f"__{write.__name__.removeprefix('_write_')}__"


def _on_first_call(cls: Any, write: Write) -> Callable[..., Any]:
    """A method that makes the real one, puts it in its own place, and calls it."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        known: dict[str, Any] = {}
        exec(write(cls, known), known)  # of names of fields, as `dataclass` does it
        method = known[_name_of(write)]
        method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
        setattr(cls, method.__name__, method)
        return method(self, *args, **kwargs)

    return call


def _write_eq(cls: Any, known: dict[str, Any]) -> str:
    names = [each.name for each in fields(cls) if each.compare]
    mine, theirs = ("".join(f"{side}.{name}, " for name in names) for side in ("self", "other"))
    return (
        "def __eq__(self, other):\n"
        "    if other.__class__ is not self.__class__: return NotImplemented\n"
        f"    return ({mine}) == ({theirs})"
    )


def _write_hash(cls: Any, known: dict[str, Any]) -> str:
    values = "".join(f"self.{each.name}, " for each in fields(cls) if each.compare)
    return f"def __hash__(self): return hash(({values}))"


def _write_init(cls: Any, known: dict[str, Any]) -> str:
    """The text of `__init__`.

    def __init__(self, lhs, rhs, *, span=default_span):
        set_lhs(self, lhs)
        set_rhs(self, rhs)
        set_span(self, span)
    """
    taken = [each for each in fields(cls) if each.init]
    positional = [_parameter(each, known) for each in taken if not each.kw_only]
    named = [_parameter(each, known) for each in taken if each.kw_only]
    header = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    lines = [line for each in fields(cls) for line in _setting(cls, each, known)]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return f"def __init__({header}):\n    " + "\n    ".join(lines or ["pass"])


def _parameter(each: Field[Any], known: dict[str, Any]) -> str:
    if each.default is MISSING and each.default_factory is MISSING:
        return each.name
    # None is not good enough to say "make one": it may be passed.
    known[f"default_{each.name}"] = MISSING if each.default is MISSING else each.default
    return f"{each.name}=default_{each.name}"


def _setting(cls: Any, each: Field[Any], known: dict[str, Any]) -> list[str]:
    """What gives a field its value: the descriptor of its slot, which knows no freezing."""
    name = each.name
    lines: list[str] = []
    if each.default_factory is not MISSING:
        known |= {f"make_{name}": each.default_factory, "MISSING": MISSING}
        made = f"{name} = make_{name}()"
        lines.append(f"if {name} is MISSING: {made}" if each.init else made)
    elif not each.init:
        if each.default is MISSING:
            return []
        known[f"default_{name}"] = each.default
        lines.append(f"{name} = default_{name}")
    known[f"set_{name}"] = getattr(cls, name).__set__
    return [*lines, f"set_{name}(self, {name})"]
