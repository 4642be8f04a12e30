"""Sorting for exported libraries, in C: they have no NumPy to call.

A merge sort, which is stable and puts NaNs last; where memory is short, by insertion in place.
"""

from __future__ import annotations

from collections.abc import Iterable

from hybridjit.frontend.library.numpy_sorts import read_symbol

_BEGIN = """
#include <stdlib.h>
#include <string.h>
#define HJ_HIDDEN __attribute__((visibility("hidden")))
typedef struct { float re, im; } hj_complex64;
typedef struct { double re, im; } hj_complex128;
static int hj_half_place(uint16_t x)
{
    if ((x & 0x7fff) > 0x7c00) return 0x8000;
    return x & 0x8000 ? -(x & 0x7fff) : x;
}
#define HJ_INTEGER_BEFORE(x, y) ((x) < (y))
#define HJ_FLOAT_BEFORE(x, y) ((x) < (y) || ((y) != (y) && (x) == (x)))
#define HJ_HALF_BEFORE(x, y) (hj_half_place(x) < hj_half_place(y))
#define HJ_COMPLEX_BEFORE(x, y) \\
    ((x).re < (y).re ? (x).im == (x).im || (y).im != (y).im \\
     : (x).re > (y).re ? (x).im == (x).im && (y).im != (y).im \\
     : (x).re == (y).re || ((x).re != (x).re && (y).re != (y).re) \\
         ? HJ_FLOAT_BEFORE((x).im, (y).im) \\
         : (y).re != (y).re)
#define HJ_ELEMENT(keys, x) (x)
#define HJ_KEY(keys, x) ((keys)[x])
#define HJ_SORT(name, key, type, before, look) \\
static void name(const key *keys, type *a, int64_t n) \\
{ \\
    type *b = malloc((size_t)(n > 0 ? n : 1) * sizeof(type)); \\
    int64_t run = b ? 8 : n; \\
    for (int64_t first = 0; first < n; first += run) { \\
        int64_t end = first + run < n ? first + run : n; \\
        for (int64_t k = first + 1; k < end; k++) { \\
            type x = a[k]; \\
            int64_t j = k; \\
            for (; j > first && before(look(keys, x), look(keys, a[j - 1])); j--) \\
                a[j] = a[j - 1]; \\
            a[j] = x; \\
        } \\
    } \\
    for (int64_t width = run; b && width < n; width *= 2) { \\
        for (int64_t first = 0; first < n; first += 2 * width) { \\
            int64_t middle = first + width < n ? first + width : n; \\
            int64_t end = middle + width < n ? middle + width : n; \\
            int64_t i = first, j = middle; \\
            for (int64_t k = first; k < end; k++) { \\
                int right = i == middle \\
                    || (j < end && before(look(keys, a[j]), look(keys, a[i]))); \\
                b[k] = right ? a[j++] : a[i++]; \\
            } \\
        } \\
        memcpy(a, b, (size_t)n * sizeof(type)); \\
    } \\
    free(b); \\
}
"""


def _element(dtype: str) -> tuple[str, str]:
    """The C type of an element, and what compares two."""
    if dtype == "float16":
        return "uint16_t", "HJ_HALF_BEFORE"
    if dtype.startswith("complex"):
        return f"hj_{dtype}", "HJ_COMPLEX_BEFORE"
    if dtype.startswith("float"):
        return {"float32": "float", "float64": "double"}[dtype], "HJ_FLOAT_BEFORE"
    return "uint8_t" if dtype == "bool" else f"{dtype}_t", "HJ_INTEGER_BEFORE"


def _definition(symbol: str) -> str:
    what, _, dtype = read_symbol(symbol)
    element, before = _element(dtype)
    inner = f"{symbol}_in_c"
    if what == "sort":
        return (
            f"HJ_SORT({inner}, char, {element}, {before}, HJ_ELEMENT)\n"
            f"HJ_HIDDEN void {symbol}({element} *a, int64_t n, int64_t array)"
            f" {{ {inner}(0, a, n); }}"
        )
    return (
        f"HJ_SORT({inner}, {element}, int64_t, {before}, HJ_KEY)\n"
        f"HJ_HIDDEN void {symbol}(const {element} *keys, int64_t *a, int64_t n, int64_t array)"
        f" {{ {inner}(keys, a, n); }}"
    )


def make_sorts(symbols: Iterable[str]) -> str:
    """The C text of the functions of NumPy that exported code calls by these symbols."""
    wanted = sorted(set(symbols))
    return "\n".join([_BEGIN, *map(_definition, wanted), ""]) if wanted else ""
