"""The operator library: on NumPy arrays, compiled when first called, and on te tensors.

    from hybridjit import stdlib as hs

    y = hs.relu(hs.conv2d(x, w, padding="same"))    # arrays in, arrays out
    Y = hs.relu(hs.conv2d(X, W, padding="same"))    # tensors in, stages of a graph out

Types, NaN and rounding are NumPy's. Each operator is defined once, in terms of tensors, in the
file of its family; `operator.py` says how the definition serves both.

Work that is worth it runs on all cores, by the operators' own schedules and whatever `parallel` of
scripts and HYBRIDJIT_PARALLEL say; `with hj.threads(1):` keeps it on one. Results are the same.
"""

from hybridjit.stdlib.activations import (
    elu,
    gelu,
    leaky_relu,
    relu,
    sigmoid,
    silu,
    softplus,
)
from hybridjit.stdlib.arithmetic import (
    absolute,
    add,
    arctan2,
    clip,
    copysign,
    divide,
    floor_divide,
    fmod,
    hypot,
    maximum,
    minimum,
    multiply,
    negative,
    power,
    remainder,
    sign,
    square,
    subtract,
)
from hybridjit.stdlib.convolution import (
    conv2d,
    depthwise_conv2d,
)
from hybridjit.stdlib.cumulative import (
    cumprod,
    cumsum,
)
from hybridjit.stdlib.functions import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    cbrt,
    ceil,
    cos,
    cosh,
    erf,
    exp,
    exp2,
    expm1,
    floor,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    rint,
    rsqrt,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
)
from hybridjit.stdlib.logic import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    cast,
    equal,
    greater,
    greater_equal,
    left_shift,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
    right_shift,
    where,
)
from hybridjit.stdlib.normalization import (
    batch_norm,
    layer_norm,
)
from hybridjit.stdlib.pooling import (
    avg_pool2d,
    global_avg_pool2d,
    global_max_pool2d,
    max_pool2d,
)
from hybridjit.stdlib.products import (
    dense,
    matmul,
)
from hybridjit.stdlib.reductions import (
    all,
    any,
    argmax,
    argmin,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from hybridjit.stdlib.running.operator import Description, describe
from hybridjit.stdlib.softmax import (
    log_softmax,
    softmax,
)

__all__ = [
    "OPERATORS",
    "absolute",
    "add",
    "all",
    "any",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "avg_pool2d",
    "batch_norm",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "cast",
    "cbrt",
    "ceil",
    "clip",
    "conv2d",
    "copysign",
    "cos",
    "cosh",
    "cumprod",
    "cumsum",
    "dense",
    "depthwise_conv2d",
    "divide",
    "elu",
    "equal",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fmod",
    "gelu",
    "global_avg_pool2d",
    "global_max_pool2d",
    "greater",
    "greater_equal",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "layer_norm",
    "leaky_relu",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "max",
    "max_pool2d",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "power",
    "prod",
    "relu",
    "remainder",
    "right_shift",
    "rint",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "sqrt",
    "square",
    "std",
    "subtract",
    "sum",
    "tan",
    "tanh",
    "trunc",
    "var",
    "where",
]

# What is here, by name: in which family, and whether there is a schedule, and a gradient.
OPERATORS: dict[str, Description] = {
    name: describe(globals()[name]) for name in __all__ if name != "OPERATORS"
}


def __dir__() -> list[str]:
    """What is for users: `__all__`."""
    return __all__
