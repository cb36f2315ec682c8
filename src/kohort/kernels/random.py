"""Random numbers that depend on a counter alone, so that results do not depend on threads.

SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a state of 64 bits, one addition and a few
multiplications for each number.
"""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import inner

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@inner
def mixed(
    number,  # IN   uint64
):
    """Scramble a number: neighbours become strangers."""
    number = (number ^ (number >> np.uint64(30))) * _FIRST
    number = (number ^ (number >> np.uint64(27))) * _SECOND
    return number ^ (number >> np.uint64(31))


@inner
def draw(
    state,  # IN/OUT uint64[1]
):
    """Draw the next 64 random bits."""
    state[0] += _GOLDEN
    return mixed(state[0])


@inner
def below(
    state,  # IN/OUT uint64[1]
    number,  # IN   int, less than 2**31
):
    """Draw a whole number, 0 to number - 1."""
    return np.int64(((draw(state) >> np.uint64(33)) * np.uint64(number)) >> np.uint64(31))


@inner
def share(
    state,  # IN/OUT uint64[1]
):
    """Draw a number from [0, 1)."""
    return np.float64(draw(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inner
def shuffle(
    state,  # IN/OUT uint64[1]
    items,  # IN/OUT int32[]
):
    """Bring items into a random order."""
    for last in range(len(items) - 1, 0, -1):
        other = below(state, last + 1)
        items[last], items[other] = items[other], items[last]
