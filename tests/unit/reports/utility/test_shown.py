"""Distributions as they may be shown: no small cell, no label of a rare value."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.policy import Policy
from kohort.reports.published import opened
from kohort.reports.utility.columns import columns_of
from kohort.reports.utility.shown import OTHERS, shown

POLICY = Policy.build(
    k=4,
    quasi_identifiers=["age", "town"],
    insensitive=["job"],
    columns={"age": {"type": "integer"}, "town": {"type": "string"}, "job": {"type": "string"}},
)
VALUES = st.one_of(st.none(), st.integers(0, 40), st.just(7), st.just(5000))


def pictures(frame, private, k=4):
    release = frame.with_columns(pl.col("age").cast(pl.String))
    with opened(release, POLICY.with_changes("privacy", k=k), frame, as_is=True) as published:
        kept = release.filter(pl.Series(published.kept))
        return [shown(column, k, private=private) for column in columns_of(published)], kept


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(VALUES, st.sampled_from("aaaaabbcd"), st.sampled_from("xxxyz")), min_size=9, max_size=40)
)
def test_no_bar_of_fewer_than_k_records(rows):
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "town": pl.String, "job": pl.String}, orient="row")
    for private in (True, False):
        found, release = pictures(frame, private)
        missing = (frame if private else release)["age"].null_count()
        for one in found:
            if one is None:
                continue
            there = (frame if private else release).height - (one.kind == "number") * missing
            bars = np.array(one.original if private else one.release) * there
            assert ((bars < 1e-6) | (bars > 4 - 1e-6)).all(), one
            assert len(one.labels) == len(one.release) == len(set(one.labels))
            assert one.edges is None or len(one.edges) == len(one.labels) + 1
            assert sum(one.release) == pytest.approx(1)


def test_a_rare_value_and_an_outlier_are_not_shown():
    frame = pl.DataFrame(
        {
            "age": [*range(20, 60), *range(20, 60), 1_234_567],
            "town": ["Rome"] * 50 + ["Paris"] * 30 + ["Rare"],
            "job": ["baker"] * 78 + ["spy"] * 3,
        }
    )
    for private in (True, False):
        found, _ = pictures(frame, private)
        text = str(found)
        assert "Rare" not in text
        assert "spy" not in text
        assert "1,234,567" not in text
        assert max(found[0].edges) < 100
        assert found[0].labels[-1].startswith("from ")
    # the lone value cannot be all the others: a larger one joins it
    assert found[1].labels == ("Rome", OTHERS)


def test_dates_have_round_bins():
    days = pl.date_range(pl.date(2000, 1, 1), pl.date(2010, 12, 31), "1mo", eager=True)
    frame = pl.DataFrame({"born": days})
    policy = Policy.build(k=3, quasi_identifiers=["born"])
    with opened(frame.cast(pl.String), policy, frame) as published:
        found = shown(columns_of(published)[0], 3, private=True)
    assert found.kind == "date"
    assert found.labels[:3] == ("up to 2000-12-31", "2001-01-01 to 2001-12-31", "2002-01-01 to 2002-12-31")
    assert found.labels[-1] == "from 2010-01-01"
    assert sum(found.original) == pytest.approx(1)


def test_too_few_records_are_not_shown():
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 5], "town": list("abcde"), "job": list("xxyyz")})
    found, _ = pictures(frame, private=True)
    assert found[0] is None
    assert found[1].labels == (OTHERS,)
