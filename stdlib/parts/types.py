"""The types in the signatures of operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from hybridjit.te import Expression, Tensor

T = TypeVar("T", Tensor, NDArray[Any])
"""What an operator works on, all of one kind: tensors give tensors, arrays give arrays."""

Number = bool | int | float | complex | np.generic | Expression
"""What may stand in the place of a tensor or an array: Python's numbers give way to typed ones."""

Axes = int | Sequence[int] | None
"""Some axes, counted from the end if negative; None means all of them."""

Pair = int | Sequence[int]
"""One number for both spatial axes, or one for each."""

Padding = int | Sequence[int] | Literal["same", "valid"]
"""How far images reach beyond their edges: both axes, (rows, columns), (top, left, bottom, right),
"same" for as many results as elements (with stride 1), or "valid" for nothing."""
