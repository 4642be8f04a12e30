"""np.random.seed, rand and others, written in the language: bit for bit the streams of NumPy.

The state of NumPy's global generator, MT19937, is three arrays: its 624 words, where the next one
stands and whether half of a pair of normal numbers is left, and that half. A script borrows it when
it begins and gives it back when it returns, so that what is drawn before, inside and after a script
is one stream. A script that ends in an error gives nothing back.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy

from hybridjit.ir.dtype import FLOAT64
from hybridjit.ir.extern import Extern

np: Any = numpy
Array = Any
State = Any
SIZE, SHIFT = 624, 397
UPPER, LOWER, TWIST = 0x80000000, 0x7FFFFFFF, 0x9908B0DF


def _borrow(words: Array, places: Array, gauss: Array) -> None:
    name, key, position, has_gauss, cached = np.random.get_state()
    if name != "MT19937":
        raise ValueError(f"np.random draws from {name}; a script knows MT19937")
    words[:] = key
    places[:] = position, has_gauss
    gauss[0] = cached


def _give_back(words: Array, places: Array, gauss: Array) -> None:
    position, has_gauss = places.tolist()
    np.random.set_state(("MT19937", words.copy(), position, has_gauss, float(gauss[0])))


BORROW = Extern("borrow_random_state", _borrow, None)
GIVE_BACK = Extern("give_back_random_state", _give_back, None)
# NumPy calls that of the C library: ours may round its last bit otherwise.
_c_log = ctypes.CDLL(None).log
_c_log.restype, _c_log.argtypes = ctypes.c_double, (ctypes.c_double,)
c_log: Any = Extern("log", _c_log, FLOAT64, (FLOAT64,))


# -- bits --------------------------------------------------------------------------------------


def seed(state: State, seed: Any) -> None:
    """Begin the stream of a seed."""
    if seed < 0 or seed > 0xFFFFFFFF:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    words, word = state[0], np.uint64(seed)
    for k in range(SIZE):
        words[k] = np.uint32(word)
        word = (1812433253 * (word ^ (word >> 30)) + np.uint64(k + 1)) & 0xFFFFFFFF
    state[1][0], state[1][1] = SIZE, 0
    state[2][0] = 0.0


def _refill(words: Array) -> None:
    """The next 624 words: one short loop, as there is a copy of it for every draw of a script."""
    for k in range(SIZE):
        after = k + 1 if k + 1 < SIZE else 0
        other = k + SHIFT if k + SHIFT < SIZE else k + SHIFT - SIZE
        mixed = (words[k] & UPPER) | (words[after] & LOWER)
        words[k] = words[other] ^ (mixed >> 1) ^ (TWIST * (mixed & 1))


def _word(state: State) -> Any:
    """32 random bits, as a number of 64."""
    words, places = state[0], state[1]
    if places[0] >= SIZE:
        _refill(words)
        places[0] = 0
    word = words[places[0]]
    places[0] += 1
    word ^= word >> 11
    word ^= (word << 7) & 0x9D2C5680
    word ^= (word << 15) & 0xEFC60000
    word ^= word >> 18
    return np.uint64(word)


def _fraction(state: State) -> float:
    fraction = 0.0
    for k in range(2):
        word = _word(state)
        fraction = fraction + float(word >> 6) if k > 0 else float(word >> 5) * 67108864.0
    return fraction / 9007199254740992.0


def _gauss(state: State) -> float:
    """Normal numbers come in pairs: one is kept for the next time."""
    places, kept = state[1], state[2]
    if places[1] != 0:
        number = float(kept[0])
        places[1], kept[0] = 0, 0.0
        return number
    x, y, r = 0.0, 0.0, 0.0
    while r >= 1.0 or r == 0.0:
        for _ in range(2):
            x, y = y, 2.0 * _fraction(state) - 1.0
        r = x * x + y * y
    factor = math.sqrt(-2.0 * c_log(r) / r)
    places[1], kept[0] = 1, factor * x
    return factor * y


def _below(state: State, last: Any) -> Any:
    """An integer from 0 to `last`: as many bits as it has, until they are not more."""
    mask = last
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    found = np.uint64(0)
    if last > 0:
        while True:
            for _ in range(2 if last > 0xFFFFFFFF else 1):
                found = (found << 32) | _word(state)
            found &= mask
            if found <= last:
                break
    return found


# -- what is drawn -----------------------------------------------------------------------------


def _check_number(x: Any) -> None:
    if np.ndim(x) > 0:
        raise NotImplementedError("it takes numbers here", "draw for each element in a loop")


def random_sample(state: State, size: Any = None) -> Any:
    """Numbers from 0 to 1, without 1."""
    if size is None:
        return _fraction(state)
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = _fraction(state)
    return drawn.reshape(size)


def rand(state: State, *sizes: Any) -> Any:
    """Numbers from 0 to 1, without 1."""
    return random_sample(state, sizes if len(sizes) > 0 else None)


def uniform(state: State, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
    """Numbers from `low` to `high`."""
    _check_number(low)
    _check_number(high)
    if size is None:
        return float(low + (high - low) * _fraction(state))
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = low + (high - low) * _fraction(state)
    return drawn.reshape(size)


def normal(state: State, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
    """Numbers of a normal distribution around `loc`."""
    _check_number(loc)
    _check_number(scale)
    if scale < 0:
        raise ValueError("scale < 0")
    if size is None:
        return float(loc + scale * _gauss(state))
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = loc + scale * _gauss(state)
    return drawn.reshape(size)


def standard_normal(state: State, size: Any = None) -> Any:
    """Numbers of the normal distribution."""
    if size is None:
        return _gauss(state)
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = _gauss(state)
    return drawn.reshape(size)


def randn(state: State, *sizes: Any) -> Any:
    """Numbers of the normal distribution."""
    return standard_normal(state, sizes if len(sizes) > 0 else None)


def exponential(state: State, scale: float = 1.0, size: Any = None) -> Any:
    """Numbers of an exponential distribution whose mean is `scale`."""
    _check_number(scale)
    if scale < 0:
        raise ValueError("scale < 0")
    if size is None:
        return float(scale * -c_log(1.0 - _fraction(state)))
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = scale * -c_log(1.0 - _fraction(state))
    return drawn.reshape(size)


def randint(
    state: State, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64
) -> Any:
    """Integers from `low` to `high`, without `high`."""
    _check_number(low)
    if high is not None:
        _check_number(high)
    if np.empty(0, dtype).dtype != "int64":
        raise NotImplementedError(
            "integers are of 64 bits here", "convert them with .astype(dtype)"
        )
    first = 0 if high is None else low
    last = (low if high is None else high) - 1
    if last < first:
        raise ValueError("high <= 0" if high is None else "low >= high")
    base = np.int64(first).astype(np.uint64)
    span = np.int64(last).astype(np.uint64) - base
    if size is None:
        return int((_below(state, span) + base).astype(np.int64))
    drawn = np.empty(np.empty(size).size, np.int64)
    for k in range(len(drawn)):
        drawn[k] = (_below(state, span) + base).astype(np.int64)
    return drawn.reshape(size)


def shuffle(state: State, x: Array) -> None:
    """Put the elements of an array, or its rows, in an order by chance."""
    for i in range(len(x) - 1, 0, -1):
        j = int(_below(state, np.uint64(i)))
        other = x[j] if x.ndim == 1 else x[j].copy()
        x[j] = x[i]
        x[i] = other


def permutation(state: State, x: Any) -> Array:
    """The integers below a number, or the elements or rows of an array, in an order by chance."""
    if np.ndim(x) == 0:
        order = np.arange(x)
        shuffle(state, order)
        return order
    shuffled = x.copy()
    shuffle(state, shuffled)
    return shuffled


def choice(state: State, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
    """Elements of an array, or integers below a number: with one another, or all different."""
    if p is not None:
        raise NotImplementedError(
            "elements have equal chances here", "search np.cumsum(p) for np.random.random()"
        )
    population = a if np.ndim(a) == 0 else len(a)
    if population <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if size is None:
        place = randint(state, 0, population)
        return place if np.ndim(a) == 0 else a[place]
    if replace:
        places = randint(state, 0, population, size)
        return places if np.ndim(a) == 0 else a[places]
    count = np.empty(size).size
    if count > population:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    sample = permutation(state, population)[:count].reshape(size)
    return sample if np.ndim(a) == 0 else a[sample]


FUNCTIONS: dict[str, Any] = {
    "random": random_sample,
    "ranf": random_sample,
    "sample": random_sample,
    **{
        function.__name__: function
        for function in (
            *(seed, random_sample, rand, uniform, normal, standard_normal, randn, exponential),
            *(randint, shuffle, permutation, choice),
        )
    },
}
