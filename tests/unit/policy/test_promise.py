"""The part of a policy that a verdict may hold: enough to judge a release by, and nothing that it hides."""

import json

import pytest

import kohort
from kohort.policy.promise import policy_of_promise, promise_of

TREE = {"north": ["secret-leaf", "b"], "south": ["c"]}


def rules(**columns):
    return kohort.Policy.model_validate(
        {
            "input": {"missing": ["", "?"]},
            "privacy": {"k": 3, "models": [{"model": "k-map", "k": 2, "population": "/home/joan/people.csv"}]},
            "algorithm": {"seed": 987654321, "name": "k-member"},
            "output": {"shuffle_seed": 123456789, "bounds": True, "pseudonym_key": {"file": "/home/joan/key"}},
            "columns": {
                "ssn": {"role": "identifier"},
                "who": {"role": "identifier", "pseudonym": True},
                "age": {"role": "quasi", "domain": [0, 777], "snap": 5},
                "area": {"role": "quasi", "hierarchy": {"tree": TREE}},
                "city": {"role": "quasi", "hierarchy": "/home/joan/city.csv"},
                "zip": {"role": "quasi", "weight": 3.25, "hierarchy": {"prefix": [5, 3]}},
                "ill": {"role": "sensitive"},
            }
            | columns,
        }
    )


@pytest.mark.promise("4.1", "4.3")
def test_nothing_that_is_hidden_is_in_it():
    text = json.dumps(promise_of(rules()))
    for secret in ("987654321", "123456789", "joan", "key", "ssn", "777", "secret-leaf", "3.25", "k-member"):
        assert secret not in text
    assert promise_of(rules())["left_out"] == {"tree": ["area"], "domain": ["age"]}


def test_it_is_enough_to_judge_by(tmp_path):
    (tmp_path / "city.csv").write_text("a;*\n")
    policy = rules(area={"role": "quasi"})
    again = policy_of_promise(json.loads(json.dumps(promise_of(policy))), tmp_path / "out.csv.verdict.json")
    assert again.privacy.k == 3
    assert again.output.bounds
    assert again.input == policy.input
    assert again.pseudonyms == policy.pseudonyms
    assert again.quasi_identifiers == policy.quasi_identifiers
    assert again.columns["age"].snap == 5
    assert again.columns["zip"].hierarchy == policy.columns["zip"].hierarchy
    assert again.files["hierarchy of column 'city'"] == tmp_path / "city.csv"
    assert promise_of(again) == {key: value for key, value in promise_of(policy).items() if key != "left_out"}


@pytest.mark.parametrize(
    ("promise", "sentence"),
    [
        ({}, "does not say what was promised; give the policy"),
        ({"columns": 3}, "not written as kohort writes it"),
        ({"columns": {"a": "quasi"}, "privacy": {"k": 2}}, "not written as kohort writes it"),
        ({"columns": {"a": {"role": "quasi"}}, "privacy": {"k": 1}}, "not written as kohort writes it"),
        (
            {"columns": {"a": {"role": "quasi"}}, "privacy": {"k": 2}, "left_out": {"tree": ["a"]}},
            "leaves out the tree of column 'a'",
        ),
        (
            {"columns": {"a": {"role": "quasi"}}, "privacy": {"k": 2}, "left_out": {"values": ["b"]}},
            "leaves out the values of column 'b'",
        ),
        (
            {"columns": {"a": {"role": "quasi", "hierarchy": "gone.csv"}}, "privacy": {"k": 2}},
            r"hierarchy of column 'a' is in gone\.csv, which is not beside it",
        ),
    ],
)
def test_what_is_not_enough_is_refused(promise, sentence, tmp_path):
    with pytest.raises(kohort.DataError, match=sentence):
        policy_of_promise(promise, tmp_path / "out.csv.verdict.json")
