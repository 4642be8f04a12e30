"""Functions that emitted code calls: declared once per module."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.llvm_types import Function, LLVMType, Module


def declare_function(module: Module, name: str, function_type: LLVMType) -> Function:
    """The external function `name` of the module, declared on first use."""
    known = module.globals.get(name)
    return known if known is not None else ir.Function(module, function_type, name)
