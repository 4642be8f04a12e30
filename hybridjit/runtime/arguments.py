"""What a call passes: the type of each argument, or a clear error that names it."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.errors import ArgumentError, ArgumentValueError, name_call
from hybridjit.frontend.captures import function_state
from hybridjit.interp.base_array import base_array
from hybridjit.interp.scalars import cast
from hybridjit.ir.dtype import INT64, DType, ScalarType, find_dtype
from hybridjit.ir.expr import Buffer
from hybridjit.ir.header import MAX_EXTENT, Header
from hybridjit.runtime.brought_arrays import as_arrays
from hybridjit.runtime.generators import check_generator
from hybridjit.scalars.builtins import ElementTypeObject
from hybridjit.scalars.kinds import (
    field_names,
    is_array,
    is_generator,
    is_masked_array,
    is_numpy_scalar,
    is_python_number,
    is_record,
    is_sequence,
    type_name,
    weak_type,
)
from hybridjit.scalars.specs import (
    SIZE_SPEC,
    ArraySpec,
    ConstantSpec,
    GeneratorSpec,
    ScalarSpec,
    Spec,
    TupleSpec,
)
from hybridjit.scalars.suggest import did_you_mean

# Their value is part of the specialisation.
# Each item of a list is an argument of its own: code for many of them takes long to make.
MAX_ITEMS = 1000
_CONSTANTS: tuple[type, ...] = (str, np.dtype, ElementTypeObject, type)
# Enumerating the elements of an array with odd strides; beyond this, doubt means overlap.
_MAX_ENUMERATED = 1_000_000
# How many candidates NumPy may look at to tell whether two arrays share memory.
_MAX_WORK: Any = 1_000_000
_NO_METHOD = (
    "as a method, a script reads what self holds in its __dict__; otherwise decorate it with "
    "@staticmethod, above, and drop 'self'"
)


class NamedCall(AbstractContextManager[None]):
    """Errors about arguments say which kernel was called.

    Not a generator: its frames would come from contextlib and stay in every traceback.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, ArgumentError):
            name_call(error, self._name)


def read_signature(pyfunc: FunctionType) -> inspect.Signature:
    """The parameters of a script, each of which has a name."""
    signature = inspect.signature(pyfunc)
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise ArgumentValueError(
                f"'{pyfunc.__name__}' takes '**{name}'; a script needs named parameters",
                help="name each of them, with a default where it may be left out",
            )
    return signature


