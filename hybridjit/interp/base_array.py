"""Arrays of a subclass, as NumPy keeps them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_NDARRAY: type[Any] = np.ndarray


def base_array(array: Any) -> NDArray[Any]:
    """The same memory without the rules and attributes of a subclass, which may say anything.

    What native code is told of an array (shape, strides, flags, address) comes from here.
    """
    return array if type(array) is _NDARRAY else _NDARRAY.view(array, _NDARRAY)
