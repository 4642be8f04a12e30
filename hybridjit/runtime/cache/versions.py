"""What made the code, and for which processor: a part of every key of the disk cache."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import astuple
from functools import cache
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

import numpy as np

from hybridjit import errors
from hybridjit.codegen.llvm_version import llvm_versions
from hybridjit.lazy import lazy_module
from hybridjit.runtime.cache.entry import Json, sha256
from hybridjit.target import Target

numpy: Any = np
ml_dtypes: Any = lazy_module("ml_dtypes")

_PACKAGE = os.path.dirname(errors.__file__)  # a module at its top


def _measure(folder: str) -> Iterator[str]:
    """A line for each file in a folder: some 4 ms for all, of which the half is the system's."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield _line(entry.path, entry.stat())
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _measure(entry.path)


def _line(path: str, status: os.stat_result) -> str:
    return f"{path[len(_PACKAGE) :]} {status.st_size} {status.st_mtime_ns}\n"


# Now, that is, before most of the compiler is loaded: see `is_unchanged`.
_FILES = frozenset(_measure(_PACKAGE))
_IDENTITY = sha256("".join(sorted(_FILES)).encode()).hexdigest()


def compiler_identity() -> str:
    """What tells this compiler from any other version of it: its own files.

    A release has other files than the one before, and so has a working copy after an edit.
    """
    return _IDENTITY


def is_unchanged() -> bool:
    """True if every part of the compiler is as old as its identity: then its code may be kept.

    Parts of it are loaded late, and one that was edited in between is not what the identity says.
    What was found unchanged once stays so: an edit after that is not loaded.
    """
    late = set(sys.modules) - _looked_at
    ours = [sys.modules[name] for name in late if name.startswith("hybridjit.")]
    if not all(map(_is_as_measured, ours)):
        return False
    _looked_at.update(late)
    return True


_looked_at: set[str] = set()  # modules


def _is_as_measured(module: ModuleType) -> bool:
    path = getattr(module, "__file__", None)
    if path is None:  # made by a module that has one
        return True
    try:
        return _line(path, os.stat(path)) in _FILES
    except OSError:
        return False


def maker_identity(target: Target) -> Json:
    """Everything besides the program that code depends on: whose it is, and the processor."""
    versions = [*llvm_versions(), str(numpy.__version__), _extension_types()]
    processor = [target.triple, target.cpu, target.features, *astuple(target.caches)]
    return [compiler_identity(), sys.version, versions, processor]


@cache
def _extension_types() -> Json:
    """Which ml_dtypes there is: by the file that says its version, which is not loaded for that."""
    found = PathFinder.find_spec("ml_dtypes")
    if found is None or found.origin is None:  # not from a file
        return str(ml_dtypes.__version__)
    status = os.stat(found.origin)
    return [status.st_size, status.st_mtime_ns]
