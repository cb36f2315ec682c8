"""The policy as a type: building, round trips, lines, and the schema for editors."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.errors import PolicyError
from kohort.policy import Policy
from property.strategies import cases

FULL = """\
[input]
missing = ["", "?"]
delimiter = ";"

[privacy]
k = 10
suppression_limit = 0.05
missing = "suppress"

[algorithm]
name = "k-member"
measure = { name = "whd", beta = 2.0 }
parameters = { far_from = "seed" }
seed = 7

[output]
order = "kept"
suppressed = "starred"

[columns.name]
role = "identifier"

[columns."date of birth"]
role = "quasi"
type = "date"
format = "%d.%m.%Y"
weight = 2

[columns.zip]
role = "quasi"
hierarchy = { prefix = [5, 3, 2] }

[columns.age]
role = "quasi"
hierarchy = { cuts = [[18, 40, 65], [18, 65]] }

[columns.disease]
role = "sensitive"
hierarchy = "hierarchies/disease.csv"
"""


def test_round_trip_of_every_section():
    policy = Policy.from_toml(FULL)
    again = Policy.from_toml(policy.to_toml())
    assert again == policy
    assert again.to_toml() == policy.to_toml()
    assert policy.algorithm.measure.parameters == {"beta": 2.0}
    assert policy.columns["disease"].hierarchy.file == "hierarchies/disease.csv"
    assert policy.having_role("quasi", "sensitive") == ("date of birth", "zip", "age", "disease")


@given(case=cases(max_rows=3))
@settings(max_examples=100, deadline=None)
def test_round_trip_of_random_policies(case):
    _, policy = case
    assert Policy.from_toml(policy.to_toml()) == policy


@given(name=st.text(min_size=1, max_size=12).filter(lambda name: name.strip() and name != "*" and name[:1] != "^"))
@settings(max_examples=200, deadline=None)
def test_any_column_name_survives(name):
    policy = Policy.build(k=2, quasi_identifiers=[name])
    assert Policy.from_toml(policy.to_toml()).quasi_identifiers == (name,)


def test_python_and_toml_say_the_same():
    built = Policy.build(
        k=5,
        identifiers=["name"],
        quasi_identifiers=["age", "zip"],
        sensitive=["disease"],
        hierarchies={"zip": {"prefix": [5, 3]}},
        weights={"age": 2.0},
        seed=1,
    )
    written = Policy.from_toml(
        '[privacy]\nk = 5\nsuppression_limit = 0.0\nmissing = "own-value"\n[algorithm]\nname = "auto"\n'
        'measure = "ncp"\nseed = 1\n[columns.name]\nrole = "identifier"\n[columns.age]\nrole = "quasi"\nweight = 2.0\n'
        '[columns.zip]\nrole = "quasi"\nhierarchy = { prefix = [5, 3] }\n[columns.disease]\nrole = "sensitive"\n'
    )
    assert built == written
    assert kohort.Policy(privacy={"k": 5}, columns={"age": "quasi"}).quasi_identifiers == ("age",)


def test_a_policy_cannot_be_changed():
    policy = Policy.build(k=5, quasi_identifiers=["age"])
    with pytest.raises(ValueError, match="frozen"):
        policy.privacy.k = 2
    assert policy.with_changes("privacy", k=7).privacy.k == 7
    assert policy.privacy.k == 5


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[privacy]\nk = 5\n[columns]\na = "quasi"\nb = "qasi"\n', 5),
        ('[columns.a]\nrole = "quasi"\n\n# k follows\n[privacy]\nk = 1\n', 6),
        ('[privacy]\nk = 5\n[columns.a]\nrole = "quasi"\nhierarchy = { prefix = [\n  5,\n  "x",\n] }\n', 5),
        ('privacy.k = 5\ncolumns.a.role = "quasi"\ncolumns.a.weight = -1\n', 3),
        ('[privacy]\nk = 5\n[columns."a.b"]\nrole = "no"\n', 4),
    ],
)
def test_the_line_of_a_fault(text, line):
    with pytest.raises(PolicyError) as refusal:
        Policy.from_toml(text)
    assert refusal.value.faults[0].startswith(f"policy, line {line}: ")


def test_schema_knows_every_key():
    schema = Policy.json_schema()
    assert schema["required"] == ["privacy", "columns"]
    assert set(schema["$defs"]["Column"]["properties"]) == {
        "role", "type", "weight", "hierarchy", "domain", "format", "pseudonym",
        "snap", "bottom", "top", "min_width", "decimal", "thousands", "separator", "item_suppression_limit",
    }  # fmt: skip
    assert schema["additionalProperties"] is False


def test_schema_allows_the_short_forms():
    schema = Policy.json_schema()
    assert {"type": "string"} in schema["$defs"]["Column"]["properties"]["hierarchy"]["anyOf"]
    assert {"type": "string"} in schema["$defs"]["Algorithm"]["properties"]["measure"]["anyOf"]
    assert {"enum": ["identifier", "quasi", "sensitive", "insensitive"]} in schema["properties"]["columns"][
        "additionalProperties"
    ]["anyOf"]


@pytest.mark.parametrize("name", ["*", "^a.*$", "^$"])
@pytest.mark.parametrize("role", ["quasi_identifiers", "insensitive"])
def test_names_that_stand_for_several_columns_are_refused(name, role):
    given = {"quasi_identifiers": ["age"]} | {role: [name]}
    with pytest.raises(PolicyError, match=r"stands for several columns|fits every column"):
        Policy.build(k=2, **given)


@pytest.mark.parametrize("name", ["row", "index", "count", "^a", "a$", "value", "nothing", "c0", "len", "literal"])
def test_any_other_name_is_a_name(name):
    table = pl.DataFrame({name: [1, 2, 3, 4], "q": [1, 1, 2, 2], "c0x": ["a", "b", "a", "b"]})
    for roles in ({"quasi_identifiers": [name, "q"]}, {"quasi_identifiers": ["q"], "sensitive": [name]}):
        model = {"model": "distinct-l-diversity", "column": "c0x" if "sensitive" not in roles else name, "l": 2}
        policy = Policy.build(k=2, seed=1, **(roles | {"sensitive": [*roles.get("sensitive", ()), "c0x"]}))
        policy = policy.with_changes("privacy", models=[model])
        assert kohort.anonymize(table, policy).verdict.passed
