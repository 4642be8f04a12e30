"""Operators of stdlib with how to draw their parameters, and what NumPy makes of the same.

To have an operator in random graphs, write a row: see `rows.py`.
"""

from __future__ import annotations

import math

from hybridjit import stdlib
from tests.operators import layers, shapes
from tests.operators.rows import (
    Row,
    along,
    hs,
    np,
    plain,
    reduction,
    rounded,
    with_itself,
    with_number,
)

ROWS: tuple[Row, ...] = (
    *map(plain, ("absolute", "square", "sign", "negative", "isfinite", "isnan", "isinf")),
    *(plain(name, floats=True) for name in ("floor", "ceil", "trunc", "rint")),
    *(with_itself(name) for name in ("add", "subtract", "multiply", "minimum", "maximum")),
    *(with_itself(name) for name in ("equal", "less", "less_equal", "greater", "greater_equal")),
    *(with_itself(name) for name in ("not_equal", "logical_and", "logical_or", "logical_xor")),
    *(with_itself(name, integers=True) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    *(with_number(name, 1, 2, 3, integers=True) for name in ("left_shift", "right_shift")),
    *(with_number(name, 1, 2, 5, integers=True) for name in ("floor_divide", "remainder")),
    with_itself("copysign", floats=True),
    with_number("fmod", 2.0, 3.5, floats=True),
    with_number("power", 2, 3, exact=False, floats=True),
    plain("logical_not"),
    Row("clip", lambda c, s: (lambda x: hs.clip(x, 1, 30), lambda x: np.clip(x, 1, 30))),
    Row(
        "where",
        lambda c, s: (
            lambda x: hs.where(hs.greater(x, 2), x, hs.flip(x)),
            lambda x: np.where(x > 2, x, np.flip(x)),
        ),
    ),
    Row("cast", lambda c, s: (lambda x: hs.cast(x, "float64"), lambda x: x.astype("float64"))),
    *map(rounded, ("exp", "exp2", "expm1", "sin", "cos", "tan", "tanh", "sinh", "cosh")),
    *map(rounded, ("arctan", "arcsinh", "cbrt")),
    rounded("sqrt", np.sqrt),
    rounded("log1p", np.log1p),
    rounded("erf", layers.erf),
    rounded("sigmoid", layers.sigmoid),
    rounded("softplus", layers.softplus),
    rounded("log_sigmoid", lambda x: -layers.softplus(-x)),
    rounded("silu", lambda x: x * layers.sigmoid(x)),
    rounded("mish", lambda x: x * np.tanh(layers.softplus(x))),
    rounded("gelu", lambda x: x * 0.5 * layers.erfc(-x / math.sqrt(2))),
    rounded("elu", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))),
    rounded("softsign", lambda x: x / (1 + np.abs(x))),
    rounded("hard_sigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    rounded("hard_swish", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    rounded("tanh_shrink", lambda x: x - np.tanh(x)),
    plain("relu", lambda x: np.maximum(x, 0), floats=True),
    plain("relu6", lambda x: np.clip(x, 0, 6), floats=True),
    plain("hard_tanh", lambda x: np.clip(x, -1, 1), floats=True),
    plain("hard_shrink", lambda x: layers.ceil_pad(x, 0.5), floats=True),
    *map(along, ("flip", "cumsum", "sort")),
    along("argsort", lambda x, axis: np.argsort(x, axis, kind="stable")),
    along("cumprod", integers=True),
    *map(reduction, ("max", "min", "argmax", "argmin")),
    *(reduction(name, integers=True) for name in ("sum", "prod")),
    *(reduction(name, exact=False, floats=True) for name in ("sum", "mean", "var", "std")),
    *(reduction(name) for name in ("any", "all")),
    plain("ravel"),
    *shapes.ROWS,
    *layers.ROWS,
    layers.pool1d("max_pool1d", np.max, -math.inf),
    layers.pool1d("avg_pool1d", np.mean, 0.0),
    along("softmax", layers.softmax, exact=False, floats=True),
    along("log_softmax", lambda x, axis: np.log(layers.softmax(x, axis)), exact=False, floats=True),
    along("layer_norm", layers.layer_norm, exact=False, floats=True),
    along("rms_norm", layers.rms_norm, exact=False, floats=True),
    along("l2_normalize", layers.l2_normalize, exact=False, floats=True),
)


def families() -> list[str]:
    """The families of stdlib that there are rows of."""
    return sorted({stdlib.OPERATORS[row.name].family for row in ROWS})
