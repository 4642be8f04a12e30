"""Functions of NumPy that are written in the language, by the function that they stand for.

Their files are loaded when a script calls one of them.
"""

from __future__ import annotations

import importlib
import os
import sys
from functools import cache
from types import FunctionType

import numpy as np

from hybridjit.frontend.library.names import FILES, SPECIAL_NAMES, is_there

# Reductions that take a condition.
WITH_WHERE = {"mean": "mean_where", "var": "var_where", "std": "std_where"}


def find_in_library(value: object) -> FunctionType | None:
    """The function that stands for one of NumPy or Python."""
    place = place_of(value)
    return None if place is None else _function(*place)


def place_of(value: object) -> tuple[str, str] | None:
    """The file and the name of the function that stands for another."""
    name = str(getattr(value, "__name__", "")) if isinstance(value, np.ufunc) else ""
    if name in SPECIAL_NAMES:
        # Nobody has a function of scipy who has not loaded it.
        special = sys.modules.get("scipy.special")
        if getattr(special, name, None) is value:
            return "elements", f"special_{name}"
    return _places("numpy.fft" in sys.modules).get(id(value))


@cache
def _places(has_fft: bool) -> dict[int, tuple[str, str]]:
    """Files and names by identity; nobody has a function of `numpy.fft` who has not loaded it."""
    return {
        id(getattr(sys.modules[module], name)): (file, name)
        for module, file, names in FILES
        if has_fft or module != "numpy.fft"
        for name in names
        if is_there(module, name)
    }


def with_where(name: str) -> FunctionType:
    """The reduction `name` that takes a condition."""
    return _function("statistics", WITH_WHERE[name])


def is_elementwise(value: object) -> bool:
    """True for functions of numbers, which are applied to each element of an array."""
    return (place_of(value) or ("", ""))[0] == "elements"


def is_in_library(file: str) -> bool:
    """True for the files that the functions are written in."""
    return os.path.dirname(file) == _FOLDER


def _function(file: str, name: str) -> FunctionType:
    return getattr(importlib.import_module(f"{__package__}.{file}"), name)


_FOLDER = os.path.dirname(__file__)
