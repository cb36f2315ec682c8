from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from kohort.audit import Check, Facts, Verdict, verify
from kohort.audit.verdict import hashes
from kohort.errors import DataError
from kohort.policy import Policy

FACTS = Facts(2, 4, 4, 0, 0, 2, 2)


def rules(**keys):
    return Policy.build(k=2, quasi_identifiers=["q"], types={"q": "string"}, **keys)


def test_the_first_failure_is_the_reason():
    checks = (
        Check("columns", True, "fine."),
        Check("k", False, "too small."),
        Check("rows", False, "too many."),
        Check("coverage", False, "untrue."),
    )
    verdict = Verdict(checks, FACTS)
    assert not verdict.passed
    assert verdict.reason == "too small; also: 2 further checks failed (rows, coverage)."
    assert Verdict(checks[:2], FACTS).reason == "too small."
    assert verdict.check("nothing") is None


def test_round_trip(write):
    verdict = verify(write("q", "a", "a"), rules()).with_hashes(input="00")
    again = Verdict.from_json(verdict.to_json())
    assert again == verdict
    assert again.to_dict() == verdict.to_dict() == json.loads(verdict.to_json())
    assert verdict.to_dict()["schema"] == 1
    assert verdict.hashes["input"] == "00"
    assert set(verdict.versions) == {"kohort", "python", "duckdb", "polars"}


@pytest.mark.parametrize("text", ["", "{}", "[]", "3", '{"schema": 1, "checks": [{}]}'])
def test_what_is_no_verdict(text):
    with pytest.raises(DataError, match="not a verdict"):
        Verdict.from_json(text)


def test_a_later_schema_is_refused():
    with pytest.raises(DataError, match="schema 1 only"):
        Verdict.from_json(replace(Verdict((), FACTS), schema=2).to_json())


def test_hashes(write, tmp_path):
    path = write("q", "a", "a")
    tree = write("a;*", "b;*", name="q.csv")
    policy = Policy.build(k=2, quasi_identifiers=["q"], hierarchies={"q": str(tree)})
    found = verify(path, policy).hashes
    assert found["release"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found["hierarchy:q"] == hashlib.sha256(tree.read_bytes()).hexdigest()
    assert set(found) == {"policy", "release", "hierarchy:q"}


@pytest.mark.promise("4.1")
def test_no_seed_can_be_guessed_from_the_hash_of_the_policy():
    plain = hashes(None, rules())
    assert hashes(None, rules(seed=7, output={"shuffle_seed": 8})) == plain
    assert hashes(None, rules(suppression_limit=0.5)) != plain
    seeded = verify(__import__("polars").DataFrame({"q": ["a", "a"]}), rules(seed=123456789))
    assert "123456789" not in seeded.to_json()
