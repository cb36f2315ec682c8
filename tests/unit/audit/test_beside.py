"""Without a policy, a release is judged by what its own verdict says; and what is published as it is, is counted."""

import json
from dataclasses import replace

import polars as pl
import pytest

import kohort
from kohort.audit import Verdict
from kohort.audit.beside import stated_beside

ROWS = 60


@pytest.fixture(scope="module")
def table():
    return pl.DataFrame(
        {
            "age": [20 + row % 30 for row in range(ROWS)],
            "born": [f"{row % 28 + 1}.{row % 12 + 1}.19{row % 60 + 10}" for row in range(ROWS)],
            "ill": [("=flu", "cold", "cough")[row % 3] for row in range(ROWS)],
            "cost": [row // 2 for row in range(ROWS)],
        }
    )


def rules(**more):
    return kohort.Policy.build(
        k=4, quasi_identifiers=["age", "born"], sensitive=["ill"], insensitive=["cost"], seed=1, **more
    )


@pytest.mark.parametrize(
    ("name", "section", "changed"),
    [
        ("bounds.parquet", "output", {"bounds": True}),
        ("neutral.csv", "output", {"formulas": "neutralised"}),
        ("kept.csv", "output", {"order": "kept"}),
        ("more.csv", "privacy", {"k": 9}),
        ("memory.csv", "output", {"formulas": "neutralised"}),
    ],
)
def test_what_options_change_is_in_the_verdict(table, tmp_path, name, section, changed):
    (tmp_path / "in.csv").write_text(table.write_csv())
    policy = rules().with_changes(section, **changed)
    out, options = tmp_path / name, {"memory": "1GB"} if name == "memory.csv" else {}
    kohort.anonymize(tmp_path / "in.csv", policy, output=out, verdict=f"{out}.verdict.json", **options)
    found = kohort.verify(out, original=tmp_path / "in.csv")
    assert found.passed, found.reason
    assert found.facts.k == policy.privacy.k
    assert found.check("file").passed
    assert kohort.verify(out, verdict=f"{out}.verdict.json").passed
    assert kohort.verify(out, rules()).passed == (name in ("kept.csv", "more.csv", "neutral.csv", "memory.csv"))


def test_another_file_beside_the_verdict(table, tmp_path):
    out = tmp_path / "out.csv"
    kohort.anonymize(table, rules(), output=out, verdict=f"{out}.verdict.json")
    out.write_text(out.read_text().replace("cough", "cough "))
    found = kohort.verify(out)
    assert not found.passed
    assert found.reason == "out.csv.verdict.json is about other files (release); give the policy to judge these."
    assert not kohort.verify(out).public().passed


def test_a_verdict_that_does_not_say_which_file(table, tmp_path):
    out = tmp_path / "out.csv"
    kohort.anonymize(table, rules(), output=out, verdict=tmp_path / "out.csv.verdict.json")
    data = json.loads((tmp_path / "out.csv.verdict.json").read_text())
    del data["hashes"]["release"]
    (tmp_path / "out.csv.verdict.json").write_text(json.dumps(data))
    assert kohort.verify(out).check("file").passed is False


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, r"out\.csv\.verdict\.json: cannot be opened .*give the policy"),
        (b"\xff\xfe\xff", "is no verdict of kohort; give the policy"),
        (b"{}", "not a verdict of kohort"),
        (b'{"schema": 1, "checks": [], "as_is": {"x": 1}}', "not a verdict of kohort"),
    ],
)
def test_no_verdict(tmp_path, text, sentence):
    (tmp_path / "out.csv").write_text("age\n1\n")
    if text is not None:
        (tmp_path / "out.csv.verdict.json").write_bytes(text)
    with pytest.raises(kohort.DataError, match=sentence):
        kohort.verify(tmp_path / "out.csv")


