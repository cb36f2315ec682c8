"""The transformer of scikit-learn: its conventions, releases that are verified, and new records."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kohort


@pytest.fixture(autouse=True)
def _sklearn():
    """Imported when the first test asks for it: two seconds, of which no other test should wait for any."""
    pytest.importorskip("sklearn")


def anonymizer_of(*, k, **given):
    from kohort.sklearn import KAnonymizer

    return KAnonymizer(k=k, **given)


EXPECTED = {"check_fit_idempotent": "it transforms new records, and those that no published class covers are refused"}


def people(rows=60):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "sex": rng.choice(["F", "M"], rows),
            "zip": rng.choice(["13210", "13299", "99001", "99002"], rows),
            "pay": rng.normal(size=rows),
        }
    )


def fitted(frame, **more):
    given = {"quasi_identifiers": ["age", "sex", "zip"], "hierarchies": {"zip": {"prefix": [5, 2]}}, "random_state": 1}
    return anonymizer_of(k=5, **given | more).fit(frame)


@pytest.mark.slow
def test_the_checks_of_scikit_learn():
    from sklearn.utils.estimator_checks import check_estimator

    done = check_estimator(anonymizer_of(k=2, random_state=1), on_skip=None, expected_failed_checks=EXPECTED)
    assert len([one for one in done if one["status"] == "passed"]) >= 40
    assert {one["check_name"] for one in done if one["status"] not in ("passed", "skipped")} == set(EXPECTED)


def test_it_is_a_verified_release_in_the_order_of_the_table():
    frame = people()
    anonymizer = fitted(frame)
    published = anonymizer.transform(frame)
    assert isinstance(published, pd.DataFrame)
    assert published["pay"].tolist() == frame["pay"].tolist()
    assert published.groupby(["age", "sex", "zip"]).size().min() >= 5
    assert kohort.verify(published, anonymizer.policy_, original=frame).passed
    assert published.equals(anonymizer_of(**anonymizer.get_params()).fit_transform(frame))


def test_a_new_record_gets_a_class_that_covers_it_or_is_refused():
    frame = people()
    anonymizer = fitted(frame)
    new = frame.sample(20, random_state=3).assign(pay=0.0)
    for (_, before), (_, after) in zip(new.iterrows(), anonymizer.transform(new).iterrows(), strict=True):
        low, _, high = after["age"].strip("[]").partition(" - ")
        assert int(low) <= before["age"] <= int(high or low)
        assert after["sex"] in (before["sex"], "*")
        assert after["zip"] == "*" or before["zip"].startswith(after["zip"].rstrip("*"))
    shown = set(map(tuple, anonymizer.release_.table.select("age", "sex", "zip").rows()))
    assert set(map(tuple, anonymizer.transform(new)[["age", "sex", "zip"]].to_numpy())) <= shown
    with pytest.raises(ValueError, match="1 of 20 records are covered by no published class"):
        anonymizer.transform(new.assign(age=[200, *new["age"][1:]]))
    with pytest.raises(kohort.DataError):
        anonymizer.transform(new.assign(zip="77777"))


def test_numbers_in_a_pipeline():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    table = np.random.default_rng(2).normal(size=(80, 3))
    middles = anonymizer_of(k=8, random_state=1).fit_transform(table)
    assert middles.shape == table.shape
    assert np.unique(middles, axis=0, return_counts=True)[1].min() >= 8
    assert np.abs(middles - table).mean() < np.abs(table.mean(axis=0) - table).mean()
    assert make_pipeline(anonymizer_of(k=8, random_state=1), StandardScaler()).fit_transform(table).shape == (80, 3)


def test_what_cannot_be_a_transformer_is_refused():
    frame = pl.DataFrame({"age": [1, 2, 3, None, 5, 6], "ill": list("abcabc")})
    policy = {"missing": "suppress", "suppression_limit": 0.5}
    with pytest.raises(kohort.DataError, match="every row needs a result"):
        anonymizer_of(k=2, quasi_identifiers=["age"], policy=policy).fit(frame)
    with pytest.raises(kohort.PolicyError, match="'nobody'"):
        anonymizer_of(k=2, quasi_identifiers=["nobody"]).fit(frame)
    with pytest.raises(kohort.PolicyError, match="k = 50"):
        anonymizer_of(k=50, quasi_identifiers=["age"]).fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        fitted(people()).transform(people()[["sex", "age", "zip", "pay"]])


def test_rows_stay_beside_those_of_others_whatever_the_policy_says():
    for output in ({"order": "shuffled"}, {"order": "kept", "bounds": True}):
        with pytest.raises(kohort.PolicyError, match="rows and columns stay in their order"):
            fitted(people(), policy={"output": output})


def test_no_record_has_no_class():
    fit = fitted(people())
    none = fit.transform(people().head(0))
    assert list(none.columns) == list(people().columns)
    assert len(none) == 0


def test_a_model_of_a_sensitive_column():
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 5, 6, 7, 8], "ill": list("aabbaabb")})
    policy = {"sensitive": ["ill"], "models": [{"model": "distinct-l-diversity", "column": "ill", "l": 2}]}
    given = {"quasi_identifiers": ["age"], "policy": policy, "random_state": 1}
    published = anonymizer_of(k=2, **given).fit_transform(frame)
    assert all(len(set(some["ill"])) == 2 for _, some in published.group_by("age"))
