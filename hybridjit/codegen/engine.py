"""Compiling LLVM modules to objects and linking objects into the process.

ORC gives every library a tracker of its own: a library whose tracker is dropped is unloaded.
Compiling for ever needs no more memory: what llvmlite never frees is freed here or used again.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import llvmlite.binding as binding
from llvmlite.binding import newpassmanagers

from hybridjit.codegen.hidden_reference import HiddenReference, hide
from hybridjit.codegen.llvm_text import parse_llvm
from hybridjit.codegen.target import linking_machine, target_machine
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.target import Target

if TYPE_CHECKING:
    from hybridjit.codegen import repeated_bytes, signed_zeros
else:
    repeated_bytes = lazy_module("hybridjit.codegen.repeated_bytes")
    signed_zeros = lazy_module("hybridjit.codegen.signed_zeros")  # for code that compares floats

# llvmlite has no types that a checker could follow: these names say what is meant.
llvm: Any = binding
Optimized = Any  # binding.ModuleRef
Passes = Any  # binding.ModulePassManager
_pass_managers: Any = newpassmanagers

# A session keeps memory of a library that is unloaded, and gives it back when its last library
# is gone. A new session takes 0.4 ms, a link 0.5 ms.
LIBRARIES_PER_SESSION = 16
# A builder leaves 1.5 kB behind, so it is used again; but each use slows the next by 0.2 %.
RUNS_PER_BUILDER = 16
# Branches that neither cross nor end at a multiple of 32 bytes.
_ALIGN_BRANCHES = "-x86-branches-within-32B-boundaries"
_libraries = itertools.count()
_runs = itertools.count()


@record(eq=False)
class Library:
    """Code linked into the process: the addresses of what it exports. Unloaded when dropped."""

    addresses: Mapping[str, int]
    code: HiddenReference

    @property
    def tracker(self) -> Any:
        """What keeps the code in memory: a binding.ResourceTracker."""
        return self.code.item()


def optimize(text: str, target: Target) -> Optimized:
    """Parse, verify and optimise an LLVM module."""
    builder = _pass_builder(target)
    module = _run(builder.getModulePassManager(), parse_llvm(text), builder)
    mend = _find_mend(text, target)
    if mend is None:
        return module
    made = str(module)
    kept = mend(made)
    return module if kept is made else parse_llvm(kept)


def _find_mend(text: str, target: Target) -> Callable[[str], str] | None:
    """What must be done to optimised code, so that LLVM's back end compiles it right."""
    if target.is_arm:
        return signed_zeros.keep_zeros if "fcmp" in text else None
    # LLVM itself gives bytes to the functions that multiply them.
    has_long_bytes = "<64 x i8>" in text or "vpdpbusd" in text
    return repeated_bytes.repeat_words if has_long_bytes else None


def tidy(text: str, target: Target) -> Optimized:
    """Parse, verify and inline an LLVM module that has no loops worth more than that.

    For the dispatcher this takes a tenth of the time of -O1, and the code is as fast.
    """
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_simplify_cfg_pass()
    passes.add_new_gvn_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    return _run(passes, parse_llvm(text), _pass_builder(target))


def _run(passes: Passes, module: Optimized, builder: Any) -> Optimized:
    try:
        passes.run(module, builder)
        return module
    finally:
        # llvmlite's `close` does not free a pass manager: the `_dispose` that would comes second
        # among its base classes.
        _pass_managers.NewPassManager._dispose(passes)
        passes.detach()


def _pass_builder(target: Target) -> Any:
    return _numbered_builder(target, next(_runs) // RUNS_PER_BUILDER)


@lru_cache(maxsize=1)
def _numbered_builder(target: Target, number: int) -> Any:
    """A builder of passes without LLVM's vectorisers: lanes are ours, of vectorize_inner.py.

    That for loops reads and writes the wrong elements where there are guards in LLVM 22, and in
    every version so far computes a guarded division in one lane and uses it in all. That for
    straight-line code ends the process in LLVM 22 at loads behind guards that contradict each
    other; of 215 programs it changed 21, one of them by more than a twentieth.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.loop_interleaving = False
    options.slp_vectorization = False
    options.loop_unrolling = True
    return llvm.create_pass_builder(target_machine(target), options)


def emit_object(module: Optimized, target: Target) -> bytes:
    """The object code of an optimised module."""
    if not target.has_slow_branches:
        return target_machine(target).emit_object(module)
    llvm.set_option("hybridjit", f"{_ALIGN_BRANCHES}=true")
    try:
        return target_machine(target).emit_object(module)
    finally:
        llvm.set_option("hybridjit", f"{_ALIGN_BRANCHES}=false")  # as others in the process have it


def emit_assembly(module: Optimized, target: Target) -> str:
    """The assembly of an optimised module."""
    return target_machine(target).emit_assembly(module)


def code_bytes(image: bytes) -> int:
    """How much of object code is instructions."""
    sections = llvm.ObjectFileRef.from_data(image).sections()
    return sum(section.size() for section in sections if section.is_text())


def link(image: bytes, exports: tuple[str, ...], imports: Mapping[str, int]) -> Library:
    """Load object code into the process. `imports` gives the addresses of what it calls of ours."""
    builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
    for name in exports:
        builder.export_symbol(name)
    for name, address in imports.items():
        builder.import_symbol(name, address)
    number = next(_libraries)
    session = _numbered_session(number // LIBRARIES_PER_SESSION)
    tracker = builder.link(session.item(), f"hybridjit.{number}")
    return Library({name: tracker[name] for name in exports}, hide(tracker))


@lru_cache(maxsize=1)
def _numbered_session(number: int) -> HiddenReference:
    """The session for new libraries; one that is forgotten lives as long as its libraries do."""
    # LLVM's older linker asks for memory part by part: constants, which code reaches by 32 bits,
    # may lie on the other side of a large array, and LLVM ends the process. The newer one takes
    # one piece for all. For objects of Windows, LLVM itself prefers the older one.
    machine, is_joined = linking_machine(), sys.platform != "win32"
    return hide(llvm.create_lljit_compiler(machine, use_jit_link=is_joined, suppress_errors=True))
