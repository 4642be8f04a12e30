"""`tvm.topi`: operators, by TVM's names for those of `hybridjit.stdlib`.

`table` says of each of TOPI's names what it is here, as the documentation shows it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hybridjit import stdlib
from hybridjit.compat.tvm.operators import ADAPTED
from hybridjit.compat.tvm.topi_modules import generic, tag, utils, x86

# What is called otherwise there, or with other arguments.
RENAMED: dict[str, str] = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "argwhere": "argwhere",
    "fast_erf": "erf",
    "fast_exp": "exp",
    "fast_tanh": "tanh",
    "unique": "unique",
    "nn.fast_softmax": "softmax",
    "sparse.csrmm": "csr_matmul",
    "sparse.csrmv": "csr_matmul",
    "sparse.dense": "sparse_dense",
    "sparse_to_dense": "csr_to_dense",
    "nn.sparse_transpose": "csr_transpose",
    "nn.dense_pack": "dense_packed",
    "nn.leaky_relu": "leaky_relu",
    "random.uniform": "random_uniform",
    "random.normal": "random_normal",
    "random.multinomial": "random_multinomial",
    "random.threefry_split": "random_split",
    "random.threefry_generate": "random_bits",
    "vision.non_max_suppression": "non_max_suppression",
    "vision.rcnn.proposal": "proposal",
    "vision.ssd.multibox_prior": "multibox_prior",
    "vision.reorg": "yolo_reorg",
    "nn.dilate": "dilate",
}
# What has its name there in another module, with the same arguments.
_PLACED = {
    "nn": (
        *("relu", "prelu", "softmax", "log_softmax", "nll_loss", "sparse_dense"),
        "sparse_add",
    ),
}
# TOPI's names that have nothing here, and why.
ABSENT: dict[str, str] = {
    "fixed_point_multiply_per_axis": "hs.requantize takes scales for each channel",
    "sparse_fill_empty_rows": "TensorFlow's ragged tensors are not here",
    "sparse_reshape": "TensorFlow's ragged tensors are not here",
    "strided_set": "a te.compute with te.if_then_else, or a script",
    "nn.bitpack": "hs.bitserial_dense packs by itself",
    "nn.bitserial_conv2d_nchw": "hs.bitserial_dense of windows, or hs.conv2d_int8",
    "nn.bitserial_conv2d_nhwc": "hs.bitserial_dense of windows, or hs.conv2d_int8",
    "nn.conv2d_NCHWc_int8": "hs.conv2d_int8 chooses the layout by itself",
    "nn.conv2d_winograd_weight_transform": "hs.conv2d_winograd transforms filters by itself",
    "nn.conv3d_winograd_weight_transform": "hs.conv3d is not transformed",
    "nn.depthwise_conv2d_NCHWc": "hs.depthwise_conv2d, with layout NCHW or NHWC",
    "nn.depthwise_conv2d_backward_input_nhwc": "te.gradient of hs.depthwise_conv2d",
    "nn.depthwise_conv2d_backward_weight_nhwc": "te.gradient of hs.depthwise_conv2d",
    "vision.all_class_non_max_suppression": "hs.non_max_suppression for each class",
}


def find(name: str) -> Any:
    """What TOPI's `name`, such as "nn.relu", is here; None, if it is nothing."""
    if name in ADAPTED:
        return ADAPTED[name]
    module, _, own = name.rpartition(".")
    if module == "vision" and name not in RENAMED:
        # TVM has them in both.
        both = (f"vision.{part}.{own}" for part in ("rcnn", "ssd"))
        return next((find(other) for other in both if other in (ADAPTED | RENAMED)), None)
    is_there = not module or own in _PLACED.get(module, ())
    here = RENAMED.get(name, own if is_there else "")
    return getattr(stdlib, here) if here in stdlib.OPERATORS else None


class _Module(ModuleType):
    """A module of TOPI, whose names are looked up when they are used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return look_up(f"{self.__name__}.{name}")


def look_up(name: str) -> Any:
    """What TOPI's `name` is here; refused with what to do instead, if it is nothing."""
    found = find(name)
    if found is not None:
        return found
    rest = ABSENT.get(name, "hybridjit.stdlib.OPERATORS lists the operators there are")
    raise AttributeError(f"topi has no {name!r} here: {rest}")


nn: Any = _Module("nn")
image: Any = _Module("image")
sparse: Any = _Module("sparse")
random: Any = _Module("random")
vision: Any = _Module("vision")
vision.rcnn = _Module("vision.rcnn")
vision.ssd = _Module("vision.ssd")
MODULES: dict[str, ModuleType] = {
    "nn": nn,
    "image": image,
    "sparse": sparse,
    "random": random,
    "vision": vision,
    "tag": tag,
    "utils": utils,
    "generic": generic,
    "x86": x86,
}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return look_up(name)


def __dir__() -> list[str]:
    names = [*stdlib.OPERATORS, *RENAMED, *ADAPTED]
    return sorted({*(name for name in names if "." not in name), *MODULES})


def table() -> str:
    """A line for each of TOPI's names: what it is here, or why it is not."""
    same = [f"{module}.{name}" for module, names in _PLACED.items() for name in names]
    others = {*RENAMED, *ADAPTED}
    plain = [name for name in SAME if name not in others and find(name) is not None]
    lines = [f"| `{name}` | the same |" for name in sorted({*plain, *same})]
    renamed = sorted((name, here) for name, here in RENAMED.items() if name not in ADAPTED)
    lines += [f"| `{name}` | `hs.{here}` |" for name, here in renamed]
    lines += [f"| `{name}` | the same, with TOPI's arguments |" for name in sorted(ADAPTED)]
    lines += [f"| `{name}` | not: {why} |" for name, why in sorted(ABSENT.items())]
    return "\n".join(["| TOPI | here |", "|---|---|", *lines])


# TOPI's names that are names of operators here, with the same arguments.
SAME = tuple(
    [
        "left_shift",
        "right_shift",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "greater",
        "less",
        "equal",
        "not_equal",
        "greater_equal",
        "less_equal",
        "where",
        "cast",
        "negative",
        "sign",
        "sqrt",
        "rsqrt",
        "exp",
        "log",
        "log2",
        "log10",
        "erf",
        "tan",
        "sin",
        "cos",
        "sinh",
        "cosh",
        "tanh",
        "sigmoid",
        "floor",
        "ceil",
        "trunc",
        "isnan",
        "isfinite",
        "isinf",
        "reshape",
        "transpose",
        "squeeze",
        "concatenate",
        "stack",
        "split",
        "tile",
        "repeat",
        "broadcast_to",
        "take_along_axis",
        "adv_index",
        "unravel_index",
        "reverse_sequence",
        "layout_transform",
        "meshgrid",
        "full_like",
        "matrix_set_diag",
        "tensordot",
        "argwhere",
        "unique",
        "dft",
        "sliding_window",
        "eye",
        "reinterpret",
    ]
)
