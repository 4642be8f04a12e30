"""Data of our own for the kernels: random, well conditioned, no fixed points and no ones.

`make(kernel, size)` gives the arguments of a kernel; those of the NumPy form and of the loop form
are the same. The data depends on the kernel and on nothing else: two calls give equal arrays.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy

from tests.npbench.sizes import SIZES, Size

np: Any = numpy  # the types of random numbers say nothing here
Array = Any
Arguments = tuple[Any, ...]


def make(kernel: str, size: str = "test", dtype: str | None = None) -> Arguments:
    """The arguments of a kernel; `dtype` replaces its natural one where there is a choice."""
    draw = _Draw(kernel, dtype)
    return _MAKERS[kernel](draw, SIZES[kernel][size])


class _Draw:
    """Random arrays for one kernel."""

    def __init__(self, kernel: str, dtype: str | None) -> None:
        self.dtype = np.dtype(dtype or NATURAL.get(kernel, "float64"))
        self.rng = np.random.default_rng(zlib.crc32(kernel.encode()))

    def reals(self, *shape: int) -> Array:
        """Numbers between 0.1 and 1.1, in the kernel's type; complex ones have both parts."""
        found = self.rng.random(shape) + 0.1
        if self.dtype.kind == "c":
            found = found + 1j * (self.rng.random(shape) - 0.5)
        return found.astype(self.dtype)

    def signed(self, *shape: int) -> Array:
        """Numbers around zero."""
        return (self.reals(*shape) - 0.6).astype(self.dtype)

    def integers(self, low: int, high: int, *shape: int) -> Array:
        """Integers, in the kernel's type."""
        return self.rng.integers(low, high, shape).astype(self.dtype)

    def definite(self, n: int) -> Array:
        """A symmetric matrix whose eigenvalues are all well above zero."""
        half = self.rng.random((n, n))
        return (half @ half.T + n * np.eye(n)).astype(self.dtype)

    def number(self, value: float) -> Any:
        """A scalar argument in the kernel's type, as a NumPy scalar."""
        return self.dtype.type(value)


def _matrices(*shapes: str) -> Callable[[_Draw, Size], Arguments]:
    """A maker of arrays whose sizes are named: `_matrices("MN", "N")`."""

    def maker(draw: _Draw, size: Size) -> Arguments:
        return tuple(draw.reals(*(size[name] for name in shape.split())) for shape in shapes)

    return maker


def _scaled(*shapes: str) -> Callable[[_Draw, Size], Arguments]:
    """A maker of `alpha`, `beta` and arrays."""
    arrays = _matrices(*shapes)
    return lambda draw, size: (draw.number(1.5), draw.number(0.75), *arrays(draw, size))


def _stepped(steps: str, *shapes: str) -> Callable[[_Draw, Size], Arguments]:
    """A maker of a number of steps and arrays."""
    arrays = _matrices(*shapes)
    return lambda draw, size: (size[steps], *arrays(draw, size))


def _definite(draw: _Draw, size: Size) -> Arguments:
    return (draw.definite(size["N"]),)


def _azimint(draw: _Draw, size: Size) -> Arguments:
    return draw.reals(size["N"]), draw.reals(size["N"]), size["npt"]


def _channel_flow(draw: _Draw, size: Size) -> Arguments:
    """A flow that has almost reached its final speed, so that it takes a few steps."""
    shape = size["ny"], size["nx"]
    u = size["percent"] / 100 * (1 + 0.02 * draw.reals(*shape))
    v, p = 0.01 * draw.reals(*shape), 0.1 * draw.reals(*shape)
    for field in (u, v):
        field[0] = field[-1] = 0  # nothing moves at the walls
    widths = 2 / (size["nx"] - 1), 2 / (size["ny"] - 1)
    return size["nit"], u, v, 0.001, *widths, p, 1.0, 0.01, 1.0


