"""kohort check: what anonymize would refuse, what is new since an earlier extract, and what work will take."""

import json

import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort.reports.check import _seconds

ROWS = 400
NEW = pl.Series(["Ost", "West", "Nord", "Süd"] * 100)
DAY_FIRST = pl.Series([f"01.02.19{10 + row % 80}" for row in range(ROWS)])
LATER = pl.Series([f"19{10 + row % 81}-01-01" for row in range(ROWS)])


def table(rows=ROWS):
    return pl.DataFrame(
        {
            "who": [f"person-{row}" for row in range(rows)],
            "age": [20 + row % 50 for row in range(rows)],
            "born": [f"19{10 + row % 80}-01-01" for row in range(rows)],
            "town": [("Ost", "West", "Nord")[row % 3] for row in range(rows)],
            "ill": [("flu", "cold")[row % 2] for row in range(rows)],
        }
    )


def rules(**more):
    return kohort.Policy.build(
        k=4, identifiers=["who"], quasi_identifiers=["age", "born", "town"], sensitive=["ill"], seed=1, **more
    )


def test_a_table_that_fits():
    found = kohort.check(table(), rules(), earlier=table())
    assert (found.faults, found.changes, found.exit_code) == ((), (), 0)
    assert found.forecast.records == ROWS
    assert found.forecast.partitions == 1
    assert 0 < found.forecast.seconds < 60
    assert json.loads(json.dumps(found.to_dict()))["exit_code"] == 0


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"town": NEW}, "column 'town': 1 value (100 records) was not there before."),
        ({"age": pl.Series([20 + row % 60 for row in range(ROWS)])}, "column 'age': 60 records are beyond the range"),
        ({"age": pl.Series([f"{row}.5" for row in range(ROWS)])}, "column 'age': it holds numbers, and held whole"),
        ({"born": DAY_FIRST}, "column 'born': it holds texts, and held dates before."),
        ({"born": LATER}, "column 'born': 4 records are beyond the range of before."),
        ({"ill": pl.Series([None, "flu"] * 200)}, "column 'ill': 50.0% of its cells are missing, and were 0.0%"),
        ({"town": pl.Series(["Ost", "NA"] * 200)}, "column 'town': 200 cells are a text that often stands for a"),
    ],
)
def test_what_is_new(changed, sentence):
    found = kohort.check(table().with_columns(**changed), rules(), earlier=table())
    assert sentence in str(found.changes).replace('"', "")
    assert not found.faults
    assert found.exit_code == 1
    assert not [cell for cell in ("Süd", "NA'", "1950", "person") if cell in str(found.changes)], "no cell is said"


def test_what_is_refused_has_the_words_of_anonymize():
    short, policy = table().drop("town"), rules(types={"age": "date"})
    found = kohort.check(short, policy, earlier=table())
    with pytest.raises(kohort.PolicyError) as error:
        kohort.anonymize(short, policy)
    assert set(error.value.faults) <= set(found.faults)
    assert found.exit_code == 2
    assert found.forecast is None
    assert "column 'town': it is not there any more." in found.changes
    assert kohort.check(table(3), rules()).exit_code == 2
    several = rules(algorithm="no-such").with_changes("privacy", models=[{"model": "nothing"}])
    assert len(kohort.check(short, several).faults) == 3


def test_what_nothing_can_meet():
    policy = rules().with_changes("privacy", models=[{"model": "distinct-l-diversity", "column": "ill", "l": 3}])
    found = kohort.check(table(), policy)
    assert found.exit_code == 3
    assert len(found.faults) == 1


def test_the_forecast_grows_with_the_table(monkeypatch):
    """By the steps of the search, or at most with the square of the records."""
    import kohort.reports.check as module

    monkeypatch.setattr(module, "_clustered", lambda plan, usable, records: 1e-3 * records**1.5)
    search, greedy = (module.plan_of(rules(algorithm=name)) for name in ("auto", "k-member"))
    assert _seconds(greedy, None, 12_000, 3) == pytest.approx(12_000**1.5 * 1e-3, rel=1e-6)
    assert _seconds(search, None, 12_000, 3) == pytest.approx(4 * 3000**1.5 * 1e-3)
    million = _seconds(search, None, 1_000_000, 9)
    assert 1 < million / _seconds(search, None, 100_000, 9) < 10, "large tables are searched less for each record"
    assert _seconds(module.plan_of(rules(algorithm="auto").with_changes("algorithm", budget="30s")), None, 9, 1) == 30


def test_the_command(tmp_path):
    table().write_csv(tmp_path / "now.csv")
    table().with_columns(town=pl.lit("Ost")).write_csv(tmp_path / "before.csv")
    (tmp_path / "policy.toml").write_text(rules().to_toml())
    done = called("check", "now.csv", "-p", "policy.toml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "400 records: clustering takes about " in done.stdout
    assert "it fits the policy." in done.stdout
    done = called("check", "now.csv", "-p", "policy.toml", "--earlier", "before.csv", folder=tmp_path)
    assert done.returncode == 1
    assert "look at  column 'town': 2 values (266 records) were not there before." in done.stdout
    (tmp_path / "short.csv").write_text(table().drop("age").write_csv())
    done = called("check", "short.csv", "-p", "policy.toml", "--json", folder=tmp_path)
    assert done.returncode == json.loads(done.stdout)["exit_code"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["before.csv", "now.csv", "policy.toml", "short.csv"]
