"""Codebooks: what the columns of a release are, without a value of fewer than k records."""

import csv
import io
import json

import polars as pl
import pytest

import kohort
from helpers.cli import called

TREE = [{"north": ["a", "b"]}, {"south": ["c", "d", "e"]}]
PEOPLE = pl.DataFrame(
    {
        "name": [f"n{row}" for row in range(60)],
        "age": [18 + row for row in range(60)],
        "seen": [f"2024-0{1 + row % 9}-11" for row in range(60)],
        "zip": [f"{10000 + 7 * row}" for row in range(60)],
        "ward": ["abcde"[row % 5] for row in range(60)],
        "ill": ["flu"] * 57 + ["rare1", "rare2", "rare3"],
    }
)


@pytest.fixture(scope="module")
def policy():
    return kohort.Policy.build(
        k=4,
        quasi_identifiers=["age", "seen", "zip", "ward"],
        sensitive=["ill"],
        pseudonyms=["name"],
        types={"zip": "string"},
        formats={"seen": "%Y-%m-%d"},
        hierarchies={"zip": {"prefix": [5, 3, 2]}, "ward": {"tree": TREE}},
        columns={"age": {"bottom": 20, "top": 70}},
        seed=1,
        output={"bounds": True, "pseudonym_key": {"env": "KEY"}},
    )


@pytest.fixture(scope="module")
def release(policy):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEY", "0123456789abcdef" * 4)
        return kohort.anonymize(PEOPLE, policy)


def test_every_column_has_an_entry_that_adds_up(release, policy):
    book = kohort.codebook(release.table, policy)
    entries = {one.column: one for one in book.columns}
    assert list(entries) == release.table.columns
    assert {name: entry.role for name, entry in entries.items() if entry.role != "quasi"} == {
        "name": "pseudonym",
        "age_lo": "lower end of age",
        "age_hi": "upper end of age",
        "age_mid": "middle of age",
        "seen_lo": "lower end of seen",
        "seen_hi": "upper end of seen",
        "seen_mid": "middle of seen",
        "ill": "sensitive",
    }
    assert {name: entries[name].type for name in ("age", "seen", "zip", "ward", "seen_mid")} == {
        "age": "number", "seen": "date", "zip": "code", "ward": "label", "seen_mid": "date",
    }  # fmt: skip
    for name in policy.quasi_identifiers:
        assert sum(entries[name].forms.values()) == 60, name
        assert "other" not in entries[name].forms
    assert sum(entries["ward"].levels.values()) == sum(entries["zip"].levels.values()) == 60
    shown = release.table["ward"].to_list()
    assert entries["ward"].levels.get("0", 0) == shown.count("*")
    assert entries["ward"].levels.get("1", 0) == sum(text in ("north", "south") for text in shown)


def test_no_value_of_a_small_class_is_in_it(release, policy):
    book = kohort.codebook(release.table, policy)
    assert {one.column: one for one in book.columns}["ill"].values == ("flu",)
    assert {one.column: one for one in book.columns}["ill"].others == 3
    for text in (book.to_json(), book.to_csv()):
        assert "rare" not in text
    for one in book.columns:
        counted = release.table[one.column].cast(pl.String).value_counts()
        rows = dict(counted.rows())
        assert all(rows[value] >= 4 for value in one.values)


def test_it_follows_from_the_release_alone(release, policy, tmp_path):
    path = tmp_path / "r.parquet"
    release.table.write_parquet(path)
    mixed = release.table.sample(fraction=1.0, shuffle=True, seed=3)
    assert kohort.codebook(path, policy) == kohort.codebook(mixed, policy)


