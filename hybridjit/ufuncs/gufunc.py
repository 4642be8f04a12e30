"""Gufunc: a kernel on small arrays, run for every position of the dimensions before theirs.

def product(a, b, out):                       # (n,k),(k,m)->(n,m)
    for i0 in range(out.shape[0]):
        out[i0] = core(a[i0], b)
    return out
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError, ShapeMismatch
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Const
from hybridjit.ir.signature import ArrayResult, ScalarResult
from hybridjit.kernel import Kernel
from hybridjit.record import record
from hybridjit.runtime.arguments import NamedCall, spec_of_argument
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from hybridjit.runtime.dispatch.objects import NativeCallable, native_calls
from hybridjit.scalars.specs import ArraySpec, ScalarSpec, Spec
from hybridjit.scalars.suggest import did_you_mean
from hybridjit.ufuncs.axes import moved_inputs, moved_output, read_axes
from hybridjit.ufuncs.core_nest import CoreNest
from hybridjit.ufuncs.inner_kernel import InnerKernel
from hybridjit.ufuncs.operands import Array, broadcast, read_dtype, read_input, shape_of
from hybridjit.ufuncs.outputs import SameAs, check_cast, check_target, read_out, without_overlap
from hybridjit.ufuncs.signature import CoreSignature, core_of
from hybridjit.ufuncs.texts import make_function, parameter_names

_KEYWORDS = ("out", "axes", "axis", "casting")


@record
class GufuncOptions:
    """What a gufunc was made with besides its kernel and its signature."""

    dtypes: tuple[DType, ...] | None = None
    parallel: bool = False


@native_calls
class Gufunc(NativeCallable):
    """A kernel on core arrays that takes any dimensions before them: see `Kernel.as_gufunc`."""

    __name__: str
    __doc__: str | None

    def __init__(self, kernel: Kernel[..., Any], signature: str, options: GufuncOptions) -> None:
        functools.update_wrapper(self, kernel.__hybrid_function__)
        self.kernel = kernel
        self.options = options
        self.core = CoreSignature.parse(signature)
        self.native_calls = NativeCalls()
        names = list(kernel.signature.parameters)
        self.writes_outputs = _writes_outputs(self, names)
        self._names = parameter_names(names[: self.nin])
        self._kernels: dict[str, Kernel[..., Any]] = {}

    @property
    def signature(self) -> str:
        """The core dimensions: `(n,k),(k,m)->(n,m)`."""
        return str(self.core)

    @property
    def nin(self) -> int:
        """How many operands there are."""
        return len(self.core.inputs)

    @property
    def nout(self) -> int:
        """How many results there are."""
        return len(self.core.outputs)

    @property
    def nargs(self) -> int:
        """How many operands and results there are."""
        return self.nin + self.nout

    def __repr__(self) -> str:
        return f"hybridjit gufunc '{self.__name__}' {self.signature}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Gufunc, (self.kernel, self.signature, self.options)

    @api_edge
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for operands whose loop dimensions are broadcast; `out`, `axes`, `axis`."""
        # Calls like earlier ones do not come here: the dispatcher runs them.
        with NamedCall(self.__name__):
            given, out = self._read(args, kwargs)
            axes = read_axes(self.core, kwargs.get("axes"), kwargs.get("axis"))
            inputs = moved_inputs(given, axes)
            outs = None if out is None else moved_inputs(out, axes[self.nin :])
            results = self._apply(inputs, outs, kwargs.get("casting", "same_kind"))
            if out is not None:
                return out[0] if self.nout == 1 else out
            final = [moved_output(r, a) for r, a in zip(results, axes[self.nin :], strict=True)]
            return final[0] if self.nout == 1 else tuple(final)

    def _read(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[list[Any], tuple[Any, ...] | None]:
        """The operands, and the arrays for the results."""
        for name in kwargs:
            if name not in _KEYWORDS:
                raise ArgumentError(
                    f"there is no keyword '{name}'",
                    help=did_you_mean(name, _KEYWORDS) or f"there are {', '.join(_KEYWORDS)}",
                )
        after = tuple(args[self.nin :])
        if len(args) < self.nin or len(after) > self.nout or (after and "out" in kwargs):
            raise ArgumentError(
                f"takes {self.nin} operands, and {self.nout} outputs after them at most; "
                f"found {len(args)}"
            )
        out = read_out(after or kwargs.get("out"), self.nout)
        if out is not None:
            for item in out:
                check_target(item)
        inputs = [read_input(*item) for item in zip(self._names, args, strict=False)]
        return inputs, out

    def _apply(
        self, inputs: list[Any], outs: tuple[Any, ...] | None, casting: str
    ) -> Sequence[Any]:
        shapes = [shape_of(value) for value in inputs]
        sizes = self.core.bind(self._names, shapes)
        cores = [
            core_of(name, core, shape)
            for name, core, shape in zip(self._names, self.core.inputs, shapes, strict=True)
        ]
        loops = [shape[: len(shape) - len(core)] for shape, core in zip(shapes, cores, strict=True)]
        loop = broadcast(self.__name__, loops)
        if outs is not None:
            loop = broadcast(self.__name__, [loop, *self._bind_outs(outs, sizes)])
        dtypes = self._result_dtypes(inputs, cores, sizes, outs)
        wanted = [
            (*loop, *self.core.output_shape(position, sizes)) for position in range(self.nout)
        ]
        nest = CoreNest(
            self.core,
            self._names,
            tuple(inputs),
            loop,
            tuple(sizes.items()),
            dtypes,
            writes_outputs=self.writes_outputs,
            is_parallel=self.options.parallel,
        )
        if outs is None:
            return self._run(nest)
        return self._run_into(nest, outs, wanted, casting)

    def _bind_outs(self, outs: Sequence[Array], sizes: dict[str, int]) -> list[tuple[int, ...]]:
        """The loop dimensions of the arrays given for the results."""
        loops: list[tuple[int, ...]] = []
        for position, out in enumerate(outs):
            core = core_of("out", self.core.outputs[position], out.shape)
            self.core.bind_output(position, core, sizes, "out=")
            loops.append(out.shape[: out.ndim - len(core)])
        return loops

    # -- results -------------------------------------------------------------------------------

    def _result_dtypes(
        self,
        inputs: Sequence[Any],
        cores: Sequence[tuple[int, ...]],
        sizes: dict[str, int],
        outs: Sequence[Array] | None,
    ) -> tuple[DType, ...]:
        """The types of the results; sizes of dimensions that no operand has are found here."""
        if not self.writes_outputs:
            return self._returned(inputs, cores, sizes)
        if outs is not None:
            return tuple(read_dtype(out.dtype) for out in outs)
        if self.options.dtypes is not None:
            return self.options.dtypes
        return (read_dtype(np.result_type(*inputs)),) * self.nout

    def _returned(
        self, inputs: Sequence[Any], cores: Sequence[tuple[int, ...]], sizes: dict[str, int]
    ) -> tuple[DType, ...]:
        specs = [_core_spec(*item) for item in zip(self._names, inputs, cores, strict=True)]
        summary = self.kernel.summary(*specs)
        for buffer in summary.header.buffers:
            if buffer in summary.written:
                raise ArgumentValueError(
                    f"'{self.__name__}' writes to its operand '{buffer.name}'",
                    help="return the result, or add parameters for the results",
                )
        returns = summary.header.returns or ()
        if len(returns) != self.nout:
            raise ArgumentValueError(
                f"'{self.__name__}' returns {len(returns)} results, "
                f"but the signature {self.core} has {self.nout}"
            )
        for position, result in enumerate(returns):
            if isinstance(result, ArrayResult):
                raise ArgumentValueError(
                    f"the size of result {position} of '{self.__name__}' is computed while it runs",
                    help="a gufunc's results have sizes of its signature: return a whole array",
                )
            extents = () if isinstance(result, ScalarResult) else result.shape
            shape = tuple(int(e.value.real) if isinstance(e, Const) else -1 for e in extents)
            self.core.bind_output(position, shape, sizes, f"result {position}")
        return tuple(result.dtype for result in returns)

    def _run(self, nest: CoreNest) -> Sequence[Any]:
        """New arrays with the results."""
        found = self._kernel_of(nest)(*nest.arguments)
        results = cast("tuple[Any, ...]", found) if self.nout > 1 else (found,)
        return [nest.squeezed(position, result) for position, result in enumerate(results)]

    def _run_into(
        self, nest: CoreNest, outs: Sequence[Array], wanted: Sequence[tuple[int, ...]], casting: str
    ) -> Sequence[Any]:
        """Store the results in arrays of the caller's."""
        for out, shape, dtype in zip(outs, wanted, nest.dtypes, strict=True):
            if out.shape != shape:
                raise ShapeMismatch(f"out= has the shape {out.shape}, and the result {shape}")
            check_cast(dtype, out.dtype, casting)
        apart = [_apart(value, outs) for value in nest.inputs]
        is_direct = all(
            out.dtype == dtype.numpy for out, dtype in zip(outs, nest.dtypes, strict=True)
        )
        nest = replace(nest, inputs=tuple(apart))
        if is_direct:
            stretched = tuple(nest.stretched(k, out) for k, out in enumerate(outs))
            nest = replace(nest, outs=stretched)
            self._kernel_of(nest)(*nest.arguments)
            return outs
        for out, result in zip(outs, self._run(nest), strict=True):
            out[...] = result
        return outs

    def _kernel_of(self, nest: CoreNest) -> Kernel[..., Any]:
        text = nest.text(self.__name__)
        kernel: Kernel[..., Any] | None = self._kernels.get(text)
        if kernel is None:
            pyfunc = make_function(self.__name__, text, {"core": self.kernel})
            fastmath = self.kernel.fastmath
            learns = nest.has_plain_call
            kernel = InnerKernel(pyfunc, self, fastmath) if learns else Kernel(pyfunc, fastmath)
            self._kernels[text] = kernel
        return kernel


def _writes_outputs(gufunc: Gufunc, names: Sequence[str]) -> bool:
    """True if the kernel has a parameter for each result, False if it returns them."""
    if len(names) == gufunc.nargs:
        return True
    if len(names) == gufunc.nin:
        return False
    raise ArgumentValueError(
        f"'{gufunc.__name__}' has {len(names)} parameters, but the signature {gufunc.core} has "
        f"{gufunc.nin} operands and {gufunc.nout} results",
        help="give the kernel one parameter for each operand, and return the results; or "
        "parameters for the results after them",
    )


def _core_spec(name: str, value: Any, core: tuple[int, ...]) -> Spec:
    """The type of the part of an operand that the kernel gets."""
    spec = spec_of_argument(name, value)
    if not isinstance(spec, ArraySpec):
        return spec
    if core:
        return ArraySpec(spec.dtype, core)
    return ScalarSpec(ScalarType(spec.dtype))


def _apart(value: Any, outs: Sequence[Array]) -> Any:
    found = without_overlap(value, outs)
    return value.copy() if isinstance(found, SameAs) else found


@api_edge
def make_gufunc(kernel: Kernel[..., Any], signature: str, options: Mapping[str, Any]) -> Gufunc:
    """The gufunc of a kernel: see `Kernel.as_gufunc`."""
    dtypes = options.get("dtypes")
    if dtypes is not None and not isinstance(dtypes, (tuple, list)):
        dtypes = (dtypes,)
    read = None if dtypes is None else tuple(map(read_dtype, cast("Sequence[Any]", dtypes)))
    made = Gufunc(kernel, signature, GufuncOptions(read, bool(options.get("parallel"))))
    if read is not None and len(read) != made.nout:
        raise ArgumentValueError(f"dtypes= has {len(read)} types for {made.nout} results")
    return made
