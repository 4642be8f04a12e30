"""LLVM's code generator for a processor."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as binding

from hybridjit.target import Target

llvm: Any = binding  # llvmlite has no types that a checker could follow
Machine = Any  # binding.TargetMachine


@cache
def target_machine(target: Target) -> Machine:
    """LLVM's code generator for `target`."""
    machine = llvm.Target.from_triple(target.triple)
    # The small code model reaches constants by one instruction; calls out go through stubs.
    return machine.create_target_machine(
        cpu=target.cpu,
        features=target.features,
        # On ARM, the last level makes branches of choices that nobody can foresee (the bits of a
        # checksum: 39 µs, not 22), and nothing else of 36 kernels faster.
        opt=2 if target.is_arm else 3,
        reloc="pic",
        codemodel="small",
    )


@cache
def linking_machine() -> Machine:
    """What a session needs to link objects: the kind of this processor, whatever its features.

    A session makes a machine from it, and for one with all features of a processor takes twice as
    long. For this one, it would look for them itself.
    """
    return llvm.Target.from_default_triple().create_target_machine()
