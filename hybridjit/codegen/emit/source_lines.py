"""Debug lines: which line of the script an instruction came from, as DWARF has it.

    %sum = fadd double %a, %b, !dbg !9
    !9 = !DILocation(line: 12, column: 9, scope: !5)

Debuggers, profilers and `kernel.view` read them. Code has none unless somebody asks: they do not
change what is computed, and take time and space.
"""

from __future__ import annotations

import os
from typing import Any

from llvmlite import ir

from hybridjit.codegen.llvm_types import I32, Function, Module
from hybridjit.errors import Span

Metadata = Any  # ir.DIValue
_WARNING = ir.Constant(I32, 2)
_DWARF_VERSION, _DEBUG_VERSION = 4, 3


class SourceLines:
    """The lines of one module; `name` is what debuggers call the kernel."""

    def __init__(self, module: Module, name: str, span: Span | None) -> None:
        self._module = module
        self._name = name
        self._span = span or Span("<unknown>", 0, 0, 0, 0)
        self._file = self._find_file(self._span.file)
        self._unit = module.add_debug_info(
            "DICompileUnit",
            {
                "language": ir.DIToken("DW_LANG_Python"),
                "file": self._file,
                "producer": "hybridjit",
                "runtimeVersion": 0,
                "isOptimized": True,
                "emissionKind": ir.DIToken("FullDebug"),
            },
            is_distinct=True,
        )
        _add_flags(module, self._unit)

    def enter(self, function: Function) -> Metadata:
        """Let `function` have lines; what their scope is."""
        is_kernel = not function.name.startswith("hj_chunk")
        kind = self._module.add_debug_info(
            "DISubroutineType", {"types": self._module.add_metadata([None])}
        )
        scope = self._module.add_debug_info(
            "DISubprogram",
            {
                "name": self._name if is_kernel else f"{self._name}[threads]",
                "scope": self._file,
                "file": self._file,
                "line": self._span.line,
                "scopeLine": self._span.line,  # of what stands before the first statement
                "type": kind,
                "unit": self._unit,
                "spFlags": ir.DIToken("DISPFlagDefinition | DISPFlagOptimized"),
            },
            is_distinct=True,
        )
        function.set_metadata("dbg", scope)
        return scope

    def locate(self, scope: Metadata, span: Span) -> Metadata:
        """The place of an instruction, in another file if it was called there."""
        if span.file != self._span.file:
            scope = self._module.add_debug_info(
                "DILexicalBlockFile",
                {"scope": scope, "file": self._find_file(span.file), "discriminator": 0},
            )
        place = {"line": span.line, "column": span.col + 1, "scope": scope}
        return self._module.add_debug_info("DILocation", place)

    def _find_file(self, path: str) -> Metadata:
        directory, name = os.path.split(path)
        names = {"filename": name, "directory": directory}
        return self._module.add_debug_info("DIFile", names)


def _add_flags(module: Module, unit: Metadata) -> None:
    module.add_named_metadata("llvm.dbg.cu", unit)
    versions = {"Dwarf Version": _DWARF_VERSION, "Debug Info Version": _DEBUG_VERSION}
    for name, version in versions.items():
        flag = module.add_metadata([_WARNING, name, ir.Constant(I32, version)])
        module.add_named_metadata("llvm.module.flags", flag)
