"""What recurrent layers share: products of inputs and states, states, and the step of an LSTM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.record import record
from hybridjit.stdlib.parts.accumulation import convert
from hybridjit.stdlib.parts.elements import call, maximum
from hybridjit.stdlib.parts.precision import working_type
from hybridjit.stdlib.parts.shapes import are_equal, check_rank, fill, shown
from hybridjit.te import const, placeholder, reduce_axis, scan
from hybridjit.te import sum as added

_SEQUENCE: tuple[type[Any], ...] = (tuple, list)
Function = Callable[[Any], Any]
SIGMOID: Function = partial(call, "sigmoid")
TANH: Function = partial(call, "tanh")
_ACTIVATIONS: dict[str, Function] = {"sigmoid": SIGMOID, "tanh": TANH, "relu": partial(maximum, 0)}


class Layer:
    """Inputs and weights of a layer, and the states that go with them.

    States have a row more than there are steps, the first of which is what they begin with.
    """

    def __init__(
        self,
        name: str,
        x: Any,
        w: Any,
        u: Any,
        biases: tuple[Any, Any],
        projection: Any = None,
        reverse: bool = False,
    ) -> None:
        self._name, self._x, self._biases, self._reverse = name, x, biases, reverse
        self._working = working_type(x.dtype)
        self._u = u
        self.size: Any = u.shape[1] if projection is None else projection.shape[1]
        k = reduce_axis((0, x.shape[2]), "k")
        self._products = fill(
            f"{name}_inputs",
            (*x.shape[:2], w.shape[0]),
            lambda at: added(self.read(x, *at[:2], k) * self.read(w, at[2], k), axis=k),
        )

    def read(self, tensor: Any, *at: Any) -> Any:
        """An element in the type to compute in."""
        return tensor[at].astype(self._working)

    def own(self, at: tuple[Any, ...]) -> Any:
        """What a gate is given by the inputs of a step."""
        t, n, gate = at
        place = self._x.shape[0] - t if self._reverse else t - 1
        return self._with_bias(self._products[place, n, gate], self._biases[0], gate)

    def past(self, state: Any) -> Function:
        """What a gate is given by the state before a step."""
        m = reduce_axis((0, self._u.shape[1]), "m")
        products = fill(
            f"{self._name}_past",
            (*state.shape[:2], self._u.shape[0]),
            lambda at: added(state[at[0] - 1, at[1], m] * self.read(self._u, at[2], m), axis=m),
        )
        return lambda at: self._with_bias(products[at], self._biases[1], at[2])

    def _with_bias(self, value: Any, bias: Any, gate: Any) -> Any:
        return value if bias is None else value + self.read(bias, gate)

    def state(self, what: str, first: Any, size: Any = None) -> tuple[Any, Any]:
        """The first row of a state, 0 if it is not given, and the state itself."""
        size = self._u.shape[1] if size is None else size
        self.check_state(first, size)
        steps, batch, _ = self._x.shape

        def element(at: tuple[Any, ...]) -> Any:
            return const(0, self._working) if first is None else self.read(first, *at[1:])

        init = fill(f"{self._name}_{what}_first", (1, batch, size), element)
        shape = (steps + 1, batch, size)
        return init, placeholder(shape, self._working, f"{self._name}_{what}_state")

    def check_state(self, state: Any, size: Any) -> None:
        """Refuse what is no state of the batch."""
        if state is None:
            return
        check_types(self._name, self._x, state)
        shape = (self._x.shape[1], size)
        if state.ndim != 2 or not all(map(are_equal, state.shape, shape)):
            raise ArgumentValueError(
                f"{self._name}: {shown(state)} is no state: it is (batch, hidden)"
            )

    def outputs(self, state: Any) -> Any:
        """The states after all steps."""
        name = f"{state.name}_steps"
        shape = (self._x.shape[0], *state.shape[1:])
        found = fill(name, shape, lambda at: state[(at[0] + 1, *at[1:])])
        return convert(name, found, self._x.dtype)

    def last(self, what: str, state: Any) -> Any:
        """The state after the last step."""
        name = f"{self._name}_last_{what}"
        found = fill(name, state.shape[1:], lambda at: state[(self._x.shape[0], *at)])
        return convert(name, found, self._x.dtype)


@record
class Gates:
    """How the gates of an LSTM lie and work; its peepholes are those of I, F and O."""

    order: str = "IFGO"
    activations: Sequence[Any] = ("sigmoid", "tanh", "tanh")
    peepholes: tuple[Any, Any, Any] = (None, None, None)
    projection: Any = None


def run_lstm(layer: Layer, first: tuple[Any, Any], gates: Gates) -> tuple[Any, Any]:
    """The hidden and cell states of an LSTM, with what they begin with."""
    if sorted(gates.order) != sorted("IFGO"):
        raise ArgumentValueError(f"lstm_states: {gates.order!r} is no order of the gates IFGO")
    if not isinstance(gates.activations, _SEQUENCE) or len(gates.activations) != 3:
        raise ArgumentValueError(f"lstm_states: three activations, got {gates.activations!r}")
    function, cell_gate, output = (
        activation_of("lstm_states", given, tuple(_ACTIVATIONS)) for given in gates.activations
    )
    h_init, hidden = layer.state("hidden", first[0])
    c_init, cell = layer.state("cell", first[1], layer.size)
    past = layer.past(hidden)

    def gate(name: str, at: tuple[Any, ...]) -> Any:
        place = (*at[:2], at[2] + layer.size * gates.order.index(name))
        return layer.own(place) + past(place)

    def seen(peephole: Any, value: Any, at: tuple[Any, ...]) -> Any:
        return 0 if peephole is None else layer.read(peephole, *at[1:]) * value

    def next_cell(at: tuple[Any, ...]) -> Any:
        before = cell[(at[0] - 1, *at[1:])]
        enter, stay = (
            function(gate(name, at) + seen(peephole, before, at))
            for name, peephole in zip("IF", gates.peepholes[:2], strict=True)
        )
        return stay * before + enter * cell_gate(gate("G", at))

    new = fill("lstm_cell", cell.shape, next_cell)

    def next_hidden(at: tuple[Any, ...]) -> Any:
        leave = function(gate("O", at) + seen(gates.peepholes[2], new[at], at))
        return leave * output(new[at])

    made = fill("lstm_hidden", cell.shape, next_hidden)
    if gates.projection is not None:
        made = _projected(layer, made, gates.projection, hidden.shape)
    return tuple(scan([h_init, c_init], [made, new], [hidden, cell], name="lstm"))


def _projected(layer: Layer, hidden: Any, projection: Any, shape: tuple[Any, ...]) -> Any:
    r = reduce_axis((0, projection.shape[1]), "r")
    return fill(
        "lstm_projected",
        shape,
        lambda at: added(hidden[(*at[:2], r)] * layer.read(projection, at[2], r), axis=r),
    )


def activation_of(name: str, given: Any, choices: tuple[str, ...]) -> Function:
    """A function of elements, by its name or as it is."""
    if callable(given):
        return given
    if given not in choices:
        raise ArgumentValueError(f"{name}: there is no activation {given!r}")
    return _ACTIVATIONS[given]


def check_weights(
    name: str, gates: int, x: Any, w: Any, u: Any, biases: list[Any], projection: Any = None
) -> None:
    """Refuse shapes and types that do not match."""
    check_rank(name, x, 3, "steps, batch, inputs")
    for tensor in (w, u):
        check_rank(name, tensor, 2, "gates * hidden, inputs")
    check_types(name, x, w, u, projection, *biases)
    size = u.shape[1]
    if projection is not None:
        check_rank(name, projection, 2, "outputs, hidden")
        size = projection.shape[1]
    rows = size * gates
    fits = [(w.shape[0], rows), (u.shape[0], rows), (w.shape[1], x.shape[2])]
    fits += [] if projection is None else [(projection.shape[0], u.shape[1])]
    if not all(are_equal(*pair) for pair in fits):
        raise ArgumentValueError(
            f"{name}: {shown(x)} and the weights {shown(w)} and {shown(u)} do not match"
        )
    for bias in biases:
        if bias is not None and not (bias.ndim == 1 and are_equal(bias.shape[0], rows)):
            raise ArgumentValueError(f"{name}: {shown(bias)} has not one for each row of weights")


def check_types(name: str, x: Any, *others: Any) -> None:
    """Refuse operands of other types than that of the inputs."""
    if not x.dtype.is_float or any(t is not None and t.dtype is not x.dtype for t in others):
        raise ArgumentError(
            f"{name}: all operands must be of one float type, '{x.name}' is {x.dtype}"
        )
