"""Which LLVM this is, and whether it is one that was tried: another one gets a warning.

A compiler is as right as what it is built on. The suite and the native campaigns ran on these
versions; pyproject.toml asks for the same range of llvmlite.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import llvmlite
import llvmlite.binding as binding

_binding: Any = binding  # llvmlite has no types that a checker could follow
TRIED_LLVMLITE = ((0, 45), (0, 50))  # the oldest and the newest
TRIED_LLVM = (20, 22)  # what is in them; one that is built from source may have another


def llvm_versions() -> tuple[str, str]:
    """The versions of llvmlite and of the LLVM in it."""
    return llvmlite.__version__, ".".join(map(str, _binding.llvm_version_info))


def is_tried(llvmlite_version: str, llvm_version: str) -> bool:
    """Whether code from these versions was tested."""
    oldest, newest = TRIED_LLVMLITE
    found = re.match(r"(\d+)\.(\d+)", llvmlite_version)
    if found is None or int(llvm_version.partition(".")[0]) not in TRIED_LLVM:
        return False
    return oldest <= (int(found[1]), int(found[2])) <= newest


def warn_if_untried(llvmlite_version: str, llvm_version: str) -> None:
    """Say once what was tried, and what to do."""
    if is_tried(llvmlite_version, llvm_version):
        return
    (_, oldest), (_, newest) = TRIED_LLVMLITE
    warnings.warn(
        f"hybridjit was tried with llvmlite 0.{oldest} to 0.{newest} (LLVM "
        f"{' and '.join(map(str, TRIED_LLVM))}), and this is llvmlite {llvmlite_version} (LLVM "
        f"{llvm_version}): run pip install 'llvmlite>=0.{oldest},<0.{newest + 1}', or let "
        "HYBRIDJIT_CHECK=1 hold what kernels give against plain Python",
        RuntimeWarning,
        stacklevel=2,
    )


# When the package is imported, which loads llvmlite anyway; asking LLVM takes microseconds.
warn_if_untried(*llvm_versions())
