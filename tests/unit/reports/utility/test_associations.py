"""Which columns go along with which, before and after."""

import numpy as np
import polars as pl
import pytest
from scipy.stats.contingency import association

from kohort.policy import Policy
from kohort.reports.published import opened
from kohort.reports.utility import associations as module
from kohort.reports.utility.associations import associations, cramers_v
from kohort.reports.utility.columns import columns_of

POLICY = Policy.build(
    k=2,
    quasi_identifiers=["age", "town"],
    sensitive=["ill"],
    hierarchies={"town": {"tree": {"Italy": ["Rome", "Milan"], "France": ["Paris", "Lyon"]}}},
)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    place = rng.integers(0, 4, 300)
    return pl.DataFrame(
        {
            "age": 20 + 10 * place + rng.integers(0, 12, 300),
            "town": np.array(["Rome", "Milan", "Paris", "Lyon"])[place],
            "ill": np.where(rng.random(300) < 0.8, place % 2, 1 - place % 2).astype(str),
        }
    )


def test_a_large_table_of_contingency_against_the_library():
    """The correction for bias vanishes in a large table."""
    table = np.random.default_rng(1).integers(1, 100, (4, 6)) * 10_000
    assert cramers_v(table) == pytest.approx(association(table, "cramer"), abs=1e-4)


def test_known_values():
    # Bergsma: phi^2 = 0.04, less 1 / 99; both sizes become 2 - 1 / 99
    expected = ((0.04 - 1 / 99) / (1 - 1 / 99)) ** 0.5
    assert cramers_v(np.array([[30, 20], [20, 30]])) == pytest.approx(expected)
    assert cramers_v(np.array([[25, 25], [25, 25]])) == 0
    assert cramers_v(np.array([[5, 5]])) == 0
    assert cramers_v(np.zeros((2, 2))) == 0


def test_what_a_release_says_of_a_pair_is_what_its_rows_may_be(people):
    """The expected table, by adding up every pair of values of every row."""
    release = people.with_columns(
        town=pl.when(pl.col("town").is_in(["Rome", "Milan"])).then(pl.lit("Italy")).otherwise(pl.col("town")),
        age=pl.col("age").cast(pl.String),
    )
    with opened(release, POLICY, people, as_is=True) as published:
        found = associations(columns_of(published), np.random.default_rng(0))
    table = np.zeros((4, 2))
    for town, ill in release.select("town", "ill").rows():
        places = [0, 1] if town == "Italy" else [["Paris", "Lyon"].index(town) + 2]
        table[places, int(ill)] += 1 / len(places)
    [pair] = [pair for pair in found.pairs if {pair.first, pair.second} == {"town", "ill"}]
    assert pair.release == pytest.approx(cramers_v(table), abs=1e-6)
    assert pair.release < pair.original
    assert found.possible == len(found.pairs) == 3
    assert found.pairs[0].first == "town" or found.pairs[0].second == "town"


def test_a_wide_and_long_table_is_sampled_and_says_so(people, monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 2)
    monkeypatch.setattr(module, "MOST_RECORDS", 100)
    same = people.with_columns(pl.col("age").cast(pl.String))
    with opened(same, POLICY, people, as_is=True) as published:
        found = associations(columns_of(published), np.random.default_rng(0))
    assert (len(found.pairs), found.possible, found.records) == (2, 3, 100)
    assert found.mean_change < 0.2


def test_neither_how_sums_are_added_nor_the_order_of_rows_changes_a_figure(monkeypatch):
    """Cores add in an order of their own; sums are exact, so that it makes no difference."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({name: rng.integers(0, 999, 20_000) for name in ("a", "b", "c")})
    low = [(pl.col(name) // 7 * 7) for name in frame.columns]
    release = frame.select(pl.format("[{} - {}]", one, one + 6).alias(one.meta.output_name()) for one in low)
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    found = []
    for table, rows in ((release, 8192), (release, 777), (release.sample(fraction=1.0, shuffle=True, seed=1), 8192)):
        monkeypatch.setattr(module, "_AT_ONCE", rows)
        with opened(table, policy, frame) as published:
            found.append(associations(columns_of(published), np.random.default_rng(0)))
    assert found[0] == found[1] == found[2]
