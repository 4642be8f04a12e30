"""Expressions of random array scripts that fold elements, choose some, or put them elsewhere."""

from __future__ import annotations

from typing import Any

from tests.arrays.elements import product_scale
from tests.arrays.pool import Operand, Pool, Writer, evaluate, largest
from tests.arrays.values import np

_FOLDS = (
    "sum",
    "sum",
    "prod",
    "min",
    "max",
    "any",
    "all",
    "argmin",
    "argmax",
    "mean",
    "std",
    "var",
)
_EXACT_FOLDS = ("min", "max", "any", "all", "argmin", "argmax")
_COMPLEX_FOLDS = ("sum", "prod", "mean", "any", "all")
_SHAPES = (
    *("({0}).T", "({0}).T", "np.transpose({0}, {axes})", "({0}).reshape({sizes})"),
    *("np.flip({0}, axis={axis})", "({0}).ravel()", "({0}).flatten()", "({0}).copy()"),
)
_CREATIONS = (
    *("np.zeros({shape}{dtype})", "np.zeros({shape}{dtype})", "np.full({shape}, 2{dtype})"),
    *("np.full({shape}, 0.5{dtype})", "np.full({shape}, True{dtype})", "np.ones_like({0})"),
    *("np.ones_like({0})", "np.arange(4{dtype})", "np.arange(1, 6{dtype})", "np.eye(2{dtype})"),
    *("np.arange(5, 0, -2{dtype})", "np.arange(0.5, 3{dtype})", "np.eye(3{dtype})"),
    *("np.linspace(0, 2, 2)", "np.linspace(0, 2, 3)", "np.linspace(0, 2, 5)"),
)
_PRODUCTS = ("({} @ {})", "({} @ {})", "np.dot({}, {})", "np.outer({}, {})", "np.matmul({}, {})")


def reduction(pool: Pool, depth: int) -> Operand | None:
    """A fold of all elements, or along axes."""
    operand, name = pool.make(depth), pool.choose.choice(_FOLDS)
    if not operand.ndim or not _can_fold(operand, name):
        return None
    axis = _axis(pool, operand.ndim, several=not name.startswith("arg"))
    options = ", ".join(x for x in (axis, pool.choose.choice(("", "", "keepdims=True"))) if x)
    text = f"({operand.text}).{name}({options})"
    if pool.choose.random() < 0.5:
        text = f"np.{name}({', '.join(x for x in (operand.text, options) if x)})"
    growth = operand.value.size if name != "prod" else 1
    scale = max(operand.scale, largest(operand.value)) ** (2 if name in ("std", "var") else 1)
    return pool.keep(text, operand, is_exact=name in _EXACT_FOLDS, scale=scale * growth)


def _can_fold(operand: Operand, name: str) -> bool:
    if name in ("any", "all", "argmin", "argmax") and not operand.is_exact:
        return False
    if operand.kind == "c" and name not in _COMPLEX_FOLDS:
        return False
    return name != "prod" or not _overflows_on_the_way(operand.value)


def _overflows_on_the_way(values: Any) -> bool:
    """Whether a product of halves leaves their range: NumPy rounds it after each row, we once."""
    if values.dtype != np.float16:
        return False
    sizes = np.abs(values.astype(np.float64))
    return not np.prod(sizes, where=sizes > 1) < np.finfo(np.float16).max


def _axis(pool: Pool, ndim: int, *, several: bool) -> str:
    kind = pool.choose.random()
    if kind < 0.3:
        return ""
    if kind < 0.4:
        return "axis=None"
    if several and kind < 0.6:
        axes = pool.choose.sample(range(ndim), pool.choose.randint(1, ndim))
        return f"axis=({', '.join(str(a - pool.choose.choice((0, ndim))) for a in axes)},)"
    return f"axis={pool.choose.randint(-ndim, ndim - 1)}"


def masked_reduction(pool: Pool, depth: int) -> Operand | None:
    """The sum of the elements where a condition holds."""
    operand, condition = pool.leaf(), pool.make(depth)
    if not operand.ndim or condition.kind != "b" or condition.value.shape != operand.value.shape:
        return None
    name = pool.choose.choice(("sum", "max", "min", "any", "mean"))
    if (operand.kind == "c" and name != "sum") or (name == "any" and not operand.is_exact):
        return None
    scale = operand.scale * max(1, operand.value.size) * largest(operand.value)
    text = f"({operand.text})[{condition.text}].{name}()"
    return pool.keep(text, operand, is_exact=name in _EXACT_FOLDS, scale=scale)


# -- products --------------------------------------------------------------------------------------


def product(pool: Pool, depth: int) -> Operand | None:
    left, right = pool.make(depth), pool.make(pool.choose.randint(0, depth))
    return _multiplied(pool, pool.choose.choice(_PRODUCTS), left, right)


