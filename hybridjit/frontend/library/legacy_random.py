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

from hybridjit.frontend.library.chances import choice_by_chance
from hybridjit.ir.dtype import FLOAT64, UINT32, UINT64
from hybridjit.ir.extern import Extern

np: Any = numpy
Array = Any
State = Any
# Whether a normal number is kept for the next draw: NumPy has it, we do, or nobody.
THEIRS, OURS, NOBODYS = -1, 1, 0


def _generator() -> Any:
    """The bits that np.random draws from."""
    generator: Any = np.random.mtrand._rand._bit_generator
    if type(generator).__name__ != "MT19937":
        name = type(generator).__name__
        raise ValueError(f"np.random draws from {name}; a script knows MT19937")
    return generator


def _borrow() -> int:
    return int(_generator().ctypes.state_address)


def _take_kept(kept: Array, gauss: Array) -> None:
    """Take the normal number that NumPy keeps, if it does: it draws no bits for that one."""
    generator = _generator()
    words = _words_of(generator)
    before = words.copy()
    gauss[0] = np.random.standard_normal()
    kept[0] = OURS if (words == before).all() else NOBODYS
    if kept[0] == NOBODYS:
        np.random.standard_normal()  # the other one of a new pair
        words[:] = before


def _words_of(generator: Any) -> Array:
    """The memory of a generator: 624 words and a position."""
    memory = (ctypes.c_uint32 * 625).from_address(generator.ctypes.state_address)
    return np.frombuffer(memory, np.uint32)


def _give_back(gauss: Any) -> None:
    name, words, position, _, _ = np.random.get_state()
    np.random.set_state((name, words, position, 1, float(gauss)))


def _seed(seed: Any) -> None:
    np.random.seed(int(seed))


class _NextWord:
    """The function of NumPy that draws from its generator; which one it is, NumPy has to say."""

    @property
    def _as_parameter_(self) -> int:
        return ctypes.cast(_generator().ctypes.next_uint32, ctypes.c_void_p).value or 0

    def __call__(self, address: Any) -> int:
        return int(_generator().ctypes.next_uint32(int(address)))


BORROW = Extern("borrow_random_state", _borrow, UINT64)
GIVE_BACK = Extern("give_back_random_state", _give_back, None)
take_kept: Any = Extern("take_kept_normal", _take_kept, None)
set_seed: Any = Extern("seed_random_state", _seed, None)
next_word: Any = Extern("next_random_word", _NextWord(), UINT32, (UINT64,))
# NumPy calls that of the C library: ours may round its last bit otherwise.
_c_log = ctypes.CDLL(None).log
_c_log.restype, _c_log.argtypes = ctypes.c_double, (ctypes.c_double,)
c_log: Any = Extern("log", _c_log, FLOAT64, (FLOAT64,))


# -- bits --------------------------------------------------------------------------------------


def seed(state: State, seed: Any) -> None:
    """Begin the stream of a seed."""
    set_seed(seed)
    state[1][0] = THEIRS


def _word(state: State) -> Any:
    """32 random bits, as a number of 64."""
    return np.uint64(next_word(state[0][0]))


def _fraction(state: State) -> float:
    fraction = 0.0
    for k in range(2):
        word = _word(state)
        fraction = fraction + float(word >> 6) if k > 0 else float(word >> 5) * 67108864.0
    return fraction / 9007199254740992.0


def _gauss(state: State) -> float:
    """Normal numbers come in pairs: one is kept for the next time."""
    if state[1][0] == THEIRS:
        take_kept(state[1], state[2])
    if state[1][0] == OURS:
        state[1][0] = NOBODYS
        return float(state[2][0])
    x, y, r = 0.0, 0.0, 0.0
    while r >= 1.0 or r == 0.0:
        for _ in range(2):
            x, y = y, 2.0 * _fraction(state) - 1.0
        r = x * x + y * y
    factor = math.sqrt(-2.0 * c_log(r) / r)
    state[1][0], state[2][0] = OURS, factor * x
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
    """Numbers from `low` to `high`, whatever their types are."""
    _check_number(low)
    _check_number(high)
    first, width = float(low), float(high) - float(low)
    if not np.isfinite(width):
        raise OverflowError("Range exceeds valid bounds")
    if size is None:
        return first + width * _fraction(state)
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = first + width * _fraction(state)
    return drawn.reshape(size)


def normal(state: State, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
    """Numbers of a normal distribution around `loc`."""
    _check_number(loc)
    _check_number(scale)
    if scale < 0:
        raise ValueError("scale < 0")
    middle, width = float(loc), float(scale)
    if size is None:
        return float(middle + width * _gauss(state))
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = middle + width * _gauss(state)
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
    mean = float(scale)
    if size is None:
        return float(mean * -c_log(1.0 - _fraction(state)))
    drawn = np.empty(np.empty(size).size)
    for k in range(len(drawn)):
        drawn[k] = mean * -c_log(1.0 - _fraction(state))
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


def shuffle(state: State, x: Any) -> None:
    """Put the elements of an array or a list, or the rows of an array, in an order by chance."""
    has_rows = np.ndim(x) > 1
    for i in range(len(x) - 1, 0, -1):
        j = int(_below(state, np.uint64(i)))
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


def choice(state: State, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
    """Elements of an array, or integers below a number: with one another, or all different."""
    population = a if np.ndim(a) == 0 else len(a)
    if population <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if p is not None:
        return choice_by_chance(state, a, size, replace, p, random_sample)
    if size is None:
        place = randint(state, 0, population)
        return place if np.ndim(a) == 0 else np.asarray(a)[place]
    if replace:
        places = randint(state, 0, population, size)
        return places if np.ndim(a) == 0 else np.asarray(a)[places]
    count = np.empty(size).size
    if count > population:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    sample = permutation(state, population)[:count].reshape(size)
    return sample if np.ndim(a) == 0 else np.asarray(a)[sample]


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
