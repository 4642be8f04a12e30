"""A reference that the garbage collector does not see.

The collector finalises all objects of a cycle before it frees the first, in no order, and llvmlite
unloads code in a finaliser. Another finaliser of the same cycle may call that code: it has to stay
until nothing refers to it any more, and not only until it is found to be garbage. An object behind
a hidden reference is no garbage to the collector; it goes when its reference is freed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

HiddenReference = NDArray[Any]  # of one object


def hide(item: object) -> HiddenReference:
    """What keeps `item` alive; `hidden.item()` is the object.

    NumPy's arrays hold objects, and the collector does not look into them. The object must not
    refer to what refers to it: that would be there for ever.
    """
    hidden: NDArray[Any] = np.empty((), object)
    hidden[()] = item
    return hidden
