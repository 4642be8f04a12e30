"""C text for exported functions: the header, and the source that joins it to the object code.

    int32_t add(const float *A, const float *B, float *C, int64_t n);
    const char *add_message(int32_t status);

Parameters come in the order of the function; the sizes that it reads from its arrays follow, then
a place for each scalar result.
"""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Iterator, Sequence

from hybridjit.codegen.layout import Convention
from hybridjit.codegen.sites import RECORD_WORDS, Failure, Site
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.header import Header
from hybridjit.ir.printer_exprs import format_with
from hybridjit.ir.printer_names import Names
from hybridjit.ir.signature import ScalarParam
from hybridjit.ir.texts import without_values
from hybridjit.record import record

_C_TYPES = {
    "bool": "uint8_t",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
    "complex64": "float",
    "complex128": "double",
}
_C = """auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while"""
# Compilers of C have these as well, as words or as macros.
_GNU = """asm linux typeof typeof_unqual unix"""
_CPLUSPLUS = """alignas alignof and and_eq asm bitand bitor bool catch class co_await co_return
co_yield compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast
explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq
private protected public reinterpret_cast requires static_assert static_cast template this
thread_local throw true try typeid typename using virtual xor xor_eq"""
# What the object code calls by name, or may call one day.
_LIBRARY = """aligned_alloc calloc free madvise main malloc memcmp memcpy memmove memset realloc"""
_TAKEN = frozenset((*_C.split(), *_GNU.split(), *_CPLUSPLUS.split(), *_LIBRARY.split()))
# What C keeps for itself: _Bool, __func__, and the macros of <stdint.h>.
_RESERVED = re.compile(r"_[A-Z_]|\w*_t$|hj_|[A-Z0-9_]+_(MAX|MIN|WIDTH|C)$")
_FAILURES = {
    Failure.DIVISION: "integer division or modulo by zero",
    Failure.NARROWING: "an integer does not fit its type",
    Failure.POWER: "integers to negative integer powers are not allowed",
    Failure.UNBOUND: "a variable is read before it is assigned",
    Failure.STEP: "a loop has the step 0",
    Failure.SIZE: "negative dimensions are not allowed",
    Failure.TOO_LARGE: "a scratch array is too large",
    Failure.EXTENT: "a size is negative or too large",
    Failure.MEMORY: "a scratch array does not fit in memory",
    Failure.STRIDES: "an array that is passed to another function is not in C order",
}


@record(eq=False)
class Exported:
    """A function in object code: its C name, how it is called, what its failures mean, and which
    functions of NumPy it calls.
    """

    name: str
    header: Header
    written: frozenset[Buffer]
    convention: Convention
    sites: tuple[Site, ...]
    known: tuple[str, ...]

    @property
    def kernel(self) -> str:
        """The symbol of the object code."""
        return f"hj_kernel_{self.name}"

    @property
    def adapter(self) -> str:
        """The symbol that takes all arguments in one array of words."""
        return f"hj_call_{self.name}"


def c_name(name: str) -> str:
    """`name` as an identifier of C and C++ that means nothing there yet."""
    cleaned = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not cleaned or cleaned[0].isdigit():
        return f"_{cleaned}"
    if cleaned in _TAKEN or _RESERVED.match(cleaned):
        return f"x{cleaned}" if cleaned[0] == "_" else f"{cleaned}_"
    return cleaned


def c_type(dtype: DType) -> str:
    """The C type of an element; of a complex one, of its two parts."""
    return _C_TYPES.get(dtype.name, f"{dtype.name}_t")


# The header


def make_header(functions: Sequence[Exported], guard: str) -> str:
    """The text of the C header."""
    parts = [
        "/* Functions that return 0, or the number of an error; <name>_message tells what it is.",
        " * Arrays lie in C order and share no memory. Half precision is passed as its bits, a",
        " * complex number as its real and its imaginary part. Sizes come after the parameters.",
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <stdint.h>",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
    ]
    for function in functions:
        parts += ["", *_describe(function), f"{_prototype(function)};"]
        parts.append(f"const char *{function.name}_message(int32_t status);")
    parts += ["", "#ifdef __cplusplus", "}", "#endif", "#endif"]
    return "\n".join(parts) + "\n"


def _describe(function: Exported) -> Iterator[str]:
    yield f"/* {_remark(function.header.name)}"
    names = _names(function)
    for buffer in function.convention.buffers:
        shape = _remark(", ".join(format_with(names, extent) for extent in buffer.shape))
        use = "written" if buffer in function.written else "read"
        if buffer in function.header.outputs:
            use = "result"
        yield f" *   {names.text(buffer)}: {buffer.dtype} [{shape}], {use}"
    yield " */"


