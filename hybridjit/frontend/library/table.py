"""Functions of NumPy that are written in the language, by the function that they stand for.

To add one, write it in a file of this folder, with NumPy's names for its arguments, and put its
name here.
"""

from __future__ import annotations

from types import FunctionType, ModuleType

import numpy as np

from hybridjit.frontend.library import arrays as library_arrays
from hybridjit.frontend.library import linalg as library_linalg
from hybridjit.frontend.library import statistics as library_statistics

_NAMES: tuple[tuple[object, ModuleType, tuple[str, ...]], ...] = (
    (np, library_arrays, ("triu", "tril", "diag", "trace", "diff", "fliplr", "flipud", "vdot")),
    (np, library_arrays, ("inner", "kron", "cross", "convolve", "polyval", "trapezoid", "ptp")),
    (np, library_arrays, ("count_nonzero", "nansum", "nanmax", "nanmin", "nanmean")),
    (np, library_arrays, ("isclose", "allclose", "array_equal")),
    (np, library_statistics, ("cov", "corrcoef", "average", "histogram")),
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
_FILES = {module.__file__ for _, module, _ in _NAMES}


def is_in_library(file: str) -> bool:
    """True for the files that the functions are written in."""
    return file in _FILES