def bind(signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arguments of a call in the order of the parameters, defaults filled in."""
    names = list(signature.parameters)
    help = f"the parameters are {', '.join(names)}" if names else "there are no parameters"
    for name in kwargs:
        if name not in signature.parameters:
            raise ArgumentError(
                f"there is no parameter '{name}'", help=did_you_mean(name, names) or help
            )
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        if names[:1] == ["self"] or not _is_supported(args[:1]):
            help = _NO_METHOD
        raise ArgumentError(str(error), help=help) from None
    bound.apply_defaults()
    return [as_arrays(value) for value in bound.arguments.values()]


def omitted_parameters(
    signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> frozenset[str]:
    """The parameters of a call that fits the signature which have their default values."""
    return frozenset(
        name
        for place, (name, parameter) in enumerate(signature.parameters.items())
        if parameter.default is not parameter.empty
        and name not in kwargs
        and (parameter.kind is parameter.KEYWORD_ONLY or place >= len(args))
    )


def spec_of_argument(name: str, value: object, declared: Spec | None = None) -> Spec:
    """The type of one argument; with a declared type, the declared one if the value fits it."""
    found = _spec(name, value)
    if found is value:
        return found
    if isinstance(declared, ArraySpec):
        return _check_array(name, found, declared)
    if isinstance(declared, ScalarSpec) and not declared.type.weak:
        return _check_scalar(name, value, found, declared)
    return found


def fix_numbers(spec: Spec, value: Any, parts: Collection[object]) -> Spec:
    """The type of an argument that has to be known: the integers and flags of `parts`, of which
    None is all.
    """
    match spec:
        case ScalarSpec(ScalarType(dtype) as type) if (
            value is not spec and (dtype.is_integer or dtype.is_bool) and None in parts
        ):
            return ConstantSpec(value if type.weak else cast(value, type.dtype))
        case TupleSpec(items, fields, None) if value is not spec:
            names = range(len(items)) if fields is None else fields
            values = value if fields is None else [getattr(value, field) for field in fields]
            fixed = (
                fix_numbers(item, inner, (None,)) if {None, name} & {*parts} else item
                for name, item, inner in zip(names, items, values, strict=True)
            )
            return replace(spec, items=tuple(fixed))
        case _:
            return spec


def fix_size(spec: Spec, value: object) -> Spec:
    """The type of an argument that arrays are made with: a size, if it can be that of one."""
    is_size = spec == SIZE_SPEC and type(value) is int and 0 <= value <= MAX_EXTENT
    return ConstantSpec(value, is_size=True) if is_size else spec


def check_declared(name: str, found: Spec, declared: Spec | None) -> None:
    """Refuse an array of another type than the declared one."""
    if isinstance(declared, ArraySpec):
        _check_array(name, found, declared)


def holds_tensors(values: Iterable[Any]) -> bool:
    """True if a tensor or an expression of te is among the arguments, or in a list of them."""
    for value in values:
        if is_sequence(value):
            if holds_tensors(value):
                return True
        elif hasattr(value, "__te_operand__"):
            return True
    return False


def _spec(name: str, value: object) -> Spec:
    if is_python_number(value):
        _check_int64(name, value)
        return ScalarSpec(weak_type(value))
    if is_array(value) and base_array(value).dtype.names:
        return _structured_spec(name, base_array(value))
    if is_array(value):
        dtype, array = _array_dtype(name, value), base_array(value)
        _check_extents(name, array)
        return ArraySpec(dtype, array.shape)
    if is_numpy_scalar(value):
        return ScalarSpec(ScalarType(_supported(name, value.dtype, "a scalar")))
    if is_sequence(value):
        _check_length(name, value)
        names = field_names(value)
        if names is not None:
            return _record_spec(name, value, names, type(value))
        items = tuple(_spec(f"{name}[{i}]", item) for i, item in enumerate(value))
        return TupleSpec(items, is_list=isinstance(value, list))
    if is_generator(value):
        check_generator(name, value)
        return GeneratorSpec()
    if value is None or isinstance(value, _CONSTANTS):
        return ConstantSpec(value)
    if isinstance(value, (ArraySpec, ScalarSpec, TupleSpec, ConstantSpec, GeneratorSpec)):
        return value
    return _spec_of_object(name, value)


def _spec_of_object(name: str, value: object) -> Spec:
    if _is_function(value):
        state = function_state(value)
        return ConstantSpec(value, tuple(map(id, state)), state)
    if is_record(value):
        return _record_spec(name, value, field_names(value) or (), type(value))
    if name == "self" and _has_plain_state(value):
        state = vars(value).items()
        names = tuple(key for key, item in state if _is_supported([item]))
        return _record_spec(name, value, names, type(value))
    raise ArgumentError(
        f"argument '{name}' is {a_value(value)}; "
        "expected a NumPy array, a number, or a tuple of these",
        help=_conversion_help(name, value),
    )


def _structured_spec(name: str, array: NDArray[Any]) -> TupleSpec:
    """An array for each field of a structured array; those of no numbers are left out."""
    names = tuple(field for field in array.dtype.names or () if _is_supported([array[field]]))
    if not names:
        _supported(name, array.dtype, "an array")
    items = (_spec(f"{name}[{field!r}]", array[field]) for field in names)
    return TupleSpec(tuple(items), names, array.ndim)


def _record_spec(
    name: str, value: object, fields: tuple[str, ...], maker: type | None = None
) -> TupleSpec:
    items = (_spec(f"{name}.{field}", getattr(value, field)) for field in fields)
    return TupleSpec(tuple(items), fields, maker=maker)


def _is_function(value: object) -> bool:
    """True for what can be called inside of a script: a function, a kernel, one of NumPy."""
    return isinstance(value, (FunctionType, BuiltinFunctionType, np.ufunc)) or hasattr(
        value, "__hybrid_function__"
    )


def _has_plain_state(value: object) -> bool:
    """True for an object whose attributes can be taken one by one."""
    return hasattr(value, "__dict__") and not isinstance(value, (Enum, type, FunctionType))


def _check_length(name: str, value: Sequence[object]) -> None:
    if len(value) > MAX_ITEMS:
        raise ArgumentValueError(
            f"argument '{name}' is a {type_name(value)} of {len(value)} items, more than "
            f"{MAX_ITEMS}: each of them becomes an argument of its own",
            help=f"pass an array, np.array({name})",
        )


def _is_supported(args: Sequence[Any]) -> bool:
    if holds_tensors(args):
        return True
    try:
        _spec("", tuple(args))
    except ArgumentError:
        return False
    return True


_INSTEAD: tuple[tuple[tuple[type, ...], str], ...] = (
    ((dict,), "pass an array of the keys and one of the values, or a dataclass of what it holds"),
    ((set, frozenset), "pass a sorted array, np.array(sorted({}))"),
    ((bytes,), "pass its numbers, np.frombuffer({}, np.uint8)"),
    ((slice,), "pass its bounds, and write slice(start, stop) or a[start:stop] in the script"),
)


def _conversion_help(name: str, value: object) -> str | None:
    if name == "self":
        return _NO_METHOD
    for kinds, help in _INSTEAD:
        if isinstance(value, kinds):
            return help.format(name)
    if isinstance(value, Enum):
        return f"pass its number, {name}.value"
    if not hasattr(value, "__array__"):
        return "pass the arrays and numbers that it holds, by themselves or in a dataclass"
    return f"pass columns of numbers, or convert it with np.asarray({name}, float)"


def a_value(value: object) -> str:
    """What a value is, in a sentence."""
    name = type_name(value)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _check_int64(name: str, value: object) -> None:
    low, high = INT64.bounds
    if isinstance(value, int) and not low <= value <= high:
        raise ArgumentValueError(
            f"argument '{name}' is {_number(value)}, which does not fit in 64 bits",
            help="pass np.uint64(x), or a float" if 0 < value < 2**64 else "pass a float",
        )


def _number(value: int) -> str:
    """An integer in a message; Python refuses to write out a very long one."""
    bits = value.bit_length()
    return str(value) if bits <= 256 else f"an integer of {bits} bits"


def _check_extents(name: str, array: NDArray[Any]) -> None:
    if max(array.shape, default=0) > MAX_EXTENT:
        raise ArgumentValueError(
            f"argument '{name}' has the shape {array.shape}; an axis has at most 2**48 elements"
        )


def _array_dtype(name: str, array: NDArray[Any]) -> DType:
    if is_masked_array(array):
        raise ArgumentError(
            f"argument '{name}' is a masked array, whose mask would be ignored",
            help=f"pass {name}.filled(0), or its data and its mask separately",
        )
    if isinstance(array, np.matrix):
        raise ArgumentError(
            f"argument '{name}' is a np.matrix", help=f"pass np.asarray({name}) instead"
        )
    return _supported(name, base_array(array).dtype, "an array")


def _supported(name: str, dtype: np.dtype[Any], what: str) -> DType:
    found = find_dtype(dtype)
    if found is not None:
        return found
    native = _native(dtype)
    if find_dtype(native) is not None:
        raise ArgumentError(
            f"argument '{name}' is {what} of byte-swapped {native} data",
            help=f"convert it with {name}.astype({name}.dtype.newbyteorder('='))",
        )
    if dtype.kind in "SU":
        raise ArgumentError(
            f"argument '{name}' is {what} of dtype {dtype}, which is not supported",
            help="encode strings as integers, as in np.unique(x, return_inverse=True)[1]",
        )
    raise ArgumentError(
        f"argument '{name}' is {what} of dtype {dtype}, which is not supported",
        help="use bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, "
        "complex64 or complex128",
    )


def _native(dtype: Any) -> np.dtype[Any]:
    """The dtype in the byte order of this machine."""
    return dtype.newbyteorder("=")


def _check_array(name: str, found: Spec, declared: ArraySpec) -> Spec:
    fits = (
        isinstance(found, ArraySpec)
        and found.dtype is declared.dtype
        and len(found.shape) == len(declared.shape)
        and all(
            isinstance(want, str) or want == have
            for want, have in zip(declared.shape, found.shape, strict=True)
        )
    )
    if not fits:
        raise ArgumentError(f"argument '{name}' must be {declared}, got {found}")
    return declared


def _check_scalar(name: str, value: object, found: Spec, declared: ScalarSpec) -> Spec:
    is_number = isinstance(found, ScalarSpec) and (found.type.weak or found == declared)
    if not is_number:
        raise ArgumentError(f"argument '{name}' must be {declared}, got {found}")
    dtype = declared.type.dtype
    if isinstance(value, complex) and not dtype.is_complex:
        raise ArgumentError(f"argument '{name}' must be {declared}, got the complex {value}")
    if isinstance(value, float) and dtype.is_integer:
        raise ArgumentError(
            f"argument '{name}' must be {declared}, got the float {value}",
            help="round it first, as in int(x)",
        )
    if isinstance(value, int) and dtype.is_integer:
        low, high = dtype.bounds
        if not low <= value <= high:
            raise ArgumentValueError(
                f"argument '{name}' is {_number(value)}, "
                f"which does not fit in {dtype} ({low} to {high})"
            )
    return declared


def has_types(specs: Sequence[Spec], values: Sequence[Any]) -> bool:
    """Whether types stand in the place of some arguments: there is nothing to run then."""
    return any(value is spec for spec, value in zip(specs, values, strict=True))


def flatten(specs: Sequence[Spec], values: Sequence[Any]) -> list[Any]:
    """The values of the parameters of the PrimFunc: tuples spread out, constants left out."""
    flat: list[Any] = []
    for spec, value in zip(specs, values, strict=True):
        if value is spec:
            raise ArgumentError(
                f"{value} is a type, and a call needs values",
                help="to look at the IR for these types, call .prim_func(...)",
            )
        match spec:
            case ConstantSpec():
                pass
            case TupleSpec(items, fields, records) if records is not None:
                array = base_array(value)
                flat.extend(flatten(items, [array[field] for field in fields or ()]))
            case TupleSpec(items, fields) if fields is not None:
                flat.extend(flatten(items, [getattr(value, field) for field in fields]))
            case TupleSpec(items):
                flat.extend(flatten(items, value))
            case ScalarSpec(type) if not type.weak:
                flat.append(cast(value, type.dtype))
            case _:
                flat.append(value)
    return flat


def check_writable(func: Header, written: frozenset[Buffer], values: Sequence[Any]) -> None:
    """Refuse to write to memory that is read-only, or to one element under two indices."""
    for param, value in zip(func.params, values, strict=True):
        if param not in written:
            continue
        array = base_array(value)
        if not array.flags.writeable:
            raise ArgumentValueError(
                f"argument '{param.name}' is written, but it is read-only",
                help=f"pass a copy: np.array({param.name})",
            )
        if overlaps_itself(array):
            raise ArgumentValueError(
                f"argument '{param.name}' is written, but some of its elements share memory",
                help=f"pass a copy: np.array({param.name})",
            )


def share_memory(func: Header, written: frozenset[Buffer], values: Sequence[Any]) -> bool:
    """True if an array that is written may share memory with another argument."""
    arrays = [
        (param in written, np.lib.array_utils.byte_bounds(base_array(value)))
        for param, value in zip(func.params, values, strict=True)
        if isinstance(param, Buffer) and base_array(value).size > 0
    ]
    for i, (is_written, (low, high)) in enumerate(arrays):
        for other_written, (other_low, other_high) in arrays[i + 1 :]:
            if (is_written or other_written) and low < other_high and other_low < high:
                return True
    return False


def overlaps_itself(array: NDArray[Any]) -> bool:
    """True if two indices of `array` reach the same memory."""
    if array.size <= 1:
        return False
    axes = sorted(
        (abs(stride), extent)
        for stride, extent in zip(array.strides, array.shape, strict=True)
        if extent > 1
    )
    reach = array.itemsize
    for stride, extent in axes:
        if stride < reach:
            return array.size > _MAX_ENUMERATED or _elements_collide(array)
        reach += stride * (extent - 1)
    return False


def _elements_collide(array: NDArray[Any]) -> bool:
    offsets: NDArray[np.int64] = np.zeros(1, np.int64)
    for stride, extent in zip(array.strides, array.shape, strict=True):
        steps = np.arange(extent, dtype=np.int64) * stride
        offsets = (offsets[:, None] + steps).ravel()
    return bool(np.any(np.diff(np.sort(offsets)) < array.itemsize))


def overlap(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """True if two arrays share memory; in doubt, when finding out takes too long, they do."""
    try:
        return np.shares_memory(a, b, max_work=_MAX_WORK)
    except np.exceptions.TooHardError:
        return True
