"""Functions of NumPy that are written in the language, by the function that they stand for."""

from __future__ import annotations

from types import FunctionType, ModuleType

from hybridjit.frontend.library import arrays as library_arrays
from hybridjit.frontend.library import differences as library_differences
from hybridjit.frontend.library import elements as library_elements
from hybridjit.frontend.library import fft as library_fft
from hybridjit.frontend.library import legacy_random as library_legacy
from hybridjit.frontend.library import linalg as library_linalg
from hybridjit.frontend.library import nans as library_nans
from hybridjit.frontend.library import norms as library_norms
from hybridjit.frontend.library import python as library_python
from hybridjit.frontend.library import random as library_random
from hybridjit.frontend.library import searching as library_searching
from hybridjit.frontend.library import selection as library_selection
from hybridjit.frontend.library import shapes as library_shapes
from hybridjit.frontend.library import sorting as library_sorting
from hybridjit.frontend.library import statistics as library_statistics
from hybridjit.frontend.library.names import FILES

_FILES: dict[str, ModuleType] = {
    "arrays": library_arrays,
    "differences": library_differences,
    "elements": library_elements,
    "fft": library_fft,
    "linalg": library_linalg,
    "nans": library_nans,
    "norms": library_norms,
    "python": library_python,
    "searching": library_searching,
    "selection": library_selection,
    "shapes": library_shapes,
    "sorting": library_sorting,
    "statistics": library_statistics,
}
# By identity; a function that this version of NumPy does not have is left out.
LIBRARY: dict[int, FunctionType] = {
    id(getattr(module, name)): getattr(_FILES[file], name)
    for module, file, names in FILES
    for name in names
    if hasattr(module, name)
}
# Functions of numbers, which are applied to each element of an array.
ELEMENTWISE: frozenset[FunctionType] = frozenset(
    getattr(library_elements, name)
    for _, file, names in FILES
    if file == "elements"
    for name in names
)
# Python's functions of one array that are more than one function of ours.
SMALLEST, LARGEST = library_python.smallest, library_python.largest
CONTAINS = library_python.contains
SORTED, BACKWARDS = library_python.sorted, library_python.backwards
POWER_MODULO = library_python.power_modulo
# Reductions that take a condition.
WITH_WHERE: dict[str, FunctionType] = {
    "mean": library_statistics.mean_where,
    "var": library_statistics.var_where,
    "std": library_statistics.std_where,
}
# What a generator of random numbers can do; its state is the first argument.
GENERATOR_METHODS: dict[str, FunctionType] = library_random.METHODS
SEEDED: FunctionType = library_random.seeded
# Functions of np.random that draw from its global generator.
GLOBAL_DRAWS: dict[str, FunctionType] = library_legacy.FUNCTIONS
BORROW, GIVE_BACK = library_legacy.BORROW, library_legacy.GIVE_BACK
_PATHS = {
    library_random.__file__,
    library_legacy.__file__,
    *(module.__file__ for module in _FILES.values()),
}


def is_in_library(file: str) -> bool:
    """True for the files that the functions are written in."""
    return file in _PATHS
