"""Names of variables that can also write products and quotients by a size (arith/products.py)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from hybridjit.analysis.bounds import Facts
from hybridjit.arith.polyhedra import AffineNames
from hybridjit.arith.products import Product, dims_in, varies
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Expr, FloorDiv, Mod, Mul, Var
from hybridjit.ir.stmt import For


class ProductNames(AffineNames):
    """Names that have a text for products and quotients by what is the same throughout a part.

    They are for the search of conflicts, where a superset will do. `products` are those that vary
    with the loops around the statement that is looked at; `constants` are parameters.
    """

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._facts = facts
        self._count = 0

    def enter_loop(self, loop: For, *, inside: bool) -> str:
        """Note the range of the variable, too."""
        self._facts.enter_loop(loop)
        return super().enter_loop(loop, inside=inside)

    def bind(self, var: Var, value: Expr) -> None:
        """Note the value, too."""
        super().bind(var, value)
        self._facts.bind(var, value)

    def divisions(self, texts: Iterable[str | None]) -> list[str]:
        """What the divisions that `texts` speak of mean; they are done where the texts count."""
        words = {word for text in texts for word in dims_in(text)}
        found: list[str] = []
        for product in reversed(self.products):  # later ones may be made of earlier ones
            if not words.isdisjoint(product.dims):
                words.update(dims_in(product.scale), dims_in(product.dividend))
                found += [] if product.dividend is None else [product.division]
        return found

    # -- texts -------------------------------------------------------------------------------------

    def not_affine(self, expr: Expr) -> str | None:
        """A text for a product or a quotient."""
        match expr:
            case Mul(x, y) if expr.dtype is INT64:
                return self._multiply(expr, self.affine(x), self.affine(y))
            case FloorDiv(x, m) | Mod(x, m) if expr.dtype is INT64:
                found = self._divide(FloorDiv(x, m), self.affine(x), self.affine(m))
                if found is None:
                    return None
                return found.scale if isinstance(expr, FloorDiv) else found.remainder
            case _:
                return None

    def _multiply(self, expr: Mul, x: str | None, y: str | None) -> str | None:
        if x is None or y is None or (varies(x) and varies(y)):
            return None
        scale, factor = (y, x) if varies(y) else (x, y)
        for known in (*self.products, *self.constants):
            if (known.scale, known.factor) == (scale, factor):
                return known.text
        is_exact = self._facts.exact(expr) is not None
        if varies(scale) and not is_exact:
            return None  # it might wrap around 2^64, and meet other products there
        is_positive = is_exact and self._is_positive(expr)
        made = Product(self._name(scale), scale, factor, None, is_positive, is_exact)
        self._add(made)
        if not varies(scale):
            self._add(dataclasses.replace(made, scale=factor, factor=scale))
        return made.text

    def _divide(self, expr: FloorDiv, x: str | None, m: str | None) -> Product | None:
        if x is None or m is None or varies(m):
            return None
        for known in (*self.products, *self.constants):
            if (known.dividend, known.factor) == (x, m):
                return known
        made = Product(self._name(x), self._name(x), m, x, is_positive=self._is_positive(expr))
        self._add(made)
        return made

    def _is_positive(self, expr: Expr) -> bool:
        form = self._facts.form(expr)
        return form is not None and self._facts.interval(form)[0] >= 0

    def _add(self, product: Product) -> None:
        (self.products if varies(product.text) else self.constants).append(product)

    def _name(self, text: str) -> str:
        """A new name: of a dimension, if it stands for something that varies as `text` does."""
        self._count += 1
        return f"{'w' if varies(text) else 'c'}{self._count}"
