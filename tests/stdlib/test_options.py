"""What options may be: arrays of a few numbers, types by NumPy's names, numbers that fit.

What they may not be is refused by an error that names the operator and the option.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import stdlib as hs
from hybridjit import te
from tests.support.operator_rows import compare

np: Any = numpy  # whose types say nothing of arrays that may be any
V: Any = np.arange(3.0)
X: Any = np.arange(24.0).reshape(2, 3, 4)
IMAGE: Any = np.arange(32.0).reshape(1, 2, 4, 4)
WEIGHTS: Any = np.ones((2, 2, 1, 1))
BYTES: Any = np.ones(2, np.uint8)
KEY: Any = np.array([0, 42], np.uint32)
LSTM: Any = (np.ones((3, 2, 4)), np.ones((20, 4)), np.ones((20, 5)))

# The call with an option, which is a number or several of them, as an array or as it is.
WITH_NUMBERS: dict[str, tuple[Any, Any]] = {
    "topk": (lambda k: hs.topk(V, k)[0], 2),
    "sum": (lambda axis: hs.sum(X, axis=axis), (0, 1)),
    "softmax": (lambda axis: hs.softmax(X, axis), 1),
    "repeat": (lambda count: hs.repeat(V, count), 2),
    "roll": (lambda shift: hs.roll(X, shift, (0, 1)), (1, 2)),
    "tile": (lambda reps: hs.tile(V, reps), (2, 1)),
    "split": (lambda places: hs.split(V, places)[1], (1, 2)),
    "max_pool2d": (lambda size: hs.max_pool2d(IMAGE, size), (2, 2)),
    "strided_slice": (lambda begin: hs.strided_slice(X, begin, (2, 3)), (1, 0)),
    "multibox_prior": (lambda sizes: hs.multibox_prior(IMAGE, sizes), (0.5, 0.25)),
    "resize2d": (
        lambda roi: hs.resize2d(IMAGE, 3, roi=roi, coordinates="tf_crop_and_resize"),
        (0.0, 0.0, 0.5, 0.5),
    ),
    "reshape": (lambda shape: hs.reshape(X, shape), (4, 6)),
    "broadcast_to": (lambda shape: hs.broadcast_to(V, shape), (2, 3)),
    "full": (lambda shape: hs.full(shape, 1), (2, 3)),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_arrays_as_options(name: str) -> None:
    call, option = WITH_NUMBERS[name]
    for _ in range(2):
        compare(call(np.array(option)), call(option))


def test_an_array_that_is_changed_is_another_option() -> None:
    shape = np.array([4, 6])
    assert hs.reshape(X, shape).shape == (4, 6)
    shape[:] = 6, 4
    assert hs.reshape(X, shape).shape == (6, 4)


NAMES: tuple[Any, ...] = ("f4", "double", "i8", "?", float, int, bool, np.float32, "float32")
WITH_TYPES: dict[str, Any] = {
    "cast": lambda dtype: hs.cast(V, dtype),
    "sum": lambda dtype: hs.sum(V, dtype=dtype),
    "cumsum": lambda dtype: hs.cumsum(V, dtype=dtype),
    "full": lambda dtype: hs.full(2, 1, dtype),
    "full_like": lambda dtype: hs.full_like(V, 1, dtype),
    "eye": lambda dtype: hs.eye(2, dtype=dtype),
    "one_hot": lambda dtype: hs.one_hot(np.array([1]), 2, dtype=dtype),
    "const_vector": lambda dtype: hs.const_vector((0, 1), dtype),
    "shape": lambda dtype: hs.shape(V, dtype),
    "size": lambda dtype: hs.size(V, dtype),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", NAMES, ids=str)
@pytest.mark.parametrize("name", WITH_TYPES)
def test_types_by_numpys_names(name: str, dtype: Any) -> None:
    assert WITH_TYPES[name](dtype).dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["q9", ">f4", object, 7])
@pytest.mark.parametrize("name", WITH_TYPES)
def test_what_is_no_type_of_elements(name: str, dtype: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{name}: dtype must be a type of elements, got "):
        WITH_TYPES[name](dtype)


# A number that an element of type uint8 does not hold.
TOO_LARGE: dict[str, Any] = {
    "full": lambda: hs.full(2, 300, "uint8"),
    "full_like": lambda: hs.full_like(BYTES, 300),
    "full_like below": lambda: hs.full_like(BYTES, -1),
    "full_like of a tensor": lambda: hs.full_like(te.placeholder((2,), "uint8"), 300),
    "pad": lambda: hs.pad(BYTES, 1, constant_values=300),
    "dilate": lambda: hs.dilate(BYTES, 2, 300),
    "space_to_batch_nd": lambda: hs.space_to_batch_nd(BYTES.reshape(1, 2, 1), [2], [(1, 1)], 300),
    "sequence_mask": lambda: hs.sequence_mask(BYTES.reshape(2, 1), np.array([1]), 300),
    "one_hot": lambda: hs.one_hot(np.array([1]), 2, 300, dtype="uint8"),
    "one_hot elsewhere": lambda: hs.one_hot(np.array([1]), 2, 1, 300, dtype="uint8"),
    "const_vector": lambda: hs.const_vector((1, 300), "uint8"),
    "arange": lambda: hs.arange(0, 600, 300, "uint8"),
    "shape": lambda: hs.shape(np.ones(300), "uint8"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_number_that_does_not_fit_is_refused(name: str) -> None:
    with pytest.raises((OverflowError, TypeError), match=r"out of bounds for uint8|does not fit"):
        TOO_LARGE[name]()


def test_a_number_with_a_type_is_converted() -> None:
    compare(hs.full(2, np.int64(300), "uint8"), np.array([44, 44], np.uint8))
    compare(hs.arange(255, 256, dtype="uint8"), np.array([255], np.uint8))


HALF_ZEROS: dict[str, Any] = {
    "quantize": lambda zero: hs.quantize(V, 0.5, zero),
    "dequantize": lambda zero: hs.dequantize(BYTES, 0.5, zero),
    "requantize": lambda zero: hs.requantize(BYTES, 0.5, zero, 1.0, 0),
    "requantize to": lambda zero: hs.requantize(BYTES, 0.5, 0, 1.0, zero),
    "fake_quantize": lambda zero: hs.fake_quantize(V, 0.5, zero),
}


@pytest.mark.parametrize("zero", [0.7, np.float32(1), np.array([0.5, 0.5])], ids=str)
@pytest.mark.parametrize("name", HALF_ZEROS)
def test_zero_points_are_integers(name: str, zero: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{name.split()[0]}: a zero point is an integer"):
        HALF_ZEROS[name](zero)


WRONG_KINDS: dict[str, Any] = {
    "batch_norm: axis must be an integer, got None": lambda: hs.batch_norm(X, V, V, axis=None),
    "batch_norm_train: axis must be": lambda: hs.batch_norm_train(X, V, V, axis=None),
    "batch_norm_train: axis must be an integer, got .0, 1.": lambda: hs.batch_norm_train(
        X, V, V, axis=(0, 1)
    ),
    "weight_norm: axis must be": lambda: hs.weight_norm(X, V, axis=None),
    "weight_norm: axis must be an integer, got .0, 1.": lambda: hs.weight_norm(X, V, axis=(0, 1)),
    "lrn: axis must be": lambda: hs.lrn(X, axis=None),
    "lrn: axis must be an integer, got .0, 1.": lambda: hs.lrn(X, axis=(0, 1)),
    "mirror_pad: mode must be a word, got 1": lambda: hs.mirror_pad(X, 1, 1),
    "einsum: subscripts must be a word": lambda: hs.einsum(None, (X,)),
    "layout_transform: source must be": lambda: hs.layout_transform(X, 4, "NCHW"),
    "lstm_states: gates must be a word": lambda: hs.lstm_states(*LSTM, gates=None),
    "lstm_states: three activations": lambda: hs.lstm_states(*LSTM, activations=None),
    "conv2d: groups must be an integer": lambda: hs.conv2d(IMAGE, WEIGHTS, groups="2"),
    "conv2d: groups must be an integer, got .1, 1.": lambda: hs.conv2d(
        IMAGE, WEIGHTS, groups=(1, 1)
    ),
    "var: ddof must be a number": lambda: hs.var(X, ddof=()),
    "einsum: subscripts must be a word, got": lambda: hs.einsum(["i", "j"], (V,)),
    "resize2d: layout must be a word": lambda: hs.resize2d(IMAGE, 2, layout=()),
    "resize2d: there is no layout 'x'": lambda: hs.resize2d(IMAGE, 2, layout="x"),
    "sum: 'keepdims' is an option, .* which cannot be a dict": lambda: hs.sum(V, keepdims={}),
    "strided_slice: begin must be a place for each axis": lambda: hs.strided_slice(X, 1, (2,)),
    "strided_slice: end must be integers": lambda: hs.strided_slice(X, (1,), ("2",)),
    "batch_to_space_nd: crops must be 1 pairs": lambda: hs.batch_to_space_nd(X, [2], 3),
    "group_norm: groups must be an integer, got '2'": lambda: hs.group_norm(X, "2"),
    r"group_norm: groups must be an integer, got 2\.0": lambda: hs.group_norm(X, 2.0),
    "group_norm: epsilon must be a number": lambda: hs.group_norm(X, 3, epsilon="x"),
    "lrn: alpha must be a number": lambda: hs.lrn(X, alpha="x"),
    "huber_loss: delta must be a number": lambda: hs.huber_loss(V, V, delta="x"),
    "gather_nd: batch_dims must be": lambda: hs.gather_nd(X, np.array([[0, 0]]), batch_dims=1.0),
    "non_max_suppression: max_output must be an integer or None": lambda: hs.non_max_suppression(
        np.ones((2, 4)), np.ones(2), max_output=2.0
    ),
    "arange: stop must be a real number, got '3'": lambda: hs.arange("3"),
    "arange: start must be a real number, got .0, 0.": lambda: hs.arange((0, 0), 3),
    "arange: stop must be finite, got nan": lambda: hs.arange(np.nan),
    "topk: 'k' is an option, .* got an array of <U1": lambda: hs.topk(V, np.array("a")),
    "topk: k must be an integer": lambda: hs.topk(V, np.array(2.5)),
    "proposal: ratios must be larger than 0": lambda: hs.proposal(
        np.ones((1, 2, 1, 1)), np.zeros((1, 4, 1, 1)), np.ones((1, 3)), (1.0,), (-1.0,)
    ),
    "bitwise_and: operands must be integers": lambda: hs.bitwise_and(V, 1),
    "bitwise_or: operands must be integers": lambda: hs.bitwise_or(1, V),
    "left_shift: operands must be integers": lambda: hs.left_shift(V, V),
    "l2_normalize: maximum takes": lambda: hs.l2_normalize(V * 1j),
    "arccos: acos takes": lambda: hs.arccos(V * 1j),
}


@pytest.mark.parametrize("message", WRONG_KINDS)
def test_options_of_another_kind(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        WRONG_KINDS[message]()


BELOW_NOTHING: dict[str, Any] = {
    "pad: pad_width": lambda: hs.pad(V, -1),
    "eye: n": lambda: hs.eye(-1),
    "eye: m": lambda: hs.eye(1, -1),
    "tile: reps": lambda: hs.tile(V, -1),
    "repeat: repeats": lambda: hs.repeat(V, -1),
    "one_hot: depth": lambda: hs.one_hot(np.array([1]), -1),
    "csr_to_dense: width": lambda: hs.csr_to_dense(V, KEY, KEY, -1),
    "csr_transpose: width": lambda: hs.csr_transpose(V, KEY, KEY, -1),
    "bincount: length": lambda: hs.bincount(np.array([1]), -1),
    "full: a size": lambda: hs.full((2, -1), 0),
    "broadcast_to: a size": lambda: hs.broadcast_to(V, (-1, 3)),
    "random_bits: a size": lambda: hs.random_bits(KEY, (2, -1)),
    "random_uniform: a size": lambda: hs.random_uniform(KEY, -1),
    "random_normal: a size": lambda: hs.random_normal(KEY, -1),
    "random_split: count": lambda: hs.random_split(KEY, -1),
    "random_multinomial: count": lambda: hs.random_multinomial(KEY, V, -1),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("what", BELOW_NOTHING)
def test_sizes_below_zero(what: str) -> None:
    with pytest.raises(ValueError, match=rf"^{what} must be at least 0, got "):
        BELOW_NOTHING[what]()


OTHER_SIZES: dict[str, Any] = {
    "dilation2d: windows of .* do not fit": lambda: hs.dilation2d(IMAGE, np.ones((2, 9, 9))),
    "batch_to_space_nd: crops .* leave out more": lambda: hs.batch_to_space_nd(
        np.ones((4, 2, 2)), [2], [[3, 3]]
    ),
    "nonzero: an array without axes": lambda: hs.nonzero(np.array(3)),
    "cross_entropy_with_logits: 'predictions' .* has no rows": lambda: hs.cross_entropy_with_logits(
        np.array(1.0), V
    ),
    "csr_to_dense: 'starts' .* must have 1 axis": lambda: hs.csr_to_dense(V, KEY, np.array(1), 3),
    "deformable_conv2d: .* does not fit .* in 0 groups": lambda: hs.deformable_conv2d(
        IMAGE, np.zeros((1, 2, 4, 4)), WEIGHTS, groups=0
    ),
}


def test_a_sequence_of_one_stands_for_what_is_in_it() -> None:
    for one in ((1,), [1], np.array([1])):
        compare(hs.conv2d(IMAGE, WEIGHTS, groups=one), hs.conv2d(IMAGE, WEIGHTS, groups=1))
        compare(hs.lrn(X, 3, axis=one), hs.lrn(X, 3, axis=1))


WITHOUT_OPERANDS: dict[str, Any] = {
    "relu: argument 'x' must be an array or a tensor": lambda: hs.relu(None),
    "add: argument 'y' must be an array, a tensor or a number": lambda: hs.add(V, None),
    "batch_norm: argument 'variance' must be": lambda: hs.batch_norm(V[:, None], V[:1], None),
    "matmul: argument 'y' must be": lambda: hs.matmul(X, y=None),
    "matmul of tensors": lambda: hs.matmul(te.placeholder((2, 2)), None),
    "adv_index: argument 'indices' must be a tuple": lambda: hs.adv_index(X, None),
    "unique: argument 'x' must be": lambda: hs.unique(None),
}


@pytest.mark.parametrize("message", WITHOUT_OPERANDS)
def test_none_is_no_operand(message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message.partition(' of ')[0]}.*got NoneType"):
        WITHOUT_OPERANDS[message]()


@pytest.mark.parametrize("message", OTHER_SIZES)
def test_sizes_that_do_not_fit(message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        OTHER_SIZES[message]()


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("ddof", [0, 1, 0.5, np.float32(1.5)])
def test_degrees_of_freedom_may_be_a_fraction(name: str, ddof: Any) -> None:
    wanted = getattr(np, name)(X, axis=1, ddof=ddof)
    np.testing.assert_allclose(getattr(hs, name)(X, 1, ddof=ddof), wanted)


BOOLS: Any = np.array([True, False])


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide", "power"])
def test_arithmetic_of_bools(name: str) -> None:
    ones = np.array([True, True])
    compare(getattr(hs, name)(BOOLS, ones), getattr(np, name)(BOOLS, ones))
