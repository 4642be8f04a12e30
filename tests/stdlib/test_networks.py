"""Losses, quantized numbers, recurrent layers, random numbers and signals, against formulas."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from tests.support.operator_rows import Row, compare, row

np: Any = numpy  # whose types say nothing of arrays that may be any
RNG = np.random.default_rng(0)
X: Any = RNG.normal(size=(4, 3)).astype(np.float32)
Y: Any = RNG.normal(size=(4, 3)).astype(np.float32)
P: Any = RNG.random((4, 3))
LABELS: Any = np.array([2, 0, -100, 1])
WEIGHTS: Any = np.array([0.5, 1.0, 2.0])
DEEP: Any = RNG.normal(size=(2, 3, 5))
DEEP_LABELS: Any = RNG.integers(0, 3, (2, 5))
REDUCE: dict[str, Any] = {"mean": np.mean, "sum": np.sum, "none": np.asarray}


def log_softmax(x: Any) -> Any:
    return x - np.log(np.exp(x).sum(1, keepdims=True))


def nll(x: Any, labels: Any, weights: Any, reduction: str) -> Any:
    kept = labels != -100
    safe = np.where(kept, labels, 0)
    picked = np.take_along_axis(x, np.expand_dims(safe, 1), 1).squeeze(1)
    factors = np.where(kept, weights[safe], 0.0)
    losses = -picked * factors
    return losses.sum() / factors.sum() if reduction == "mean" else REDUCE[reduction](losses)


def huber(distance: Any, delta: float) -> Any:
    size = np.abs(distance)
    return np.where(size < delta, size**2 / 2, delta * (size - delta / 2))


def bce(p: Any, y: Any) -> Any:
    return -(y * np.log(p) + (1 - y) * np.log(1 - p))


T01: Any = (RNG.random((4, 3)) > 0.5).astype(float)
Q: Any = RNG.integers(-128, 128, (2, 3, 4)).astype(np.int8)
SCALES: Any = np.array([0.5, 0.1, 2.0], np.float32)
ZEROS: Any = np.array([0, 3, -7], np.int8)
A8, B8 = Q[0], Q[1]
A32, B32 = A8.astype(np.int32), B8.astype(np.int32)


def quantized(x: Any, scale: Any, zero: Any, dtype: str) -> Any:
    info = np.iinfo(dtype)
    return np.clip(np.rint(x / scale) + zero, info.min, info.max).astype(dtype)


def along(values: Any) -> Any:
    return values[:, None]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def run_lstm(*args: Any) -> Any:
    x, w, u, b, h, c = args
    out: list[Any] = []
    for step in x:
        i, f, g, o = np.split(step @ w.T + h @ u.T + b, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.stack(out), h, c


def run_gru(*args: Any) -> Any:
    x, w, u, b, d, h = args
    out: list[Any] = []
    for step in x:
        r, z, n = np.split(step @ w.T + b, 3, 1)
        s, y, m = np.split(h @ u.T + d, 3, 1)
        update = sigmoid(z + y)
        h = (1 - update) * np.tanh(n + sigmoid(r + s) * m) + update * h
        out.append(h)
    return np.stack(out), h


def positive(x: Any) -> Any:
    return np.maximum(x, 0)


def run_rnn(function: Any, *args: Any) -> Any:
    x, w, u, b, h = args
    out: list[Any] = []
    for step in x:
        h = function(step @ w.T + h @ u.T + b)
        out.append(h)
    return np.stack(out), h


SEQ: Any = RNG.normal(size=(4, 2, 3))
H: Any = RNG.normal(size=(2, 5))


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


LSTM: tuple[Any, ...] = (SEQ, normal(20, 3), normal(20, 5), normal(20), H, H * 2)
GRU: tuple[Any, ...] = (SEQ, normal(15, 3), normal(15, 5), normal(15), normal(15), H)
RNN: tuple[Any, ...] = (SEQ, normal(5, 3), normal(5, 5), normal(5), H)
WAVE: Any = RNG.normal(size=(2, 12))
HANN: Any = np.hanning(4)


def frames(x: Any, size: int, hop: int) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, size, -1)[..., ::hop, :]


def simulated(x: Any, kind: int, scale: Any, zero: Any) -> Any:
    """What the numbers of a type would be, in that of x."""
    if kind == 0:
        return x
    limits: Any = np.iinfo({1: "int8", 2: "uint8", 3: "int32"}[kind])
    found = np.rint(x / scale) + np.asarray(zero).astype(x.dtype)
    return np.clip(found, np.float32(limits.min), np.float32(limits.max)).astype(x.dtype)


def stft(x: Any, size: int, hop: int, window: Any = 1.0, *, onesided: bool = True) -> Any:
    found = np.fft.fft(frames(x, size, hop) * window)
    return np.swapaxes(found[..., : size // 2 + 1] if onesided else found, -1, -2)


def parts_of(x: Any) -> Any:
    return np.stack([x.real, x.imag], -1)


ROWS = (
    *(row("mse_loss", X, Y, r, wanted=f((X - Y) ** 2), rtol=1e-5) for r, f in REDUCE.items()),
    *(row("l1_loss", X, Y, r, wanted=f(np.abs(X - Y)), rtol=1e-5) for r, f in REDUCE.items()),
    *(row("huber_loss", P, T01, d, wanted=huber(P - T01, d).mean(), rtol=1e-9) for d in (0.3, 1.0)),
    row("binary_cross_entropy", P, T01, wanted=bce(P, T01).mean(), rtol=1e-9),
    row("binary_cross_entropy", np.array([0.0, 1.0]), np.array([1.0, 1.0]), "none",
        wanted=np.array([100.0, 0.0])),
    row("binary_cross_entropy_with_logits", P * 9, T01, "none",
        wanted=bce(sigmoid(P * 9), T01), rtol=1e-9),
    row("kl_div_loss", np.log(P), T01 * 0.5, "sum", rtol=1e-9,
        wanted=np.where(T01 > 0, 0.5 * (np.log(0.5) - np.log(P)), 0).sum()),
    row("cross_entropy_with_logits", P, T01, wanted=-(P * T01).sum() / 4, rtol=1e-9),
    *(row("nll_loss", P, LABELS, WEIGHTS, r, wanted=nll(P, LABELS, WEIGHTS, r), rtol=1e-9)
      for r in REDUCE),
    row("nll_loss", P, np.array([1, 1, 0, 2]), rtol=1e-9,
        wanted=nll(P, np.array([1, 1, 0, 2]), np.ones(3), "mean")),
    row("cross_entropy", DEEP, DEEP_LABELS, rtol=1e-9,
        wanted=nll(log_softmax(DEEP), DEEP_LABELS, np.ones(3), "mean")),
    row("cross_entropy", DEEP, DEEP_LABELS, WEIGHTS, "none", rtol=1e-9,
        wanted=nll(log_softmax(DEEP), DEEP_LABELS, WEIGHTS, "none")),
    *(row("quantize", X * 50, 0.5, 3, dtype=d, wanted=quantized(X * 50, np.float32(0.5), 3, d))
      for d in ("int8", "uint8", "int16")),
    row("quantize", P, SCALES.astype(float), ZEROS,
        wanted=quantized(P, SCALES.astype(float), ZEROS, "int8")),
    row("quantize", np.array([0.5, 1.5, 2.5, -0.5]), 1.0, wanted=np.array([0, 2, 2, 0], np.int8)),
    row("dequantize", Q, SCALES, ZEROS,
        wanted=((Q.astype(np.int32) - along(ZEROS)) * along(SCALES)).astype(np.float32)),
    row("dequantize", Q, 0.25, -3, dtype="float64", wanted=(Q.astype(float) + 3) * 0.25),
    row("requantize", A32, 0.5, 2, 1.5, -1,
        wanted=quantized((A32 - 2.0) * (0.5 / 1.5), 1, -1, "int8")),
    *(row("simulated_quantize", X * 300, k, s, z, axis=1, wanted=simulated(X * 300, k, s, z))
      for k in range(4) for s, z in ((0.5, 7), (SCALES, np.array([3, 0, -2], np.int32)))),
    row("simulated_quantize", X[0], np.array([2], np.int32), np.array([0.25], np.float32),
        np.array([5], np.int32), wanted=simulated(X[0], 2, np.float32(0.25), 5)),
    row("simulated_quantize", X[:0], 1, 0.5, wanted=X[:0]),
    row("fake_quantize", P * 99, 0.25, 3, rtol=1e-12,
        wanted=(quantized(P * 99, 0.25, 3, "int8").astype(float) - 3) * 0.25),
    row("dense_int8", A8, B8, wanted=A32 @ B32.T),
    row("dense_int8", A8, B8, 3, -2, wanted=(A32 - 3) @ (B32 + 2).T),
    row("dense_int8", A8.view(np.uint8), B8, 128,
        wanted=(A8.view(np.uint8).astype(np.int32) - 128) @ B32.T),
    row("conv2d_int8", A8[None, :, :, None], B8[:, :, None, None][:, :3], dynamic=False,
        wanted=np.einsum("cy,oc->oy", A32, B32[:, :3])[None, :, :, None]),
    row("lstm", *LSTM, wanted=run_lstm(*LSTM), rtol=1e-9, dynamic=False),
    row("lstm", *LSTM[:3], wanted=run_lstm(*LSTM[:3], 0, H * 0, H * 0), rtol=1e-9, dynamic=False),
    row("gru", *GRU, wanted=run_gru(*GRU), rtol=1e-9, dynamic=False),
    row("gru", *GRU[:3], wanted=run_gru(*GRU[:3], 0, 0, H * 0), rtol=1e-9, dynamic=False),
    row("rnn", *RNN, wanted=run_rnn(np.tanh, *RNN), rtol=1e-9),
    row("rnn", *RNN, activation="relu", wanted=run_rnn(positive, *RNN), rtol=1e-9),
    row("fft", WAVE, wanted=np.fft.fft(WAVE), rtol=1e-9),
    row("fft", WAVE[:, :7], 0, inverse=True, wanted=np.fft.ifft(WAVE[:, :7], axis=0), rtol=1e-9),
    row("dft", WAVE, WAVE * 2, rtol=1e-9, wanted=(np.fft.fft(WAVE * (1 + 2j)).real,
        np.fft.fft(WAVE * (1 + 2j)).imag)),
    row("dft", WAVE, WAVE * 0, True, rtol=1e-9,
        wanted=(np.fft.ifft(WAVE).real, np.fft.ifft(WAVE).imag)),
    row("stft", WAVE, 4, 3, wanted=stft(WAVE, 4, 3), rtol=1e-9, dynamic=False),
    row("stft", WAVE[0], 4, 2, HANN, onesided=False, rtol=1e-9, dynamic=False,
        wanted=stft(WAVE[0], 4, 2, HANN, onesided=False)),
    row("stft", WAVE * (1 + 2j), 4, 2, rtol=1e-9, dynamic=False,
        wanted=stft(WAVE * (1 + 2j), 4, 2, onesided=False)),
    row("stft", WAVE, 4, 2, HANN, normalized=True, rtol=1e-9, fixed=(4,),
        wanted=stft(WAVE, 4, 2, HANN) / 2),
    row("stft", WAVE.astype(np.float32), 5, 2, as_real=True, rtol=1e-5, onesided=False,
        wanted=parts_of(stft(WAVE, 5, 2, onesided=False)).astype(np.float32)),
    row("stft", WAVE, 4, 2, HANN, center=True, rtol=1e-9, dynamic=False,
        wanted=stft(np.pad(WAVE, ((0, 0), (2, 2)), "reflect"), 4, 2, HANN)),
)  # fmt: skip


@pytest.mark.sampled(32)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_arrays(row: Row) -> None:
    row.check_on_arrays()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_on_tensors(row: Row) -> None:
    row.check_on_tensors()


# -- random numbers --------------------------------------------------------------------------------

KEY: Any = np.array([0x13198A2E, 0x03707344], np.uint32)


def test_bits_are_those_of_threefry() -> None:
    """The vectors that come with Random123, whose counter is 0 and then all ones."""
    zero = hs.random_split(np.zeros(2, np.uint32), 1)
    assert [hex(word) for word in zero[0]] == ["0x6b200159", "0x99ba4efe"]


def test_random_numbers_are_a_function_of_the_key() -> None:
    first, again = (hs.random_bits(KEY, (3, 5)) for _ in range(2))
    compare(first, again)
    compare(hs.random_bits(KEY, 15), first.reshape(15))
    assert (hs.random_bits(KEY + np.uint32(1), (3, 5)) != first).all()
    assert len({tuple(key) for key in hs.random_split(KEY, 50).tolist()}) == 50


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions(dtype: str) -> None:
    uniform = hs.random_uniform(KEY, (100, 200), -2.0, 4.0, dtype)
    assert uniform.dtype == dtype
    assert -2 <= uniform.min() < -1.99
    assert 3.99 < uniform.max() <= 4
    assert abs(uniform.mean() - 1) < 0.05
    normal = hs.random_normal(KEY, 20000, 5.0, 2.0, dtype)
    assert normal.dtype == dtype
    assert abs(normal.mean() - 5) < 0.06
    assert abs(normal.std() - 2) < 0.06
    assert abs((np.abs(normal - 5) < 2).mean() - 0.6827) < 0.02


def test_multinomial_follows_probabilities() -> None:
    chances = np.array([[1.0, 0.0, 3.0], [2.0, 2.0, 0.0]])
    found = hs.random_multinomial(KEY, chances, 4000)
    shares = np.stack([(found == place).mean(1) for place in range(3)], 1)
    np.testing.assert_allclose(shares, chances / 4, atol=0.03)


CHANCES: dict[str, Any] = {
    "no probability is above 0": [[1.0, 2.0], [0.0, 0.0]],
    "-1.0 is no probability": [1.0, -1.0, 2.0],
    "nan is no probability": [1.0, np.nan],
    "inf is no probability": [1.0, np.inf],
}


@pytest.mark.parametrize("message", CHANCES)
def test_multinomial_of_what_are_no_probabilities(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hs.random_multinomial(KEY, np.array(CHANCES[message]), 3)


def test_multinomial_of_very_small_and_large_probabilities() -> None:
    for chances in ([0, 5e-324, 0], [0.0, 1e308, 0.0], [1e308, 1e308, 0.0]):
        found = hs.random_multinomial(KEY, np.array(chances), 200)
        assert set(np.unique(found)) == set(np.flatnonzero(chances))
    assert hs.random_multinomial(KEY, np.ones((0, 3)), 4).shape == (0, 4)


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_targets_are_classes(name: str) -> None:
    loss: Any = getattr(hs, name)
    for target in (-1, 3, 127):
        labels = np.array([0, target, 1, 2], np.int8)
        with pytest.raises(IndexError, match=f"the target {target} is none of 3 classes"):
            loss(P, labels)
        found = loss(P, labels, None, "sum", target)
        rest = np.array([0, 2, 3])
        np.testing.assert_allclose(found, loss(P[rest], labels[rest], None, "sum"))


WIDE: dict[str, Any] = {
    "int64": ([2**33, -(2**33)], 0),
    "uint32": ([2**32 - 1, 0], 7),
    "int32": ([-(2**31), 2**31 - 1], -5),
    "uint8": ([255, 0], -5),
}


@pytest.mark.parametrize("dtype", WIDE)
def test_quantized_numbers_of_many_bits(dtype: str) -> None:
    numbers, zero = WIDE[dtype]
    found = hs.dequantize(np.array(numbers, dtype), 0.5, zero, dtype="float64")
    np.testing.assert_array_equal(found, [(number - zero) * 0.5 for number in numbers])
    again = hs.quantize(np.array(numbers, dtype), 2.0**10, dtype="int32")
    np.testing.assert_array_equal(again, np.rint(np.array(numbers) / 2.0**10))


def test_dequantized_halves_do_not_overflow_on_the_way() -> None:
    found = hs.dequantize(np.array([100000], np.int32), np.float16(0.001), dtype="float16")
    np.testing.assert_array_equal(found, np.float16(100000 * np.float32(np.float16(0.001))))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "bool"])
def test_distances_of_integers_do_not_wrap(dtype: str) -> None:
    x, y = np.array([0, 127, 3, 1]).astype(dtype), np.array([1, 2, 100, 0]).astype(dtype)
    far = x.astype(float) - y.astype(float)
    compare(hs.l1_loss(x, y, "none"), np.abs(far))
    compare(hs.mse_loss(x, y, "none"), far**2)
    product = x.astype(float) * y
    compare(hs.cross_entropy_with_logits(x[None], y[None]), np.array(-product.sum()))


def test_what_is_not_wanted_has_no_divergence() -> None:
    found = hs.kl_div_loss(np.array([-np.inf, -1.0]), np.array([0.0, 1.0]), "none")
    compare(found, np.array([0.0, 1.0]))


MISTAKES: dict[str, Any] = {
    "there is no reduction": lambda: hs.mse_loss(X, Y, "max"),  # pyright: ignore
    "delta is larger than 0": lambda: hs.huber_loss(X, Y, 0.0),
    "nll_loss: 'log_probabilities' of shape": lambda: hs.nll_loss(P, LABELS[:2]),
    "has no weight for each class": lambda: hs.nll_loss(P, LABELS, WEIGHTS[:2]),
    "quantized to integers": lambda: hs.quantize(X, 0.5, dtype="float32"),
    "must hold quantized integers": lambda: hs.dequantize(X, 0.5),
    "does not hold 'x' of type int64": lambda: hs.dense_int8(A8.astype(np.int64), B8),
    "a zero point is an integer, got one of type float64": lambda: hs.dense_int8(A8, B8, 1.5),
    "does not hold 'x' of type uint32": lambda: hs.dense_int8(A8.astype(np.uint32), B8),
    "has not one for each place": lambda: hs.quantize(X, SCALES[:2]),
    "the weights 'w'": lambda: hs.rnn(SEQ, RNN[1], GRU[2]),
    "must be of one float type": lambda: hs.rnn(SEQ, RNN[1].astype(np.float32), RNN[2]),
    "is no state": lambda: hs.rnn(*RNN[:3], h0=H[:1]),
    "there is no activation": lambda: hs.rnn(*RNN[:3], activation="elu"),
    "a key is two numbers of type uint32, got int64": lambda: hs.random_bits(LABELS, 3),
    "a key is two numbers of type uint32, got 'key'": lambda: hs.random_bits(KEY[:1], 3),
    "of type float32 or float64": lambda: hs.random_normal(KEY, 3, dtype="int32"),
    "must hold floats, got int8": lambda: hs.simulated_quantize(A8, 1, 0.5),
    "have no type of x": lambda: hs.stft(WAVE * 1j, 4, 2, as_real=True),
    "stft: .* one side do not say all": lambda: hs.stft(WAVE * 1j, 4, 2, onesided=True),
    "stft: .* one side do not say": lambda: hs.stft(WAVE, 4, 2, HANN * 1j, onesided=True),
    "fft: .* nothing has no frequencies": lambda: hs.fft(WAVE[:, :0]),
    "dft: .* nothing has no frequencies": lambda: hs.dft(WAVE[:, :0], WAVE[:, :0]),
    "no window of 20": lambda: hs.stft(WAVE, 20, 2),
    "'real' of shape": lambda: hs.dft(WAVE, WAVE[:1]),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        MISTAKES[message]()
