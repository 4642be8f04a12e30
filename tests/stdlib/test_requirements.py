"""What sizes have to be is refused when they are known, and when the code runs if not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import stdlib as hs
from hybridjit import te

# A call, a shape that it takes, and one that it does not.
CALLS: dict[str, tuple[Any, Any, Any]] = {
    "reshape": (lambda x: hs.reshape(x, (2, -1)), (6,), (5,)),
    "reshape of two axes": (lambda x: hs.reshape(x, (-1, 4)), (2, 6), (3, 5)),
    "split": (lambda x: hs.split(x, 2)[1], (6,), (5,)),
    "glu": (hs.glu, (6,), (5,)),
    "depth_to_space": (lambda x: hs.depth_to_space(x, 2), (1, 4, 1, 2), (1, 5, 1, 2)),
    "space_to_depth": (lambda x: hs.space_to_depth(x, 2), (1, 1, 4, 2), (1, 1, 4, 3)),
    "yolo_reorg": (lambda x: hs.yolo_reorg(x, 2), (1, 1, 4, 2), (1, 1, 3, 2)),
    "space_to_batch_nd": (lambda x: hs.space_to_batch_nd(x, [2]), (1, 4, 1), (1, 3, 1)),
    "batch_to_space_nd": (lambda x: hs.batch_to_space_nd(x, [2]), (4, 1, 1), (3, 1, 1)),
    "layout_transform": (lambda x: hs.layout_transform(x, "NC", "NC2c"), (2, 4), (2, 3)),
    "layout_transform of blocks": (
        lambda x: hs.layout_transform(x, "NC2c", "NC"),
        (1, 3, 2),
        (1, 2, 3),
    ),
    "fifo_buffer": (lambda x: hs.fifo_buffer(x, hs.strided_slice(x, [0], [4])), (2,), (5,)),
    "binarize_pack": (hs.binarize_pack, (64,), (33,)),
    "group_norm": (lambda x: hs.group_norm(x, 2), (2, 4), (2, 5)),
    "adaptive_max_pool1d": (lambda x: hs.adaptive_max_pool1d(x, 2), (1, 1, 3), (1, 1, 0)),
    "adaptive_avg_pool2d": (lambda x: hs.adaptive_avg_pool2d(x, 2), (1, 1, 3, 3), (1, 1, 3, 0)),
}


def run_of(call: Any, shape: Sequence[int], *, like: Any) -> Any:
    """The result of a graph whose sizes are known when it runs, of so many elements as `like`."""
    sizes = [te.var(f"n{axis}") for axis, _ in enumerate(shape)]
    x = te.placeholder(sizes, "float64", "x")
    made = call(x)
    result = np.zeros(like.shape, like.dtype)
    hj.build([x, made])(np.arange(np.prod(shape), dtype=float).reshape(shape), result)
    return result


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CALLS)
def test_sizes_that_fit(name: str) -> None:
    call, shape, _ = CALLS[name]
    wanted = call(np.arange(np.prod(shape), dtype=float).reshape(shape))
    np.testing.assert_allclose(run_of(call, shape, like=wanted), wanted)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CALLS)
def test_sizes_of_the_run_that_do_not_fit(name: str) -> None:
    call, shape, other = CALLS[name]
    like = call(np.zeros(shape))
    # The array of results has as many elements as are left over by what is cut off.
    shapes = {"reshape": (2, 2), "reshape of two axes": (3, 4), "split": (2,), "glu": (2,)}
    shapes |= {"space_to_depth": (1, 4, 2, 1), "yolo_reorg": (1, 4, 1, 1), "binarize_pack": (1,)}
    shapes |= {"space_to_batch_nd": (2, 1, 1), "batch_to_space_nd": (1, 2, 1)}
    shapes |= {"layout_transform": (2, 1, 2), "group_norm": (2, 5)}
    shapes |= {"layout_transform of blocks": (1, 4), "fifo_buffer": (4,)}
    result = np.zeros(shapes.get(name, like.shape), like.dtype)
    with pytest.raises(ValueError, match=rf"^{name.split()[0]}: "):
        run_of(call, other, like=result)


@pytest.mark.parametrize("name", CALLS)
def test_known_sizes_that_do_not_fit(name: str) -> None:
    call, _, other = CALLS[name]
    with pytest.raises(ValueError, match=rf"^{name.split()[0]}: "):
        call(np.zeros(other))


def test_a_gradient_goes_through_what_is_checked() -> None:
    n = te.var("n")
    x = te.placeholder((n,), "float64", "x")
    total: Any = hs.sum(hs.multiply(hs.reshape(x, (2, -1)), 3.0))
    (slope,) = te.gradient(total, [x])
    result = np.zeros(4)
    hj.build([x, slope])(np.ones(4), result)
    np.testing.assert_array_equal(result, np.full(4, 3.0))
