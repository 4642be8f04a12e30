"""Functions of NumPy that a script does not have: what to write instead.

Every help is something that works when typed in; `{}` is the first argument of the call.
"""

from __future__ import annotations

_OUTSIDE = "call it outside the script, and pass the result in"
_FILES = "read or write the file outside the script, and pass arrays in"
_TEXT = 'print elements one by one, as in print("x =", {}[0])'
_SETTING = "set it outside the script, around the call: with np.errstate(...):"
_EVERY_INDEX = "write `for i, j in grid(*{}.shape):`"
_TYPES = "compare types and sizes, as in a.dtype == np.float32 or a.ndim == 1"
_MEETING = "use np.result_type(a, b)"
_TRIANGLE = "take np.tril(a) or np.triu(a), or compare np.arange(n)[:, None] with np.arange(n)"
_NORM = "write np.linalg.norm(a)"
_WITH_MASK = "keep the mask in an array of its own, and choose with np.where(mask, x, y)"
RANDOM = (
    "draw from np.random.default_rng(seed), or from a generator that is an argument; "
    "or draw outside the script and pass them as an array"
)
_FFT = "transform along one axis after the other, as in np.fft.fft(a, axis=0)"

HELP: dict[str, str] = {
    # another function does it
    "unique_all": "write np.unique({}, True, True, True, equal_nan=False)",
    "unique_counts": "write np.unique({}, return_counts=True, equal_nan=False)",
    "unique_values": "write np.unique({}, equal_nan=False), which is sorted",
    "unique_inverse": "write np.unique({}, return_inverse=True, equal_nan=False)",
    "resize": "write np.tile({}, n)[:size].reshape(shape)",
    "put": "write {}[indices] = values",
    "place": "write {}[mask] = value",
    "put_along_axis": "write a loop, as in {}[i, indices[i]] = value",
    "piecewise": "choose with np.select(conditions, values), or np.where(condition, x, y)",
    "ix_": "index with arrays, as in a[i[:, None], j]",
    "broadcast_arrays": "write np.broadcast_to({}, shape)",
    "broadcast_shapes": "write the shape, or add the arrays: (a + b).shape",
    "row_stack": "write np.vstack(arrays)",
    "lexsort": "sort by the last key first, each time with np.argsort(key[order])",
    "sort_complex": "write np.sort({})",
    "asmatrix": "use arrays, for which @ is the product of matrices",
    "bmat": "write np.block(...)",
    "polymul": "write np.convolve(a, b)",
    "polydiv": _OUTSIDE,
    "polyfit": "solve it: x = np.vander({}, n), then np.linalg.solve(x.T @ x, x.T @ y)",
    "polyint": "write np.append({} / np.arange(len({}), 0, -1), 0.0)",
    "cumulative_sum": "write np.cumsum({})",
    "cumulative_prod": "write np.cumprod({})",
    "histogram2d": "find the bins with np.digitize, and count with np.add.at(h, (i, j), 1)",
    "histogramdd": "find the bins with np.digitize, and count with np.add.at(h, (i, j), 1)",
    "histogram_bin_edges": "write np.histogram({}, bins)[1], or np.linspace(low, high, bins + 1)",
    "frexp": "write e = np.floor(np.log2(np.abs({}))) + 1 and {} / 2.0**e",
    "ldexp": "write {} * 2.0**i",
    **dict.fromkeys(("packbits", "unpackbits"), "use shifts, as in {} >> k & 1"),
    "vectorize": "use hybrid.vectorize, outside the script",
    "frompyfunc": "use hybrid.vectorize, outside the script",
    "apply_along_axis": "write a loop over the rows, as in `for row in a:`",
    "apply_over_axes": "reduce over several axes at once, as in np.sum(a, axis=(0, 1))",
    "fromfunction": "call the function on the indices: i, j = np.indices(shape)",
    "fromiter": "make an array with np.zeros(n), and fill it in a loop",
    **dict.fromkeys(("nditer", "ndenumerate", "ndindex", "nested_iters"), _EVERY_INDEX),
    **dict.fromkeys(("tril_indices", "triu_indices", "tril_indices_from"), _TRIANGLE),
    **dict.fromkeys(("triu_indices_from", "mask_indices"), _TRIANGLE),
    **dict.fromkeys(("diag_indices", "diag_indices_from"), "write i = np.arange(n) and a[i, i]"),
    "ravel_multi_index": "compute it, as in i * n + j",
    **dict.fromkeys(("asfortranarray", "require", "asarray_chkfinite"), "write {}.copy()"),
    **dict.fromkeys(("isscalar", "iterable", "issubdtype", "isdtype", "can_cast"), _TYPES),
    **dict.fromkeys(("promote_types", "common_type", "min_scalar_type", "mintypecode"), _MEETING),
    **dict.fromkeys(("shares_memory", "may_share_memory"), "compare them outside the script"),
    "einsum_path": "leave it out: np.einsum takes operands from left to right",
    "real_if_close": "take {}.real",
    "as_strided": "index the array, as in a[i + j], or take slices of it",
    # linear algebra
    **dict.fromkeys(("matrix_norm", "vector_norm"), _NORM),
    # files, text, settings
    **dict.fromkeys(("load", "save", "savez", "savez_compressed", "loadtxt", "savetxt"), _FILES),
    **dict.fromkeys(("genfromtxt", "fromfile", "fromregex", "memmap", "fromstring"), _FILES),
    **dict.fromkeys(("frombuffer", "from_dlpack"), "make the array outside the script"),
    **dict.fromkeys(("array2string", "array_repr", "array_str"), _TEXT),
    **dict.fromkeys(("format_float_positional", "format_float_scientific"), _TEXT),
    **dict.fromkeys(("base_repr", "binary_repr", "typename"), _TEXT),
    **dict.fromkeys(("errstate", "seterr", "geterr", "seterrcall", "geterrcall"), _SETTING),
    **dict.fromkeys(("setbufsize", "getbufsize"), _SETTING),
    **dict.fromkeys(("set_printoptions", "get_printoptions", "printoptions"), _SETTING),
}
# Functions of former versions of NumPy.
RENAMED: dict[str, str] = {
    **{"in1d": "isin", "trapz": "trapezoid", "product": "prod", "cumproduct": "cumprod"},
    **{"sometrue": "any", "alltrue": "all", "row_stack": "vstack", "msort": "sort"},
    **{"round_": "round", "mat": "array", "float": "float64", "int": "int64", "bool8": "bool_"},
    **{"asscalar": "float64", "rank": "ndim", "NaN": "nan", "Inf": "inf", "infty": "inf"},
}
# Modules of NumPy, and what to do without all their functions.
_MODULES: dict[str, str] = {
    "numpy.random": RANDOM,
    "numpy.fft": _FFT,
    "numpy.ma": _WITH_MASK,
    "numpy.linalg": _OUTSIDE,
    "numpy.polynomial": "write np.polyval(p, x)",
    **dict.fromkeys(("numpy.char", "numpy.strings", "numpy.rec"), "pass arrays of numbers in"),
}
_REDUCED = {"fmax": "np.nanmax(a)", "fmin": "np.nanmin(a)", "hypot": "np.linalg.norm(a)"}


def numpy_help(name: str, module: str) -> str:
    """What to write instead of a function of NumPy, by its name and its module."""
    for prefix, help in _MODULES.items():
        if module.startswith(prefix) and name not in HELP:
            return help
    default = "write it as a loop over elements, or call it outside the script"
    return HELP.get(name, f"{default}; hybrid.NUMPY_FUNCTIONS lists what a script has")


def ufunc_method_help(name: str) -> str:
    """What to write instead of a method of a function of NumPy, such as np.fmax.reduce."""
    return f"write {_REDUCED[name]}" if name in _REDUCED else "write a loop over the elements"
