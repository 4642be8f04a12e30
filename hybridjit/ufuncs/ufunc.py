"""Ufunc: a function of numbers that works on arrays, element by element, as NumPy's ufuncs do."""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NoReturn, cast

import numpy as np

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, HybridError, TypeMismatch
from hybridjit.ir.dtype import BOOL, COMPLEX128, FLOAT64, INT64, DType, ScalarType
from hybridjit.ir.signature import ScalarResult
from hybridjit.kept_property import kept_property
from hybridjit.kernel import Kernel, reduced
from hybridjit.record import record
from hybridjit.runtime.arguments import NamedCall
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from hybridjit.runtime.dispatch.objects import NativeCallable, native_calls
from hybridjit.scalars.kinds import is_array, is_python_number
from hybridjit.scalars.specs import ScalarSpec
from hybridjit.scalars.suggest import did_you_mean
from hybridjit.source import read_function
from hybridjit.ufuncs.folds import Folds
from hybridjit.ufuncs.inner_kernel import InnerKernel
from hybridjit.ufuncs.nest import Names, Nest, default_type
from hybridjit.ufuncs.operands import (
    USUAL_CASTING,
    Array,
    as_type,
    broadcast,
    element_spec,
    read_dtype,
    read_input,
)
from hybridjit.ufuncs.outputs import (
    SameAs,
    check_cast,
    check_target,
    check_targets,
    read_out,
    without_overlap,
)
from hybridjit.ufuncs.overrides import find_override
from hybridjit.ufuncs.texts import FUNCTION, make_function, parameter_names

_KEYWORDS = ("out", "where", "dtype", "casting")
# Types on which a function is tried out to see how many results it has.
_TRIALS = (FLOAT64, INT64, BOOL, COMPLEX128)


@record
class Declared:
    """What a ufunc was made with besides its function."""

    identity: Any = None
    associative: bool = False
    fastmath: tuple[str, ...] = ()
    parallel: bool = False


@record
class _Options:
    """The keywords of a call."""

    out: tuple[Any, ...] | None = None
    where: Any = True
    dtype: DType | None = None
    casting: str = USUAL_CASTING


