"""TOPI's layers whose arguments differ from those of `hybridjit.stdlib`, in terms of these."""

from __future__ import annotations

from typing import Any

from hybridjit import stdlib as hs
from hybridjit.compat.tvm.layouts import by_any_name, sides
from hybridjit.errors import ArgumentValueError

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


def batch_norm(
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    axis: int | None = None,
    epsilon: float | None = None,
    center: bool | None = None,
    scale: bool | None = None,
    training: bool | None = None,
    momentum: float | None = None,
) -> list[Any]:
    """The result and the moving mean and variance, new ones in training."""
    given = (moving_mean, moving_var, None if scale is False else gamma)
    given = (*given, None if center is False else beta)
    options: dict[str, Any] = {"axis": 1 if axis is None else axis}
    options["epsilon"] = 1e-5 if epsilon is None else epsilon
    if training:
        share = 0.1 if momentum is None else momentum
        return list(hs.batch_norm_train(data, *given, **options, momentum=share))
    same = [hs.multiply(part, 1) for part in (moving_mean, moving_var)]
    return [hs.batch_norm(data, *given, **options), *same]


def conv2d_packed(
    data: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    layout: str,
    out_layout: str,
    out_dtype: Any = "float32",
) -> Any:
    """Layouts are seen of the shapes."""
    made = hs.conv2d_packed(data, kernel, stride=stride, padding=padding, dilation=dilation)
    return made if out_dtype is None else hs.cast(made, out_dtype)


def conv2d_winograd(
    data: Any,
    weight: Any,
    strides: Any,
    padding: Any,
    dilation: Any,
    out_dtype: Any = None,
    pre_computed: bool = False,
) -> Any:
    """Filters are (outputs, channels, 3, 3), not transformed before."""
    steps = [step for part in (strides, dilation) for step in _listed(part)]
    if pre_computed or any(step != 1 for step in steps):
        raise ArgumentValueError(
            "topi.nn.conv2d_winograd_nchw: filters that were transformed before, and strides and "
            "dilations other than 1, are not here: see hs.conv2d"
        )
    made = hs.conv2d_winograd(data, weight, padding=sides(padding, weight.shape[-2:]))
    return made if out_dtype is None else hs.cast(made, out_dtype)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, _SEQUENCE) else [value]


def correlation(
    data1: Any,
    data2: Any,
    kernel_size: int,
    max_displacement: int,
    stride1: int,
    stride2: int,
    padding: Any,
    is_multiply: bool,
) -> Any:
    """All options are given."""
    how = (kernel_size, max_displacement, stride1, stride2, padding, is_multiply)
    return hs.correlation(data1, data2, *how)


def fifo_buffer(data: Any, buffer: Any, axis: int) -> Any:
    """By other names."""
    return hs.fifo_buffer(data, buffer, axis)


def pool_grad(
    grads: Any,
    data: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    pool_type: str,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    layout: Any = "NCHW",
) -> Any:
    """The gradient of the largest elements or of averages."""
    options: dict[str, Any] = {"stride": stride, "padding": padding, "ceil_mode": ceil_mode}
    if pool_type == "max":
        return hs.max_pool2d_grad(grads, data, kernel, **options, layout=layout)
    options["count_include_pad"] = count_include_pad
    return hs.avg_pool2d_grad(grads, data, kernel, **options, layout=layout)


def simulated_quantize(
    data: Any,
    out_dtype: Any,
    output_scale: Any = None,
    output_zero_point: Any = None,
    axis: int = -1,
) -> Any:
    """A scale of 1 and a zero point of 0 unless others are given."""
    scale = 1.0 if output_scale is None else output_scale
    zero = 0 if output_zero_point is None else output_zero_point
    return hs.simulated_quantize(data, out_dtype, scale, zero, axis=axis)


def lstm(
    Xs: Any,
    Wi: Any,
    Wh: Any,
    Bi: Any = None,
    Bh: Any = None,
    h_init: Any = None,
    c_init: Any = None,
    proj: Any = None,
    p_i: Any = None,
    p_f: Any = None,
    p_o: Any = None,
    f_act: Any = "sigmoid",
    g_act: Any = "tanh",
    h_act: Any = "tanh",
    reverse: bool = False,
    weight_layout: str = "IFGO",
) -> Any:
    """The hidden and cell states of all steps."""
    operands = (Xs, Wi, Wh, Bi, Bh, h_init, c_init, proj, p_i, p_f, p_o)
    activations = (f_act, g_act, h_act)
    return hs.lstm_states(*operands, activations=activations, reverse=reverse, gates=weight_layout)


def stft(
    data: Any,
    n_fft: int,
    hop_length: int,
    win_length: int,
    window: Any,
    normalized: bool,
    onesided: bool,
    output_shape: Any = None,
) -> Any:
    """Real and imaginary parts apart; windows are as long as transforms."""
    if win_length != n_fft:
        raise ArgumentValueError(
            f"topi.stft: a window of {win_length} elements for transforms of {n_fft} is not here",
            help="pad the window with zeros at both ends",
        )
    options = {"onesided": bool(onesided), "normalized": bool(normalized), "as_real": True}
    return hs.stft(data, n_fft, hop_length, window, **options)


def binarize_pack(data: Any, axis: int | None = None, name: str = "PackedInput") -> Any:
    """Along the last axis unless another is given."""
    return hs.binarize_pack(data, -1 if axis is None else axis)


def binary_dense(data: Any, weight: Any) -> Any:
    """In float32."""
    return hs.cast(hs.binary_dense(data, weight), "float32")


def bitserial_dense(
    data: Any,
    weight: Any,
    data_bits: int,
    weight_bits: int,
    pack_dtype: Any = "uint32",
    out_dtype: Any = "int16",
    unipolar: bool = True,
) -> Any:
    """Weights are numbers, (outputs, inputs), not packed before."""
    return hs.bitserial_dense(
        data, weight, data_bits, weight_bits, unipolar=unipolar, dtype=out_dtype
    )


ADAPTED = {
    "nn.binarize_pack": binarize_pack,
    "nn.binary_dense": binary_dense,
    "nn.bitserial_dense": bitserial_dense,
    "nn.batch_norm": batch_norm,
    "nn.conv2d_NCHWc": conv2d_packed,
    "nn.conv2d_winograd_nchw": by_any_name("nn.conv2d_winograd_nchw", conv2d_winograd),
    "nn.correlation_nchw": correlation,
    "nn.fifo_buffer": fifo_buffer,
    "nn.lstm": lstm,
    "nn.pool_grad": pool_grad,
    "nn.simulated_quantize": simulated_quantize,
    "stft": stft,
}
