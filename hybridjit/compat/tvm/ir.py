"""`tvm.ir`: modules of functions, and `tvm.transform.PassContext`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from typing import Any, cast

from hybridjit.ir.equal import structural_equal
from hybridjit.ir.func import PrimFunc
from hybridjit.record import record
from hybridjit.tensors.tensor import Range as _Range
from hybridjit.tensors.tensor import index_expr


class Range(_Range):
    """The values from `begin` up to, not including, `end`; of one number, those from 0 on."""

    def __new__(cls, begin: Any, end: Any = None) -> Range:
        bounds = (0, begin) if end is None else (begin, end)
        return super().__new__(cls, *map(index_expr, bounds))

    @staticmethod
    def from_min_extent(min_value: Any, extent: Any) -> Range:
        """So many values from `min_value` on."""
        return Range(min_value, min_value + extent)


@record(eq=False, repr=False)
class Function(PrimFunc):
    """A function of a module; `symbol` is the name that it has been given for when it is built."""

    symbol: str | None = field(default=None, kw_only=True)

    def with_attr(self, attr_key_or_dict: Any, attr_value: Any = None) -> Function:
        """The function with the name that "global_symbol" is; other attributes change nothing."""
        given = attr_key_or_dict
        attributes = cast("Mapping[str, Any]", given if isinstance(given, Mapping) else {})
        name = attributes.get(SYMBOL) if attributes else attr_value if given == SYMBOL else None
        return self if name is None else dataclasses.replace(self, name=str(name), symbol=str(name))


SYMBOL = "global_symbol"


def as_function(func: PrimFunc) -> Function:
    """A function with TVM's methods."""
    if isinstance(func, Function):
        return func
    return Function(**{item.name: getattr(func, item.name) for item in dataclasses.fields(func)})


class IRModule:
    """Functions of the IR by name; printed, their text."""

    def __init__(self, functions: Mapping[str, PrimFunc] | None = None) -> None:
        self.functions: dict[str, Function] = {}
        self.update(functions or {})

    def update(self, other: IRModule | Mapping[str, PrimFunc]) -> None:
        """Take the functions of another module, in the place of those of the same name."""
        functions = other.functions if isinstance(other, IRModule) else other
        self.functions.update({name: as_function(func) for name, func in functions.items()})

    def update_func(self, var: str, func: PrimFunc) -> None:
        """Take another function of that name."""
        self[var] = func

    @staticmethod
    def from_expr(func: PrimFunc) -> IRModule:
        """The module that holds one function."""
        return IRModule({func.name: func})

    def __getitem__(self, name: str) -> Function:
        return self.functions[name]

    def __setitem__(self, name: str, func: PrimFunc) -> None:
        self.functions[name] = as_function(func)

    def __contains__(self, name: str) -> bool:
        return name in self.functions

    def get_global_vars(self) -> list[str]:
        """The names of the functions."""
        return list(self.functions)

    def script(self, **options: Any) -> str:
        """The text."""
        del options
        return "\n".join(str(func) for func in self.functions.values())

    astext = script

    def show(self, **options: Any) -> None:
        """Print the text."""
        del options
        print(self.script())

    def __str__(self) -> str:
        return self.script()


def assert_structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """Fail unless two functions, or modules of them, are the same but for names."""
    del map_free_vars
    left, right = (_functions(side) for side in (lhs, rhs))
    assert left.keys() == right.keys(), f"{[*left]} is not {[*right]}"
    for name, func in left.items():
        assert structural_equal(func, right[name]), f"{func}\nis not\n{right[name]}"


def _functions(source: IRModule | PrimFunc) -> Mapping[str, PrimFunc]:
    return source.functions if isinstance(source, IRModule) else {"": source}


class PassContext:
    """`with tvm.transform.PassContext(opt_level=3):`, which changes nothing: code is optimised."""

    def __init__(self, opt_level: int = 2, config: Any = None, **options: Any) -> None:
        self.opt_level = opt_level
        self.config = dict(config or {})
        self.options = options

    def __enter__(self) -> PassContext:
        return self

    def __exit__(self, *details: object) -> None:
        return
