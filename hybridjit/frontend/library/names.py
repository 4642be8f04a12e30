"""Which functions of NumPy are written in the language, and in which file of this folder.

To add one, write it in such a file, with NumPy's names for its arguments, and put its name here.
Which names there are is asked by every process, what they do only where one is compiled.
"""

from __future__ import annotations

import builtins
import math

import numpy as np

FILES: tuple[tuple[object, str, tuple[str, ...]], ...] = (
    (np, "arrays", ("trace", "vdot", "vecdot", "matvec", "vecmat", "inner", "kron", "cross")),
    (np, "arrays", ("polyval", "polyadd", "polysub", "polyder", "ptp", "count_nonzero")),
    (np, "arrays", ("isclose", "allclose", "array_equal", "array_equiv")),
    (np, "differences", ("diff", "ediff1d", "gradient", "trapezoid", "trapz", "unwrap")),
    (np, "differences", ("convolve", "correlate")),
    (np, "elements", ("clip", "fmax", "fmin", "heaviside", "signbit", "deg2rad", "rad2deg")),
    (np, "elements", ("radians", "degrees", "logaddexp", "logaddexp2", "float_power")),
    (np, "elements", ("reciprocal", "gcd", "lcm", "sinc", "nan_to_num", "angle")),
    (np, "elements", ("isneginf", "isposinf", "isreal", "iscomplex", "around", "round")),
    (np, "elements", ("nextafter", "spacing")),
    (np, "nans", ("nansum", "nanprod", "nancumsum", "nancumprod", "nanmax", "nanmin")),
    (np, "nans", ("nanargmax", "nanargmin", "nanmean", "nanvar", "nanstd", "nanmedian")),
    (np, "nans", ("nanquantile", "nanpercentile")),
    (np, "searching", ("searchsorted", "digitize", "interp", "bincount", "isin")),
    (np, "selection", ("flatnonzero", "nonzero", "argwhere", "extract", "compress")),
    (np, "selection", ("unique", "union1d", "intersect1d", "setxor1d")),
    (np, "selection", ("setdiff1d", "trim_zeros", "delete", "insert")),
    (np, "shapes", ("shape", "ndim", "size", "iscomplexobj", "isrealobj", "fliplr")),
    (np, "shapes", ("flipud", "rot90", "rollaxis", "matrix_transpose", "atleast_1d")),
    (np, "shapes", ("atleast_2d", "atleast_3d", "append", "take_along_axis", "select")),
    (np, "shapes", ("choose", "copyto", "putmask", "fill_diagonal", "tri", "triu", "tril")),
    (np, "shapes", ("diag", "diagflat", "vander", "logspace", "geomspace", "hanning")),
    (np, "shapes", ("hamming", "blackman", "bartlett", "unravel_index", "divmod", "modf")),
    (np, "sorting", ("sort", "argsort", "partition", "argpartition", "median")),
    (np, "sorting", ("quantile", "percentile")),
    (np, "statistics", ("cov", "corrcoef", "average", "histogram")),
    (builtins, "python", ("sum", "any", "all", "sorted", "divmod")),
    (math, "python", ("comb", "perm", "factorial", "isqrt", "gcd", "lcm", "prod", "dist")),
    (math, "python", ("degrees", "radians", "isclose", "modf", "remainder")),
    (math, "floats", ("frexp", "ldexp", "nextafter", "ulp", "fsum")),
    (np.fft, "fft", ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "fftfreq")),
    (np.fft, "fft", ("fftn", "ifftn", "rfftn", "rfft2", "rfftfreq", "fftshift", "ifftshift")),
    (np.linalg, "linalg", ("cholesky", "solve", "inv", "det")),
    (np.linalg, "decompositions", ("qr", "svd", "svdvals", "eigh", "eigvalsh", "eig")),
    (np.linalg, "decompositions", ("eigvals", "lstsq", "pinv")),
    (np.linalg, "norms", ("norm", "matrix_power", "multi_dot")),
)
# Functions of scipy.special.
SPECIAL_NAMES = (
    *("erf", "erfc", "gamma", "gammaln", "expit", "logit", "ndtr", "xlogy", "log1p", "expm1"),
    *("exp2", "cbrt"),
)
# A function that this version of NumPy does not have is left out.
_PREFIXES = {id(np): ("",), id(np.fft): ("fft.",), id(np.linalg): ("linalg.",)}
LIBRARY_NAMES: tuple[str, ...] = tuple(
    f"{prefix}{name}"
    for module, _, names in FILES
    for prefix in _PREFIXES.get(id(module), ())
    for name in names
    if hasattr(module, name)
)
