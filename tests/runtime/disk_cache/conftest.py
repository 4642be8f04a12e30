"""The directory of a disk cache, and an entry in it."""

from pathlib import Path

import pytest

from tests.support.cache_faults import save_sample


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def file(directory: Path) -> Path:
    """The file of the sample entry."""
    return save_sample(directory)