def test_command_writes_csv_and_json_and_over_nothing(tmp_path):
    PEOPLE.select("age", "ill").write_csv(tmp_path / "t.csv")
    text = '[privacy]\nk = 4\n[algorithm]\nbound_effort = 0.0\n[columns]\nage = "quasi"\nill = "sensitive"\n'
    (tmp_path / "p.toml").write_text(text)
    assert called(*["anonymize", "t.csv", "-p", "p.toml", "-o", "r.csv"], folder=tmp_path).returncode == 0
    for options in ("-o book.csv", "-p p.toml -o book.json"):
        done = called(*f"codebook r.csv {options}".split(), folder=tmp_path)
        assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "book.csv").read_text())))
    plain = json.loads((tmp_path / "book.json").read_text())
    assert [row["column"] for row in rows] == [one["column"] for one in plain["columns"]] == ["age", "ill"]
    assert rows[0]["forms"] == "interval: 60"
    assert rows[1]["values"] == "flu"
    assert "age (quasi, number): [a - b]" in called("codebook", "r.csv", folder=tmp_path).stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("r.csv -o book.txt", "name it .csv or .json"),
        ("r.csv -o r.csv", "r.csv"),
        ("r.csv -o there.csv", "already there"),
        ("r.csv -p p.toml -o none/book.csv", "none"),
        ("none.csv -p p.toml -o b.csv", "none.csv"),
        ("r.csv -o b.csv", "r.csv.verdict.json: cannot be opened"),
        ("empty.csv -p p.toml -o b.csv", "empty"),
        ("other.csv -p p.toml -o b.csv", "lacks 'age'"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(tmp_path, options, says):
    (tmp_path / "r.csv").write_text("age,ill\n1,flu\n1,flu\n")
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "there.csv").write_text("mine")
    (tmp_path / "p.toml").write_text('[privacy]\nk = 2\n[columns]\nage = "quasi"\nill = "sensitive"\n')
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = called("codebook", *options.split(), folder=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.startswith("error: ")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# -- pandas ----------------------------------------------------------------------------------------


def test_pandas_gets_intervals_and_categories(release, policy):
    pandas = pytest.importorskip("pandas")
    frame = kohort.to_pandas(release, policy)
    assert list(frame.columns) == release.table.columns
    table = release.table
    assert isinstance(frame["age"].dtype, pandas.IntervalDtype)
    for text, interval in zip(table["age"], frame["age"], strict=True):
        low, high = interval.left, interval.right
        shown = f"<= {high:g}" if low == float("-inf") else f">= {low:g}" if high == float("inf") else None
        assert text in (shown, f"[{low:g} - {high:g}]", f"{low:g}")
    assert isinstance(frame["seen"].dtype, pandas.IntervalDtype)
    assert [f"{one.left:%Y-%m-%d}" for one in frame["seen"]] == [str(day) for day in table["seen_lo"]]
    assert isinstance(frame["ward"].dtype, pandas.CategoricalDtype)
    assert frame["ward"].tolist() == table["ward"].to_list()
    order = [text for text in ("a", "b", "north", "c", "d", "e", "south", "*") if text in set(table["ward"])]
    assert frame["ward"].cat.categories.tolist() == order
    assert frame["ill"].tolist() == table["ill"].to_list()


def test_what_pandas_cannot_hold_stays_text_and_missing_is_missing():
    pytest.importorskip("pandas")
    rules = kohort.Policy.build(k=2, quasi_identifiers=["age", "day"], formats={"day": "%Y-%m-%d"}, seed=1)
    shown = pl.DataFrame({"age": ["[1 - 2]", "[1 - 2]", "*", None], "day": ["*", "2020-01-01", None, "2020-01-01"]})
    frame = kohort.to_pandas(shown, rules)
    assert frame["age"].isna().tolist() == [False, False, False, True]
    assert (frame["age"][2].left, frame["age"][2].right) == (float("-inf"), float("inf"))
    assert frame["day"].tolist()[:2] == ["*", "2020-01-01"]
    old = kohort.to_pandas(shown.with_columns(day=pl.Series(["0012-01-01", "9999-12-31"] * 2)), rules)
    assert [one.left.year for one in old["day"]] == [12, 9999, 12, 9999]
