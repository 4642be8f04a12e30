"""The machine that code is made for."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as binding

from hybridjit.target import Target

llvm: Any = binding  # llvmlite has no types that a checker could follow
Machine = Any  # binding.TargetMachine


@cache
def host_target() -> Target:
    """The processor that we are running on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return Target(llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


@cache
def target_machine(target: Target) -> Machine:
    """LLVM's code generator for `target`."""
    machine = llvm.Target.from_triple(target.triple)
    # The small code model reaches constants by one instruction; calls out go through stubs.
    return machine.create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="small"
    )


def llvm_versions() -> tuple[str, str]:
    """The versions of llvmlite and of the LLVM in it."""
    return llvmlite.__version__, ".".join(map(str, llvm.llvm_version_info))
