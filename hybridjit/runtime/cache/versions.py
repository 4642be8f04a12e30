"""What made the code, and for which processor: a part of every key of the disk cache."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import ml_dtypes
import numpy as np

from hybridjit import errors
from hybridjit.codegen.llvm_version import llvm_versions
from hybridjit.runtime.cache.entry import Json, sha256
from hybridjit.target import Target

_PACKAGE = os.path.dirname(errors.__file__)  # a module at its top


def _measure() -> str:
    return sha256("".join(sorted(_files(_PACKAGE))).encode()).hexdigest()


def _files(folder: str) -> Iterator[str]:
    """A line for each file of the package: some 3 ms, of which the half is the system's."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                path = entry.path[len(_PACKAGE) :]
                yield f"{path} {status.st_size} {status.st_mtime_ns}\n"
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _files(entry.path)


# Now, that is, before most of the compiler is loaded: see `is_unchanged`.
_IDENTITY = _measure()


def compiler_identity() -> str:
    """What tells this compiler from any other version of it: its own files.

    A release has other files than the one before, and so has a working copy after an edit.
    """
    return _IDENTITY


def is_unchanged() -> bool:
    """True if every part of the compiler is as old as its identity: then its code may be kept.

    Parts of it are loaded late. One that was edited in between is not what the identity says; but
    as long as no module is loaded, what was found stays true.
    """
    global _loaded_when_checked
    loaded = len(sys.modules)
    if loaded == _loaded_when_checked:
        return True
    is_same = _measure() == _IDENTITY
    _loaded_when_checked = loaded if is_same else None
    return is_same


_loaded_when_checked: int | None = None


def maker_identity(target: Target) -> Json:
    """Everything besides the program that code depends on: whose it is, and the processor."""
    libraries: tuple[Any, ...] = (np, ml_dtypes)
    versions = [*llvm_versions(), *(str(library.__version__) for library in libraries)]
    processor = [target.triple, target.cpu, target.features, *astuple(target.caches)]
    return [compiler_identity(), sys.version, versions, processor]
