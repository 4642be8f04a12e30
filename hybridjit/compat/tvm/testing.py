"""`tvm.testing`: comparing arrays."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

import numpy as np

from hybridjit.compat.tvm.devices import Device, cpu


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Fail where arrays differ, in values or in shape."""
    actual, desired = np.asanyarray(actual), np.asanyarray(desired)
    assert actual.shape == desired.shape, f"{actual.shape} is not {desired.shape}"
    np.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=True)


def device_enabled(target: Any) -> bool:
    """Whether there is such a target."""
    return str(target).split()[0] in ("llvm", "cpu")


def enabled_targets() -> list[tuple[str, Device]]:
    """The targets there are."""
    return [("llvm", cpu())]


def main() -> None:
    """Run the tests of the file that calls this."""
    pytest: Any = importlib.import_module("pytest")
    sys.exit(pytest.main([inspect.stack()[1].filename, *sys.argv[1:]]))
