"""Reading LLVM text, so that a module is never freed after its context.

An interrupt leaves a traceback whose frames hold modules, and often stands in a cycle. What the
garbage collector finds there it finalises in no order, and LLVM frees the modules of a context with
it: so the collector does not see contexts.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as binding

from hybridjit.codegen.hidden_reference import HiddenReference, hide

llvm: Any = binding  # llvmlite has no types that a checker could follow
ModuleRef = Any  # binding.ModuleRef


def make_context() -> HiddenReference:
    """A context for modules. Their constants and types live as long as it: the common one would
    keep them all.
    """
    return hide(llvm.create_context())


def parse_llvm(text: str, context: HiddenReference | None = None) -> ModuleRef:
    """Parse and verify a module, in a context of its own if none is given."""
    hidden = make_context() if context is None else context
    module = llvm.parse_assembly(text, context=hidden.item())
    module._context = hidden
    module.verify()
    return module
