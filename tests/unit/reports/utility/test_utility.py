"""The figures of a whole release, public and private ones apart."""

import json

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.errors import DataError
from kohort.policy import Policy


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    age = rng.integers(18, 90, 400)
    return pl.DataFrame(
        {
            "age": age,
            "born": pl.Series(2020 - age, dtype=pl.Int32).cast(pl.String) + "-03-01",
            "town": rng.choice(["Rome", "Milan", "Paris", "Lyon"], 400, p=[0.4, 0.3, 0.2, 0.1]),
            "ill": np.where(age < 50, "flu", "gout"),
        }
    ).with_columns(pl.col("born").str.to_date())


POLICY = Policy.build(
    k=4,
    quasi_identifiers=["age", "born", "town"],
    sensitive=["ill"],
    hierarchies={"town": {"tree": {"Italy": ["Rome", "Milan"], "France": ["Paris", "Lyon"]}}},
    seed=1,
)


@pytest.fixture(scope="module")
def release(people):
    return kohort.anonymize(people, POLICY).table


@pytest.fixture(scope="module")
def found(people, release):
    return kohort.utility(release, people, POLICY, queries=50)


def test_nothing_is_lost_where_nothing_is_changed(people):
    same = people.with_columns(pl.col("age").cast(pl.String), pl.col("born").cast(pl.String))
    found = kohort.utility(same, people, POLICY, queries=40)
    lost = {name: loss.total for name, loss in found.private.losses.items()}
    assert lost.pop("leaf") == pytest.approx(1 / 12)  # which charges a known one of four values a quarter
    assert lost == dict.fromkeys(lost, 0)
    assert [change.shift for change in found.private.changes] == [0] * 4
    assert [change.distance for change in found.private.changes[:2]] == pytest.approx([0, 0], abs=1e-12)
    assert found.private.associations.mean_change == pytest.approx(0, abs=1e-6)
    assert found.private.queries.quantiles["95%"] == pytest.approx(0, abs=1e-9)
    assert found.private.suppressed == 0


def test_everything_is_lost_where_all_is_a_star(people):
    stars = people.with_columns(pl.lit("*").alias(name) for name in ("age", "born", "town"))
    policy = POLICY.with_changes("output", suppressed="starred")
    found = kohort.utility(stars.head(396), people, policy, queries=40)
    assert found.private.losses["ncp"].total == pytest.approx(1)
    assert (found.public.suppressed, found.private.suppressed) == (396, 400)
    assert found.private.left_out == ("Every row is suppressed, so nothing can be learned.",)
    assert found.sentences(private=True)


def test_public_figures_need_no_original(found, release):
    alone = kohort.utility(release, policy=POLICY)
    assert alone.private is None
    assert alone.to_dict() == found.to_dict(private=False)
    assert alone.sentences() == found.sentences(private=False)
    assert len(alone.charts()) == len(found.charts(private=False)) == 4
    json.dumps(found.to_dict())


def test_the_same_seed_gives_the_same_figures(found, people, release):
    again = kohort.utility(release, people, POLICY, queries=50)
    assert again == found
    assert kohort.utility(release, people, POLICY, queries=50, seed=2).private.queries != found.private.queries


def test_every_measure_has_its_loss(found, people, release):
    for name in kohort.measures():
        assert found.private.losses[name].total == kohort.measure(release, people, POLICY, name=name).total
    assert sum(found.private.shares.values()) == pytest.approx(1)


def test_suppressed_records_are_counted(people, release):
    found = kohort.utility(release.head(390), people, POLICY, queries=10)
    assert found.private.suppressed == 10
    assert "10 are suppressed" in found.sentences()[0]


def test_a_target_takes_the_original(release):
    pytest.importorskip("sklearn")
    with pytest.raises(DataError, match="give the original, too"):
        kohort.utility(release, policy=POLICY, targets=["ill"])


def test_what_is_learned_stands_beside_original_and_baseline(found):
    pytest.importorskip("sklearn")
    (one,) = found.private.learned
    assert one.target == "ill"
    assert one.original.value > 0.95
    assert one.baseline.value < one.release.value
    assert one.tested == 120
    assert any("Predicting 'ill'" in sentence for sentence in found.sentences())


def test_labels_that_no_hierarchy_explains_count_as_stars(people):
    codes = people.with_columns(zip=pl.lit("Z") + pl.col("age").cast(pl.String))
    release = codes.select(
        "ill",
        age=pl.lit("*"),
        town=pl.when(pl.col("town").is_in(["Rome", "Milan"])).then(pl.lit("Italy")).otherwise(pl.col("town")),
        zip=pl.col("zip").str.head(2) + "*",
    )
    codes = codes.select("ill", "town", "zip", "age", name=pl.lit("x"))
    names = {"k": 2, "quasi_identifiers": ["age", "town", "zip"], "sensitive": ["ill"]}
    found = kohort.utility(release, codes, **names, queries=5).private
    italians = (people["town"].is_in(["Rome", "Milan"])).mean()
    assert found.losses["ncp"].by_column["town"] == pytest.approx(italians)
    assert any("'town'" in one and "count as *" in one for one in found.left_out)
    assert not any("'zip'" in one for one in found.left_out)
    assert 0 < found.losses["ncp"].by_column["zip"] <= 1
