"""Where in this process the functions of NumPy are that code calls by symbols."""

from __future__ import annotations

from hybridjit.frontend.library import numpy_sorts, numpy_transforms


def find_address(symbol: str) -> int:
    """Where that is which code knows by `symbol`."""
    home = numpy_sorts if is_sort(symbol) else numpy_transforms
    return home.find_address(symbol)


def is_sort(symbol: str) -> bool:
    """True for a function that sorts; the others transform rows."""
    return symbol.startswith(("hj_numpy_sort", "hj_numpy_argsort"))
