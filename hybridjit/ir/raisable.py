"""The errors that a script may raise."""

from __future__ import annotations

import numpy as np

ERRORS: dict[str, type[Exception]] = {
    error.__name__: error
    for error in (
        ArithmeticError,
        AssertionError,
        FloatingPointError,
        IndexError,
        KeyError,
        LookupError,
        NotImplementedError,
        OverflowError,
        RecursionError,
        RuntimeError,
        StopIteration,
        TypeError,
        ValueError,
        ZeroDivisionError,
        np.linalg.LinAlgError,
    )
}
"""By the names that they are printed with."""
RAISABLE = tuple(ERRORS)
