"""How many processors this process may use: its affinity, and the quota of its container."""

from __future__ import annotations

import math
import os
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def count_cpus() -> int:
    """The processors that the process may run on, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    quota = find_quota(_CGROUPS, _OWN_GROUPS)
    return max(1, count if quota is None else min(count, math.ceil(quota)))


def find_quota(root: Path, own: Path) -> float | None:
    """The processors that the control groups of this process grant, if they set a limit."""
    quotas = [quota for group in _groups(root, own) if (quota := _quota(group)) is not None]
    return min(quotas, default=None)


def _groups(root: Path, own: Path) -> list[Path]:
    """The directories of this process' groups and of those around them, in both versions."""
    found = [root, root / "cpu"]  # in a container, its own group is often mounted as the root
    for line in _read(own).splitlines():
        _, controllers, path = line.split(":", 2)
        mount = root / "cpu" if "cpu" in controllers.split(",") else root
        if controllers and mount == root:
            continue
        parts = Path(path).parts[1:]
        found += [mount.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    return found


def _quota(group: Path) -> float | None:
    words = _read(group / "cpu.max").split()
    if len(words) != 2:
        words = [_read(group / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    quota, period = words
    if not (quota.isdigit() and period.isdigit() and int(period) > 0):
        return None  # "max" and -1 mean no limit
    return int(quota) / int(period)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
