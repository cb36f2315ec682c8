"""What makes kohort comfortable in Python: building policies, lists of what there is, notebooks, other tables."""

import importlib

import duckdb
import polars as pl
import pytest

import kohort
from kohort.errors import DataError, PolicyError

EVIL = "<script>alert(1)</script>"


def test_a_policy_with_everything():
    policy = kohort.Policy.build(
        k=5,
        quasi_identifiers=["age", "born"],
        sensitive=["ill"],
        models=[{"model": "distinct-l-diversity", "column": "ill", "l": 2}],
        formats={"born": "%d.%m.%Y"},
        domains={"age": (0, 120)},
        columns={"age": {"snap": 5, "top": 90}},
    )
    assert policy == kohort.Policy.from_toml(
        """
[privacy]
k = 5
models = [{ model = "distinct-l-diversity", column = "ill", l = 2 }]
suppression_limit = 0.0
missing = "own-value"
[algorithm]
name = "auto"
measure = "ncp"
[columns]
age = { role = "quasi", domain = [0, 120], snap = 5, top = 90 }
born = { role = "quasi", type = "date", format = "%d.%m.%Y" }
ill = { role = "sensitive" }
"""
    )
    assert kohort.Policy.from_dict(policy.to_dict()) == policy
    for more, says in (
        ({"columns": {"nobody": {"snap": 5}}}, "'nobody' has keys but no role"),
        ({"columns": {"age": {"domain": [0, 9]}}, "domains": {"age": (0, 9)}}, "has 'domain' in 'columns', too"),
        ({"formats": {"nobody": "%Y"}}, "'nobody' has a format but no role"),
    ):
        with pytest.raises(PolicyError, match=says):
            kohort.Policy.build(k=2, quasi_identifiers=["age"], **more)
    with pytest.raises(PolicyError, match="must be a mapping of its sections; got a list"):
        kohort.Policy.from_dict([])
    with pytest.raises(PolicyError, match="unknown key 'privat'"):
        kohort.Policy.from_dict({"privat": 1, "privacy": {"k": 2}, "columns": {"a": "quasi"}})


@pytest.mark.parametrize("name", ["algorithms", "measures", "models"])
def test_what_there_is_is_listed_whatever_was_imported_before(name):
    listed = getattr(kohort, name)()
    assert all(entry["summary"] and "parameters" in entry for entry in listed.values())
    if name != "models":
        package = importlib.import_module(f"kohort.{name}")
        assert getattr(kohort, name) is package
        assert getattr(kohort, name)() == listed


def test_notebooks_show_names_as_text_and_no_small_class():
    frame = pl.DataFrame({EVIL: [31, 32, 64, 66, None], "ill": [f"{EVIL}{row}" for row in range(5)]})
    policy = kohort.Policy.build(
        k=2,
        quasi_identifiers=[EVIL],
        sensitive=["ill"],
        seed=1,
        missing="suppress",
        suppression_limit=0.5,
        output={"suppressed": "starred", "order": "kept"},
    )
    release = kohort.anonymize(frame, policy)
    tree = kohort.Taxonomy.from_tree({EVIL: [f"a{row}" for row in range(30)], "b": ["c"]}, EVIL)
    outcomes = kohort.compare(frame, policy, algorithms=["k-member", "mondrian"])
    shown = [policy._repr_html_(), release._repr_html_(), release.verdict._repr_html_(), tree._repr_html_()]
    for html in [*shown, outcomes._repr_html_()]:
        assert "<script" not in html
        assert html.startswith("<div>")
    assert all("&lt;script&gt;" in html for html in shown[:2])
    assert "alert(1)&lt;/script&gt;0" in release._repr_html_()
    assert "alert(1)&lt;/script&gt;4" not in release._repr_html_(), "a suppressed record is a class of one"
    assert "18 more" in tree._repr_html_()


def test_a_comparison_as_a_frame():
    frame = pl.DataFrame({"age": [31, 32, 64, 66, 67]})
    outcomes = kohort.compare(
        frame, kohort.Policy.build(k=2, quasi_identifiers=["age"], seed=1), algorithms=["k-member"], k=[2, 9]
    )
    table = outcomes.to_frame()
    assert table["k"].to_list() == [2, 9]
    assert table["loss"].to_list() == [outcomes[0].loss, None]
    assert table.schema["seconds"] == pl.Float64
    assert "9" in table["refused"][1]


def test_relations_of_duckdb_are_tables():
    relation = duckdb.sql("SELECT range AS age, range % 2 AS ill FROM range(12)")
    policy = kohort.Policy.build(k=3, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    release = kohort.anonymize(relation, policy)
    assert isinstance(release.table, pl.DataFrame)
    assert release.table.height == 12
    assert kohort.verify(duckdb.from_arrow(release.table.to_arrow()), policy, original=relation).passed
    with pytest.raises(DataError, match="no name"):
        kohort.anonymize(duckdb.sql('SELECT 1 AS " ", 2 AS age'), policy)
    with pytest.raises(DataError, match="cannot be collected"):
        kohort.anonymize(duckdb.sql("SELECT CAST('SECRET' || range AS INT) AS age, 1 AS ill FROM range(3)"), policy)
