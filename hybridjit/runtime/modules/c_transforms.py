"""Fourier transforms for exported libraries, in C: they have no NumPy to call.

A row is divided by the least factor of its length, again and again: n elements take n times the sum
of the prime factors. Where memory is short, each result is a sum over all elements.
"""

from __future__ import annotations

from collections.abc import Iterable

_SYMBOLS = tuple(
    f"hj_numpy_{kind}" for kind in ("fft", "ifft", "irfft", "rfft_n_even", "rfft_n_odd")
)
_BEGIN = """
#include <stdlib.h>
#include <math.h>
#define HJ_HIDDEN __attribute__((visibility("hidden")))
typedef struct { double re, im; } hj_number;
typedef struct { void (*run)(char **, const int64_t *, const int64_t *, void *); void *data; }
    hj_transform;
static hj_number hj_add_product(hj_number sum, hj_number x, hj_number y)
{
    sum.re += x.re * y.re - x.im * y.im;
    sum.im += x.re * y.im + x.im * y.re;
    return sum;
}
static hj_number hj_root(int64_t k, int64_t n)
{
    double angle = -6.283185307179586476925286766559 * ((double)k / (double)n);
    return (hj_number){cos(angle), sin(angle)};
}
static void hj_divide(const hj_number *in, hj_number *out, int64_t n, int64_t step,
                      const hj_number *roots, hj_number *terms)
{
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    int64_t p = 2;
    while (n % p) p = p * p > n ? n : p + 1;
    int64_t m = n / p;
    for (int64_t k = 0; k < p; k++)
        hj_divide(in + k * step, out + k * m, m, step * p, roots, terms);
    for (int64_t j = 0; j < m; j++) {
        for (int64_t k = 0; k < p; k++) terms[k] = out[k * m + j];
        for (int64_t q = 0; q < p; q++) {
            hj_number sum = terms[0];
            for (int64_t k = 1; k < p; k++)
                sum = hj_add_product(sum, terms[k], roots[k * (q * m + j) % n * step]);
            out[q * m + j] = sum;
        }
    }
}
static hj_number hj_element(const double *row, int64_t k, int64_t given, int64_t n, int kind)
{
    if (kind == 2) { /* of half a spectrum */
        int is_mirrored = 2 * k > n;
        int64_t place = is_mirrored ? n - k : k;
        if (place >= given) return (hj_number){0, 0};
        double im = k == 0 || 2 * k == n ? 0 : row[2 * place + 1];
        return (hj_number){row[2 * place], is_mirrored ? im : -im};
    }
    if (k >= given) return (hj_number){0, 0};
    if (kind > 2) return (hj_number){row[k], 0};
    double im = row[2 * k + 1];
    return (hj_number){row[2 * k], kind == 1 ? -im : im};
}
static void hj_transform_rows(char **arrays, const int64_t *sizes, const int64_t *steps, void *data)
{
    int kind = *(const int *)data;
    int64_t given = sizes[1], made = sizes[2];
    int64_t n = kind < 3 ? made : 2 * made - (kind == 3 ? 2 : 1);
    double scale = *(const double *)arrays[1];
    hj_number *memory = n < (int64_t)1 << 56 ? malloc(4 * (size_t)n * sizeof(hj_number)) : 0;
    hj_number *in = memory, *out = memory + (memory ? n : 0), *roots = out + (memory ? n : 0);
    for (int64_t k = 0; memory && k < n; k++) roots[k] = hj_root(k, n);
    for (int64_t row = 0; row < sizes[0]; row++) {
        const double *from = (const double *)(arrays[0] + row * steps[0]);
        double *to = (double *)(arrays[2] + row * steps[2]);
        for (int64_t k = 0; memory && k < n; k++) in[k] = hj_element(from, k, given, n, kind);
        if (memory) hj_divide(in, out, n, 1, roots, roots + n);
        for (int64_t k = 0; k < made; k++) {
            hj_number x = {0, 0};
            for (int64_t j = 0; !memory && j < n; j++) {
                hj_number root = hj_root((int64_t)((__int128)j * k % n), n);
                x = hj_add_product(x, hj_element(from, j, given, n, kind), root);
            }
            if (memory) x = out[k];
            if (kind == 2) {
                to[k] = x.re * scale;
            } else {
                to[2 * k] = x.re * scale;
                to[2 * k + 1] = (kind == 1 ? -x.im : x.im) * scale;
            }
        }
    }
    free(memory);
}
"""


def _definition(symbol: str) -> str:
    return (
        f"static int {symbol}_kind = {_SYMBOLS.index(symbol)};\n"
        f"HJ_HIDDEN const hj_transform {symbol} = {{hj_transform_rows, &{symbol}_kind}};"
    )


def make_transforms(symbols: Iterable[str]) -> str:
    """The C text of the transforms of NumPy that exported code knows by these symbols."""
    wanted = sorted(set(symbols))
    return "\n".join([_BEGIN, *map(_definition, wanted), ""]) if wanted else ""
