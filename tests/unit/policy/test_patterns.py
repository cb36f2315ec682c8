"""Bulk forms: `columns."q*"` stands for all columns that it fits."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from helpers.cli import called
from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.policy.patterns import expanded

COLUMNS = {"age": "quasi", "q*": "sensitive", "q_name": "identifier", "*": "identifier"}
TABLE = pl.DataFrame(
    {
        "age": [30, 31, 60, 61],
        "q1": ["a", "b", "a", "b"],
        "q2": ["c", "c", "d", "d"],
        "q_name": ["Ann", "Bea", "Cid", "Dan"],
        "street": ["w", "x", "y", "z"],
    }
)


def policy(columns: dict[str, object] = COLUMNS, **sections: object) -> Policy:  # type: ignore[assignment]
    return Policy.from_dict({"privacy": {"k": 2}, "algorithm": {"seed": 1}, "columns": columns} | sections)


def roles(policy: Policy) -> dict[str, str]:
    return {name: column.role for name, column in policy.columns.items()}


def test_an_entry_of_its_own_comes_first_and_then_the_most_specific_pattern():
    given = {"a": "quasi", "q*": "sensitive", "q1*": "insensitive", "q12": "identifier", "*": "identifier"}
    found = roles(policy(given).for_columns(["a", "q2", "q11", "q12", "b"]))
    wanted = {"a": "quasi", "q2": "sensitive", "q11": "insensitive", "q12": "identifier", "b": "identifier"}
    assert found == wanted


def test_an_entry_that_is_a_name_of_the_table_is_no_pattern():
    given = {"age": "quasi", "score*": "sensitive"}
    table = TABLE.select("age", pl.col("q1").alias("score*"), pl.col("q_name").alias("score_name"))
    with pytest.raises(PolicyError, match="column 3 of the table has no role"):
        kohort.anonymize(table, policy(given))
    assert "score*" in kohort.anonymize(table.drop("score_name"), policy(given)).table.columns


def test_two_patterns_that_fit_equally_well_are_refused():
    given = {"age": "quasi", "q*a": "sensitive", "qx*": "identifier"}
    with pytest.raises(PolicyError, match="column 'qxa': 'q\\*a' and 'qx\\*' fit it equally well"):
        policy(given).for_columns(["age", "qxa"])
    assert roles(policy(given | {"qxa": "identifier"}).for_columns(["age", "qxa"]))["qxa"] == "identifier"


@pytest.mark.parametrize("column", ["sensitive", "insensitive", "quasi", {"role": "identifier", "pseudonym": True}])
@pytest.mark.parametrize("star", ["*", "**"])
def test_what_fits_everything_can_only_drop(column, star):
    with pytest.raises(PolicyError, match="fits every column"):
        policy({"age": "quasi", star: column}, output={"pseudonym_key": {"env": "KEY"}})


def test_a_pattern_that_fits_nothing_is_a_column_that_is_not_there():
    with pytest.raises(PolicyError, match=r"column 'p\*' is not in the table"):
        kohort.anonymize(TABLE, policy(COLUMNS | {"p*": "sensitive"}))
    kohort.anonymize(TABLE, policy(COLUMNS | {"p*": "identifier"}))


def test_a_fault_of_a_column_is_on_the_line_of_its_pattern(tmp_path):
    text = '[privacy]\nk = 2\n[columns.age]\nrole = "quasi"\n[columns."q*"]\nrole = "quasi"\nhierarchy = "none.csv"\n'
    (tmp_path / "p.toml").write_text(text)
    found = Policy.load(tmp_path / "p.toml").for_columns(["age", "q1"]).with_changes("privacy", k=3)
    assert found.located(("columns", "q1", "hierarchy"), "x.") == "p.toml, line 7: x."


def test_a_release_by_patterns_is_that_of_the_columns_one_by_one(tmp_path):
    bulk, each = policy(), policy().for_columns(TABLE.columns)
    assert not each.patterns
    fixed = {"order": "kept", "bounds": True}
    releases = [kohort.anonymize(TABLE, one.with_changes("output", **fixed)) for one in (bulk, each)]
    assert releases[0].table.equals(releases[1].table)
    assert releases[0].table.columns == ["age", "age_lo", "age_hi", "age_mid", "q1", "q2"]
    assert releases[0].verdict.promise["columns"] == releases[1].verdict.promise["columns"]
    shown = releases[0].table
    for original in (TABLE, None):
        found = kohort.verify(shown, bulk.with_changes("output", **fixed), original=original)
        assert found.passed, found.reason
    named = shown.with_columns(TABLE["q_name"])
    assert "'q_name' identifies people" in kohort.verify(named, bulk.with_changes("output", **fixed)).reason
    assert "'street' identifies people" in kohort.verify(shown.with_columns(TABLE["street"]), bulk).reason
    assert kohort.measure(shown, TABLE, bulk).total == releases[0].loss.total
    assert kohort.explain(TABLE, bulk).loss == pytest.approx(releases[0].loss.total)


def test_an_end_of_an_interval_is_no_column_that_a_pattern_stands_for():
    given = {"q*": "quasi"}
    rules = policy(given, output={"bounds": True})
    table = pl.DataFrame({"q1": [1, 2, 3, 4]})
    release = kohort.anonymize(table, rules)
    assert release.table.columns == ["q1", "q1_lo", "q1_hi", "q1_mid"]
    assert kohort.verify(release.table, rules).passed
    false = release.table.with_columns(q1_lo=pl.Series([1, 1, 3, 4]))
    assert not kohort.verify(false, rules).passed


def test_commands_take_patterns(tmp_path):
    TABLE.write_csv(tmp_path / "t.csv")
    (tmp_path / "p.toml").write_text(policy().to_toml())
    for command in (
        "check t.csv -p p.toml",
        "anonymize t.csv -p p.toml -o r.csv",
        "verify r.csv",
        "verify r.csv -p p.toml --original t.csv",
        "measure r.csv -p p.toml --original t.csv",
        "why t.csv -p p.toml",
        "compare t.csv -p p.toml --algorithms fast",
        "anonymize t.csv -p p.toml --memory 1GB -o disk.csv",
        "verify disk.csv",
    ):
        done = called(*command.split(), folder=tmp_path)
        assert done.returncode == 0, (command, done.stderr)


@settings(max_examples=60, deadline=None)
@given(st.sets(st.text("ab*", min_size=1, max_size=4), max_size=6), st.sets(st.text("ab", min_size=1, max_size=4)))
def test_columns_get_the_entry_that_a_plain_search_gives_them(entries, present):
    def fits(pattern: str, name: str) -> bool:
        if not pattern:
            return not name
        if pattern[0] == "*":
            return fits(pattern[1:], name) or (bool(name) and fits(pattern, name[1:]))
        return name[:1] == pattern[0] and fits(pattern[1:], name[1:])

    wanted, tied = {}, False
    for name in sorted(present):
        best = sorted(
            (e for e in entries if e == name or ("*" in e and fits(e, name))),
            key=lambda e: (e != name, -len(e.replace("*", ""))),
        )
        if best:
            wanted[name] = best[0]
            tied |= best[0] != name and len(best) > 1 and len(best[0].replace("*", "")) == len(best[1].replace("*", ""))
    if tied:
        with pytest.raises(PolicyError):
            expanded(entries, sorted(present))
    else:
        assert expanded(entries, sorted(present)) == wanted
