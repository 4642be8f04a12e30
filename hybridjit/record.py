"""Records: dataclasses with slots, frozen unless said, whose methods are made when that pays.

`dataclass` writes the text of six methods for every class and has Python compile it: for some three
hundred classes that was most of the time of an import. The methods of a record are functions that
all records share. `__init__`, `__eq__` and `__hash__` of some classes are called often: such a
method is written and compiled then, and takes the place of the shared one.

To `match`, `dataclasses.fields` and `dataclasses.replace`, a record is a dataclass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from enum import Enum
from functools import cache, partial
from itertools import count
from reprlib import recursive_repr
from types import CodeType, FunctionType
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
def record(
    *, eq: bool = True, repr: bool = True, frozen: bool = True
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(
    cls: type | None = None, *, eq: bool = True, repr: bool = True, frozen: bool = True
) -> Any:
    """`@dataclass(frozen=True, slots=True)`; without `eq`, a record is equal to itself only."""
    decorate = partial(_make_record, eq=eq, repr=repr, frozen=frozen)
    return decorate if cls is None else decorate(cls)


def _make_record(cls: type, *, eq: bool, repr: bool, frozen: bool) -> Any:
    """`cls` made anew, since slots cannot be added: with fields as `dataclass` would list them."""
    own = {name: value for name, value in vars(cls).items() if name not in _OF_THE_FIRST_CLASS}
    own_fields = _take_fields(cls, own)
    listed: dict[str, Field[Any]] = {}
    for base in cls.__mro__[:0:-1]:
        listed |= base.__dict__.get("__dataclass_fields__", {})
    slots = tuple(name for name in own_fields if name not in listed)
    listed |= own_fields
    written = _written_methods(eq=eq, frozen=frozen)
    owner: list[Any] = []
    # Who defines `__eq__` alone gets None for `__hash__` from Python.
    defined = {name: value for name, value in own.items() if value is not None}
    namespace = {
        "__doc__": cls.__name__,
        **({"__repr__": _repr} if repr else {}),
        **(_SHARED | _FROZEN if frozen else _SHARED),
        **{_name_of(write): _until_often(owner, write) for write in written},
        **({"__hash__": None} if eq and not frozen else {}),
        **defined,
        "__slots__": slots,
        "__qualname__": cls.__qualname__,
        "__match_args__": tuple(f.name for f in listed.values() if f.init and not f.kw_only),
        "__dataclass_fields__": listed,
        "__dataclass_params__": _SAMPLE.__dataclass_params__,
    }
    owner.append(type(cls)(cls.__name__, cls.__bases__, namespace))
    return owner[0]


def _take_fields(cls: type, own: dict[str, Any]) -> dict[str, Field[Any]]:
    """The fields that `cls` itself annotates; their defaults leave its names, where slots go."""
    taken: dict[str, Field[Any]] = {}
    made: Any
    for name, annotation in cls.__annotations__.items():
        if str(annotation).startswith("ClassVar"):
            continue
        made = own.pop(name, MISSING)
        if not isinstance(made, Field):
            made = field(default=made)
        made.name, made.type, made._field_type = name, annotation, _FIELD
        made.kw_only = made.kw_only is True
        taken[name] = made
    return taken


def _written_methods(*, eq: bool, frozen: bool) -> tuple[Write, ...]:
    if not eq:
        return (_write_init,)
    return (_write_init, _write_eq, _write_hash) if frozen else (_write_init, _write_eq)


# What a class has that cannot be given to another one.
_OF_THE_FIRST_CLASS = ("__dict__", "__weakref__")


@dataclass
class _Sample:
    """Has what `dataclasses` looks for: its mark of a field, and the class's parameters."""

    value: int = 0


_SAMPLE: Any = _Sample
_FIELD = _SAMPLE.__dataclass_fields__["value"]._field_type


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
    values = ((f.name, getattr(self, f.name)) for f in fields(self) if f.repr)
    shown = ", ".join(f"{name}={_plain(value)}" for name, value in values)
    return f"{type(self).__qualname__}({shown})"


def _plain(value: object) -> str:
    return str(value) if isinstance(value, Enum) else repr(value)


_SHARED: dict[str, Any] = {"__getstate__": _get_state, "__setstate__": _set_state}
_FROZEN: dict[str, Any] = {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}


# Methods that are written

# The n-th field of a class is called `_n` in the texts, so that classes of the same shape have the
# same text: it is compiled once, and each class gets a copy with the names of its own fields.
Fields = Mapping[str, Field[Any]]

# Gives the text of a method of a class, and adds what it needs to the names that it sees.
Write = Callable[[Any, Fields, dict[str, Any]], str]


# Half of the methods that a kernel needs are called once or twice for it, and to write and compile
# one takes as long as thirty calls of one that reads the fields: a process with few kernels never
# does. With a larger number, the kernels after the first took 2 ms longer each.
_OFTEN = 3


