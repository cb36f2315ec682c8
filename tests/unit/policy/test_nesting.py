"""Tables within tables within tables: a sentence, and no stack that is too deep."""

import polars as pl
import pytest

import kohort
from kohort.audit.verdict import Verdict
from kohort.errors import DataError, PolicyError
from kohort.policy.hierarchy import read

BASE = "[privacy]\nk = 2\n[columns]\nage = 'quasi'\n"
DEEP = "nested more than 150 deep"


@pytest.mark.parametrize(
    "text",
    [
        "[columns." + ".".join(f"a{number}" for number in range(2000)) + "]\nrole = 'quasi'\n",
        "[input]\nmissing = " + "[" * 2000 + "]" * 2000 + "\n",
        "[input]\nmissing = " + "[" * 90_000,
        "[algorithm]\nparameters = " + "{ a = " * 2000 + "1" + " }" * 2000 + "\n",
        "[algorithm.parameters]\n" + ".".join("a" * 2000) + " = 1\n",
    ],
    ids=["tables", "lists", "open lists", "inline tables", "dots"],
)
def test_a_nested_policy_is_refused(text):
    with pytest.raises(PolicyError, match=DEEP):
        kohort.Policy.from_toml(BASE + text)


def nested(levels):
    tree = {"top": ["a"]}
    for number in range(levels):
        tree = {f"l{number}": tree}
    return tree


def test_a_nested_mapping_is_refused():
    with pytest.raises(PolicyError, match=DEEP):
        kohort.Policy(privacy={"k": 2}, columns={"age": {"role": "quasi", "hierarchy": {"tree": nested(3000)}}})


@pytest.mark.parametrize("levels", [400, 2000, 50_000])
@pytest.mark.parametrize("form", ["inline", "dots"])
def test_a_nested_hierarchy_is_refused(tmp_path, levels, form):
    path = tmp_path / "h.toml"
    if form == "inline":
        path.write_text("tree = " + "{ a = " * levels + "['x']" + " }" * levels + "\n")
    else:
        path.write_text("tree." + ".".join(f"a{number}" for number in range(min(levels, 2000))) + " = ['x']\n")
    with pytest.raises(DataError, match="has more than 250 levels"):
        read(path, "age")


def test_a_hierarchy_of_400_levels_in_rows_works(tmp_path):
    levels = 400
    path = tmp_path / "h.csv"
    path.write_text("".join(f"{leaf};" + ";".join(f"m{level}" for level in range(levels)) + ";*\n" for leaf in "abc"))
    table = pl.DataFrame({"v": list("abcabc"), "n": 1})
    columns = {"v": {"role": "quasi", "hierarchy": str(path)}, "n": "insensitive"}
    assert kohort.anonymize(table, kohort.Policy(privacy={"k": 3}, columns=columns)).verdict.passed


def test_a_nested_verdict_is_none():
    with pytest.raises(DataError, match="not a verdict"):
        Verdict.from_json('{"a":' * 50_000 + "1" + "}" * 50_000)
