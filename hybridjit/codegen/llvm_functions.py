"""Functions that are given as LLVM text: read, checked, linked into kernels, run by themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hybridjit.codegen.engine import Library, emit_object, link, optimize
from hybridjit.codegen.hidden_reference import HiddenReference
from hybridjit.codegen.llvm_text import make_context, parse_llvm
from hybridjit.codegen.llvm_types import foreign_type
from hybridjit.errors import ArgumentValueError
from hybridjit.ir.dtype import DType
from hybridjit.ir.extern import Pointer
from hybridjit.processor import current_target
from hybridjit.record import record

_DEFINITION = re.compile(r"^define\b[^@\n]*@([\w.$]+)\(", re.MULTILINE)


@record
class LLVMFunction:
    """A function of an LLVM module, under a `symbol` that only this text has."""

    name: str
    symbol: str
    text: str


def read_function(
    text: str, name: str | None, result: DType | None, params: Sequence[DType | Pointer]
) -> LLVMFunction:
    """The function that `text` defines, or the one called `name` of several."""
    names = _DEFINITION.findall(text)
    chosen: str = name or (names[0] if len(names) == 1 else "")
    if chosen not in names:
        listed = ", ".join(names) or "none"
        raise ArgumentValueError(
            f"the LLVM text defines {listed}; give the name of one of them"
            if name is None
            else f"the LLVM text defines no function '{name}', but {listed}"
        )
    import hashlib  # noqa: PLC0415 (3 ms, for OpenSSL; most kernels have no such function)

    symbol = f"hj_llvm_{chosen}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    renamed = re.sub(rf"@{re.escape(chosen)}\b", f"@{symbol}", text)
    _check_types(_parse(renamed).get_function(symbol), chosen, result, params)
    return LLVMFunction(chosen, symbol, renamed)


def _parse(text: str, context: HiddenReference | None = None) -> Any:
    try:
        return parse_llvm(text, context)
    except RuntimeError as error:
        raise ArgumentValueError(f"the LLVM text is not valid: {str(error).strip()}") from None


def _check_types(
    function: Any, name: str, result: DType | None, params: Sequence[DType | Pointer]
) -> None:
    declared = ["void" if result is None else _text(result), *map(_text, params)]
    found = [_returned(str(function)), *(str(argument.type) for argument in function.arguments)]
    if declared != found:
        raise ArgumentValueError(
            f"'{name}' is {found[0]}({', '.join(found[1:])}) in the LLVM text, and is declared as "
            f"{declared[0]}({', '.join(declared[1:])})"
        )


def _returned(definition: str) -> str:
    """The type that a function returns: the last word before its name that is no attribute."""
    match = re.search(r"^define\b([^@\n]*)@", definition, re.MULTILINE)
    return match.group(1).split()[-1] if match else "void"


def _text(entry: DType | Pointer) -> str:
    return "ptr" if isinstance(entry, Pointer) else str(foreign_type(entry))


def link_functions(text: str, functions: Mapping[str, str]) -> str:
    """The module `text` with the functions that it calls, each by its symbol, as its own."""
    context = make_context()
    module = _parse(text, context)
    for source in functions.values():
        module.link_in(_parse(source, context))
    for symbol in functions:
        module.get_function(symbol).linkage = "internal"
    return str(module)


def load_function(function: LLVMFunction) -> Library:
    """The function as code of this process."""
    target = current_target()
    image = emit_object(optimize(function.text, target), target)
    return link(image, (function.symbol,), {})
