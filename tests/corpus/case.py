"""What a corpus entry is, and how its arguments are made: dtypes, layouts and sizes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hybridjit import Kernel
from hybridjit.scalars.builtins import numpy_dtype

# What the parameters of corpus kernels are annotated with; it says nothing to the compiler.
Array = Any
Number = Any

_ARRAY: type[Any] = np.ndarray
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)

INTS = ("int64", "int32", "int8", "uint8", "uint32")
FLOATS = ("float64", "float32", "float16")
COMPLEX = ("complex128", "complex64")
REALS = ("float64", "float32", "int32", "uint8")
SIZES = (7, 0, 1, 2)
LAYOUTS = ("C", "F", "strided", "reversed", "broadcast")


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """The arguments of one call. They are copied before each run, never written to."""

    label: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One kernel of the corpus and the calls that it is tried with.

    `ulp` bounds how far the functions of math.h may be apart between two ways to run the kernel.
    `joined` marks scalar results that plain Python gives in the type of the last value instead of
    the type of the variable. `names` are what the printed kernel refers to: its externs.
    """

    kernel: Kernel[..., Any]
    arguments: tuple[Arguments, ...]
    ulp: int = 0
    joined: bool = False
    names: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def name(self) -> str:
        return self.kernel.__name__


def case(
    kernel: Kernel[..., Any],
    *groups: Arguments | Iterable[Arguments],
    ulp: int = 0,
    joined: bool = False,
    names: Mapping[str, object] | None = None,
) -> Case:
    """A corpus entry from single calls and groups of calls; their labels are made unique."""
    found: list[Arguments] = []
    for group in groups:
        found.extend([group] if isinstance(group, Arguments) else group)
    numbered: list[Arguments] = []
    seen: dict[str, int] = {}
    for arguments in found:
        count = seen[arguments.label] = seen.get(arguments.label, 0) + 1
        label = arguments.label if count == 1 else f"{arguments.label}-{count}"
        numbered.append(Arguments(label, arguments.args, arguments.kwargs))
    return Case(kernel, tuple(numbered), ulp, joined, names or {})


def call(*args: Any, **kwargs: Any) -> Arguments:
    """One call, labelled by the types of its arguments."""
    texts = [_label(arg) for arg in args]
    texts += [f"{name}={_label(arg)}" for name, arg in kwargs.items()]
    return Arguments(",".join(texts) or "none", args, kwargs)


def _label(value: Any) -> str:
    if isinstance(value, _ARRAY):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, _SEQUENCE):
        return "+".join(map(_label, value))
    return type(value).__name__


# Arrays


@dataclass(slots=True)
class Data:
    """Makes the arrays of one call: `data(n, m)` has the dtype and layout of the call."""

    dtype: str
    layout: str
    n: int
    made: int = 0

    def __call__(
        self, *shape: int, low: int = -9, high: int = 10, dtype: str | None = None
    ) -> Array:
        """An array to read, with numbers from `low` to `high`."""
        self.made += 1
        seed = zlib.crc32(f"{self.dtype} {self.layout} {self.n} {self.made}".encode())
        return arrange(numbers(shape, dtype or self.dtype, low, high, seed), self.layout)

    def out(self, *shape: int, low: int = -9, high: int = 10, dtype: str | None = None) -> Array:
        """An array that the kernel writes to; it has no two elements in one place."""
        reader = Data(
            self.dtype, "C" if self.layout == "broadcast" else self.layout, self.n, self.made
        )
        self.made += 1
        return reader(*shape, low=low, high=high, dtype=dtype)

    def scalar(self, value: float | complex, dtype: str | None = None) -> Any:
        """A NumPy scalar of the type of the call."""
        return numpy_dtype(dtype or self.dtype).type(value)


def numbers(shape: tuple[int, ...], dtype: str, low: int, high: int, seed: int) -> Array:
    """Pseudo-random numbers of any element type."""
    random = np.random.default_rng(seed)
    element = numpy_dtype(dtype)
    if element.kind == "b":
        return np.asarray(random.random(shape) < 0.5)
    if element.kind in "iu":
        least = max(low, int(np.iinfo(element).min))
        most = min(high, int(np.iinfo(element).max))
        return np.asarray(random.integers(least, most, shape), element)
    values: Array = random.uniform(low, high, shape)
    if element.kind == "c":
        values = values + 1j * random.uniform(low, high, shape)
    return np.asarray(values).astype(element)


def arrange(values: Array, layout: str) -> Array:
    """An array of the same shape in another layout; a broadcast one repeats its first element."""
    match layout:
        case "F":
            return np.array(values, order="F")
        case "strided":
            wide: Array = np.zeros([2 * extent for extent in values.shape], values.dtype)
            view = wide[(..., *(slice(None, None, 2),) * values.ndim)]
            view[...] = values
            return view
        case "reversed":
            backwards = (..., *(slice(None, None, -1),) * values.ndim)
            return values[backwards].copy()[backwards]
        case "broadcast":
            first = values[(..., *(slice(0, 1),) * values.ndim)]
            return np.broadcast_to(first, values.shape) if values.size else values
        case _:
            return values


Make = Callable[[Data], tuple[Any, ...]]


def sweep(
    make: Make,
    dtypes: tuple[str, ...] = ("float64", "float32"),
    layouts: tuple[str, ...] = LAYOUTS,
    sizes: tuple[int, ...] = SIZES,
) -> Iterator[Arguments]:
    """Calls over dtypes, layouts and sizes: each is varied while the others stand still, then all.

    The first of each is the usual one; the last call has the last dtype and layout.
    """
    usual = (dtypes[0], layouts[0], sizes[0])
    points = dict.fromkeys(
        (
            *((dtype, *usual[1:]) for dtype in dtypes),
            *((usual[0], layout, usual[2]) for layout in layouts),
            *((*usual[:2], size) for size in sizes),
            (dtypes[-1], layouts[-2 % len(layouts)], sizes[-1]),
        )
    )
    for dtype, layout, size in points:
        args = make(Data(dtype, layout, size))
        yield Arguments(f"{dtype}-{layout}-{size}", args)
