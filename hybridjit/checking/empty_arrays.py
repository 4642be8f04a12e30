"""Plain functions whose empty arrays hold what those of scripts do.

NumPy leaves the elements of `np.empty` to chance; in a script they are zero (with HYBRIDJIT_DEBUG,
of no use). A plain function that is to give the same answer has other functions in their place.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit import config


def filled_stand_ins() -> dict[int, Any]:
    """What stands for NumPy and for its functions that make empty arrays, by their ids."""
    module = ModuleType("numpy", np.__doc__)
    vars(module).update(vars(np), empty=_empty, empty_like=_empty_like)
    return {id(np): module, id(np.empty): _empty, id(np.empty_like): _empty_like}


def _empty(*args: Any, **kwargs: Any) -> NDArray[Any]:
    make: Any = np.empty
    return _filled(make(*args, **kwargs))


def _empty_like(*args: Any, **kwargs: Any) -> NDArray[Any]:
    make: Any = np.empty_like
    return _filled(make(*args, **kwargs))


def _filled(array: NDArray[Any]) -> NDArray[Any]:
    kind = array.dtype.kind
    if not config.current().debug or kind == "b":
        array[...] = np.zeros((), array.dtype)
    else:
        array[...] = np.iinfo(array.dtype).max if kind in "iu" else math.nan
    return array
