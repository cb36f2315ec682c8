"""People in several tables: against looking at every cell, for two releases and for the tables of one."""

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort.errors import DataError

POLICY = kohort.Policy.build(k=3, quasi_identifiers=["age", "town"], sensitive=["ill"], seed=1, algorithm="mondrian")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    n = 90
    return pl.DataFrame(
        {"age": rng.integers(20, 80, n), "town": rng.choice(list("abcde"), n), "ill": rng.choice(list("uvwxyz"), n)}
    )


def fits(cell, value):
    if cell == "*" or cell == str(value):
        return True
    if not isinstance(value, int) or not cell.startswith("["):
        return False
    low, high = map(int, cell[1:-1].split(" - "))
    return low <= value <= high


def values_of(table, person):
    """The sensitive values of the rows that a person fits, cell by cell."""
    known = [name for name in ("age", "town") if name in table.columns]
    return {
        row["ill"] for row in table.iter_rows(named=True) if all(fits(str(row[name]), person[name]) for name in known)
    }


def by_hand(tables, people):
    left = [set.intersection(*(values_of(table, person) for table in tables)) for person in people.rows(named=True)]
    return [len(one) for one in left]


def test_two_releases(people):
    first = kohort.anonymize(people, POLICY).table
    second = kohort.anonymize(people, POLICY.with_changes("algorithm", name="oka", seed=5)).table
    [found] = kohort.attack(first, POLICY, original=people, against=[second], only=["intersection"]).results
    together, alone = by_hand([first, second], people), by_hand([first], people)
    assert found.success.value == pytest.approx(np.mean([one == 1 for one in together]))
    assert found.control.value == pytest.approx(np.mean([one == 1 for one in alone]))
    assert found.figures["mean_values_left"] == pytest.approx(np.mean(together))
    assert found.certain == sum(a == 1 < b for a, b in zip(together, alone, strict=True))
    assert found.private


def test_the_same_release_twice_reveals_nothing_more(people):
    first = kohort.anonymize(people, POLICY).table
    [found] = kohort.attack(first, POLICY, original=people, against=[first.reverse()], only=["intersection"]).results
    assert not found.succeeds
    assert found.figures["mean_values_left"] == found.figures["mean_values_in_the_first"]


def test_tables_of_one_release(people, tmp_path):
    policy = POLICY.with_changes(
        "algorithm", name="two-level", parameters={"form": "vertical", "accept_broken_guarantee": True}
    )
    tables = kohort.anonymize(people, policy).tables
    attacked = kohort.attack(tables, policy, original=people)
    [found] = [one for one in attacked.results if one.name == "join"]
    together, alone = by_hand(tables.values(), people), by_hand([tables["1"]], people)
    assert found.success.value == pytest.approx(np.mean([one == 1 for one in together]))
    assert found.control.value == pytest.approx(np.mean([one == 1 for one in alone]))
    assert {one.table for one in attacked.results if one.name == "homogeneity"} == {"1", "2"}
    for name, table in tables.items():
        table.write_csv(tmp_path / f"out.{name}.csv")
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(policy.to_toml())
    shown = called("attack", "out.csv", "-p", "policy.toml", "--original", "people.csv", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "join: ill" in shown.stdout
    assert "homogeneity: ill (table 2)" in shown.stdout


def test_a_release_of_something_else_is_refused(people):
    first = kohort.anonymize(people, POLICY).table
    with pytest.raises(DataError, match="no quasi-identifier"):
        kohort.attack(first, POLICY, original=people, against=[people.select("ill")])
    found = kohort.attack(first, POLICY, original=people, against=[people.select("age")], only=["intersection"])
    assert [one.reason for one in found.not_run] == ["not all of the tables have it."]
