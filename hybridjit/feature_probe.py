"""Ask LLVM for the features of a processor by its name. A program of its own, which needs only
llvmlite: for a name that it does not know, LLVM ends the process.

llvmlite does not say what LLVM's table of processors holds. LLVM's inliner does: it inlines a
function that needs a feature only into one whose processor has it.

    define i32 @needs(ptr %x) "target-cpu"="haswell" "target-features"="+avx2"
    define i32 @asks(ptr %x)      # for haswell alone: has it AVX2 if the call is gone
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as binding

_llvm: Any = binding  # which has no types that a checker could follow
# Not foldable, so that the call stays unless it is inlined.
_PAIR = """
define i32 @needs{0}(ptr %x) #{0} {{
  %value = load volatile i32, ptr %x
  ret i32 %value
}}
define i32 @asks{0}(ptr %x) {{
  %value = call i32 @needs{0}(ptr %x)
  ret i32 %value
}}
attributes #{0} = {{ "target-cpu"="{2}" "target-features"="+{1}" }}
"""


def find_features(cpu: str, names: Sequence[str]) -> list[str]:
    """Those of the features `names` that a processor has."""
    text = "".join(_PAIR.format(number, name, cpu) for number, name in enumerate(names))
    module = _llvm.parse_assembly(text)
    machine = _llvm.Target.from_default_triple().create_target_machine(cpu=cpu, features="")
    builder = _llvm.create_pass_builder(machine, _llvm.create_pipeline_tuning_options(1))
    builder.getModulePassManager().run(module, builder)
    asking = (str(module.get_function(f"asks{number}")) for number in range(len(names)))
    return [name for name, text in zip(names, asking, strict=True) if "call" not in text]


def main() -> None:
    """Write the features of a processor, of those that are asked for, on one line."""
    _llvm.initialize_native_target()
    _llvm.initialize_native_asmprinter()
    cpu, *names = sys.argv[1:]
    sys.stdout.write(" ".join(find_features(cpu, sorted(names))) + "\n")


if __name__ == "__main__":
    main()
