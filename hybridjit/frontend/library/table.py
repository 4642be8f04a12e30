"""Functions of NumPy that are written in the language, by the function that they stand for.

To add one, write it in a file of this folder, with NumPy's names for its arguments, and put its
name here.
"""

from __future__ import annotations

from types import FunctionType, ModuleType

import numpy as np

from hybridjit.frontend.library import arrays as library_arrays
from hybridjit.frontend.library import elements as library_elements
from hybridjit.frontend.library import linalg as library_linalg
from hybridjit.frontend.library import sorting as library_sorting
from hybridjit.frontend.library import statistics as library_statistics

_NAMES: tuple[tuple[object, ModuleType, tuple[str, ...]], ...] = (
    (np, library_arrays, ("triu", "tril", "diag", "trace", "diff", "fliplr", "flipud", "vdot")),
    (np, library_arrays, ("inner", "kron", "cross", "convolve", "polyval", "trapezoid", "ptp")),
    (np, library_arrays, ("count_nonzero", "nansum", "nanmax", "nanmin", "nanmean")),
    (np, library_arrays, ("isclose", "allclose", "array_equal")),
    (np, library_statistics, ("cov", "corrcoef", "average", "histogram")),
    (np, library_elements, ("fmax", "fmin", "heaviside", "signbit", "deg2rad", "rad2deg")),
    (np, library_elements, ("radians", "degrees", "logaddexp", "logaddexp2", "float_power")),
    (np, library_elements, ("reciprocal", "gcd", "lcm", "sinc", "nan_to_num", "angle")),
    (np, library_elements, ("isneginf", "isposinf", "isreal", "iscomplex", "around", "round")),
    (np, library_sorting, ("sort", "argsort")),
    (np.linalg, library_linalg, ("cholesky", "solve", "inv", "det", "norm")),
)
# By identity; a function that this version of NumPy does not have is left out.
LIBRARY: dict[int, FunctionType] = {
    id(getattr(module, name)): getattr(library, name)
    for module, library, names in _NAMES
    for name in names
    if hasattr(module, name)
}
LIBRARY_NAMES: tuple[str, ...] = tuple(
    name if module is np else f"linalg.{name}" for module, _, names in _NAMES for name in names
)
# Functions of numbers, which are applied to each element of an array.
ELEMENTWISE: frozenset[FunctionType] = frozenset(
    getattr(library_elements, name)
    for _, library, names in _NAMES
    if library is library_elements
    for name in names
)
_FILES = {module.__file__ for _, module, _ in _NAMES}


def is_in_library(file: str) -> bool:
    """True for the files that the functions are written in."""
    return file in _FILES
