"""Compiling LLVM modules to objects and linking objects into the process.

ORC gives every library a tracker of its own: a library whose tracker is dropped is unloaded.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as binding

from hybridjit.codegen.target import Target, target_machine

# llvmlite has no types that a checker could follow: these names say what is meant.
llvm: Any = binding
Optimized = Any  # binding.ModuleRef

_numbers = itertools.count()


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """Code linked into the process: the addresses of what it exports. Unloaded when dropped."""

    addresses: Mapping[str, int]
    tracker: Any  # binding.ResourceTracker


def optimize(text: str, target: Target) -> Optimized:
    """Parse, verify and optimise an LLVM module."""
    machine = target_machine(target)
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def tidy(text: str, target: Target) -> Optimized:
    """Parse, verify and inline an LLVM module that has no loops worth more than that.

    For the dispatcher this takes a tenth of the time of -O1, and the code is as fast.
    """
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    builder = llvm.create_pass_builder(target_machine(target), options)
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_simplify_cfg_pass()
    passes.add_new_gvn_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return module


def emit_object(module: Optimized, target: Target) -> bytes:
    """The object code of an optimised module."""
    return target_machine(target).emit_object(module)


def emit_assembly(module: Optimized, target: Target) -> str:
    """The assembly of an optimised module."""
    return target_machine(target).emit_assembly(module)


def link(image: bytes, exports: tuple[str, ...], imports: Mapping[str, int]) -> Library:
    """Load object code into the process. `imports` gives the addresses of what it calls of ours."""
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for name in exports:
        builder.export_symbol(name)
    for name, address in imports.items():
        builder.import_symbol(name, address)
    tracker = builder.link(_session(), f"hybridjit.{next(_numbers)}")
    return Library({name: tracker[name] for name in exports}, tracker)


@cache
def _session() -> Any:
    return llvm.create_lljit_compiler(use_jit_link=False, suppress_errors=True)
