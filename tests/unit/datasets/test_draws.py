"""Wheels give what their weights say, and nothing at the rim goes wrong."""

import numpy as np
import pytest

from kohort.datasets._draws import Wheels, spread


class Fixed:
    """A generator that returns the numbers it was given."""

    def __init__(self, *numbers):
        self.numbers = numbers

    def random(self, size):
        assert size == len(self.numbers)
        return np.array(self.numbers)


def test_shares_follow_the_weights():
    rng = np.random.default_rng(1)
    drawn = Wheels.of([3, 0, 1]).spin(rng, np.zeros(100_000, dtype=np.int64))
    assert np.bincount(drawn, minlength=3) / 100_000 == pytest.approx([0.75, 0, 0.25], abs=0.01)


def test_each_row_spins_its_own_wheel():
    wheels = Wheels.of([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    rows = np.array([2, 0, 1, 1, 0, 2] * 1000)
    assert (wheels.spin(np.random.default_rng(1), rows) == rows).all()


@pytest.mark.parametrize("number", [0.0, 1 - 2**-53])
def test_extreme_numbers_stay_on_their_wheel_and_off_empty_pockets(number):
    wheels = Wheels.of([[0, 1, 1, 0]] * 400)
    drawn = wheels.spin(Fixed(*[number] * 400), np.arange(400))
    assert set(drawn.tolist()) == {1 if number == 0 else 2}


def test_spread_is_nearly_lognormal():
    logs = np.log(spread(np.random.default_rng(1), 200_000, sigma=0.5))
    assert logs.mean() == pytest.approx(0, abs=0.01)
    assert logs.std() == pytest.approx(0.5, abs=0.01)
    assert np.mean(np.abs(logs) < 0.5) == pytest.approx(0.683, abs=0.02)
