"""Quiet arithmetic."""

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture
def quiet() -> Iterator[None]:
    """Warnings are off around a run; here, around a test."""
    with np.errstate(all="ignore"):
        yield
