"""Random numbers of NumPy's generators, written in the language: bit for bit NumPy's streams.

The state of a generator, PCG64, is an array of six: the halves of a number of 128 bits, those of
its increment, whether half of a draw is left, and that half.
"""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library import ziggurat
from hybridjit.frontend.library.chances import choice_by_chance
from hybridjit.frontend.library.ziggurat import EXPONENTIAL_TAIL, NORMAL_TAIL
from hybridjit.scalars.specs import STATE_SIZE

np: Any = numpy
Array = Any
State = Any
LOW = 0xFFFFFFFF
# The multiplier of PCG64.
FACTOR_HIGH, FACTOR_LOW = 0x2360ED051FC65DA4, 0x4385DF649FCCF645
INVERSE_NORMAL_TAIL = 0.27366123732975827203338247596
# Samples of a larger share than this of a large population are shuffled from all of it.
SHARE, LARGE = 50, 10000


# -- seeds -------------------------------------------------------------------------------------


def _mixed(x: Any, y: Any) -> Any:
    mixed = (0xCA01F9DD * x - 0x4973F715 * y) & LOW
    return mixed ^ (mixed >> 16)


def _hashed(value: Any, hash: Array, factor: int) -> Any:
    """A number of 32 bits hashed; what it is hashed with changes each time."""
    mixed = (value ^ hash[0]) & LOW
    hash[0] = (hash[0] * factor) & LOW
    mixed = (mixed * hash[0]) & LOW
    return mixed ^ (mixed >> 16)


def seeded(seed: Any) -> State:
    """The state of np.random.default_rng(seed)."""
    if seed < 0:
        raise ValueError("expected non-negative integer")
    pool = np.zeros(4, np.uint64)
    _put_words(pool, 0, seed)
    return _state_of(pool)


def stream(seed: Any, stream: Any) -> State:
    """The state of np.random.default_rng([seed, stream])."""
    if seed < 0 or stream < 0:
        raise ValueError("expected non-negative integer")
    pool = np.zeros(4, np.uint64)
    _put_words(pool, _put_words(pool, 0, seed), stream)
    return _state_of(pool)


def _put_words(pool: Array, place: Any, number: Any) -> Any:
    """The words of 32 bits that a number has, from a place on; gives the place after them."""
    pool[place] = np.uint64(number) & LOW
    upper = np.uint64(number) >> 32
    if upper == 0:
        return place + 1
    pool[place + 1] = upper
    return place + 2


def _state_of(pool: Array) -> State:
    """The state that words of entropy give, as SeedSequence and PCG64 have it."""
    hash = np.full(1, 0x43B0D7E5, np.uint64)
    for i in range(4):
        pool[i] = _hashed(pool[i], hash, 0x931E8875)
    for i in range(4):
        for j in range(4):
            if i != j:
                pool[j] = _mixed(pool[j], _hashed(pool[i], hash, 0x931E8875))
    words = np.zeros(4, np.uint64)
    hash[0] = 0x8B51F9DD
    for i in range(8):
        words[i // 2] |= _hashed(pool[i % 4], hash, 0x58F38DED) << (32 * (i % 2))
    state = np.zeros(STATE_SIZE, np.uint64)
    state[2] = (words[2] << 1) | (words[3] >> 63)
    state[3] = (words[3] << 1) | 1
    _step(state)
    low = state[1] + words[1]
    state[0] += words[0] + np.uint64(low < words[1])
    state[1] = low
    _step(state)
    return state


# -- bits --------------------------------------------------------------------------------------


def _high_product(a: Any, b: Any) -> Any:
    """The upper 64 of the 128 bits of a product."""
    low = (a & LOW) * (b & LOW)
    middle = (a >> 32) * (b & LOW) + (low >> 32)
    other = (a & LOW) * (b >> 32) + (middle & LOW)
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32)


def _step(state: State) -> None:
    high, low = state[0], state[1]
    factor = np.uint64(FACTOR_LOW)
    product = low * factor
    next_low = product + state[3]
    carry = np.uint64(next_low < product)
    upper = _high_product(low, factor) + high * factor + low * np.uint64(FACTOR_HIGH)
    state[0] = upper + state[2] + carry
    state[1] = next_low


def _bits(state: State) -> Any:
    """64 random bits."""
    _step(state)
    mixed, turn = state[0] ^ state[1], state[0] >> 58
    return (mixed >> turn) | (mixed << ((64 - turn) & 63))


def _half_bits(state: State) -> Any:
    """32 random bits: those that are left of a draw, or the lower ones of a new one."""
    if state[4] != 0:
        state[4] = 0
        half = state[5]
    else:
        drawn = _bits(state)
        state[4], state[5] = 1, drawn >> 32
        half = drawn & LOW
    return half


