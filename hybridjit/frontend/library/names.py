"""Which functions of NumPy are written in the language, and in which file of this folder.

To add one, write it in such a file, with NumPy's names for its arguments, and put its name here.
Which names there are is asked by every process, what they do only where one is compiled.
"""

from __future__ import annotations

import sys

FILES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("numpy", "arrays", ("trace", "vdot", "vecdot", "matvec", "vecmat", "inner", "kron", "cross")),
    ("numpy", "arrays", ("polyval", "polyadd", "polysub", "polyder", "ptp", "count_nonzero")),
    ("numpy", "arrays", ("isclose", "allclose", "array_equal", "array_equiv")),
    ("numpy", "differences", ("diff", "ediff1d", "gradient", "trapezoid", "trapz", "unwrap")),
    ("numpy", "differences", ("convolve", "correlate")),
    ("numpy", "elements", ("clip", "fmax", "fmin", "heaviside", "signbit", "deg2rad", "rad2deg")),
    ("numpy", "elements", ("radians", "degrees", "logaddexp", "logaddexp2", "float_power")),
    ("numpy", "elements", ("reciprocal", "gcd", "lcm", "sinc", "nan_to_num", "angle")),
    ("numpy", "elements", ("isneginf", "isposinf", "isreal", "iscomplex", "around", "round")),
    ("numpy", "elements", ("nextafter", "spacing")),
    ("numpy", "nans", ("nansum", "nanprod", "nancumsum", "nancumprod", "nanmax", "nanmin")),
    ("numpy", "nans", ("nanargmax", "nanargmin", "nanmean", "nanvar", "nanstd", "nanmedian")),
    ("numpy", "nans", ("nanquantile", "nanpercentile")),
    ("numpy", "searching", ("searchsorted", "digitize", "interp", "bincount", "isin")),
    ("numpy", "selection", ("flatnonzero", "nonzero", "argwhere", "extract", "compress")),
    ("numpy", "selection", ("unique", "union1d", "intersect1d", "setxor1d")),
    ("numpy", "selection", ("setdiff1d", "trim_zeros", "delete", "insert")),
    ("numpy", "shapes", ("shape", "ndim", "size", "iscomplexobj", "isrealobj", "fliplr")),
    ("numpy", "shapes", ("flipud", "rot90", "rollaxis", "matrix_transpose", "atleast_1d")),
    ("numpy", "shapes", ("atleast_2d", "atleast_3d", "append", "take_along_axis", "select")),
    ("numpy", "shapes", ("choose", "copyto", "putmask", "fill_diagonal", "tri", "triu", "tril")),
    ("numpy", "shapes", ("diag", "diagflat", "vander", "logspace", "geomspace", "hanning")),
    ("numpy", "shapes", ("hamming", "blackman", "bartlett", "unravel_index", "divmod", "modf")),
    ("numpy", "sorting", ("sort", "argsort", "partition", "argpartition", "median")),
    ("numpy", "sorting", ("quantile", "percentile")),
    ("numpy", "statistics", ("cov", "corrcoef", "average", "histogram")),
    ("builtins", "python", ("sum", "any", "all", "sorted", "divmod")),
    ("math", "python", ("comb", "perm", "factorial", "isqrt", "gcd", "lcm", "prod", "dist")),
    ("math", "python", ("degrees", "radians", "isclose", "modf", "remainder")),
    ("math", "floats", ("frexp", "ldexp", "nextafter", "ulp", "fsum")),
    ("numpy.fft", "fft", ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "fftfreq")),
    ("numpy.fft", "fft", ("fftn", "ifftn", "rfftn", "rfft2", "rfftfreq", "fftshift")),
    ("numpy.fft", "fft", ("ifftshift",)),
    ("numpy.linalg", "linalg", ("cholesky", "solve", "inv", "det")),
    ("numpy.linalg", "decompositions", ("qr", "svd", "svdvals", "eigh", "eigvalsh", "eig")),
    ("numpy.linalg", "decompositions", ("eigvals", "lstsq", "pinv")),
    ("numpy.linalg", "norms", ("norm", "matrix_power", "multi_dot")),
)
# Functions of scipy.special.
SPECIAL_NAMES = (
    *("erf", "erfc", "gamma", "gammaln", "expit", "logit", "ndtr", "xlogy", "log1p", "expm1"),
    *("exp2", "cbrt"),
)


def is_there(module: str, name: str) -> bool:
    """Whether this version of NumPy, or of Python, has a function.

    All have those of `numpy.fft`, which is loaded when it is first used.
    """
    return module == "numpy.fft" or hasattr(sys.modules[module], name)


LIBRARY_NAMES: tuple[str, ...] = tuple(
    f"{module}.{name}".removeprefix("numpy.")
    for module, _, names in FILES
    for name in names
    if module.startswith("numpy") and is_there(module, name)
)
