"""TOPI's operators of detection networks, in terms of those of `hybridjit.stdlib`."""

from __future__ import annotations

from typing import Any

from hybridjit import stdlib as hs


def get_valid_counts(
    data: Any, score_threshold: float = 0, id_index: int = 0, score_index: int = 1
) -> list[Any]:
    """Counts and places in int32."""
    counts, boxes, places = hs.get_valid_counts(data, score_threshold, id_index, score_index)
    return [hs.cast(counts, "int32"), boxes, hs.cast(places, "int32")]


def multibox_transform_loc(
    cls_prob: Any,
    loc_pred: Any,
    anchor: Any,
    clip: bool = True,
    threshold: float = 0.01,
    variances: Any = (0.1, 0.1, 0.2, 0.2),
) -> list[Any]:
    """Counts in int32."""
    options = (clip, threshold, tuple(variances))
    boxes, counts = hs.multibox_transform_loc(cls_prob, loc_pred, anchor, *options)
    return [boxes, hs.cast(counts, "int32")]


def roi_pool_nchw(data: Any, rois: Any, pooled_size: Any, spatial_scale: float) -> Any:
    """By other names."""
    return hs.roi_pool(data, rois, pooled_size, spatial_scale)


ADAPTED = {
    "vision.get_valid_counts": get_valid_counts,
    "vision.ssd.multibox_transform_loc": multibox_transform_loc,
    "vision.rcnn.roi_pool_nchw": roi_pool_nchw,
}