def _fraction(state: State) -> float:
    """A number from 0 to 1, without 1."""
    return float(_bits(state) >> 11) * (1.0 / 9007199254740992.0)


def _small_below(state: State, last: Any) -> Any:
    """An integer up to `last`, which has 32 bits: the upper half of a product, without bias."""
    product = _half_bits(state) * (last + 1)
    if (product & LOW) < last + 1:
        threshold = (LOW - last) % (last + 1)
        while (product & LOW) < threshold:
            product = _half_bits(state) * (last + 1)
    return product >> 32


def _large_below(state: State, last: Any) -> Any:
    count = last + 1
    drawn = _bits(state)
    if drawn * count < count:
        threshold = (~last) % count
        while drawn * count < threshold:
            drawn = _bits(state)
    return _high_product(drawn, count)


def _below(state: State, last: Any) -> Any:
    """An integer from 0 to `last`, all equally likely."""
    found = np.uint64(0)
    if last == 0:
        found = np.uint64(0)
    elif last == LOW:
        found = _half_bits(state)
    elif last < LOW:
        found = _small_below(state, last)
    elif last + 1 == 0:
        found = _bits(state)
    else:
        found = _large_below(state, last)
    return found


def _masked_below(state: State, last: Any) -> Any:
    """An integer from 0 to `last`: as many bits as it has, until they are not more."""
    mask = last
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    found = np.uint64(0)
    if last > 0:
        found = (_half_bits(state) if last <= LOW else _bits(state)) & mask
        while found > last:
            found = (_half_bits(state) if last <= LOW else _bits(state)) & mask
    return found


# -- distributions of one number ---------------------------------------------------------------


def _normal(state: State) -> float:
    x = 0.0
    while True:
        drawn = _bits(state)
        strip = int(drawn & 0xFF)
        steps = (drawn >> 9) & 0x000FFFFFFFFFFFFF
        x = float(steps) * ziggurat.NORMAL_WIDTHS[strip]
        if (drawn >> 8) & 1 != 0:
            x = -x
        if steps < ziggurat.NORMAL_STEPS[strip]:
            break
        if strip == 0:
            x = _normal_tail(state)
            if (steps >> 8) & 1 != 0:
                x = -x
            break
        low, high = ziggurat.NORMAL_DENSITIES[strip], ziggurat.NORMAL_DENSITIES[strip - 1]
        if (high - low) * _fraction(state) + low < np.exp(-0.5 * x * x):
            break
    return x


def _normal_tail(state: State) -> float:
    x = 0.0
    while True:
        x = -INVERSE_NORMAL_TAIL * np.log1p(-_fraction(state))
        y = -np.log1p(-_fraction(state))
        if y + y > x * x:
            break
    return NORMAL_TAIL + x


def _exponential(state: State) -> float:
    x = 0.0
    while True:
        drawn = _bits(state) >> 3
        strip, steps = int(drawn & 0xFF), drawn >> 8
        x = float(steps) * ziggurat.WIDTHS[strip]
        if steps < ziggurat.STEPS[strip]:
            break
        if strip == 0:
            x = EXPONENTIAL_TAIL - np.log1p(-_fraction(state))
            break
        low, high = ziggurat.DENSITIES[strip], ziggurat.DENSITIES[strip - 1]
        if (high - low) * _fraction(state) + low < np.exp(-x):
            break
    return x


# -- methods -----------------------------------------------------------------------------------


def _check_number(x: Any) -> None:
    if np.ndim(x) > 0:
        raise NotImplementedError("it takes numbers here", "draw for each element in a loop")


def random(state: State, size: Any = None) -> Any:
    """Numbers from 0 to 1, without 1."""
    if size is None:
        return _fraction(state)
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = _fraction(state)
    return drawn.reshape(size)


