"""What is differentiated: random graphs, operators of stdlib with random options, and gradients."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from hybridjit import stdlib, te
from hybridjit.errors import HybridError
from tests.gradients.operators import CALLS
from tests.graphs.generate import LONG_SIZES, SIZES, is_input, make_graph
from tests.graphs.made import Array, Made
from tests.graphs.operators import operator_of
from tests.graphs.reductions import (
    matmul,
    reduce,
    reduce_all,
    reduce_some,
    scan,
    scan_in_stages,
    scan_of_two,
    windows,
)
from tests.graphs.stages import (
    broadcast,
    chosen,
    clamped_stencil,
    elementwise,
    gather,
    padding,
    recent,
    reverse,
    stencil,
    stride,
    transpose,
)
from tests.operators.table import ROWS
from tests.stdlib.test_table import Differentiated, call_of

np: Any = numpy
_ARRAY: type[Any] = numpy.ndarray
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
# Functions of one and of two elements that are curved, or have a kink.
CURVES: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda x, y: te.sin(x) * y,
    "exp": lambda x, y: te.exp(x * 0.25) - y,
    "tanh": lambda x, y: te.tanh(x + y),
    "sigmoid": lambda x, y: te.sigmoid(x) * x,
    "erf": lambda x, y: te.erf(x) + te.erfc(y),
    "quotient": lambda x, y: x / (1 + y * y),
    "sqrt": lambda x, y: te.sqrt(1 + x * x) - te.rsqrt(2 + y * y),
    "log": lambda x, y: te.log(1 + x * x) * te.log1p(y * y),
    "power": lambda x, y: (1 + x * x) ** (y * 0.25),
    "cube": lambda x, y: x**3 * 0.125,
    "hypot": lambda x, y: te.hypot(x, y + 1),
    "atan2": lambda x, y: te.atan2(x + 1, 2 + y * y),
    "fmod": lambda x, y: te.fmod(x, 1.75) * y,
    "remainder": lambda x, y: x % 1.25 + y,
    "copysign": lambda x, y: te.copysign(x, y),
    "extrema": lambda x, y: te.max(x, y) * te.min(x, 0.75),
    "abs": lambda x, y: te.abs(x) - te.abs(x - y),
    "choice": lambda x, y: te.if_then_else(x > y, x * y, te.cos(x)),
    "chain": lambda x, y: te.atan(te.sinh(x * 0.25)) * te.cosh(y * 0.25) + te.asinh(x),
}  # fmt: skip


def curve(choose: random.Random, made: Sequence[Made], name: str) -> list[Made]:
    """A function of the elements of one tensor or of two, which may be neighbours."""
    source = recent(choose, made)
    if source is None:
        return []
    function = CURVES[choose.choice(list(CURVES))]
    alike = [item for item in made if item.tensor.buffer.shape == source.tensor.buffer.shape]
    other = choose.choice(alike)
    a, b, last = source.tensor, other.tensor, source.dims[0] - 1
    shift = choose.choice([0, 0, 1])

    def value(*i: Any) -> Any:
        return function(a[i], b[(te.min(i[0] + shift, last), *i[1:])])

    return [Made(te.compute(source.dims, value, name=name), source.sizes, (source, other))]


SMOOTH_ROWS = [row for row in ROWS if stdlib.OPERATORS[row.name].has_gradient]
MAKERS = (
    *(elementwise, chosen, broadcast, transpose, reverse, gather, stencil, clamped_stencil),
    *(padding, stride, reduce, reduce, reduce_all, reduce_some, windows, matmul, scan),
    *(scan_in_stages, scan_of_two, curve, curve, curve, curve, curve),
    *(operator_of(SMOOTH_ROWS),) * 6,
)
# One function in so many is a call of one operator, or a gradient itself.
CALL_EVERY = 3
TWICE_EVERY = 5
LONG_EVERY = 4
# Outputs whose derivatives are all asked for have at most so many elements.
MAX_HEADS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """Tensors that are given, those of them that an output is differentiated by, and the output.

    `known` are the values of tensors that have to be what they are; `kinds` say what was drawn.
    """

    given: list[Made]
    wanted: list[Made]
    output: Made
    kinds: list[str]
    known: Mapping[Made, Array] = field(default_factory=dict[Made, Array])

    @property
    def args(self) -> list[Any]:
        """The tensors that are given, and the output."""
        return [*(item.tensor for item in self.given), self.output.tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Gradient:
    """The derivatives of a function, and the head that they are weighted with, if there is one."""

    function: Function
    head: Made | None
    results: list[Made]


def make_function(label: str, number: int, dtype: str) -> Function:
    """The function with this number; with another type it is the same."""
    choose = random.Random(label)
    if number % CALL_EVERY == 1:
        return _call(choose, dtype)
    sizes = LONG_SIZES if number % LONG_EVERY == 0 else SIZES
    function = _graph(choose, sizes, dtype)
    if number % TWICE_EVERY == 2:
        first = make_gradient(function, choose)
        result = choose.choice(first.results)
        given = [*function.given, *([] if first.head is None else [first.head])]
        return Function(given, given, result, [*function.kinds, "gradient"])
    return function


def make_gradient(function: Function, choose: random.Random) -> Gradient:
    """The derivatives of a function: weighted with one head, with two, or with none."""
    output = function.output
    extra: tuple[int, ...] = choose.choice([(), (), (2,)])
    count = int(np.prod(output.sizes))
    head = None
    if extra or count > MAX_HEADS or choose.random() < 0.7:
        tensor = te.placeholder((*extra, *output.dims), output.tensor.dtype, "head")
        head = Made(tensor, (*extra, *output.sizes))
    prefix = output.sizes if head is None else extra
    wanted = [item.tensor for item in function.wanted]
    grads = te.gradient(output.tensor, wanted, None if head is None else head.tensor)
    assert [grad.dtype for grad in grads] == [tensor.dtype for tensor in wanted]
    pairs = zip(grads, function.wanted, strict=True)
    results = [Made(grad, (*prefix, *item.sizes)) for grad, item in pairs]
    return Gradient(function, head, results)


def _graph(choose: random.Random, sizes: Sequence[int], dtype: str) -> Function:
    while True:
        graph = make_graph(choose, MAKERS, sizes, [dtype])
        given = [item for item in graph.made if is_input(item)]
        made = [item for item in (*graph.made, *graph.outputs) if not is_input(item)]
        # Places of extrema and the like are integers, which have no derivatives.
        floats = [item for item in made if item.tensor.dtype == dtype]
        if floats:
            return Function(given, given, floats[-1], graph.kinds)


# -- operators -------------------------------------------------------------------------------------

# Differences of what is not in float64 say little.
DOCUMENTED = [name for name, row in stdlib.OPERATORS.items() if row.has_gradient and name != "cast"]


def _call(choose: random.Random, dtype: str) -> Function:
    """A call of an operator with random options, or one that its documentation shows."""
    name = choose.choice([*CALLS, *CALLS, *DOCUMENTED])
    if name in CALLS and choose.random() < 0.9:
        return _made_of(name, *CALLS[name](choose), dtype)
    return _documented(name, dtype)


def _made_of(name: str, arguments: Sequence[Any], call: Any, dtype: str) -> Function:
    """A call on tensors: of these shapes, or of indices that are these."""
    given: list[Made] = []
    known: dict[Made, Array] = {}
    for place, argument in enumerate(arguments):
        is_free = isinstance(argument, tuple)
        array: Array = np.zeros(argument) if is_free else np.asarray(argument)
        kind = dtype if is_free else array.dtype.name
        given.append(Made(te.placeholder(array.shape, kind, f"X{place}"), array.shape))
        if not is_free:
            known[given[-1]] = array
    made = call(*(item.tensor for item in given))
    wanted = [item for item in given if item not in known]
    return Function(given, wanted, _as_made(made), [name], known)


class _Shown(Differentiated):
    """Keeps the call that the documentation shows."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.args: tuple[Any, ...] = ()
        self.options: dict[str, Any] = {}

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        self.args, self.options = args, kwargs
        raise TypeError


