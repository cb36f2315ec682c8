"""What an engine does not have is refused before any work, from the table that `kohort engines` prints."""

import gzip
import json

import polars as pl
import pytest

import kohort
from helpers.features import ASKED, policy_of
from kohort.errors import DataError, PolicyError
from kohort.release.engines.features import DISK, ENGINES, FEATURES, MEMORY, SPARK, refuse
from kohort.release.plan import plan_of

OPTIONS = set(FEATURES) - set(ASKED)


def test_every_feature_is_asked_for_by_the_policy_or_an_option():
    for name, feature in FEATURES.items():
        assert feature.name == name
        assert bool(feature.noun) == (name in OPTIONS)
    for engine in ENGINES.values():
        assert set(engine.lacks) <= set(FEATURES)
        refuse(engine, plan_of(policy_of("")))


@pytest.mark.promise("6.1")
@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("engine", ENGINES.values(), ids=lambda engine: engine.name)
def test_a_feature_is_refused_where_it_is_lacking_and_nowhere_else(engine, feature):
    options = [feature] if feature in OPTIONS else []
    plan = plan_of(policy_of(feature))
    if feature not in engine.lacks:
        if not (feature == "anonymity" and "whole-table" in engine.lacks):
            refuse(engine, plan, options)
        return
    with pytest.raises(DataError if options else PolicyError, match=f"cannot be used {engine.where}") as found:
        refuse(engine, plan, options)
    [fault, *_] = [one for one in found.value.faults if engine.lacks[feature] in one]
    able = [one for one in ENGINES.values() if feature not in one.lacks]
    assert all(one.how in fault for one in able)
    assert able


@pytest.mark.promise("6.1")
@pytest.mark.parametrize("feature", sorted(set(DISK.lacks) & set(ASKED)))
def test_a_run_on_disk_refuses_before_it_reads(tmp_path, feature):
    with pytest.raises(PolicyError, match="cannot be used on disk"):
        kohort.anonymize(tmp_path / "no.csv", policy_of(feature), output=tmp_path / "out.csv", memory="1GB")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("encoding", "said"), [("latin-1", True), ("utf-16", False), ("cp1252", False)])
@pytest.mark.parametrize("name", ["in.csv", "in.csv.gz"])
def test_other_encodings_are_read_on_disk_as_in_memory(tmp_path, encoding, said, name):
    policy = policy_of("").with_changes("output", shuffle_seed=1)
    if said:
        policy = policy.with_changes("input", encoding=encoding)
    frame = pl.DataFrame({"name": [*"abcd"], "age": [1, 2, 3, 4], "ill": ["Schüttelfrost"] * 4})
    content = frame.write_csv().encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    found = {}
    for memory in (None, "1GB"):
        out = tmp_path / f"out-{memory}.csv"
        assert kohort.anonymize(tmp_path / name, policy, output=out, memory=memory).verdict.passed
        found[memory] = pl.read_csv(out).sort("age")
    assert found["1GB"].equals(found[None])
    assert found["1GB"]["ill"].to_list() == ["Schüttelfrost"] * 4


def test_a_broken_file_in_another_encoding_is_named_on_disk(tmp_path):
    (tmp_path / "in.csv").write_bytes('name,age,ill\na,1,ü\nb,2,"é\n'.encode("cp1252"))
    with pytest.raises(DataError, match=r"^in\.csv, ") as caught:
        kohort.anonymize(tmp_path / "in.csv", policy_of(""), output=tmp_path / "out.csv", memory="1GB")
    assert "é" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ({"memory": "1GB", "ledger": "l.json"}, "ledger: a ledger cannot be used on disk"),
        ({"memory": "1GB", "output": None}, "frame: a table or release in a data frame cannot be used on disk"),
        (
            {"resume": True},
            "resuming cannot be used in memory; run on disk .* or run on Spark, or leave it out",
        ),
    ],
)
def test_options_that_an_engine_does_not_have_are_refused(tmp_path, how, fault):
    with pytest.raises(DataError, match=fault):
        kohort.anonymize(tmp_path / "no.csv", policy_of(""), **{"output": tmp_path / "out.csv"} | how)
    frame = pl.DataFrame({"name": ["a", "b"], "age": [1, 2], "ill": ["x", "y"]})
    with pytest.raises(DataError, match="frame: a table or release in a data frame cannot be used on disk"):
        kohort.anonymize(frame, policy_of(""), output=tmp_path / "out.csv", memory="1GB")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "engine", "feature"),
    [
        (["--master", "local[2]"], MEMORY, "master"),
        (["--master", "local[2]", "--memory", "1GB"], DISK, "master"),
        (["--engine", "spark", "--memory", "1GB"], SPARK, "memory"),
        (["--engine", "spark", "--ledger", "l.json"], SPARK, "ledger"),
        (["--engine", "spark", "--person", "name"], SPARK, "ledger"),
    ],
)
def test_the_command_line_refuses_options_of_another_engine(tmp_path, capsys, monkeypatch, arguments, engine, feature):
    (tmp_path / "policy.toml").write_text(policy_of("").to_toml())
    code = run(monkeypatch, "anonymize", tmp_path / "no.csv", "-p", tmp_path / "policy.toml", "-o", "o.csv", *arguments)
    assert code == 2
    assert f"{FEATURES[feature].noun} cannot be used {engine.where}" in capsys.readouterr().err


def run(monkeypatch, *arguments):
    from kohort.cli.main import run

    monkeypatch.setattr("sys.argv", ["kohort", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        run()
    return end.value.code


def test_engines_prints_the_table_in_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(monkeypatch, "engines") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for name, feature in FEATURES.items():
        [line] = [line for line in lines if line.strip().startswith(feature.summary)]
        has = line.replace(feature.summary, "").split()
        assert has == ["-" if name in engine.lacks else "yes" for engine in ENGINES.values()]


def test_engines_as_json(capsys, monkeypatch):
    assert run(monkeypatch, "engines", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["engines"] == {
        name: {"summary": engine.summary, "lacks": dict(engine.lacks)} for name, engine in ENGINES.items()
    }
    assert list(found["features"]) == list(FEATURES)