def _until_often(owner: Sequence[Any], write: Write) -> Callable[..., Any]:
    """A method that reads the fields; when it is called often, it puts a written one in its place.

    It is there before the class is, which stands in `owner` when it is called.
    """
    plain = _PLAIN[write]
    calls = count()

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        (cls,) = owner
        if next(calls) < _OFTEN:
            return plain(cls, self, *args, **kwargs)
        method = _make_method(cls, write)
        setattr(cls, method.__name__, method)
        return method(self, *args, **kwargs)

    return call


def _plain_init(cls: Any, self: Any, *args: Any, **named: Any) -> None:
    values = dict(zip(cls.__match_args__, args, strict=False)) | named
    is_right = len(values) == len(args) + len(named)
    for each in cls.__dataclass_fields__.values():
        if each.init and each.name in values:
            value = values.pop(each.name)
        elif each.default_factory is not MISSING:
            value = each.default_factory()
        else:
            value = each.default
        if value is not MISSING:
            object.__setattr__(self, each.name, value)
        elif each.init:
            is_right = False
    if values or not is_right:
        _make_method(cls, _write_init)(self, *args, **named)  # Python says what is wrong
    if hasattr(cls, "__post_init__"):
        self.__post_init__()


def _plain_eq(cls: Any, self: Any, other: Any) -> bool:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _compared(cls, self) == _compared(cls, other)


def _plain_hash(cls: Any, self: Any) -> int:
    return hash(_compared(cls, self))


def _compared(cls: Any, self: Any) -> tuple[Any, ...]:
    listed = cls.__dataclass_fields__.values()
    return tuple([getattr(self, each.name) for each in listed if each.compare])


def _make_method(cls: Any, write: Write) -> FunctionType:
    numbered = {f"_{n}": each for n, each in enumerate(fields(cls))}
    known: dict[str, Any] = {}
    code = _compile(write(cls, numbered, known))
    code = code.replace(
        co_varnames=_rename(code.co_varnames, numbered), co_names=_rename(code.co_names, numbered)
    )
    method = FunctionType(code, known)
    method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
    if write is _write_init:
        _set_defaults(method, [each for each in numbered.values() if each.init])
    return method


@cache
def _compile(text: str) -> CodeType:
    """The code of the function that `text` defines."""
    compiled = compile(text, "<record>", "exec")
    return next(const for const in compiled.co_consts if isinstance(const, CodeType))


def _rename(names: Sequence[str], numbered: Fields) -> tuple[str, ...]:
    return tuple(numbered[name].name if name in numbered else name for name in names)


def _set_defaults(method: FunctionType, taken: Sequence[Field[Any]]) -> None:
    # MISSING says "make one": None may be passed.
    given = [f for f in taken if f.default is not MISSING or f.default_factory is not MISSING]
    method.__defaults__ = tuple(each.default for each in given if not each.kw_only)
    method.__kwdefaults__ = {each.name: each.default for each in given if each.kw_only}


def _name_of(write: Write) -> str:
    return f"__{write.__name__.removeprefix('_write_')}__"


def _write_eq(cls: Any, numbered: Fields, known: dict[str, Any]) -> str:
    names = [name for name, each in numbered.items() if each.compare]
    mine, theirs = ("".join(f"{side}.{name}, " for name in names) for side in ("self", "other"))
    return (
        "def __eq__(self, other):\n"
        "    if other.__class__ is not self.__class__: return NotImplemented\n"
        f"    return ({mine}) == ({theirs})"
    )


def _write_hash(cls: Any, numbered: Fields, known: dict[str, Any]) -> str:
    values = "".join(f"self.{name}, " for name, each in numbered.items() if each.compare)
    return f"def __hash__(self): return hash(({values}))"


def _write_init(cls: Any, numbered: Fields, known: dict[str, Any]) -> str:
    """The text of `__init__`; the function gets its defaults when it is made.

    def __init__(self, _0, _1, *, _2):
        set_0(self, _0)
        set_1(self, _1)
        set_2(self, _2)
    """
    positional = [name for name, each in numbered.items() if each.init and not each.kw_only]
    named = [name for name, each in numbered.items() if each.init and each.kw_only]
    header = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    lines = [line for name, each in numbered.items() for line in _setting(cls, name, each, known)]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return f"def __init__({header}):\n    " + "\n    ".join(lines or ["pass"])


def _setting(cls: Any, name: str, each: Field[Any], known: dict[str, Any]) -> list[str]:
    """What gives a field its value: the descriptor of its slot, which knows no freezing."""
    lines: list[str] = []
    if each.default_factory is not MISSING:
        known |= {f"make{name}": each.default_factory, "MISSING": MISSING}
        made = f"{name} = make{name}()"
        lines.append(f"if {name} is MISSING: {made}" if each.init else made)
    elif not each.init:
        if each.default is MISSING:
            return []
        known[f"default{name}"] = each.default
        lines.append(f"{name} = default{name}")
    known[f"set{name}"] = getattr(cls, each.name).__set__
    return [*lines, f"set{name}(self, {name})"]


_PLAIN: dict[Write, Callable[..., Any]] = {
    _write_init: _plain_init,
    _write_eq: _plain_eq,
    _write_hash: _plain_hash,
}
