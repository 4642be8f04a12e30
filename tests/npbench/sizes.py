"""How large the data of each kernel is: "test" (odd and small), "S" and "M".

S and M are those of the NPBench suite, so that numbers can be set beside other people's.
"""

from __future__ import annotations

Size = dict[str, int]

SIZES: dict[str, dict[str, Size]] = {
    "atax": {
        "test": {"M": 5, "N": 7},
        "S": {"M": 4000, "N": 5000},
        "M": {"M": 10000, "N": 12500},
    },
    "azimint_hist": {
        "test": {"N": 211, "npt": 7},
        "S": {"N": 400_000, "npt": 1000},
        "M": {"N": 4_000_000, "npt": 1000},
    },
    "azimint_naive": {
        "test": {"N": 211, "npt": 7},
        "S": {"N": 400_000, "npt": 1000},
        "M": {"N": 4_000_000, "npt": 1000},
    },
    "channel_flow": {
        "test": {"ny": 9, "nx": 11, "nit": 3, "percent": 94},
        "S": {"ny": 61, "nx": 61, "nit": 5, "percent": 50},
        "M": {"ny": 121, "nx": 121, "nit": 10, "percent": 50},
    },
    "cholesky": {"test": {"N": 9}, "S": {"N": 100}, "M": {"N": 300}},
    "cholesky2": {"test": {"N": 9}, "S": {"N": 1000}, "M": {"N": 2200}},
    "contour_integral": {
        "test": {"NR": 5, "NM": 7, "slab_per_bc": 2, "num_int_pts": 6},
        "S": {"NR": 50, "NM": 150, "slab_per_bc": 2, "num_int_pts": 32},
        "M": {"NR": 200, "NM": 400, "slab_per_bc": 2, "num_int_pts": 32},
    },
    "conv2d_bias": {
        "test": {"N": 2, "C_in": 3, "C_out": 5, "K": 2, "H": 6, "W": 7},
        "S": {"N": 8, "C_in": 3, "C_out": 16, "K": 2, "H": 32, "W": 32},
        "M": {"N": 8, "C_in": 3, "C_out": 8, "K": 5, "H": 64, "W": 64},
    },
    "correlation": {
        "test": {"M": 5, "N": 8},
        "S": {"M": 500, "N": 600},
        "M": {"M": 1400, "N": 1800},
    },
    "covariance2": {
        "test": {"M": 5, "N": 8},
        "S": {"M": 500, "N": 600},
        "M": {"M": 1400, "N": 1800},
    },
    "crc16": {"test": {"N": 37}, "S": {"N": 1600}, "M": {"N": 16000}},
    "doitgen": {
        "test": {"NR": 3, "NQ": 4, "NP": 5},
        "S": {"NR": 60, "NQ": 60, "NP": 128},
        "M": {"NR": 110, "NQ": 125, "NP": 256},
    },
    "durbin": {"test": {"N": 9}, "S": {"N": 1000}, "M": {"N": 6000}},
    "fdtd_2d": {
        "test": {"TMAX": 4, "NX": 5, "NY": 7},
        "S": {"TMAX": 20, "NX": 200, "NY": 220},
        "M": {"TMAX": 60, "NX": 400, "NY": 450},
    },
    "floyd_warshall": {"test": {"N": 7}, "S": {"N": 200}, "M": {"N": 400}},
    "gemm": {
        "test": {"NI": 3, "NJ": 4, "NK": 5},
        "S": {"NI": 1000, "NJ": 1100, "NK": 1200},
        "M": {"NI": 2500, "NJ": 2750, "NK": 3000},
    },
    "gemver": {"test": {"N": 7}, "S": {"N": 1000}, "M": {"N": 3000}},
    "gesummv": {"test": {"N": 7}, "S": {"N": 2000}, "M": {"N": 4000}},
    "go_fast": {"test": {"N": 7}, "S": {"N": 2000}, "M": {"N": 6000}},
    "gramschmidt": {
        "test": {"M": 7, "N": 5},
        "S": {"M": 70, "N": 60},
        "M": {"M": 220, "N": 180},
    },
    "jacobi_1d": {
        "test": {"TSTEPS": 6, "N": 11},
        "S": {"TSTEPS": 800, "N": 3200},
        "M": {"TSTEPS": 3000, "N": 12000},
    },
    "jacobi_2d": {
        "test": {"TSTEPS": 4, "N": 7},
        "S": {"TSTEPS": 50, "N": 150},
        "M": {"TSTEPS": 80, "N": 350},
    },
    "k2mm": {
        "test": {"NI": 3, "NJ": 4, "NK": 5, "NL": 6},
        "S": {"NI": 800, "NJ": 850, "NK": 900, "NL": 950},
        "M": {"NI": 2000, "NJ": 2250, "NK": 2500, "NL": 2750},
    },
    "lu": {"test": {"N": 9}, "S": {"N": 60}, "M": {"N": 220}},
    "mandelbrot2": {
        "test": {"xn": 13, "yn": 11, "maxiter": 9},
        "S": {"xn": 200, "yn": 200, "maxiter": 40},
        "M": {"xn": 500, "yn": 500, "maxiter": 80},
    },
    "mvt": {"test": {"N": 7}, "S": {"N": 5500}, "M": {"N": 11000}},
    "nbody": {"test": {"N": 5, "Nt": 3}, "S": {"N": 25, "Nt": 40}, "M": {"N": 50, "Nt": 250}},
    "nussinov": {"test": {"N": 11}, "S": {"N": 40}, "M": {"N": 90}},
    "resnet": {
        "test": {"N": 2, "W": 5, "H": 4, "C1": 6, "C2": 3},
        "S": {"N": 8, "W": 14, "H": 14, "C1": 32, "C2": 8},
        "M": {"N": 8, "W": 28, "H": 28, "C1": 64, "C2": 16},
    },
    "seidel_2d": {
        "test": {"TSTEPS": 4, "N": 7},
        "S": {"TSTEPS": 8, "N": 50},
        "M": {"TSTEPS": 15, "N": 100},
    },
    "softmax": {
        "test": {"N": 2, "H": 3, "SM": 5},
        "S": {"N": 16, "H": 16, "SM": 128},
        "M": {"N": 32, "H": 8, "SM": 256},
    },
    "spmv": {
        "test": {"M": 9, "N": 11, "nnz": 20},
        "S": {"M": 4096, "N": 4096, "nnz": 8192},
        "M": {"M": 32768, "N": 32768, "nnz": 65536},
    },
    "stockham_fft": {
        "test": {"R": 3, "K": 3},
        "S": {"R": 2, "K": 15},
        "M": {"R": 2, "K": 18},
    },
    "symm": {"test": {"M": 5, "N": 6}, "S": {"M": 40, "N": 50}, "M": {"M": 120, "N": 150}},
    "syrk": {"test": {"M": 4, "N": 6}, "S": {"M": 50, "N": 70}, "M": {"M": 150, "N": 200}},
    "vadv": {
        "test": {"I": 3, "J": 4, "K": 5},
        "S": {"I": 60, "J": 60, "K": 40},
        "M": {"I": 112, "J": 112, "K": 80},
    },
}
