"""Learning from published rows, tested by records that are held out."""

import numpy as np
import polars as pl
import pytest

from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.reports import learning
from kohort.reports.learning import features, predicted, score, split, target_of
from kohort.reports.published import opened

POLICY = Policy.build(k=5, quasi_identifiers=["age", "sex"], sensitive=["ill"], insensitive=["pay"])


@pytest.fixture(scope="module")
def people():
    """The illness follows from the age, the pay from nothing but chance."""
    rng = np.random.default_rng(3)
    age = rng.integers(20, 80, 600)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["F", "M"], 600),
            "ill": np.where(age < 50, "flu", "gout"),
            "pay": rng.integers(0, 1000, 600),
        }
    )


def shown(people, width):
    """A release by bins of ages, in another order."""
    low = 20 + (pl.col("age") - 20) // width * width
    return people.with_columns(age=pl.format("[{} - {}]", low, low + width - 1)).sample(
        fraction=1.0, shuffle=True, seed=7
    )


def test_rows_and_records_that_are_alike_have_the_same_features(people):
    with opened(people.with_columns(pl.col("age").cast(pl.String)), POLICY, people, as_is=True) as same:
        space = features(same, ["age", "sex", "ill", "pay"])
        everyone = np.arange(600)
        assert space.columns == ("age", "sex", "ill", "pay")
        assert np.array_equal(space.release(everyone), space.original(same.ordered.order))
        assert space.width == space.release(everyone[:1]).shape[1]


def test_a_row_is_the_mean_of_what_it_may_stand_for(people):
    with opened(shown(people, 10), POLICY, people) as published:
        space = features(published, ["age"])
        row = np.array([0])
        text = shown(people, 10)["age"][int(published.ordered.order[0])]
        low = int(text[1:3])
        records = [np.flatnonzero(people["age"].to_numpy() == age)[:1] for age in range(low, low + 10)]
        mean = np.mean([space.original(one)[0] for one in records], axis=0)
        assert space.release(row)[0] == pytest.approx(mean, abs=1e-6)


def test_what_depends_on_nothing_else_is_learned_from_narrow_rows_and_not_from_stars(people):
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    scores = {}
    for width in (2, 60):
        with opened(shown(people, width), POLICY, people, as_is=True) as published:
            parts, target = split(published, rng), target_of(published, "ill", rng)
            space, truth = features(published, ["age", "sex"]), target.original[parts.tested]
            for table, rows in (("release", parts.rows), ("original", parts.records)):
                found = predicted(space, target, rows, table, parts.tested, 1)
                scores[width, table] = score(target.task, truth, found).value
    assert scores[2, "release"] > 0.95
    assert scores[60, "release"] < 0.7
    assert min(scores[2, "original"], scores[60, "original"]) > 0.95


def test_rows_of_tested_records_are_taken_away(people):
    """With a column that tells all rows apart, exactly those of the tested records go."""
    people = people.with_columns(pay=pl.int_range(600))
    with opened(shown(people, 10), POLICY, people, as_is=True) as published:
        parts = split(published, np.random.default_rng(2), share=0.3)
        pay = published.typed("pay").to_numpy()
    assert len(parts.tested) == 180
    assert sorted([*pay[parts.rows], *parts.tested]) == list(range(600))
    assert sorted([*parts.records, *parts.tested]) == list(range(600))


def test_a_row_goes_for_each_tested_record_though_nobody_knows_which(people):
    with opened(shown(people, 10).select("age", "sex", "ill"), POLICY, people, as_is=True) as published:
        parts = split(published, np.random.default_rng(2))
        assert len(parts.rows) == 600 - len(parts.tested)
        gone = np.setdiff1d(np.arange(600), parts.rows)
        ours, theirs = published.values_of_both("ill")
        assert np.bincount(ours[gone]).tolist() == np.bincount(theirs[parts.tested]).tolist()


def test_the_order_of_a_release_decides_nothing(people):
    pytest.importorskip("sklearn")
    found = []
    for seed in (1, 2):
        release = shown(people, 10).sample(fraction=1.0, shuffle=True, seed=seed)
        with opened(release, POLICY, people, as_is=True) as published:
            rng = np.random.default_rng(1)
            parts, target, age = (
                split(published, rng),
                target_of(published, "ill", rng),
                target_of(published, "age", rng),
            )
            space = features(published, ["sex", "pay"])
            found.append(predicted(space, target, parts.rows, "release", parts.tested, 1))
            assert len(np.unique(age.release)) > 30
    assert np.array_equal(*found)


def test_numbers_are_explained_as_far_as_they_can_be(people):
    truth = np.array([1.0, 2.0, 3.0, 4.0])
    assert score("number", truth, truth).value == 1
    assert score("number", truth, np.full(4, 2.5)).value == 0
    found = score("number", truth, np.array([1.0, 2, 3, 3]))
    assert found.value == pytest.approx(0.8)
    assert found.low < 0.8 < found.high
    assert score("category", truth, np.array([1.0, 2, 3, 3])).value == 0.75


def test_targets(people):
    rng = np.random.default_rng(1)
    with opened(shown(people, 10), POLICY, people, as_is=True) as published:
        assert target_of(published, "ill", rng).task == "category"
        assert target_of(published, "pay", rng).task == "number"
        age = target_of(published, "age", rng)
        assert age.task == "number"
        low = published.boxes.lo[published.labels, 0]
        ages = np.unique(people["age"])
        assert (age.release >= ages[low]).all()
        assert (age.release <= ages[low] + 9).all()
        with pytest.raises(PolicyError, match="no column 'height'"):
            target_of(published, "height", rng)
    many = people.with_columns(ill=pl.Series([f"d{n if n < 80 else n % 9}" for n in range(600)]))
    with opened(shown(many, 10), POLICY, many) as published:
        with pytest.raises(PolicyError, match="80 categories"):
            target_of(published, "ill", rng)
        joined = target_of(published, "ill", rng, join=True)
    assert joined.joined
    assert len(np.unique(joined.original)) == len(np.unique(joined.release)) == 21
    assert (joined.original == -1).sum() == 60
    alike = people.with_columns(ill=pl.lit("flu"))
    with opened(shown(alike, 10), POLICY, alike) as published, pytest.raises(PolicyError, match="fewer than two"):
        target_of(published, "ill", rng)


def test_without_the_library(monkeypatch):
    monkeypatch.setattr(learning, "import_module", lambda name: (_ for _ in ()).throw(ImportError()))
    with pytest.raises(DataError, match="kohort\\[sklearn\\]"):
        learning.refuse_without_sklearn()
