"""Estimates of population uniqueness: against ARX on Adult, sums term by term, and populations that are drawn."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import hypergeom

from kohort.kernels.pitman import class_sizes
from kohort.reports.estimate import Estimate
from kohort.reports.risk.uniqueness import ESTIMATORS, Sample
from kohort.reports.risk.uniqueness.choice import choice, uniqueness_of
from kohort.reports.risk.uniqueness.pitman import expected_uniques, most_likely
from kohort.reports.risk.uniqueness.snb import one_and_two, population_classes, sample_sizes, solved

SIZES = np.repeat([1, 2, 3, 5, 9], [40, 11, 5, 3, 1])


@pytest.fixture(scope="module")
def adult(shared):
    frame = pl.read_csv(shared / "adult/adult.csv", separator=";", infer_schema=False)
    return frame.group_by(frame.columns).len()["len"].to_numpy().astype(np.int64)


def test_the_figures_that_arx_expects_of_adult(adult):
    # ARX, TestRiskMetrics: all nine columns known, four digits
    assert len(adult) / adult.sum() == 0.6465751607983555
    assert uniqueness_of(adult, int(adult.sum())).share.value == 0.5142895033485844
    for share, uniques in ((0.1, 0.3207402393466189), (0.2, 0.3577099234829125)):
        sample = Sample.of(adult, int(adult.sum() / share))
        assert ESTIMATORS.make("zayatz", {}).fit(sample).uniques / sample.population == pytest.approx(uniques, abs=1e-6)
    for share, uniques in ((0.1, 0.27684993883653597), (0.01, 0.1446083531167384)):
        sample = Sample.of(adult, int(adult.sum() / share))
        theta, alpha = most_likely(sample)
        # ARX takes the limit of the expected number for large populations
        limit = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * sample.population ** (alpha - 1)
        assert limit == pytest.approx(uniques, abs=1e-6)
        assert expected_uniques(theta, alpha, sample.population) / sample.population == pytest.approx(limit, rel=0.005)


def test_pitman_is_at_the_top_of_the_likelihood():
    sample = Sample.of(SIZES, 10_000)
    theta, alpha = most_likely(sample)

    def likelihood(theta, alpha):
        new = sum(math.log(theta + i * alpha) for i in range(1, len(SIZES)))
        every = sum(math.log(theta + i) for i in range(1, int(SIZES.sum())))
        known = sum(math.log(i - alpha) for size in SIZES for i in range(1, size))
        return new - every + known

    top = likelihood(theta, alpha)
    for step in (1e-3, -1e-3):
        assert likelihood(theta * (1 + step), alpha) < top
        assert likelihood(theta, alpha + step) < top


def test_pitman_expects_what_the_model_draws():
    drawn = [(class_sizes(2000, 30.0, 0.4, np.uint64(seed)) == 1).sum() for seed in range(200)]
    assert np.mean(drawn) == pytest.approx(expected_uniques(30.0, 0.4, 2000), rel=0.05)
    assert class_sizes(2000, 30.0, 0.4, np.uint64(1)).sum() == 2000


def test_pitman_has_no_answer_where_all_are_unique_or_classes_are_alike():
    for sizes in (np.ones(50, np.int64), np.array([1] + [8] * 40)):
        assert ESTIMATORS.make("pitman", {}).estimate(Sample.of(sizes, 10_000)) is None
        found = uniqueness_of(sizes, 10_000)
        assert found.chosen == "zayatz"


def test_zayatz_term_by_term():
    sample = Sample.of(SIZES, 1000)
    once = {size: hypergeom.pmf(1, 1000, size, int(SIZES.sum())) for size in SIZES.tolist()}
    of_one = once[1] * 40 / sum(once[size] for size in SIZES.tolist())
    assert ESTIMATORS.make("zayatz", {}).fit(sample).uniques == pytest.approx(40 * of_one * 1000 / SIZES.sum())


def test_snb_sizes_are_those_of_thinned_classes():
    random = np.random.default_rng(1)
    classes = 1 + random.negative_binomial(0.7, 0.2, 200_000)
    found = np.bincount(random.binomial(classes, 0.3))[:6] / 200_000
    assert sample_sizes(0.7, 0.2, 0.3, 5) == pytest.approx(found, abs=0.004)
    for parameters in ((0.7, 0.2, 0.3), (0.01, 0.9, 0.001), (5.0, 0.5, 0.99)):
        assert one_and_two(*parameters) == pytest.approx(sample_sizes(*parameters, 2)[1:])


def test_snb_gives_the_classes_of_one_and_of_two_of_the_sample():
    sample = Sample.of(SIZES, 300)
    classes = population_classes(sample)
    shape, chance = solved(sample, classes)
    assert classes * sample_sizes(shape, chance, sample.fraction, 2)[1:] == pytest.approx([40, 11], rel=1e-4)
    assert ESTIMATORS.make("snb", {}).fit(sample).uniques == pytest.approx(classes * chance**shape)
    assert ESTIMATORS.make("snb", {}).estimate(Sample.of(np.array([1, 1, 3]), 30)) is None


def test_the_number_of_classes_term_by_term():
    q, sizes = SIZES.sum() / 1000, SIZES.tolist()
    thinned = sum(i * q**2 * (1 - q**2) ** (i - 1) for i in sizes)
    lost = sum((1 - q) ** i * ((1 + q) ** i - 1) for i in sizes)
    none, once = sum((1 - q) ** i for i in sizes), sum(i * q * (1 - q) ** (i - 1) for i in sizes)
    expected = len(sizes) + 40 * thinned / lost * (none / once) ** 2
    assert population_classes(Sample.of(SIZES, 1000)) == pytest.approx(expected)


@pytest.mark.slow
def test_intervals_hold_the_truth_where_the_model_fits():
    random, kept = np.random.default_rng(7), 0
    for seed in range(20):
        population = class_sizes(5000, 200.0, 0.5, np.uint64(seed))
        people = random.choice(np.repeat(np.arange(len(population)), population), 500, replace=False)
        found = ESTIMATORS.make("pitman", {}).estimate(Sample.of(np.bincount(people), 5000))
        kept += found.low <= (population == 1).sum() / 5000 <= found.high
    assert kept >= 16


def test_estimates_are_the_same_again_and_their_intervals_hold_them():
    found = uniqueness_of(SIZES, 1000)
    assert found == uniqueness_of(SIZES[::-1], 1000)
    for one in found.estimates.values():
        assert 0 <= one.low <= one.value <= one.high <= 1
    assert found.ends == (min(e.low for e in found.estimates.values()), max(e.high for e in found.estimates.values()))


def test_nobody_unique_in_the_table_is_nobody_unique():
    found = uniqueness_of(np.array([2, 3, 3]), 1000)
    assert (found.share.value, found.share.high) == (0, 0)


@pytest.mark.parametrize(
    ("pitman", "snb", "fraction", "chosen"),
    [
        (0.2, 0.1, 0.1, "pitman"),
        (None, 0.1, 0.1, "zayatz"),
        (0.2, 0.1, 0.11, "snb"),
        (0.2, 0.4, 0.11, "zayatz"),
        (0.2, None, 0.5, "zayatz"),
    ],
)
def test_the_rule_of_dankar(pitman, snb, fraction, chosen):
    def of(share):
        return None if share is None else Estimate(share, share, share)

    assert choice({"pitman": of(pitman), "snb": of(snb), "zayatz": of(0.3)}, fraction) == chosen


def test_large_numbers_do_not_overflow():
    assert 0 < expected_uniques(1e7, 0.5, 300_000_000) < 300_000_000
