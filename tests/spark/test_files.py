"""The command line on Spark: files in, a folder of files out, verified from what was written."""

import json
import os
import subprocess
import sys

import polars as pl
import pytest

import kohort

from .clusters import PACKAGE, QUICK_JAVA
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
    assert kohort.measure(released, people, policy()).total == pytest.approx(facts["loss"]["total"])
    again = run(
        *("anonymize", "in", "-p", "policy.toml", "-o", "out.csv", "--engine", "spark"),
        cwd=tmp_path,
    )
    assert again.returncode == 2
    assert "is a directory" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--master", "local[2]"), "add --engine spark"),
        (("--engine", "spark", "--memory", "1GB"), "--memory is for work on this disk"),
        (("--engine", "spark", "--ledger", "l.json"), "a ledger is for releases that are made in memory"),
    ],
)
def test_options_of_the_other_engine_are_refused(tmp_path, arguments, fault):
    patients(30).write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(policy().to_toml())
    refused = run("anonymize", "in.csv", "-p", "policy.toml", "-o", "out.csv", *arguments, cwd=tmp_path)
    assert refused.returncode == 2
    assert fault in refused.stderr
    assert not (tmp_path / "out.csv").exists()
