"""Devices: there is one, this processor."""

from __future__ import annotations

from hybridjit.errors import ArgumentError
from hybridjit.record import record


@record
class Device:
    """A place where code runs."""

    device_type: str = "cpu"
    device_id: int = 0

    @property
    def exist(self) -> bool:
        """It is there."""
        return True

    def sync(self) -> None:
        """Nothing is under way: calls return when they are done."""

    def __str__(self) -> str:
        return f"{self.device_type}({self.device_id})"


def cpu(index: int = 0) -> Device:
    """This processor."""
    return Device("cpu", index)


def device(kind: str, index: int = 0) -> Device:
    """A device by name."""
    name = str(kind).split()[0]
    if name not in ("cpu", "llvm"):
        raise ArgumentError(f"there is no device {name!r}", help="there is one: tvm.cpu()")
    return Device("cpu", index)
