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


@pytest.mark.parametrize("part", ["facts", "hashes", "versions", "promise", "as_is", "checks"])
@pytest.mark.parametrize("other", [None, 3, "text", [1], {"release": 7, "k": []}])
def test_a_part_of_another_kind(part, other):
    data = Verdict((Check("k", True, "it holds."),), FACTS, {"release": "00"}).to_dict()
    assert Verdict.from_json(json.dumps(data)).passed
    if (part, other) == ("as_is", None) or (part == "promise" and isinstance(other, dict)):
        return  # what is promised is looked at when it is used
    if part == "versions" and isinstance(other, dict):
        return
    with pytest.raises(DataError, match="not a verdict"):
        Verdict.from_json(json.dumps(data | {part: other}))


@pytest.mark.parametrize("part", ["columns", "hidden"])
def test_what_is_published_as_it_is_of_another_kind(part):
    as_is = {"columns": {}, "combinations": 0, "unique": 0, "hidden": {}, part: 7}
    with pytest.raises(DataError, match="not a verdict"):
        Verdict.from_json(json.dumps(Verdict((), FACTS).to_dict() | {"as_is": as_is}))


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