def _documented(name: str, dtype: str) -> Function:
    shown = _Shown(name)
    with contextlib.suppress(HybridError, TypeError):
        exec(call_of(name), {"hs": shown, "np": np})
    given: list[Made] = []
    known: dict[Made, Array] = {}
    has_floats = any(_is_float(value) for value in (*shown.args, *shown.options.values()))

    def as_tensor(value: Any) -> Any:
        if isinstance(value, _SEQUENCE):
            return tuple(map(as_tensor, value))
        if not isinstance(value, _ARRAY):
            return value
        array: Array = value
        is_float = array.dtype.kind == "f" or (not has_floats and not given)
        kind = dtype if is_float else array.dtype.name
        given.append(Made(te.placeholder(array.shape, kind, f"X{len(given)}"), array.shape))
        known[given[-1]] = array
        return given[-1].tensor

    values = [as_tensor(value) for value in shown.args]
    options = {name: as_tensor(value) for name, value in shown.options.items()}
    made: Any = getattr(stdlib, name)(*values, **options)
    wanted = [item for item in given if item.tensor.dtype.is_float]
    return Function(given, wanted, _as_made(made), [name], known)


def _is_float(value: Any) -> bool:
    if isinstance(value, _SEQUENCE):
        return any(map(_is_float, value))
    return isinstance(value, _ARRAY) and value.dtype.kind == "f"


def _as_made(made: Any) -> Made:
    tensor: Any = made[0] if isinstance(made, _SEQUENCE) else made
    return Made(tensor, tuple(int(size) for size in tensor.shape))
