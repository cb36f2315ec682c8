"""Prosecutor and journalist: what is drawn, against sums term by term."""

import numpy as np
import pytest
from scipy.stats import nbinom

from kohort.reports.risk.attackers import THRESHOLDS, Attacker, drawn_journalist, journalist, prosecutor


def test_the_mean_over_drawn_populations_is_the_individual_risk():
    # of a class of one it is p/q ln(1/p), of two p/q - (p/q)^2 ln(1/p) (Benedetti, Franconi; sdcMicro, indivRisk)
    share = 0.1
    odds, log = share / (1 - share), np.log(1 / share)
    for size, expected in ((1, odds * log), (2, odds - odds**2 * log)):
        found = drawn_journalist(np.full(4000, size), share)
        assert found.mean == pytest.approx(expected, rel=0.02)
        assert found.intervals["mean"].low < expected < found.intervals["mean"].high


def test_drawn_shares_are_those_of_the_distribution():
    share, sizes = 0.3, np.repeat([1, 2, 6], [500, 300, 50])
    found = drawn_journalist(sizes, share)
    for level, fewest in THRESHOLDS.items():
        expected = sum(size * nbinom.cdf(fewest - 1 - size, size, share) for size in sizes.tolist()) / sizes.sum()
        assert found.intervals[level].low <= expected <= found.intervals[level].high
        assert found.above[level] == pytest.approx(expected, abs=0.01)
    assert 0 < found.maximum <= 1
    assert found == drawn_journalist(sizes, share)


def test_a_population_that_is_the_table_leaves_the_journalist_what_the_prosecutor_has():
    sizes = np.array([1, 2, 6])
    assert drawn_journalist(sizes, 1.0).mean == pytest.approx(prosecutor(sizes).mean)


def test_people_who_are_counted_are_no_fewer_than_the_rows():
    found = journalist(np.array([10, 1, 0]), np.array([2, 3, 1]))
    assert found == Attacker(1.0, (2 * 0.1 + 3 / 3 + 1) / 6, {"0.05": 1.0, "0.09": 1.0, "0.2": 4 / 6, "0.33": 1 / 6})


def test_nobody_is_no_risk():
    none = np.empty(0, np.int64)
    assert prosecutor(none) == Attacker(0.0, 0.0, dict.fromkeys(THRESHOLDS, 0.0))
