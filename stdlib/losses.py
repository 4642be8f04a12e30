"""Losses: how far predictions are from what is wanted, of each element, their mean or their sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from hybridjit import hybrid
from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.parts.accumulation import (
    add_up,
    average,
    convert,
    float_type,
    meeting_float,
)
from hybridjit.stdlib.parts.elements import call, maximum
from hybridjit.stdlib.parts.precision import in_type, rounded_once, working_type
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    broadcast,
    check_choice,
    check_integers,
    fill,
    flat_place,
    flatten,
    shown,
)
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import operator
from hybridjit.stdlib.running.schedules import along_rows
from hybridjit.stdlib.softmax import log_softmax
from hybridjit.te import const, if_then_else
from hybridjit.te import sum as added

RECIPE = scheduled_by(along_rows, fastmath=("reassoc",))
Reduction = Literal["mean", "sum", "none"]
REDUCTIONS = ("mean", "sum", "none")


def _reduced(name: str, losses: Any, reduction: str) -> Any:
    check_choice(name, "reduction", reduction, REDUCTIONS)
    if reduction == "mean":
        return average(name, losses, None)
    return losses if reduction == "none" else add_up(name, added, losses, None)


def _of_pairs(name: str, x: Any, y: Any, element: Callable[[Any, Any], Any], reduction: str) -> Any:
    """A loss that is made of one element of each."""
    losses = broadcast(rounded_once(_in_floats(element)), x, y, name=f"{name}_losses")
    return _reduced(name, losses, reduction)


def _in_floats(element: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`element` of floats, whatever it is given: distances of small integers wrap around."""

    def of_floats(x: Any, y: Any) -> Any:
        dtype = meeting_float(x, y)
        return element(in_type(x, dtype), in_type(y, dtype))

    return of_floats


@operator(recipe=RECIPE)
def mse_loss(predictions: T, targets: T, reduction: Reduction = "mean") -> T:
    """The squares of the distances.

    >>> hs.mse_loss(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    array(2.)
    """

    def element(x: Any, y: Any) -> Any:
        return (x - y) * (x - y)

    return _of_pairs("mse_loss", predictions, targets, element, reduction)


@operator(recipe=RECIPE)
def l1_loss(predictions: T, targets: T, reduction: Reduction = "mean") -> T:
    """The distances.

    >>> hs.l1_loss(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    array(1.)
    """
    return _of_pairs("l1_loss", predictions, targets, lambda x, y: call("abs", x - y), reduction)


@operator(recipe=RECIPE)
def huber_loss(predictions: T, targets: T, delta: float = 1.0, reduction: Reduction = "mean") -> T:
    """Half of the squares of the distances, but straight on from a distance of delta.

    >>> hs.huber_loss(np.array([0.0, 0.0]), np.array([1.0, 4.0]))
    array(2.)
    """
    if delta <= 0:
        raise ArgumentValueError(f"huber_loss: delta is larger than 0, got {delta!r}")

    def element(x: Any, y: Any) -> Any:
        size = call("abs", x - y)
        return call("select", size < delta, size * size * 0.5, (size - delta / 2) * delta)

    return _of_pairs("huber_loss", predictions, targets, element, reduction)


@operator(recipe=RECIPE)
def binary_cross_entropy(probabilities: T, targets: T, reduction: Reduction = "mean") -> T:
    """-(y log p + (1 - y) log(1 - p)), logarithms being at least -100.

    >>> hs.binary_cross_entropy(np.array([0.5, 0.25]), np.array([1.0, 0.0]), "none")
    array([0.69314718, 0.28768207])
    """

    def element(p: Any, y: Any) -> Any:
        right, wrong = maximum(call("log", p), -100), maximum(call("log1p", -p), -100)
        return -(y * right + (1 - y) * wrong)

    return _of_pairs("binary_cross_entropy", probabilities, targets, element, reduction)


@operator(recipe=RECIPE)
def binary_cross_entropy_with_logits(logits: T, targets: T, reduction: Reduction = "mean") -> T:
    """binary_cross_entropy of sigmoid(logits), without overflow.

    >>> hs.binary_cross_entropy_with_logits(np.array([0.0, 1000.0]), np.array([1.0, 0.0]), "none")
    array([6.93147181e-01, 1.00000000e+03])
    """

    def element(x: Any, y: Any) -> Any:
        return maximum(x, 0) - x * y + call("log1p", call("exp", -call("abs", x)))

    name = "binary_cross_entropy_with_logits"
    return _of_pairs(name, logits, targets, element, reduction)