def matrix_product(pool: Pool, depth: int) -> Operand | None:
    """The product of two matrices that fit each other, each as it lies, transposed or turned."""
    del depth
    matrices = [side for name in pool.visible() for side in _sides(pool, name)]
    if not matrices:
        return None
    left = pool.choose.choice(matrices)
    fitting = [side for side in matrices if side.value.shape[0] == left.value.shape[1]]
    return _multiplied(pool, "({} @ {})", left, pool.choose.choice(fitting)) if fitting else None


def _sides(pool: Pool, name: str) -> list[Operand]:
    """A named matrix in the ways in which it can lie in memory; nothing for other arrays."""
    if np.ndim(pool.names[name]) != 2:
        return []
    texts = [name, f"{name}.T", f"{name}[::-1]", f"{name}[:, ::-1].T", f"{name}[:, ::2]"]
    return [pool.noted_operand(text, name, eval(text, {}, pool.names)) for text in texts]


def _multiplied(pool: Pool, form: str, left: Operand, right: Operand) -> Operand | None:
    if 1 in (left.value.size, right.value.size) and not (_is_finite(left) and _is_finite(right)):
        return None  # NumPy's dot of a single 0 and infinity is 0: BLAS leaves out what 0 scales
    scale = product_scale(left, right) * max(1, left.value.size)
    return pool.keep(form.format(left.text, right.text), left, right, is_exact=False, scale=scale)


def _is_finite(operand: Operand) -> bool:
    return bool(np.isfinite(operand.value).all())


# -- the same elements, elsewhere ------------------------------------------------------------------


def shape(pool: Pool, depth: int) -> Operand | None:
    """The same elements in another shape or order."""
    operand = pool.make(depth)
    if not operand.ndim:
        return None
    axes, size = pool.choose.sample(range(operand.ndim), operand.ndim), operand.value.size
    first = pool.choose.choice([d for d in range(1, size + 1) if size % d == 0] or [1])
    sizes = pool.choose.choice(([size], [first, size // first], [first, -1], [1, size]))
    texts = {"axes": f"({', '.join(map(str, axes))},)", "sizes": ", ".join(map(str, sizes))}
    return pool.keep(
        pool.choose.choice(_SHAPES).format(operand.text, axis=axes[0], **texts), operand
    )


def part(pool: Pool, depth: int) -> Operand | None:
    """A part of a part, or of something that is computed."""
    operand = pool.make(depth)
    if not operand.ndim:
        return None
    entries = [pool.entry(size) for size in operand.value.shape]
    return pool.keep(f"({operand.text})[{', '.join(entries)}]", operand)


def gather(pool: Pool, depth: int) -> Operand | None:
    """Elements that an array of integers names."""
    del depth
    arrays = [name for name in pool.arrays() if pool.names[name].ndim]
    tables = ["k"] if "k" in arrays else [n for n in arrays if pool.names[n].dtype.kind in "iu"]
    name = pool.choose.choice([name for name in arrays if name != "k"] or tables)
    size = pool.names[name].shape[0]
    if not tables or not size:
        return None
    text = f"{name}[np.abs({pool.choose.choice(tables)}) % {size}]"
    value = evaluate(text, pool.names)
    return None if value is None else pool.noted_operand(text, name, value)


def selection(pool: Pool, depth: int) -> Operand | None:
    """As many elements as there are: where a condition holds, that differ, that are not zero."""
    operand = pool.make(depth)
    if not operand.ndim:
        return None
    condition = pool.make(depth)
    axes = condition.ndim
    selects = condition.kind == "b" and 0 < axes <= operand.ndim
    if selects and condition.value.shape == operand.value.shape[:axes]:
        forms = ["({0})[{1}]", "({0})[{1}]"]
        forms += ["np.extract({1}, {0})", "({0})[np.where({1})]"] * (axes == operand.ndim)
        return pool.keep(pool.choose.choice(forms).format(operand.text, condition.text), operand)
    if not operand.is_exact or operand.kind == "c":
        return None
    form = pool.choose.choice(("np.unique({0})", "np.flatnonzero({0})", "np.nonzero({0})[0]"))
    if "unique" in form and _has_both_zeros(operand.value):
        return None  # NumPy leaves open which of them stays
    return pool.keep(form.format(operand.text), operand)


def _has_both_zeros(value: Any) -> bool:
    signs = np.signbit(value[value == 0]) if value.dtype.kind == "f" else ()
    return len(set(map(bool, signs))) > 1


def creation(pool: Pool, depth: int) -> Operand | None:
    """An array that is made, like another or of its shape."""
    operand = pool.make(depth)
    dtype = pool.choose.choice(("", ', dtype="float32"', ", dtype=np.int16"))
    form = pool.choose.choice(_CREATIONS)
    return pool.keep(form.format(operand.text, shape=operand.value.shape, dtype=dtype))


FOLDS: tuple[Writer, ...] = (
    *(reduction,) * 4,
    *(shape, part) * 3,
    *(product, gather, masked_reduction, creation),
)
