"""`tvm.ir`: modules of functions, and `tvm.transform.PassContext`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridjit.ir.equal import structural_equal
from hybridjit.ir.func import PrimFunc
from hybridjit.tensors.tensor import Range as Range


class IRModule:
    """Functions of the IR by name; printed, their text."""

    def __init__(self, functions: Mapping[str, PrimFunc] | None = None) -> None:
        self.functions = dict(functions or {})

    @staticmethod
    def from_expr(func: PrimFunc) -> IRModule:
        """The module that holds one function."""
        return IRModule({func.name: func})

    def __getitem__(self, name: str) -> PrimFunc:
        return self.functions[name]

    def __setitem__(self, name: str, func: PrimFunc) -> None:
        self.functions[name] = func

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


def _functions(source: IRModule | PrimFunc) -> dict[str, PrimFunc]:
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
