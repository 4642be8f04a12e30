"""How peers are called: compiled functions that take and give arrays as a user has them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.row import Array, Function


def numba_way(function: Function, *, parallel: bool = False) -> Callable[[], Function]:
    """`function` in nopython mode."""

    def make() -> Function:
        import numba  # noqa: PLC0415 - a peer that need not be installed

        return numba.njit(function, parallel=parallel)

    return make


def xla_way(write: Callable[[Any], Function]) -> Callable[[], Function]:
    """What `write` makes of the names of jax.numpy, jax.nn and jax.lax, compiled.

    Arguments go in as they are (XLA takes memory of NumPy's without a copy where it is aligned);
    the result is awaited, and not copied.
    """

    def make() -> Function:
        import jax  # noqa: PLC0415 - a peer that need not be installed

        jax.config.update("jax_enable_x64", True)
        compiled: Any = jax.jit(write(jax))

        def call(*args: Array) -> Array:
            return compiled(*args).block_until_ready()

        return call

    return make


def onnx_way(build: Callable[[Any, list[str]], list[Any]], args: tuple[Array, ...]) -> Any:
    """The nodes that `build` makes of onnx.helper and the names of the arguments, as a session.

    The last node's output is the result.
    """

    def make() -> Function:
        import onnx  # noqa: PLC0415 - a peer that need not be installed
        import onnxruntime  # noqa: PLC0415

        helper: Any = onnx.helper
        names = [f"x{number}" for number in range(len(args))]
        nodes = build(helper, names)
        kinds = [helper.np_dtype_to_tensor_dtype(arg.dtype) for arg in args]
        inputs = [
            helper.make_tensor_value_info(name, kind, arg.shape)
            for name, kind, arg in zip(names, kinds, args, strict=True)
        ]
        output = helper.make_tensor_value_info(nodes[-1].output[0], kinds[0], None)
        graph = helper.make_graph(nodes, "row", inputs, [output])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _threads()
        session: Any = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )

        def call(*given: Array) -> Array:
            return session.run(None, dict(zip(names, given, strict=True)))[0]

        return call

    return make


def _threads() -> int:
    return len(os.sched_getaffinity(0))


def numpy_way(function: Function) -> Callable[[], Function]:
    """`function` as it stands."""
    return lambda: function


def as_array(result: Any) -> Array:
    """A result of any peer as an array of NumPy's."""
    return np.asarray(result)
