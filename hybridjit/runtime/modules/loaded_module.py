"""load_module: a library that `export_library` wrote, called like the module that it came from."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from hybridjit.codegen.engine import Library
from hybridjit.codegen.hidden_reference import hide
from hybridjit.codegen.layout import ArrayLayout, Layout
from hybridjit.codegen.sites import ADAPTER
from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.runtime.cache.serialization import decode_sites
from hybridjit.runtime.modules.built_function import BuiltFunction, usual_layout
from hybridjit.runtime.modules.export import METADATA
from hybridjit.runtime.modules.module import Module
from hybridjit.runtime.native import Code, NativeKernel, attach_native
from hybridjit.runtime.specialization import Specialization
from hybridjit.runtime.translation import decode_summary


class LoadedSpecialization(Specialization):
    """A function of a library: its code serves one layout, and its IR is gone."""

    def __init__(self, library: ctypes.CDLL, entry: Mapping[str, Any]) -> None:
        self._begin()
        self.summary = decode_summary(entry["summary"], (), None)
        address = ctypes.cast(getattr(library, entry["adapter"]), ctypes.c_void_p).value or 0
        code = Code(b"", decode_sites(entry["sites"], None))
        self._usual = usual_layout(self.header)
        linked = Library({ADAPTER: address}, hide(library))
        self.natives = {self._usual: attach_native(self.header, self._usual, code, linked)}

    @property
    def func(self) -> NoReturn:  # type: ignore[override]
        """There is none."""
        raise ArgumentValueError(
            f"'{self.header.name}' was loaded from a library, which holds code and no IR"
        )

    @property
    def func_in_order(self) -> NoReturn:  # type: ignore[override]
        """There is none."""
        raise ArgumentValueError(
            f"'{self.header.name}' was loaded from a library, which holds code and no IR"
        )

    def _compile(self, layout: Layout) -> NativeKernel:
        if not layout.is_disjoint:
            raise ArgumentValueError(
                "arrays share memory, and the library was made for arrays that do not",
                help="pass copies",
            )
        place = next(k for k, array in enumerate(layout.arrays) if array != ArrayLayout())
        name = self.header.buffers[place].name
        raise ArgumentValueError(
            f"argument '{name}' is not in C order, and the library was made for arrays that are",
            help=f"pass np.ascontiguousarray({name})",
        )


@api_edge
def load_module(path: str | os.PathLike[str]) -> Module:
    """The module that `module.export_library(path)` wrote."""
    full = str(Path(path).resolve())
    try:
        library = ctypes.CDLL(full)
    except OSError as error:
        raise ArgumentError(f"cannot load {full}: {error}") from None
    entries = _read_metadata(library, full)
    functions = {e["name"]: BuiltFunction(LoadedSpecialization(library, e)) for e in entries}
    return Module(functions)


def _read_metadata(library: ctypes.CDLL, path: str) -> Sequence[Mapping[str, Any]]:
    if not hasattr(library, METADATA):
        raise ArgumentValueError(f"{path} was not written by export_library")
    address = ctypes.addressof(ctypes.c_char.in_dll(library, METADATA))
    return json.loads(ctypes.string_at(address))["functions"]