@operator(recipe=RECIPE)
def kl_div_loss(log_predictions: T, targets: T, reduction: Reduction = "mean") -> T:
    """y * (log y - x) for logarithms x of predictions; 0 where y is 0.

    >>> hs.kl_div_loss(np.array([-1.0, -2.0]), np.array([1.0, 0.0]), "none")
    array([1., 0.])
    """

    def element(x: Any, y: Any) -> Any:
        log = call("log", call("select", y > 0, y, 1))
        return call("select", call("==", y, 0), y * 0, y * log - y * x)

    return _of_pairs("kl_div_loss", log_predictions, targets, element, reduction)


@operator(recipe=RECIPE)
def cross_entropy_with_logits(predictions: T, targets: T) -> T:
    """-(the sum of predictions * targets) / the number of rows, of two matrices.

    >>> hs.cross_entropy_with_logits(np.array([[-1.0, -2.0]]), np.array([[1.0, 0.0]]))
    array(1.)
    """
    name = "cross_entropy_with_logits"
    if predictions.ndim == 0:
        raise ArgumentValueError(f"{name}: {shown(predictions)} has no rows")
    products = broadcast(
        rounded_once(_in_floats(lambda x, y: x * y)), predictions, targets, name=f"{name}_part"
    )
    total = add_up(f"{name}_sum", added, products, None)
    return fill(name, (), lambda at: -total[()] / predictions.shape[0])


@operator(recipe=RECIPE)
def nll_loss(
    log_probabilities: T,
    targets: T,
    weights: T | None = None,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
) -> T:
    """-log_probabilities[n, targets[n, ...], ...], times the weight of that class.

    A mean is over weights. Targets that are ignore_index do not count.

    >>> hs.nll_loss(np.array([[-1.0, -2.0], [-3.0, -4.0]]), np.array([1, 0]))
    array(2.5)
    """
    return _nll("nll_loss", log_probabilities, targets, weights, (reduction, ignore_index))


@operator(recipe=RECIPE)
def cross_entropy(
    logits: T,
    targets: T,
    weights: T | None = None,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
) -> T:
    """nll_loss of log_softmax(logits), whose classes are axis 1.

    >>> hs.cross_entropy(np.array([[0.0, 0.0]]), np.array([1]))
    array(0.69314718)
    """
    chances = log_softmax(logits, 1)
    return _nll("cross_entropy", chances, targets, weights, (reduction, ignore_index))


@hybrid.script
def _known_classes(targets: Any, count: Any, ignored: Any) -> Any:
    """Targets, of which a negative one would count from the last class."""
    known = np.empty(targets.shape[0], np.int64)
    for i in range(targets.shape[0]):
        target = np.int64(targets[i])
        if target != ignored and not 0 <= target < count:
            raise IndexError(f"the target {target} is none of {count} classes")
        known[i] = target
    return known


def _nll(name: str, x: Any, targets: Any, weights: Any, options: tuple[str, int]) -> Any:
    reduction, ignored = options
    check_choice(name, "reduction", reduction, REDUCTIONS)
    _check_targets(name, x, targets, weights)
    dtype = float_type(x.dtype)
    working = working_type(dtype)
    flat = flatten(f"{name}_targets", targets)
    classes: Any = _known_classes(flat, x.shape[1], ignored)

    def target_at(at: tuple[Any, ...]) -> Any:
        return classes[flat_place(targets.shape, at)]

    def weight(at: tuple[Any, ...]) -> Any:
        target = target_at(at)
        own = const(1, working) if weights is None else in_type(weights[target], working)
        return if_then_else(target == ignored, const(0, working), own)

    def loss(at: tuple[Any, ...]) -> Any:
        target = target_at(at)
        value = in_type(x[(at[0], target, *at[1:])], working)
        return if_then_else(target == ignored, const(0, working), -value * factors[at])

    factors = fill(f"{name}_weights", targets.shape, weight)
    losses = fill(f"{name}_losses", targets.shape, loss)
    if reduction == "none":
        return convert(name, losses, dtype)
    total = add_up(f"{name}_sum", added, losses, None)
    if reduction == "sum":
        return convert(name, total, dtype)
    count = add_up(f"{name}_count", added, factors, None)
    return fill(name, (), lambda at: (total[()] / count[()]).astype(dtype))


def _check_targets(name: str, x: Any, targets: Any, weights: Any) -> None:
    check_integers(name, targets)
    wanted = (*x.shape[:1], *x.shape[2:])
    if x.ndim < 2 or targets.ndim != len(wanted) or not all(map(are_equal, targets.shape, wanted)):
        raise ArgumentValueError(
            f"{name}: {shown(x)} and {shown(targets)} do not match",
            help="targets have the shape of predictions without the classes, which are axis 1",
        )
    if weights is not None and not (weights.ndim == 1 and are_equal(weights.shape[0], x.shape[1])):
        raise ArgumentValueError(f"{name}: {shown(weights)} has no weight for each class")
