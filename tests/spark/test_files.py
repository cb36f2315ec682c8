"""The command line on Spark: files in, a folder of files out, verified from what was written."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import polars as pl
import pytest
from pyspark.sql import functions as F

import kohort
import kohort.release.engines.spark.run as spark_run
import kohort.spark as kohort_on_spark
from helpers.engines import released_in_parts
from kohort.audit.spark.audited import BY_COLUMNS
from kohort.errors import DataError, VerificationError
from kohort.release.engines.spark.files import read_files

from .clusters import PACKAGE, QUICK_JAVA
from .conftest import only
from .test_engine import patients, policy


def run(*arguments, cwd):
    # A session of Spark Connect in this process has left its mark.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    return subprocess.run(
        [sys.executable, "-c", "from kohort.cli.main import run; run()", *map(str, arguments)],
        cwd=cwd,
        env=inherited | {"PYTHONPATH": str(PACKAGE), "SPARK_SUBMIT_OPTS": QUICK_JAVA},
        capture_output=True,
        text=True,
    )


@pytest.mark.spark
def test_a_folder_of_files_becomes_a_verified_folder(java, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    people = patients(1200).with_columns(note=pl.lit('a "quoted"; cell,\nin two lines '))
    for number in range(2):
        people.slice(600 * number, 600).write_csv(source / f"{number}.csv")
    (tmp_path / "policy.toml").write_text(policy().to_toml())
    made = run(
        *("anonymize", "in", "-p", "policy.toml", "-o", "out.csv", "--json"),
        *("--engine", "spark", "--master", "local[2]", "--partitions", "2"),
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stderr
    assert made.stderr == ""
    facts = json.loads(made.stdout)
    assert facts["passed"]
    assert facts["facts"]["rows_released"] == 1200
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out.csv", "out.csv.verdict.json", "policy.toml"]
    files = sorted((tmp_path / "out.csv").iterdir())
    assert all(path.name.startswith("part-") for path in files)
    # Another reader, and the auditor who knows nothing of Spark, find the same.
    released = pl.concat([pl.read_csv(path, infer_schema=False) for path in files])
    judged = kohort.verify(tmp_path / "out.csv", policy(), original=people)
    assert judged.passed, judged.reason
    assert judged.hashes["release"] == facts["hashes"]["release"]
    assert kohort.measure(released, None, policy()).total == facts["loss"]["total"]
    again = run(
        *("anonymize", "in", "-p", "policy.toml", "-o", "out.csv", "--engine", "spark"),
        cwd=tmp_path,
    )
    assert again.returncode == 2
    assert "is already there" in again.stderr


@pytest.fixture
def made(spark, monkeypatch, tmp_path):
    """Makes a release of a folder in this session, by a maker that may misread the table."""

    def release(people, kind, promised, misread=lambda table: table, **how):
        source = tmp_path / "in"
        source.mkdir(exist_ok=True)
        files = 2 if kind == "csv" else 1  # the database takes names in several Parquet files for one
        for number, some in enumerate(people.iter_slices(people.height // files)):
            getattr(some, f"write_{kind}")(source / f"[{number}].{kind}")
        monkeypatch.setattr(spark_run, "session", lambda master: nullcontext(spark))
        monkeypatch.setattr(spark_run, "read_files", lambda *given: misread(read_files(*given)))
        return kohort_on_spark.release(source, promised, tmp_path / f"out.{kind}", partitions=2, **how)

    return release


@only("local")
def test_csv_in_other_encodings_becomes_a_verified_folder(spark, monkeypatch, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    people = patients(600).with_columns(note=pl.lit("Schüttelfrost"))
    for number, encoding in enumerate(("cp1252", "utf-16")):
        some = people.slice(300 * number, 300).write_csv().encode(encoding)
        (source / f"{number}.csv").write_bytes(some)
    monkeypatch.setattr(spark_run, "session", lambda master: nullcontext(spark))
    release = kohort_on_spark.release(source, policy(), tmp_path / "out.csv", partitions=2)
    assert release.verdict.passed
    released = pl.concat([pl.read_csv(path, infer_schema=False) for path in (tmp_path / "out.csv").iterdir()])
    assert released["note"].to_list() == ["Schüttelfrost"] * 600


@pytest.mark.promise("3.2")
@only("local")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_auditor_reads_the_table_itself(spark, made, tmp_path, kind):
    people = patients(600).with_columns(note=pl.lit('a "quoted"; cell,\nin two lines '), NOTE=pl.int_range(pl.len()))
    promised = policy(algorithm="mondrian", insensitive=["note", "NOTE"])

    def misread(table):
        return table.withColumn("note", F.trim("note"))

    with pytest.raises(VerificationError, match="column 'note': 600 of 600 published values are not those"):
        made(people, kind, promised, misread)
    with pytest.raises(VerificationError, match=r"1 of 600 records \(0\.167 %\) is suppressed"):
        made(people, kind, promised, lambda table: table.filter("NOTE <> '7'"))
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert made(people, kind, promised).verdict.passed
    files = sorted((tmp_path / f"out.{kind}").iterdir())
    if kind == "csv":
        released = pl.concat([pl.read_csv(path, infer_schema=False) for path in files])
        assert released.rows() == released_in_parts(people.cast(pl.String), promised, 2)[0]
    else:
        released = pl.concat([pl.read_parquet(path, glob=False) for path in files])
        assert released.rows() == released_in_parts(people, promised, 2)[0]
    assert spark.conf.get(BY_COLUMNS) == "true"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--master", "local[2]"), "a Spark master cannot be used in memory; run on Spark"),
        (("--engine", "spark", "--memory", "1GB"), "a memory limit cannot be used on Spark; run on disk"),
        (("--engine", "spark", "--ledger", "l.json"), "a ledger cannot be used on Spark"),
    ],
)
def test_options_of_the_other_engine_are_refused(tmp_path, arguments, fault):
    patients(30).write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(policy().to_toml())
    refused = run("anonymize", "in.csv", "-p", "policy.toml", "-o", "out.csv", *arguments, cwd=tmp_path)
    assert refused.returncode == 2
    assert fault in refused.stderr
    assert not (tmp_path / "out.csv").exists()


NUMBERS = [1e-5, 123456789012.5, 1e7, 1 / 3, 2.0**-1074, 9007199254740993.0]
TINY = kohort.Policy.from_toml(
    '[privacy]\nk = 3\n[columns]\nx = { role = "quasi", type = "number" }\ns = "sensitive"\n'
)


@only("local")
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_numbers_have_the_texts_that_they_have_elsewhere(spark, tmp_path, dtype, monkeypatch):
    """Java before 19 writes some numbers with more digits than they need, and so as other decimals."""
    table = pl.DataFrame({"x": pl.Series(NUMBERS * 4).cast(dtype), "s": ["a", "b"] * 12})
    table.write_parquet(tmp_path / "in.parquet")
    monkeypatch.setattr(spark_run, "session", lambda master: nullcontext(spark))
    kohort_on_spark.release(tmp_path / "in.parquet", TINY, tmp_path / "out.parquet", partitions=1)
    judged = kohort.verify(tmp_path / "out.parquet", TINY, original=table)
    assert judged.passed, judged.reason


@pytest.mark.parametrize("dtype", [pl.Time, pl.Datetime("ns"), pl.Datetime("ns", "Europe/Berlin")])
def test_types_that_spark_does_not_read_are_refused(tmp_path, dtype):
    table = pl.DataFrame({"x": [1.0] * 6, "s": pl.Series([0] * 6).cast(dtype)})
    table.write_parquet(tmp_path / "in.parquet")
    with pytest.raises(DataError, match=r"column 's' holds .*, which Spark does not read"):
        kohort_on_spark.release(tmp_path / "in.parquet", TINY, tmp_path / "out.parquet")
