"""Activations and normalizations, against formulas in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from tests.support.operator_rows import Row, row
from tests.support.rows import in_each

np: Any = numpy  # whose types say nothing of arrays that may be any
V: Any = np.array([-1e3, -20, -3, -1.5, -1, -0.5, -1e-3, 0.0, 1e-3, 0.25, 0.5, 1, 2.75, 6, 7, 90])
DTYPES = ("float64", "float32", "float16", "int32", "uint8")
ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805


def sigmoid(x: Any) -> Any:
    return np.exp(-np.logaddexp(0, -x))


def softplus(x: Any) -> Any:
    return np.logaddexp(0, x)


FORMULAS: dict[str, Callable[[Any], Any]] = {
    "selu": lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(np.minimum(x, 0))),
    "celu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "swish": lambda x: x * sigmoid(x),
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "hard_tanh": lambda x: np.clip(x, -1.0, 1.0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "thresholded_relu": lambda x: np.where(x > 1, x, 0),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "hard_shrink": lambda x: np.where(np.abs(x) > 0.5, x, 0),
    "soft_shrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
    "tanh_shrink": lambda x: x - np.tanh(x),
    "log_sigmoid": lambda x: -softplus(-x),
}
NEAR: dict[str, float] = {"float64": 1e-13, "float32": 2e-6, "float16": 2e-3}


@pytest.mark.sampled(3)
@in_each("dtype", DTYPES)
@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name: str, dtype: str) -> None:
    x = (np.abs(V) if dtype == "uint8" else V).astype(dtype)
    x = np.minimum(x, 200).astype(dtype)
    found = getattr(hs, name)(x)
    wanted = FORMULAS[name](x.astype(np.float64))
    near = NEAR.get(found.dtype.name, 0)
    assert found.dtype.kind == "f" or name in ("relu6", "thresholded_relu", "hard_shrink")
    assert dtype[:5] != "float" or found.dtype == dtype
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=near, atol=near)


def test_gelu_by_tanh() -> None:
    wanted = V * 0.5 * (1 + np.tanh((2 / np.pi) ** 0.5 * (V + 0.044715 * V**3)))
    np.testing.assert_allclose(hs.gelu(V, approximate="tanh"), wanted, rtol=1e-13, atol=1e-13)
    with pytest.raises(ValueError, match="there is no approximation 'erf'"):
        hs.gelu(V, "erf")  # pyright: ignore


RNG = np.random.default_rng(0)
X: Any = RNG.normal(size=(2, 6, 4, 3)).astype(np.float32)
W: Any = X.astype(np.float64)
GAMMA: Any = RNG.random(6).astype(np.float32)
BETA: Any = RNG.random(6).astype(np.float32)


def centred(x: Any, axes: Any) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def grouped(groups: int) -> Any:
    parts = W.reshape(2, groups, -1)
    return centred(parts, (2,)).reshape(W.shape)


def along(values: Any) -> Any:
    return values[:, None, None]


def rms(x: Any, axes: Any) -> Any:
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + 1e-5)


def l2(x: Any, axes: Any, epsilon: float = 1e-12) -> Any:
    return x / np.sqrt(np.maximum((x * x).sum(axes, keepdims=True), epsilon))


def local(x: Any, size: int, axis: int, alpha: float, beta: float, bias: float) -> Any:
    squares = np.moveaxis(x * x, axis, 0)
    total = np.zeros_like(squares)
    before = (size - 1) // 2
    for place in range(len(squares)):
        total[place] = squares[max(place - before, 0) : place + size - before].sum(0)
    return x / (bias + alpha / size * np.moveaxis(total, 0, axis)) ** beta


def single(wanted: Any) -> Any:
    return wanted.astype(np.float32)


ROWS = (
    row("prelu", X, GAMMA, wanted=np.where(X > 0, X, X * along(GAMMA)), rtol=1e-6),
    row("prelu", X, GAMMA[:3], -1, wanted=np.where(X > 0, X, X * GAMMA[:3]), rtol=1e-6),
    row("glu", X, 1, wanted=single(W[:, :3] * sigmoid(W[:, 3:])), rtol=1e-6),
    row("glu", X, 2, wanted=single(W[:, :, :2] * sigmoid(W[:, :, 2:])), rtol=1e-6),
    *(row("group_norm", X, g, wanted=single(grouped(g)), rtol=1e-5) for g in (1, 2, 3, 6)),
    row("group_norm", X, 2, GAMMA, BETA, wanted=single(grouped(2) * along(GAMMA) + along(BETA)),
        rtol=1e-5),
    row("group_norm", W, 3, None, BETA, epsilon=1e-5, wanted=grouped(3) + along(BETA), rtol=1e-6),
    row("instance_norm", X, wanted=single(centred(W, (2, 3))), rtol=1e-5),
    row("instance_norm", X, GAMMA, beta=BETA, rtol=1e-5,
        wanted=single(centred(W, (2, 3)) * along(GAMMA) + along(BETA))),
    *(row("rms_norm", X, axis=a, wanted=single(rms(W, a)), rtol=1e-5) for a in (-1, 1, (2, 3))),
    row("rms_norm", X, GAMMA, axis=1, wanted=single(rms(W, 1) * along(GAMMA)), rtol=1e-5),
    row("rms_norm", np.arange(6), wanted=rms(np.arange(6.0), 0), rtol=1e-12),
    *(row("l2_normalize", X, a, wanted=single(l2(W, a)), rtol=1e-5) for a in (-1, 1, (1, 2, 3))),
    row("l2_normalize", X * 0, epsilon=0.25, wanted=X * 0),
    row("weight_norm", X[0], GAMMA, rtol=1e-5, wanted=single(l2(W[0], (1, 2)) * along(GAMMA))),
    row("weight_norm", X[0], GAMMA[:4], 1, rtol=1e-5,
        wanted=single(l2(W[0], (0, 2)) * GAMMA[:4, None])),
    *(row("lrn", X, s, axis=a, alpha=0.3, beta=0.6, bias=2.0, rtol=1e-5,
          wanted=single(local(W, s, a, 0.3, 0.6, 2.0)))
      for s, a in ((5, 1), (3, 2), (2, 3), (1, 0))),
    row("lrn", X.astype(np.float16), wanted=local(X.astype(np.float16).astype(float), 5, 1, 1e-4,
        0.75, 1.0).astype(np.float16), rtol=2e-3),
)  # fmt: skip


@pytest.mark.sampled(10)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


STAY_NAN = (
    *("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "sigmoid", "silu", "swish", "gelu"),
    *("softplus", "mish", "hard_sigmoid", "hard_swish", "hard_tanh", "thresholded_relu"),
    *("softsign", "hard_shrink", "soft_shrink", "tanh_shrink", "log_sigmoid"),
)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", STAY_NAN)
def test_nan_stays_nan(name: str) -> None:
    assert np.isnan(getattr(hs, name)(np.array([np.nan, 1.0]))).tolist() == [True, False]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["softplus", "log_sigmoid", "mish", "sigmoid", "silu"])
def test_bools_are_small_integers(name: str) -> None:
    x = np.array([True, False])
    found, wanted = (getattr(hs, name)(x.astype(dtype)) for dtype in ("bool", "int8"))
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, wanted)


MISTAKES: dict[str, Any] = {
    "has no slope for each place": lambda: hs.prelu(X, GAMMA, 2),
    "has no two halves": lambda: hs.glu(X, 3),
    "6 channels of 'x' are not 4 equal groups": lambda: hs.group_norm(X, 4),
    "has no channels": lambda: hs.instance_norm(GAMMA),
    r"it must have shape \(6,\)": lambda: hs.instance_norm(X, GAMMA[:2]),
    r"it must have shape \(3,\)": lambda: hs.rms_norm(X, GAMMA),
    "there are no 0 neighbours": lambda: hs.lrn(X, 0),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
