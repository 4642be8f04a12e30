"""Index expressions and conditions as text of isl, the library for sets of integer points.

The text speaks of named integers: loop variables are dimensions of a set, all other variables are
parameters. What isl cannot say exactly has no text; conditions are then weakened, so that a set
written with them is a superset of the true one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import count
from types import ModuleType
from typing import Any, TypeVar

from hybridjit.arith.products import Product
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import (
    Add,
    And,
    Bounded,
    Cast,
    Compare,
    Const,
    Eq,
    Expr,
    FloorDiv,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Ne,
    Neg,
    Not,
    Or,
    Select,
    Sub,
    Var,
)
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import rewrite, walk

# Larger factors could make an index wrap around 2^64 within a run that ends: no text for them.
MAX_FACTOR = 1 << 15

T = TypeVar("T")

Polyhedron = Any
"""An object of islpy, which has no types of its own."""


def load_isl() -> ModuleType:
    """islpy, imported when it is first needed: plain kernels do not pay for it."""
    if _is_loaded():
        return import_module("islpy")
    isl = import_module("islpy")
    _limit.apply()
    return isl


def _is_loaded() -> bool:
    return "islpy" in sys.modules


# Projections of sets with divisions can grow without limit: this much takes about a second.
MAX_OPERATIONS = 300_000


def within_limit(compute: Callable[[], T], operations: int = MAX_OPERATIONS) -> T | None:
    """What `compute` gives, or None if isl needs too many operations for it."""
    if _limit.operations:
        return compute()  # an outer computation has set the limit
    _limit.set(operations)
    try:
        return compute()
    except _errors_of_isl():
        if _is_exhausted():
            return None
        raise
    finally:
        _limit.set(0)


class _Limit:
    """How many operations isl may use, or 0. It holds from when isl is loaded, which may be never:
    what only may need isl is not to pay for it.
    """

    def __init__(self) -> None:
        self.operations = 0

    def set(self, operations: int) -> None:
        self.operations = operations
        if _is_loaded():
            self.apply()

    def apply(self) -> None:
        context = import_module("islpy").DEFAULT_CONTEXT
        context.reset_operations()
        context.set_max_operations(self.operations)


_limit = _Limit()


def _errors_of_isl() -> tuple[type[Exception], ...]:
    return (load_isl().Error,) if _is_loaded() else ()


def _is_exhausted() -> bool:
    """Whether isl has no operations left: then all else fails, too, with errors of many kinds."""
    isl = load_isl()
    try:
        isl.Set("{ [i] : 0 <= i <= 8 }").coalesce().is_empty()
    except isl.Error:
        return True
    return False


class AffineNames:
    """How variables are written: by a name of their own, by the text of a value, or not at all.

    A variable that was not given a text becomes a parameter when it is first met. Products by
    what is not a number have no text here; `products` and `constants` are for names that do more
    (analysis/products.py).
    """

    def __init__(self) -> None:
        self.texts: dict[Var, str | None] = {}
        self.parameters: dict[str, Var] = {}
        self.values: dict[Var, Expr] = {}
        self._numbers = count()
        # Those that vary with the loops around the place that is looked at, and those that do not.
        self.products: list[Product] = []
        self.constants: list[Product] = []
        # The numbers that a text was multiplied by.
        self.multiples: dict[str, set[int]] = {}

    def fresh(self, var: Var) -> str:
        """Give `var` a name of its own, which no other variable has."""
        text = f"v{next(self._numbers)}"
        self.texts[var] = text
        return text

    def parameter(self, var: Var) -> str:
        """Make `var` a parameter."""
        text = f"p{next(self._numbers)}"
        self.texts[var] = text
        self.parameters[text] = var
        return text

    def enter_loop(self, loop: For, *, inside: bool) -> str:
        """Name the variable of a loop inside of a part, or of one around it."""
        return self.fresh(loop.var) if inside else self.parameter(loop.var)

    def bind(self, var: Var, value: Expr) -> None:
        """Let `var` stand for `value`, if that has a text."""
        self.values[var] = value
        self.texts[var] = self.affine(value) if var.of is INT64 else None

    def affine(self, expr: Expr) -> str | None:
        """The text of the integer `expr`, exact unless arithmetic overflows; None without one."""
        match expr:
            case Const(int(value)) if expr.of is INT64:
                return f"{value}" if abs(value) < 1 << 62 else None
            case Var():
                return self._variable(expr)
            case Add(x, y):
                return self._join("({} + {})", x, y)
            case Sub(x, y):
                return self._join("({} - {})", x, y)
            case Min(x, y):
                return self._join("min({}, {})", x, y)
            case Max(x, y):
                return self._join("max({}, {})", x, y)
            case Neg(x):
                return self._join("(-{})", x)
            case _:
                return self._product(expr)

    def _product(self, expr: Expr) -> str | None:
        match expr:
            case Mul(x, Const(int(factor))) | Mul(Const(int(factor)), x):
                if abs(factor) > MAX_FACTOR:
                    return self.not_affine(expr)
                return self._multiple(factor, x)
            case FloorDiv(x, Const(int(divisor))) if divisor > 0:
                return self._join(f"floor({{}}/{divisor})", x)
            case Mod(x, Const(int(divisor))) if divisor > 0:
                return self._join(f"({{}} mod {divisor})", x)
            case Cast(to, Var() as x) if to is INT64 and x.dtype.is_integer:
                return self._variable(x)
            case Bounded(index=index):
                return self.affine(index)
            case _:
                return self.not_affine(expr)

    def _multiple(self, factor: int, expr: Expr) -> str | None:
        text = self._join("{}", expr)
        if text is None:
            return None
        self.multiples.setdefault(text, set()).add(factor)
        return f"({factor} * {text})"

    def divisions(self, texts: Iterable[str | None]) -> list[str]:
        """What the divisions that `texts` speak of mean; they are done where the texts count."""
        return []

    def not_affine(self, expr: Expr) -> str | None:
        """A text for an integer `expr` that isl cannot write: there is none."""
        return None

    def _variable(self, var: Var) -> str | None:
        if var in self.texts:
            return self.texts[var]
        return self.parameter(var) if var.dtype.is_integer else None

    def _join(self, form: str, *parts: Expr) -> str | None:
        if any(not part.dtype.is_integer or part.dtype is not INT64 for part in parts):
            return None
        texts = [self.affine(part) for part in parts]
        return None if None in texts else form.format(*texts)

    def condition(self, expr: Expr, *, holds: bool = True) -> str | None:
        """A text that is true wherever `expr` is (or, with `holds` false, is not); None: anywhere.

        Exact for comparisons of affine integers joined by and, or and not.
        """
        match expr:
            case Const(value) if expr.dtype.is_bool:
                return None if bool(value) is holds else "false"
            case Not(x):
                return self.condition(x, holds=not holds)
            case And(x, y) | Or(x, y):
                parts = [self.condition(x, holds=holds), self.condition(y, holds=holds)]
                return _all(parts) if isinstance(expr, And) is holds else _any(parts)
            case Compare(x, y):
                text = self._join(f"({{}} {_COMPARISONS[type(expr)][holds]} {{}})", x, y)
                return self._by_cases(expr, holds) if text is None else text
            case _:
                return None

    def _by_cases(self, expr: Compare, holds: bool) -> str | None:
        """A comparison with a choice in it: one text for each case."""
        choice = next((node for node in walk(expr) if isinstance(node, Select)), None)
        if choice is None or not self._is_exact(choice.cond):
            return None
        cases: list[str] = []
        for side, taken in ((choice.then, True), (choice.otherwise, False)):
            chosen = rewrite(expr, lambda node, side=side: side if node == choice else None)
            text = self.condition(chosen, holds=holds)
            if text is None:
                return None
            cases.append(f"({self.condition(choice.cond, holds=taken)} and {text})")
        return f"({' or '.join(cases)})"

    def _is_exact(self, cond: Expr) -> bool:
        """Whether the text of a condition says just when it holds."""
        match cond:
            case And(x, y) | Or(x, y):
                return self._is_exact(x) and self._is_exact(y)
            case Not(x):
                return self._is_exact(x)
            case Compare():
                return self.condition(cond) is not None
            case _:
                return False


_COMPARISONS: dict[type[Expr], tuple[str, str]] = {
    Eq: ("!=", "="),
    Ne: ("=", "!="),
    Lt: (">=", "<"),
    Le: (">", "<="),
    Gt: ("<=", ">"),
    Ge: ("<", ">="),
}


def _all(parts: list[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    return f"({' and '.join(known)})" if known else None


def _any(parts: list[str | None]) -> str | None:
    return None if None in parts else f"({' or '.join(part for part in parts if part)})"