def test_a_verdict_of_an_earlier_version_says_no_promise(table, tmp_path):
    out = tmp_path / "out.csv"
    release = kohort.anonymize(table, rules(), output=out)
    (tmp_path / "out.csv.verdict.json").write_text(replace(release.verdict, promise={}).to_json())
    with pytest.raises(kohort.DataError, match="does not say what was promised"):
        kohort.verify(out)
    with pytest.raises(kohort.DataError, match="nothing says what was promised"):
        kohort.verify(table)
    with pytest.raises(kohort.DataError, match="give one of them"):
        kohort.verify(out, rules(), verdict=tmp_path / "out.csv.verdict.json")


def test_a_release_in_two_tables(table, tmp_path):
    policy = kohort.Policy.build(k=3, quasi_identifiers=["age"], sensitive=["ill"], algorithm="anatomy", seed=1)
    policy = policy.with_changes("privacy", anonymity="buckets")
    kohort.anonymize(
        table.select("age", "ill"), policy, output=tmp_path / "out.csv", verdict=tmp_path / "out.csv.verdict.json"
    )
    both = {"sensitive_table": tmp_path / "out.sensitive.csv", "verdict": tmp_path / "out.csv.verdict.json"}
    found = kohort.verify(tmp_path / "out.quasi.csv", **both)
    assert found.passed, found.reason
    assert found.as_is.columns == {"age": 30}, "no quasi-identifier is generalized here"


def counted(frame, columns):
    """The same by polars."""
    sizes = frame.group_by(columns).len()["len"]
    distinct = {name: frame[name].drop_nulls().n_unique() for name in columns}
    return distinct, len(sizes), int((sizes == 1).sum())


@pytest.mark.parametrize("memory", [None, 1 << 30])
def test_what_is_published_as_it_is_is_counted(table, tmp_path, memory):
    frame = table.with_columns(
        cost=pl.when(pl.col("cost") == 3).then(None).otherwise("cost"), note=pl.Series(["ab"[i % 2] for i in range(60)])
    )
    policy = kohort.Policy.build(
        k=4, quasi_identifiers=["age", "born"], sensitive=["ill"], insensitive=["cost", "note"], seed=1
    )
    release = kohort.anonymize(frame, policy, output=tmp_path / "out.csv")
    found = kohort.verify(tmp_path / "out.csv", policy, memory=memory).as_is
    assert (found.columns, found.combinations, found.unique) == counted(frame, ["ill", "cost", "note"])
    assert found == release.verdict.as_is == Verdict.from_json(release.public_json()).as_is
    assert found.sentence(60) == (
        "ill (3 values), cost (29 values), note (2 values); 60 of 60 rows (100.00 %) are unique in this together."
    )


def test_a_column_that_says_nothing_is_named_with_the_cure(table):
    release = kohort.anonymize(table, rules())
    assert release.table["born"].unique().to_list() == ["*"]
    assert release.verdict.as_is.hidden == {
        "born": "no hierarchy; give a format if they are dates, or a prefix hierarchy or a tree"
    }
    values = table["born"].n_unique()
    assert release.hidden["born"].startswith(f"{values} values and no hierarchy; give a format")
    assert str(values) not in json.dumps(release.public()["as_is"]["hidden"]), "it counts what the release hides"
    assert "age" not in release.hidden


def test_nothing_as_it_is(table):
    only = kohort.Policy.build(k=4, quasi_identifiers=["age"], seed=1)
    found = kohort.anonymize(table.select("age"), only).verdict.as_is
    assert (found.columns, found.combinations, found.unique, found.hidden) == ({}, 0, 0, {})
    assert found.sentence(60) == ""


def test_hundreds_of_columns_are_counted_together():
    wide = pl.DataFrame({"age": [1] * 50} | {f"c{j}": [row % (2 + j % 7) for row in range(50)] for j in range(300)})
    policy = kohort.Policy.build(k=5, quasi_identifiers=["age"], insensitive=wide.columns[1:])
    found = kohort.verify(wide, policy).as_is
    assert (found.columns, found.combinations, found.unique) == counted(wide, wide.columns[1:])


def test_the_verdict_is_found_beside_a_path_only(tmp_path):
    with pytest.raises(kohort.DataError, match="nothing says what was promised"):
        stated_beside([tmp_path / "a.csv"], None)