def uniform(state: State, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
    """Numbers from `low` to `high`, whatever their types are."""
    _check_number(low)
    _check_number(high)
    first, width = float(low), float(high) - float(low)
    if not np.isfinite(width):
        raise OverflowError("high - low range exceeds valid bounds")
    if width < 0:
        raise ValueError("high - low < 0")
    if size is None:
        return first + width * _fraction(state)
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = first + width * _fraction(state)
    return drawn.reshape(size)


def standard_normal(state: State, size: Any = None) -> Any:
    """Numbers of the normal distribution."""
    if size is None:
        return float(_normal(state))
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = _normal(state)
    return drawn.reshape(size)


def normal(state: State, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
    """Numbers of a normal distribution around `loc`."""
    _check_number(loc)
    _check_number(scale)
    if scale < 0:
        raise ValueError("scale < 0")
    middle, width = float(loc), float(scale)
    if size is None:
        return float(middle + width * _normal(state))
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = middle + width * _normal(state)
    return drawn.reshape(size)


def standard_exponential(state: State, size: Any = None) -> Any:
    """Numbers of the exponential distribution."""
    return exponential(state, 1.0, size)


def exponential(state: State, scale: float = 1.0, size: Any = None) -> Any:
    """Numbers of an exponential distribution whose mean is `scale`."""
    _check_number(scale)
    if scale < 0:
        raise ValueError("scale < 0")
    mean = float(scale)
    if size is None:
        return float(mean * _exponential(state))
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = mean * _exponential(state)
    return drawn.reshape(size)


def integers(
    state: State,
    low: Any,
    high: Any = None,
    size: Any = None,
    dtype: Any = np.int64,
    endpoint: bool = False,
) -> Any:
    """Integers from `low` to `high`, without `high` unless it is the endpoint."""
    _check_number(low)
    if high is not None:
        _check_number(high)
    if np.empty(0, dtype).dtype != "int64":
        raise NotImplementedError(
            "integers are of 64 bits here", "convert them with .astype(dtype)"
        )
    first = 0 if high is None else low
    last = (low if high is None else high) - (0 if endpoint else 1)
    if last < first:
        raise ValueError("low >= high")
    base = np.int64(first).astype(np.uint64)
    span = np.int64(last).astype(np.uint64) - base
    if size is None:
        return (_below(state, span) + base).astype(np.int64)
    drawn = np.empty(np.empty(size).size, np.int64)
    for k in range(len(drawn)):
        drawn[k] = (_below(state, span) + base).astype(np.int64)
    return drawn.reshape(size)


# -- orders ------------------------------------------------------------------------------------


def _shuffle_from(state: State, x: Array, first: int) -> None:
    """Exchange elements, from the last one down to `first`, with others before them."""
    for i in range(len(x) - 1, first - 1, -1):
        j = int(_below(state, np.uint64(i)))
        other = x[j]
        x[j] = x[i]
        x[i] = other


def shuffle(state: State, x: Any) -> None:
    """Put the elements of an array or a list, or the rows of an array, in an order by chance."""
    has_rows = np.ndim(x) > 1
    for i in range(len(x) - 1, 0, -1):
        j = int(_masked_below(state, np.uint64(i)))
        other = x[j].copy() if has_rows else x[j]
        x[j] = x[i]
        x[i] = other


def permutation(state: State, x: Any) -> Array:
    """The integers below a number, or the elements or rows of an array, in an order by chance."""
    if np.ndim(x) == 0:
        order = np.arange(x)
        shuffle(state, order)
        return order
    shuffled = np.asarray(x).copy()
    shuffle(state, shuffled)
    return shuffled


def _different(state: State, population: int, size: int) -> Array:
    """Different integers: each is drawn below a growing bound, or is the bound if it was drawn."""
    mask = 1
    while mask < int(1.2 * size):
        mask = 2 * mask + 1
    taken = np.full(mask + 1, -1, np.int64)
    chosen = np.empty(size, np.int64)
    for k in range(size):
        bound = population - size + k
        drawn = int(_below(state, np.uint64(bound)))
        place = drawn & mask
        while taken[place] != -1 and taken[place] != drawn:
            place = (place + 1) & mask
        if taken[place] != -1:
            drawn = bound
            place = drawn & mask
            while taken[place] != -1:
                place = (place + 1) & mask
        taken[place] = drawn
        chosen[k] = drawn
    return chosen


def _sample(state: State, population: int, size: int) -> Array:
    chosen = np.empty(size, np.int64)
    if population > LARGE and size > population // SHARE:
        order = np.arange(population)
        _shuffle_from(state, order, max(population - size, 1))
        chosen[:] = order[population - size :]
    else:
        chosen[:] = _different(state, population, size)
        _shuffle_from(state, chosen, 1)
    return chosen


def choice(state: State, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
    """Elements of an array, or integers below a number: with one another, or all different."""
    population = a if np.ndim(a) == 0 else len(a)
    if population <= 0:
        raise ValueError("a must be a positive integer unless no samples are taken")
    if p is not None:
        return choice_by_chance(state, a, size, replace, p, random)
    if size is None:
        place = integers(state, 0, population)
        return int(place) if np.ndim(a) == 0 else np.asarray(a)[place]
    if replace:
        places = integers(state, 0, population, size)
        return places if np.ndim(a) == 0 else np.asarray(a)[places]
    count = np.empty(size).size
    if count > population:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    sample = _sample(state, population, count).reshape(size)
    return sample if np.ndim(a) == 0 else np.asarray(a)[sample]


METHODS: dict[str, Any] = {
    method.__name__: method
    for method in (
        *(random, uniform, standard_normal, normal, standard_exponential, exponential, integers),
        *(shuffle, permutation, choice),
    )
}