def _contour_integral(draw: _Draw, size: Size) -> Arguments:
    n, m, slabs = size["NR"], size["NM"], size["slab_per_bc"]
    # The middle term dominates, so that every matrix can be inverted.
    ham = draw.reals(slabs + 1, n, n) / n
    ham[slabs // 2] += 3 * np.eye(n)
    angles = 2 * np.pi * (np.arange(size["num_int_pts"]) + 0.3) / size["num_int_pts"]
    radii = np.where(np.arange(size["num_int_pts"]) % 2 == 0, 0.7, 1.4)
    points = (radii * np.exp(1j * angles)).astype(draw.dtype)
    return n, m, slabs, ham, points, draw.reals(n, m)


def _conv2d_bias(draw: _Draw, size: Size) -> Arguments:
    n, c_in, c_out, k = (size[name] for name in ("N", "C_in", "C_out", "K"))
    input = draw.reals(n, size["H"], size["W"], c_in)
    return input, draw.signed(k, k, c_in, c_out), draw.signed(c_out)


def _columns(draw: _Draw, size: Size) -> Arguments:
    return size["M"], draw.number(size["N"]), draw.signed(size["N"], size["M"])


def _crc16(draw: _Draw, size: Size) -> Arguments:
    return (draw.integers(0, 256, size["N"]),)


def _doitgen(draw: _Draw, size: Size) -> Arguments:
    r, q, p = size["NR"], size["NQ"], size["NP"]
    return r, q, p, draw.reals(r, q, p), draw.signed(p, p)


def _durbin(draw: _Draw, size: Size) -> Arguments:
    # Small next to the one on the diagonal: the recursion stays stable.
    return ((draw.signed(size["N"]) / size["N"]).astype(draw.dtype),)


def _floyd_warshall(draw: _Draw, size: Size) -> Arguments:
    path = draw.integers(1, 1000, size["N"], size["N"])
    np.fill_diagonal(path, 0)
    return (path,)


def _mandelbrot2(draw: _Draw, size: Size) -> Arguments:
    return -2.25, 0.75, -1.25, 1.25, size["xn"], size["yn"], size["maxiter"], 2.0


def _nbody(draw: _Draw, size: Size) -> Arguments:
    n = size["N"]
    mass, pos, vel = draw.reals(n, 1), draw.signed(n, 3), draw.signed(n, 3)
    return mass, pos, vel, n, size["Nt"], 0.05, 1.0, 0.1


def _nussinov(draw: _Draw, size: Size) -> Arguments:
    return size["N"], draw.integers(0, 4, size["N"])


def _resnet(draw: _Draw, size: Size) -> Arguments:
    n, w, h, c1, c2 = (size[name] for name in ("N", "W", "H", "C1", "C2"))
    weights = draw.signed(1, 1, c1, c2), draw.signed(3, 3, c2, c2), draw.signed(1, 1, c2, c1)
    return draw.signed(n, h, w, c1), *weights


def _seidel_2d(draw: _Draw, size: Size) -> Arguments:
    return size["TSTEPS"], size["N"], draw.reals(size["N"], size["N"])


def _softmax(draw: _Draw, size: Size) -> Arguments:
    n, h, sm = size["N"], size["H"], size["SM"]
    return (4 * draw.signed(n, h, sm, sm),)


def _spmv(draw: _Draw, size: Size) -> Arguments:
    rows, columns, nnz = size["M"], size["N"], size["nnz"]
    ends = np.sort(draw.rng.integers(0, nnz + 1, rows - 1))
    starts = np.concatenate([[0], ends, [nnz]]).astype(np.uint32)
    indices = draw.rng.integers(0, columns, nnz).astype(np.uint32)
    return starts, indices, draw.signed(nnz), draw.reals(columns)


def _stockham_fft(draw: _Draw, size: Size) -> Arguments:
    n = size["R"] ** size["K"]
    return n, size["R"], size["K"], draw.signed(n), draw.reals(n)


def _vadv(draw: _Draw, size: Size) -> Arguments:
    i, j, k = size["I"], size["J"], size["K"]
    fields = [draw.signed(i, j, k) for _ in range(4)]
    return *fields[:2], draw.signed(i + 1, j, k), *fields[2:], draw.number(3.0 / 20.0)


# The type of a kernel's arrays where it is not float64.
NATURAL: dict[str, str] = {
    "contour_integral": "complex128",
    "conv2d_bias": "float32",
    "crc16": "uint8",
    "floyd_warshall": "int32",
    "nussinov": "int32",
    "resnet": "float32",
    "softmax": "float32",
    "stockham_fft": "complex128",
}
_MAKERS: dict[str, Callable[[_Draw, Size], Arguments]] = {
    "atax": _matrices("M N", "N"),
    "azimint_hist": _azimint,
    "azimint_naive": _azimint,
    "channel_flow": _channel_flow,
    "cholesky": _definite,
    "cholesky2": _definite,
    "contour_integral": _contour_integral,
    "conv2d_bias": _conv2d_bias,
    "correlation": _columns,
    "covariance2": _columns,
    "crc16": _crc16,
    "doitgen": _doitgen,
    "durbin": _durbin,
    "fdtd_2d": _stepped("TMAX", "NX NY", "NX NY", "NX NY", "TMAX"),
    "floyd_warshall": _floyd_warshall,
    "gemm": _scaled("NI NJ", "NI NK", "NK NJ"),
    "gemver": _scaled("N N", *["N"] * 8),
    "gesummv": _scaled("N N", "N N", "N"),
    "go_fast": _matrices("N N"),
    "gramschmidt": _matrices("M N"),
    "jacobi_1d": _stepped("TSTEPS", "N", "N"),
    "jacobi_2d": _stepped("TSTEPS", "N N", "N N"),
    "k2mm": _scaled("NI NJ", "NJ NK", "NK NL", "NI NL"),
    "lu": _definite,
    "mandelbrot2": _mandelbrot2,
    "mvt": _matrices("N", "N", "N", "N", "N N"),
    "nbody": _nbody,
    "nussinov": _nussinov,
    "resnet": _resnet,
    "seidel_2d": _seidel_2d,
    "softmax": _softmax,
    "spmv": _spmv,
    "stockham_fft": _stockham_fft,
    "symm": _scaled("M N", "M M", "M N"),
    "syrk": _scaled("N N", "N M"),
    "vadv": _vadv,
}
KERNELS = tuple(_MAKERS)