def _remark(text: str) -> str:
    """`text` inside a comment, which it must not end."""
    return " ".join(text.split()).replace("*/", "* /")


def _prototype(function: Exported) -> str:
    params = [text for _, text in _parameters(function)]
    return f"int32_t {function.name}({', '.join(params) or 'void'})"


def _names(function: Exported) -> Names:
    """A name in C for each parameter and size: no two are the same."""
    names = Names()
    taken = {"hj_record", *(_result_name(k) for k in range(len(function.convention.results)))}
    for item in _in_order(function):
        name = base = c_name(item.name)
        numbers = itertools.count(1)
        while not taken.isdisjoint({name, *_halves(name)}):
            name = f"{base}_{next(numbers)}"
        taken.update({name, *_halves(name)} if item.dtype.is_complex else {name})
        names.show_as(item, name)
    return names


def _result_name(position: int) -> str:
    return f"result_{position}"


def _in_order(function: Exported) -> list[Buffer | Var]:
    header = function.header
    params = [p.var if isinstance(p, ScalarParam) else p for p in header.params]
    return [*params, *function.convention.dimensions, *header.outputs]


def _parameters(function: Exported) -> Iterator[tuple[str, str]]:
    """The name and the declaration of each parameter of the C function."""
    names = _names(function)
    for item in _in_order(function):
        name = names.text(item)
        if isinstance(item, Buffer):
            is_written = item in function.written or item in function.header.outputs
            yield name, f"{'' if is_written else 'const '}{c_type(item.dtype)} *{name}"
        elif item.dtype.is_complex:
            yield from ((part, f"{c_type(item.dtype)} {part}") for part in _halves(name))
        else:
            yield name, f"{c_type(item.dtype)} {name}"
    for position, result in enumerate(function.convention.results):
        name = _result_name(position)
        yield name, f"{c_type(result.dtype)} *{name}"


def _halves(name: str) -> tuple[str, str]:
    return f"{name}_re", f"{name}_im"


# The source


def make_source(functions: Sequence[Exported], header_name: str, metadata: str) -> str:
    """C functions that call the object code, and the metadata that `load_module` reads."""
    parts = [f'#include "{header_name}"']
    for function in functions:
        parts += ["", *_define(function), "", *_define_message(function)]
    parts += ["", f"const char hj_metadata[] = {_quoted(metadata)};"]
    return "\n".join(parts) + "\n"


def _define(function: Exported) -> Iterator[str]:
    passed = list(_passed(function))
    types = ", ".join([*(kind for kind, _ in passed), "int64_t *"])
    yield f"extern int32_t {function.kernel}({types});"
    yield f"{_prototype(function)} {{"
    yield f"    int64_t hj_record[{RECORD_WORDS}];"
    values = ", ".join([*(value for _, value in passed), "hj_record"])
    yield f"    return {function.kernel}({values});"
    yield "}"


def _passed(function: Exported) -> Iterator[tuple[str, str]]:
    """The type and the value of each argument of the object code, in its order."""
    call, names = function.convention, _names(function)
    for buffer in call.buffers:
        kind = f"{c_type(buffer.dtype)} *"
        yield kind, f"({kind}){names.text(buffer)}"
    for var in call.dimensions:
        yield "int64_t", names.text(var)
    for var in call.scalars:
        name = names.text(var)
        for part in _halves(name) if var.dtype.is_complex else (name,):
            yield c_type(var.dtype), part
    for position, result in enumerate(call.results):
        yield f"{c_type(result.dtype)} *", _result_name(position)


def _define_message(function: Exported) -> Iterator[str]:
    yield f"const char *{function.name}_message(int32_t status) {{"
    yield "    switch (status) {"
    yield '    case 0: return "no error";'
    for number, site in enumerate(function.sites, 1):
        yield f"    case {number}: return {_quoted(_message(site))};"
    yield '    default: return "unknown error";'
    yield "    }"
    yield "}"


def _message(site: Site) -> str:
    texts = [part for part in site.parts if isinstance(part, str)]
    if site.failure is Failure.BOUNDS:
        buffer, axis = texts
        return f"index out of bounds for axis {axis} of '{buffer}'"
    if site.failure is Failure.RAISE_TEXT:
        return f"{texts[0]}: {without_values(texts[1])}"
    known = _FAILURES.get(site.failure)
    if known is None:
        return ": ".join(texts) or site.failure.value
    return f"{known} ({', '.join(texts)})" if texts else known


def _quoted(text: str) -> str:
    """A string of C with the bytes of `text`; all that could mean something there by number."""
    plain = frozenset(string.ascii_letters + string.digits + " !#$%&'()*+,-./:;<=>@[]^_`{|}~")
    return '"' + "".join(chr(c) if chr(c) in plain else f"\\{c:03o}" for c in text.encode()) + '"'
