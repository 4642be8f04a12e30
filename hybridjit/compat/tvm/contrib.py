"""`tvm.contrib`: products by NumPy's BLAS, as `cblas` has them; files for libraries; C code."""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from hybridjit import te
from hybridjit.compat.tvm.c_code import create_llvm
from hybridjit.compat.tvm.functions import find_packed, register_func


@register_func("tvm.contrib.cblas.matmul")
def multiply(a: Any, b: Any, c: Any, transa: Any = False, transb: Any = False) -> None:
    """Write the product of two matrices, or of many, to `c`."""
    np.matmul(a.swapaxes(-1, -2) if transa else a, b.swapaxes(-1, -2) if transb else b, out=c)


def matmul(lhs: te.Tensor, rhs: te.Tensor, transa: bool = False, transb: bool = False) -> te.Tensor:
    """The product of two matrices, computed by NumPy."""
    rows = lhs.shape[-1] if transa else lhs.shape[-2]
    columns = rhs.shape[-2] if transb else rhs.shape[-1]

    def call(ins: Any, outs: Any) -> Any:
        packed = find_packed("tvm.contrib.cblas.matmul")
        return te.call_packed(packed, ins[0], ins[1], outs[0], transa, transb)

    shape = (*lhs.shape[:-2], rows, columns)
    return te.extern(shape, [lhs, rhs], call, dtype=lhs.dtype, name="C")


class TempDirectory:
    """A folder that is gone when nobody needs it any more."""

    def __init__(self) -> None:
        self.temp_dir = tempfile.mkdtemp()
        self._end = weakref.finalize(self, shutil.rmtree, self.temp_dir, ignore_errors=True)

    def relpath(self, name: str) -> str:
        """The path of a file in it."""
        return str(Path(self.temp_dir) / name)

    def listdir(self) -> list[str]:
        """The names of its files."""
        return sorted(path.name for path in Path(self.temp_dir).iterdir())

    def remove(self) -> None:
        """Remove it now."""
        self._end()


def create_shared(output: str, objects: Sequence[str] | str, options: Any = None) -> None:
    """A library of what `module.save` wrote, which is one already."""
    del options
    (only,) = [objects] if isinstance(objects, str) else objects
    shutil.copyfile(only, output)


def _module(name: str, **names: Any) -> ModuleType:
    made = ModuleType(f"{__name__}.{name}")
    made.__dict__.update(names)
    return made


cblas: Any = _module("cblas", matmul=matmul, batch_matmul=matmul)
utils: Any = _module("utils", tempdir=TempDirectory, TempDirectory=TempDirectory)
cc: Any = _module("cc", create_shared=create_shared)
clang: Any = _module("clang", create_llvm=create_llvm)
MODULES = {"cblas": cblas, "utils": utils, "cc": cc, "clang": clang}

# `import hybridjit.compat.tvm.contrib.cblas` finds them, too.
for _name, _made in MODULES.items():
    sys.modules[f"{__name__}.{_name}"] = _made
