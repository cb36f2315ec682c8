"""Attacks on releases of random tables: none is refused, and figures are what they can be."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.policy import Policy
from property.strategies import cases

MODEL = {"model": "distinct-l-diversity", "column": "ill", "l": 2}


@pytest.mark.slow
@given(case=cases(max_rows=25), algorithm=st.sampled_from(["mondrian", "nh", "datafly"]), fewer=st.booleans())
@settings(max_examples=6, deadline=None)
def test_any_release_can_be_attacked(case, algorithm, fewer):
    people, policy = case
    kept = "matchings" if algorithm == "nh" else "classes"
    policy: Policy = policy.with_changes("algorithm", name=algorithm).with_changes(
        "privacy", anonymity=kept, suppression_limit=0.5 if algorithm == "datafly" else 0.0
    )
    release = kohort.anonymize(people, policy).table
    if kept == "classes":
        policy = policy.with_changes("privacy", models=[MODEL])
    more = {"auxiliary": people.select("q0", "ill").head(5)} if fewer else {}
    found = kohort.attack(release, policy, original=people, against=[release], **more)
    json.dumps(found.to_dict(private=True), allow_nan=False)
    for one in found.results:
        for share in (one.success, one.control):
            assert 0 <= share.low <= share.value <= share.high <= 1
        assert 0 < one.attempts <= one.of
        assert one.private == (one.name not in ("background", "homogeneity", "proximity", "skewness"))
    names = {one.name: one for one in found.results}
    if "linkage" in names and not fewer and kept == "classes":
        assert not names["linkage"].succeeds
        assert names["linkage"].figures["fewest_candidates"] >= policy.privacy.k
    if "matching" in names:
        assert not names["matching"].succeeds
    if "intersection" in names:
        assert not names["intersection"].certain