@native_calls
class Ufunc(NativeCallable, Folds):
    """A function of numbers that takes arrays: made by `hybrid.vectorize`."""

    __name__: str
    __qualname__: str
    __doc__: str | None

    def __init__(self, pyfunc: FunctionType, declared: Declared) -> None:
        functools.update_wrapper(self, pyfunc)
        read_function(pyfunc)  # a lambda is refused here
        self.__hybrid_function__ = pyfunc
        self.__hybrid_elementwise__ = True
        self.declared = declared
        self.signature = None  # as of np.ufunc: there are no core dimensions
        self.native_calls = NativeCalls()
        self._numbers: Kernel[..., Any] = Kernel(pyfunc, declared.fastmath)
        self._params = _checked_parameters(self._numbers.signature, pyfunc.__name__)
        self._names = Names(pyfunc.__name__, parameter_names([*self._params]))
        self._kernels: dict[str, Kernel[..., Any]] = {}
        self._types: dict[str, None] = {}

    # -- what it is ----------------------------------------------------------------------------

    @property
    def nin(self) -> int:
        """How many operands there are."""
        return len(self._params)

    @kept_property
    def nout(self) -> int:
        """How many results there are."""
        for dtype in _TRIALS:
            try:
                return len(self.result_dtypes([ScalarSpec(ScalarType(dtype))] * self.nin))
            except TypeMismatch:  # not for numbers of this type
                continue
        return len(self.result_dtypes([ScalarSpec(ScalarType(FLOAT64))] * self.nin))

    @property
    def nargs(self) -> int:
        """How many operands and results there are."""
        return self.nin + self.nout

    @property
    def identity(self) -> Any:
        """The value that changes nothing when it is combined with another, if one is declared."""
        return self.declared.identity

    @property
    def types(self) -> list[str]:
        """The types that it was called on so far, as in `["dd->d"]`."""
        return list(self._types)

    @property
    def ntypes(self) -> int:
        """How many combinations of types it was called on so far."""
        return len(self._types)

    @property
    def options(self) -> dict[str, Any]:
        """What it was made with besides its function."""
        return {"elementwise": self.declared}

    @kept_property
    def py_func(self) -> Callable[..., Any]:
        """The function as plain Python, for numbers."""
        return self._numbers.py_func

    @property
    def scalar_kernel(self) -> Kernel[..., Any]:
        """The function as a kernel, for numbers."""
        return self._numbers

    def __repr__(self) -> str:
        return f"hybridjit ufunc '{self.__name__}'"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return reduced(self)

    def __copy__(self) -> Ufunc:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Ufunc:
        return self

    # -- calls ---------------------------------------------------------------------------------

    @api_edge
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for arrays and numbers, which are broadcast; `out`, `where`, `dtype`."""
        # Calls like earlier ones do not come here: the dispatcher runs them.
        with NamedCall(self.__name__):
            override = find_override(args, kwargs)
            if override is not None:
                return override(self, "__call__", args, kwargs)
            inputs, options = self._read(args, kwargs)
            return self._apply(inputs, options)

    @api_edge
    def outer(self, a: Any, b: Any, /, **kwargs: Any) -> Any:
        """The results for every element of `a` with every one of `b`."""
        if self.nin != 2:
            raise ArgumentError(f"outer is for functions of two operands, this has {self.nin}")
        left: Array = np.asarray(a)
        right: Array = np.asarray(b)
        stretched = left.reshape(left.shape + (1,) * right.ndim)
        return self(stretched if right.ndim else a, b if not right.ndim else right, **kwargs)

    def _read(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], _Options]:
        """The operands of a call, defaults filled in, and its keywords."""
        for name in kwargs:
            if name not in _KEYWORDS:
                raise ArgumentError(
                    f"there is no keyword '{name}'",
                    help=did_you_mean(name, _KEYWORDS) or f"there are {', '.join(_KEYWORDS)}",
                )
        given, after = list(args[: self.nin]), args[self.nin :]
        for parameter in list(self._params.values())[len(given) :]:
            if parameter.default is parameter.empty:
                self._refuse_count(len(args))
            given.append(parameter.default)
        if after and ("out" in kwargs or len(after) > self.nout):
            self._refuse_count(len(args))
        out = read_out(tuple(after) if after else kwargs.get("out"), self._count_for(kwargs, after))
        dtype = kwargs.get("dtype")
        options = _Options(
            out,
            kwargs.get("where", True),
            None if dtype is None else read_dtype(dtype),
            kwargs.get("casting", USUAL_CASTING),
        )
        return [read_input(*item) for item in zip(self._params, given, strict=True)], options

    def _count_for(self, kwargs: Mapping[str, Any], after: Sequence[Any]) -> int:
        """How many results there are; only looked up where it matters."""
        return self.nout if after or kwargs.get("out") is not None else 1

    def _refuse_count(self, found: int) -> NoReturn:
        names = ", ".join(self._params)
        raise ArgumentError(
            f"takes {self.nin} operands ({names}), and {self.nout} outputs after them at most; "
            f"found {found}"
        )

    def _apply(self, inputs: list[Any], options: _Options) -> Any:
        if options.dtype is not None:
            inputs = [
                as_type(name, value, options.dtype.numpy, options.casting)
                for name, value in zip(self._params, inputs, strict=True)
            ]
        nest = self._nest(inputs, options)
        if nest.outs is not None:
            return self._store(nest)
        if not nest.shape:
            return self._run(nest)
        simple = nest.simplified()
        result = self._run(simple)
        if not isinstance(result, tuple):
            return simple.restored(result, nest)
        return tuple(simple.restored(item, nest) for item in cast("tuple[Any, ...]", result))

    def _store(self, nest: Nest) -> Any:
        """Run a nest whose results go to arrays; a new one without dimensions is a number."""
        assert nest.outs is not None
        self._run(nest.simplified())
        return nest.outs[0] if len(nest.outs) == 1 else nest.outs

    def _run(self, nest: Nest) -> Any:
        text = nest.text(self._names)
        return self.kernel_of(text, learns=nest.has_plain_call)(*nest.arguments)

    def kernel_of(self, text: str, *, learns: bool = False) -> Kernel[..., Any]:
        """The kernel of a script around the function."""
        kernel: Kernel[..., Any] | None = self._kernels.get(text)
        if kernel is None:
            names = {FUNCTION: self.__hybrid_function__}
            pyfunc = make_function(self.__name__, text, names)
            if learns:
                kernel = InnerKernel(pyfunc, self, self.declared.fastmath)
            else:
                kernel = Kernel(pyfunc, self.declared.fastmath)
            self._kernels[text] = kernel
        return kernel

    def _nest(self, inputs: list[Any], options: _Options) -> Nest:
        """The nest of a call: types, shape, and arrays for the results where they are given."""
        computed, typed = self._types_of(inputs)
        wanted = computed
        if options.dtype is not None:
            for dtype in computed:
                check_cast(dtype, options.dtype.numpy, options.casting)
            wanted = (options.dtype,) * len(computed)
        stored = wanted
        where = None if options.where is True else _read_where(options.where)
        shape, outs = self._shape_and_outs(inputs, where, stored, options)
        if outs is not None:
            inputs = [without_overlap(value, outs) for value in inputs]
            where = None if where is None else _apart(where, outs)
            stored = tuple(read_dtype(out.dtype) for out in outs)
        types = computed, wanted, stored
        return Nest(tuple(inputs), shape, *types, outs, where, typed, self.declared.parallel)

    def _types_of(
        self, inputs: Sequence[Any]
    ) -> tuple[tuple[DType, ...], tuple[DType | None, ...]]:
        """The types of the results, and those that Python numbers are converted to."""
        all_weak = all(map(is_python_number, inputs))
        specs = [
            element_spec(name, value, is_typed=all_weak)
            for name, value in zip(self._params, inputs, strict=True)
        ]
        dtypes = self.result_dtypes(specs)
        chars = ("".join(t.numpy.char for t in group) for group in (_dtypes(specs), dtypes))
        self._types["->".join(chars)] = None
        typed = [
            default_type(value) if is_python_number(value) and not spec.type.weak else None
            for value, spec in zip(inputs, specs, strict=True)
        ]
        return dtypes, tuple(typed)

    def result_dtypes(self, specs: Sequence[ScalarSpec]) -> tuple[DType, ...]:
        """The types of the results for operands of these types."""
        returns = self._numbers.summary(*specs).header.returns
        if not returns or not all(isinstance(result, ScalarResult) for result in returns):
            raise ArgumentError(
                f"'{self.__name__}' returns {'an array' if returns else 'nothing'}",
                help="return a number, or a tuple of numbers",
            )
        return tuple(result.dtype for result in returns)

    def _shape_and_outs(
        self,
        inputs: Sequence[Any],
        where: Array | None,
        stored: tuple[DType, ...],
        options: _Options,
    ) -> tuple[tuple[int, ...], tuple[Array, ...] | None]:
        given = [out for out in options.out or () if out is not None]
        for out in given:
            check_target(out)
        shapes = [value.shape for value in inputs if is_array(value)]
        shapes += [out.shape for out in given] + ([] if where is None else [where.shape])
        shape = broadcast(self.__name__, shapes) if shapes else ()
        if options.out is None and where is None:
            return shape, None
        made = options.out or (None,) * len(stored)
        outs = tuple(
            np.empty(shape, dtype.numpy) if out is None else out
            for out, dtype in zip(made, stored, strict=True)
        )
        check_targets(outs, shape, stored, options.casting)
        return shape, outs

    def forget_texts(self) -> None:
        """Forget the texts that were written for it: errors no longer show their lines."""
        kernels = (self._numbers, *self._kernels.values())
        for kernel in kernels:
            linecache.cache.pop(kernel.__hybrid_function__.__code__.co_filename, None)

    def clear(self) -> None:
        """Forget all code in memory; the next call starts afresh."""
        self.native_calls.clear()
        self._kernels.clear()
        self._numbers.clear()


def _dtypes(specs: Sequence[ScalarSpec]) -> list[DType]:
    return [spec.type.dtype for spec in specs]


def _read_where(where: Any) -> Array:
    found = np.asarray(where)
    if found.dtype != bool:
        raise ArgumentError(f"where= must be an array of bool, got {found.dtype}")
    return found


def _apart(where: Array, outs: Sequence[Array]) -> Array:
    found = without_overlap(where, outs)
    return where.copy() if isinstance(found, SameAs) else found


def _checked_parameters(signature: inspect.Signature, name: str) -> Mapping[str, inspect.Parameter]:
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            raise ArgumentError(
                f"'{name}' takes '{parameter.name}' by name only",
                help="operands are passed by position: move it before the *",
            )
    if not signature.parameters:
        raise ArgumentError(f"'{name}' has no parameters, and nothing to be called on")
    return signature.parameters


def make_ufunc(pyfunc: Any, declared: Declared) -> Ufunc:
    """The ufunc of a function, or of a kernel."""
    function = getattr(pyfunc, "__hybrid_function__", pyfunc)
    if not isinstance(function, FunctionType):
        raise ArgumentError(f"hybrid.vectorize takes a function, got {pyfunc!r}")
    try:
        return Ufunc(function, declared)
    except HybridError as error:
        raise error from None
