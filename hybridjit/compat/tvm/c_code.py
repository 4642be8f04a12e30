"""C code in the text of a program: `tvm.contrib.clang.create_llvm`.

It is made a library by the C++ compiler of the machine, and loaded: `tir.call_extern` finds its
functions, and `pragma(axis, "import_llvm", code)` has nothing left to do.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hybridjit.errors import ArgumentError, ArgumentValueError

_COMPILERS = ("clang++", "g++", "c++")
_libraries: list[ctypes.CDLL] = []


def create_llvm(
    inputs: str | Sequence[str],
    output: str | None = None,
    options: Sequence[str] | None = None,
    cc: str | None = None,
) -> str:
    """Compile code, or files of it, and load the functions; gives a text that says so."""
    given = [inputs] if isinstance(inputs, str) else list(inputs)
    with TemporaryDirectory() as folder:
        paths = [
            _source(Path(folder) / f"input{place}.cc", code) for place, code in enumerate(given)
        ]
        library = str(Path(folder) / "code.so")
        command = [_find_compiler(cc), "-O3", "-shared", "-fPIC", *(options or ())]
        done = subprocess.run(
            [*command, "-o", library, *paths], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ArgumentValueError(f"the C code cannot be compiled:\n{done.stderr}")
        _libraries.append(ctypes.CDLL(library))
    text = f"; loaded: {', '.join(Path(path).name for path in paths)}\n"
    if output is not None:
        Path(output).write_text(text, encoding="utf-8")
    return text


def find_function(name: str) -> Any:
    """The function of the code that was loaded last, of that which has one of that name."""
    return next((getattr(lib, name) for lib in reversed(_libraries) if hasattr(lib, name)), None)


def clear() -> None:
    """Forget the functions; code that calls them keeps them."""
    _libraries.clear()


def _source(path: Path, code: str) -> str:
    """The file of some code, which is one already or is written now."""
    if "\n" not in code and Path(code).is_file():
        return code
    path.write_text(code, encoding="utf-8")
    return str(path)


def _find_compiler(wanted: str | None) -> str:
    names = [wanted] if wanted else [*filter(None, [os.environ.get("CXX")]), *_COMPILERS]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise ArgumentError(
            f"there is no C++ compiler: looked for {', '.join(names)}",
            help="hybrid.llvm takes LLVM text, tir.call_extern functions of a ctypes.CDLL",
        )
    return found
