"""export_library: built functions as a shared library and a C header."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hybridjit.codegen.engine import emit_object, optimize
from hybridjit.codegen.kernel import ENTRY, emit_kernel
from hybridjit.codegen.sites import ADAPTER
from hybridjit.errors import ArgumentValueError, HybridError
from hybridjit.frontend.library.numpy_symbols import is_sort
from hybridjit.ir.signature import ArrayResult
from hybridjit.lowering.pipeline import lower
from hybridjit.processor import current_target
from hybridjit.runtime.cache.entry import Json
from hybridjit.runtime.cache.serialization import Unsavable, encode_sites
from hybridjit.runtime.modules.built_function import BuiltFunction, usual_layout
from hybridjit.runtime.modules.c_sorts import make_sorts
from hybridjit.runtime.modules.c_text import Exported, c_name, make_header, make_source
from hybridjit.runtime.modules.c_transforms import make_transforms
from hybridjit.runtime.translation import encode_summary

COMPILERS = ("cc", "gcc", "clang")
METADATA = "hj_metadata"


def export_library(functions: Sequence[BuiltFunction], path: str) -> None:
    """Write a shared library at `path`, and a header with the same name that ends in .h."""
    compiler = _find_compiler()
    library = Path(path)
    header = library.with_suffix(".h")
    if library == header:
        raise ArgumentValueError(f"{path} is the name of a header", help="as in libadd.so")
    names = _c_names(functions)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        exported = [_emit(function, name, work) for function, name in names.items()]
        text = make_header(exported, c_name(f"{header.name}_included").upper())
        (work / header.name).write_text(text, encoding="utf-8")
        source = make_source(exported, header.name, _metadata(exported, functions))
        known = [symbol for function in exported for symbol in function.known]
        source += make_sorts(symbol for symbol in known if is_sort(symbol))
        transforms = make_transforms(symbol for symbol in known if not is_sort(symbol))
        (work / "entry.c").write_text(source + transforms, encoding="utf-8")
        made = work / "library"
        objects = [str(work / f"{function.name}.o") for function in exported]
        _run(
            [compiler, "-shared", "-fPIC", "-O2", "-o", str(made), str(work / "entry.c"), *objects]
            + (["-lm"] if transforms else [])
        )
        shutil.copyfile(work / header.name, header)
        shutil.copyfile(made, library)


def _find_compiler() -> str:
    found = next((name for name in COMPILERS if shutil.which(name) is not None), None)
    if found is None:
        raise HybridError(
            "export_library needs a C compiler to link with, and there is none: "
            f"looked for {', '.join(COMPILERS)}",
            help="install one, as in `apt install gcc`",
        )
    return found


def _c_names(functions: Sequence[BuiltFunction]) -> dict[BuiltFunction, str]:
    names = {function: c_name(function.__name__) for function in functions}
    symbols = [*names.values(), *(f"{name}_message" for name in names.values())]
    if len(set(symbols)) < len(symbols):
        raise ArgumentValueError(
            f"two functions have the same name in C: {', '.join(names.values())}"
        )
    return names


def _emit(function: BuiltFunction, name: str, work: Path) -> Exported:
    """Write the object code of `function`."""
    made = function.specialization
    if any(isinstance(result, ArrayResult) for result in made.header.returns or ()):
        raise ArgumentValueError(
            f"the size of a result of '{function.__name__}' is computed, and a C function writes "
            "into arrays of its caller",
            help="return an array of the largest size, and how much of it counts",
        )
    target = current_target()
    layout = usual_layout(made.header)
    lowered = lower(made.optimized.func, target, may_vectorize=layout.is_disjoint)
    module = emit_kernel(lowered, layout, target, standalone=True)
    if module.callbacks:
        raise ArgumentValueError(
            f"'{function.__name__}' calls functions of this process, which a library cannot"
        )
    summary = made.summary
    result = Exported(
        name, made.header, summary.written, module.convention, module.sites, module.known
    )
    text = module.text
    for symbol, exported in ((ENTRY, result.kernel), (ADAPTER, result.adapter)):
        text = re.sub(rf'@({symbol}|"{symbol}")(?![\w.$])', f'@"{exported}"', text)
    (work / f"{name}.o").write_bytes(emit_object(optimize(text, target), target))
    return result


def _metadata(exported: Sequence[Exported], functions: Sequence[BuiltFunction]) -> str:
    entries = [_entry(*pair) for pair in zip(exported, functions, strict=True)]
    return json.dumps({"functions": entries}, separators=(",", ":"))


def _entry(exported: Exported, function: BuiltFunction) -> Json:
    """What `load_module` needs to know of a function."""
    try:
        summary = encode_summary(function.specialization.summary, ())
    except Unsavable as error:
        raise ArgumentValueError(
            f"'{function.__name__}' has what a library has no words for: {error}"
        ) from None
    return {
        "name": function.__name__,
        "adapter": exported.adapter,
        "summary": summary,
        "sites": encode_sites(exported.sites, None),
    }


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HybridError(f"{command[0]} failed to link the library", notes=(done.stderr.strip(),))
