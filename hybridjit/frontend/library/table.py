"""Functions of NumPy that are written in the language, by the function that they stand for.

To add one, write it in a file of this folder, with NumPy's names for its arguments, and put its
name here.
"""

from __future__ import annotations

import builtins
import math
from types import FunctionType, ModuleType

import numpy as np

from hybridjit.frontend.library import arrays as library_arrays
from hybridjit.frontend.library import differences as library_differences
from hybridjit.frontend.library import elements as library_elements
from hybridjit.frontend.library import linalg as library_linalg
from hybridjit.frontend.library import nans as library_nans
from hybridjit.frontend.library import norms as library_norms
from hybridjit.frontend.library import python as library_python
from hybridjit.frontend.library import searching as library_searching
from hybridjit.frontend.library import selection as library_selection
from hybridjit.frontend.library import shapes as library_shapes
from hybridjit.frontend.library import sorting as library_sorting
from hybridjit.frontend.library import statistics as library_statistics

_NAMES: tuple[tuple[object, ModuleType, tuple[str, ...]], ...] = (
    (np, library_arrays, ("trace", "vdot", "vecdot", "matvec", "vecmat", "inner", "kron", "cross")),
    (np, library_arrays, ("polyval", "polyadd", "polysub", "polyder", "ptp", "count_nonzero")),
    (np, library_arrays, ("isclose", "allclose", "array_equal", "array_equiv")),
    (np, library_differences, ("diff", "ediff1d", "gradient", "trapezoid", "trapz", "unwrap")),
    (np, library_differences, ("convolve", "correlate")),
    (np, library_elements, ("clip", "fmax", "fmin", "heaviside", "signbit", "deg2rad", "rad2deg")),
    (np, library_elements, ("radians", "degrees", "logaddexp", "logaddexp2", "float_power")),
    (np, library_elements, ("reciprocal", "gcd", "lcm", "sinc", "nan_to_num", "angle")),
    (np, library_elements, ("isneginf", "isposinf", "isreal", "iscomplex", "around", "round")),
    (np, library_nans, ("nansum", "nanprod", "nancumsum", "nancumprod", "nanmax", "nanmin")),
    (np, library_nans, ("nanargmax", "nanargmin", "nanmean", "nanvar", "nanstd", "nanmedian")),
    (np, library_searching, ("searchsorted", "digitize", "interp", "bincount", "isin")),
    (np, library_selection, ("flatnonzero", "nonzero", "argwhere", "extract", "compress")),
    (np, library_selection, ("unique", "union1d", "intersect1d", "setxor1d")),
    (np, library_selection, ("setdiff1d", "trim_zeros")),
    (np, library_shapes, ("shape", "ndim", "size", "iscomplexobj", "isrealobj", "fliplr")),
    (np, library_shapes, ("flipud", "rot90", "rollaxis", "matrix_transpose", "atleast_1d")),
    (np, library_shapes, ("atleast_2d", "atleast_3d", "append", "take_along_axis", "select")),
    (np, library_shapes, ("choose", "copyto", "putmask", "fill_diagonal", "tri", "triu", "tril")),
    (np, library_shapes, ("diag", "diagflat", "vander", "logspace", "geomspace", "hanning")),
    (np, library_shapes, ("hamming", "blackman", "bartlett", "unravel_index", "divmod", "modf")),
    (np, library_sorting, ("sort", "argsort", "partition", "argpartition", "median")),
    (np, library_sorting, ("quantile", "percentile")),
    (np, library_statistics, ("cov", "corrcoef", "average", "histogram")),
    (builtins, library_python, ("sum", "any", "all", "sorted", "divmod")),
    (math, library_python, ("comb", "perm", "factorial", "isqrt", "gcd", "lcm", "prod", "dist")),
    (math, library_python, ("degrees", "radians", "isclose", "modf", "remainder")),
    (np.linalg, library_linalg, ("cholesky", "solve", "inv", "det")),
    (np.linalg, library_norms, ("norm", "matrix_power", "multi_dot")),
)
# By identity; a function that this version of NumPy does not have is left out.
LIBRARY: dict[int, FunctionType] = {
    id(getattr(module, name)): getattr(library, name)
    for module, library, names in _NAMES
    for name in names
    if hasattr(module, name)
}
LIBRARY_NAMES: tuple[str, ...] = tuple(
    name if module is np else f"linalg.{name}"
    for module, _, names in _NAMES
    for name in names
    if hasattr(module, name) and module is not builtins and module is not math
)
# Functions of numbers, which are applied to each element of an array.
ELEMENTWISE: frozenset[FunctionType] = frozenset(
    getattr(library_elements, name)
    for _, library, names in _NAMES
    if library is library_elements
    for name in names
)
# Python's functions of one array that are more than one function of ours.
SMALLEST, LARGEST = library_python.smallest, library_python.largest
POWER_MODULO = library_python.power_modulo
# Reductions that take a condition.
WITH_WHERE: dict[str, FunctionType] = {
    "mean": library_statistics.mean_where,
    "var": library_statistics.var_where,
    "std": library_statistics.std_where,
}
_FILES = {module.__file__ for _, module, _ in _NAMES}


def is_in_library(file: str) -> bool:
    """True for the files that the functions are written in."""
    return file in _FILES
