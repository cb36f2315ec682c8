"""Tables in databases: what is read is what is there, and a release appears whole or not at all."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort import SqlTable
from kohort.errors import DataError, PolicyError, VerificationError
from kohort.table import read_table


def policy(**more):
    return kohort.Policy.build(
        k=4,
        identifiers=["id"],
        quasi_identifiers=["age", "sex"],
        sensitive=["ill"],
        insensitive=["cost"],
        types={"age": "integer"},
        algorithm="mondrian",
        seed=1,
        **more,
    )


def same(cell):
    return None if cell is None else str(float(cell)) if not isinstance(cell, str) else cell


def test_what_is_read_is_what_is_there(base):
    frame = read_table(base.at("patients")).frame
    expected = [tuple(map(same, row)) for row in base.run("SELECT id, age, sex, ill, cost FROM patients ORDER BY id")]
    found = [tuple(map(same, row)) for row in frame.rows()]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert frame["ill"].null_count() == 44
    assert "06" in set(frame["ill"])


def test_a_query_is_read_and_changes_nothing(base):
    place = SqlTable(base.url, query="SELECT age, sex FROM patients WHERE age > 60;")
    assert read_table(place).frame.columns == ["age", "sex"]
    before = base.tables()
    for bad in ("DROP TABLE patients", "SELECT 1) AS x; DROP TABLE patients; SELECT * FROM (SELECT 1"):
        with pytest.raises(DataError, match="the query: cannot be"):
            read_table(SqlTable(base.url, query=bad))
    assert base.tables() == before


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_a_release_goes_from_a_table_to_a_table(base, tmp_path, memory):
    release = kohort.anonymize(
        base.at("patients"), policy(), output=base.at("anon"), memory=memory, verdict=tmp_path / "v.json"
    )
    assert release.verdict.passed
    assert base.tables() == {"patients", "anon"}
    rows = base.run("SELECT age, sex, ill, cost FROM anon")
    if memory is None:
        made = [tuple(map(same, row)) for row in release.table.rows()]
        assert sorted([tuple(map(same, row)) for row in rows], key=repr) == sorted(made, key=repr)
    assert len(rows) == 400
    verdict = kohort.verify(base.at("anon"), policy(), original=base.at("patients"))
    assert verdict.passed, verdict.reason
    assert (tmp_path / "v.json").exists()
    assert kohort.measure(base.at("anon"), base.at("patients"), policy()).total == pytest.approx(release.loss.total)
    assert kohort.describe(base.at("anon"), None, policy())["class-size"]["smallest"] >= 4


def test_a_table_that_is_there_is_replaced_only_if_asked_and_the_input_never(base):
    kohort.anonymize(base.at("patients"), policy(), output=base.at("anon"))
    before = base.run("SELECT * FROM anon ORDER BY 1, 2, 3, 4")
    with pytest.raises(DataError, match="table anon: is already there; give another name, or --force"):
        kohort.anonymize(base.at("patients"), policy(), output=base.at("anon"))
    assert base.run("SELECT * FROM anon ORDER BY 1, 2, 3, 4") == before
    other = policy().with_changes("privacy", k=40)
    kohort.anonymize(base.at("patients"), other, output=base.at("anon"), overwrite=True)
    assert base.run("SELECT * FROM anon ORDER BY 1, 2, 3, 4") != before
    with pytest.raises(PolicyError, match="the output table patients is the input itself"):
        kohort.anonymize(base.at("patients"), policy(), output=base.at("patients"), overwrite=True)
    assert base.tables() == {"patients", "anon"}


def test_a_table_that_is_not_as_it_was_verified_does_not_appear(base, monkeypatch, tmp_path):
    """The auditor reads the staged rows back: one cell that differs, and the transaction is undone."""
    from kohort.release import stored

    plain = stored.refuse_unequal

    def altered(texts, path, memory):
        def other():
            for number, (names, rows) in enumerate(texts):
                if not number:
                    rows = [(*rows[0][:-1], "77123.5"), *rows[1:]]
                yield names, rows

        return plain(other(), path, memory)

    monkeypatch.setattr(stored, "refuse_unequal", altered)
    with pytest.raises(VerificationError, match=r"not the verified release and was not published: 2 rows differ"):
        kohort.anonymize(base.at("patients"), policy(), output=base.at("anon"), verdict=tmp_path / "v.json")
    assert base.tables() == {"patients"}
    assert not (tmp_path / "v.json").exists()


def test_what_cannot_be_is_refused_in_a_sentence_without_a_cell(base, tmp_path):
    output = base.at("anon")
    for given, sentence in [
        (base.at("gone"), "table gone: cannot be"),
        (SqlTable(base.url, query="SELECT nothing FROM patients"), "the query: cannot be"),
    ]:
        with pytest.raises(DataError, match=sentence) as refused:
            kohort.anonymize(given, policy(), output=output)
        assert refused.value.__context__ is None
    for how in ({"ledger": tmp_path / "l.json"}, {"resume": True, "memory": "1GB"}):
        with pytest.raises(DataError, match=r"ledger: it records files|resume: a table in a database"):
            kohort.anonymize(base.at("patients"), policy(), output=output, **how)
    assert base.tables() == {"patients"}


def test_the_command_line(base, tmp_path):
    (tmp_path / "policy.toml").write_text(policy().to_toml())
    tables = ("--table", "patients", "--to-table", "anon")
    done = called("anonymize", base.url, *tables, "-p", "policy.toml", "-o", base.url, "--quiet", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "anon.verdict.json").exists()
    done = called(
        "verify", base.at("anon"), "-p", "policy.toml", "--original", base.at("patients"), "--quiet", folder=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    done = called("anonymize", base.url, "-p", "policy.toml", "-o", "x.csv", folder=tmp_path)
    assert done.returncode == 2
    said = "error: database: say which table; by --table, or as #NAME at the end of the URL."
    assert done.stderr.startswith(said)


def test_a_password_is_neither_taken_on_the_command_line_nor_said(tmp_path):
    (tmp_path / "policy.toml").write_text(policy().to_toml())
    url = "postgresql://steward:hunter2@localhost/clinic"
    done = called("anonymize", f"{url}#patients", "-p", "policy.toml", "-o", "x.csv", folder=tmp_path)
    assert done.returncode == 2
    assert "a password on the command line can be seen" in done.stderr
    place = SqlTable(url, "patients")
    assert "hunter2" not in f"{place!r} {place} {place.name} {done.stderr}"
    with pytest.raises(DataError, match="cannot be reached") as refused:
        read_table(SqlTable("postgresql://steward:hunter2@127.0.0.1:1/clinic", "patients"))
    assert "hunter2" not in str(refused.value)
    assert refused.value.__context__ is None


CODE = """\
import sys, time
from kohort.table.databases import {kind} as module
plain = module.{session}.load
def slow(self, path):
    plain(self, path)
    print("loaded", flush=True)
    time.sleep(60)
module.{session}.load = slow
import kohort
kohort.anonymize(sys.argv[1] + "#patients", "policy.toml", output=sys.argv[1] + "#anon", verdict="v.json")
"""
SESSIONS = {"sqlite": "SqliteSession", "duckdb": "DuckDbSession", "postgres": "PostgresSession"}


@pytest.mark.slow
def test_killed_when_the_rows_are_written_the_table_does_not_exist(base, tmp_path):
    (tmp_path / "policy.toml").write_text(policy().to_toml())
    code = CODE.format(kind=base.kind, session=SESSIONS[base.kind])
    process = subprocess.Popen(
        [sys.executable, "-c", code, base.url],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert process.stdout.readline() == b"loaded\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while any("kohort-database" in path.name for path in tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert base.tables() == {"patients"}
    # SQLite's journal, from which the file was made whole again, is its own
    assert {path.name for path in tmp_path.iterdir()} <= {
        "policy.toml",
        "clinic.db",
        "clinic.db-journal",
        "clinic.duckdb",
    }
    # and the next run finds nothing in its way
    assert kohort.anonymize(base.at("patients"), policy(), output=base.at("anon")).verdict.passed


def test_types_that_a_database_alone_has(base):
    """They become texts, and are refused where they are not one value."""
    statements = {
        "sqlite": "CREATE TABLE odd AS SELECT 1 AS n, 'x' AS t UNION ALL SELECT 'two', 'y'",
        "duckdb": "CREATE TABLE odd AS SELECT uuid() AS n, 170141183460469231731687303715884105727::HUGEINT AS t",
        "postgres": "CREATE TABLE odd AS SELECT gen_random_uuid() AS n, 12345678901234567890.5::numeric AS t",
    }
    base.run(statements[base.kind])
    frame = read_table(base.at("odd")).frame
    assert frame.schema == {"n": pl.String, "t": pl.String}
    if base.kind == "sqlite":
        assert frame["n"].to_list() == ["1", "two"]
    lists = {"sqlite": "SELECT x'00ff' AS n", "duckdb": "SELECT [1, 2] AS n"}
    if base.kind in lists:
        base.run(f"CREATE TABLE bytes AS {lists[base.kind]}")
        with pytest.raises(DataError, match="not one value per cell"):
            read_table(base.at("bytes"))


def test_truth_values_are_what_the_original_says(base, tmp_path):
    """SQLite has none: 1 and 0 were published, which were not `true` and `false` when they were verified again."""
    table = pl.DataFrame({"age": [1] * 4, "ill": [True, False, None, True]})
    asked = kohort.Policy.build(k=4, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    assert kohort.anonymize(table, asked, output=base.at("anon"), verdict=tmp_path / "v.json").verdict.passed
    verdict = kohort.verify(base.at("anon"), asked, original=table)
    assert verdict.passed, verdict.reason


def test_more_rows_than_are_in_memory_at_a_time(base, tmp_path):
    """Copied, loaded and read back in several pieces: none is lost, and none comes twice."""
    from kohort.audit import refuse_unequal
    from kohort.table.databases import copied_table, opened
    from kohort.table.databases.base import ROWS

    many = ROWS + 5_000
    base.fill(many)
    path = copied_table(SqlTable(base.at("patients")), tmp_path)
    assert pl.scan_parquet(path).select(pl.len()).collect().item() == many
    with opened(SqlTable(base.at("copy")), writes=True) as session:
        session.load(path)
        refuse_unequal(session.texts(session.staged), path, None)
        session.commit()
    [(count, distinct)] = base.run("SELECT count(*), count(DISTINCT id) FROM copy")
    assert count == distinct == many


def test_what_a_query_or_a_view_may_read_is_not_replaced(base):
    base.run("CREATE VIEW seen AS SELECT * FROM patients")
    views = [base.at("seen"), SqlTable(base.url, query="SELECT * FROM patients WHERE age > 0")]
    if base.kind == "postgres":
        base.run("CREATE TABLE every_one AS SELECT * FROM patients LIMIT 0; ALTER TABLE patients INHERIT every_one")
        views.append(base.at("every_one"))
    before = base.run("SELECT * FROM patients ORDER BY 1")
    for source in views:
        with pytest.raises(PolicyError, match=r"the output table patients is there, and .* may read it"):
            kohort.anonymize(source, policy(), output=base.at("patients"), overwrite=True)
        assert base.run("SELECT * FROM patients ORDER BY 1") == before


@pytest.mark.promise("3.5")
@pytest.mark.parametrize("base", ["sqlite", "duckdb"], indirect=True)  # a server has no file
@pytest.mark.parametrize("what", ["verdict", "private", "certificate", "output"])
def test_no_file_is_written_over_a_database(base, tmp_path, what):
    file = SqlTable(base.at("patients")).file
    for place in (file, file.with_name(f"{file.name}-journal"), file.with_name(f"{file.name}.wal")):
        given = {"output": tmp_path / "out.csv"} | {what: place}
        with pytest.raises(PolicyError, match="is the database of the input itself"):
            kohort.anonymize(base.at("patients"), policy(), overwrite=True, **given)
        if what in ("verdict", "private"):
            with pytest.raises(PolicyError, match="is the database of the output itself"):
                kohort.anonymize(
                    tmp_path / "any.csv", policy(), output=base.at("anon"), overwrite=True, **{what: place}
                )
    assert base.tables() == {"patients"}


@pytest.mark.parametrize("given", [("--table", "visits"), ("--query", "SELECT * FROM visits WHERE age < 90")])
def test_init_and_check_take_a_table_or_a_query(tmp_path, given):
    path = tmp_path / "clinic.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE visits (age INTEGER, sex TEXT)")
        connection.executemany("INSERT INTO visits VALUES (?, ?)", [(20 + n % 60, "fm"[n % 2]) for n in range(120)])
    connection.close()
    done = called("init", f"sqlite:///{path}", *given, "-o", "p.toml", "--k", "3", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert given[0] in done.stdout
    done = called("check", f"sqlite:///{path}", *given, "-p", "p.toml", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    done = called("check", f"sqlite:///{path}", "--table", "none", "-p", "p.toml", folder=tmp_path)
    assert done.returncode == 2
    assert "see docs/errors.md#data" in done.stdout
    done = called("init", "people.csv", *given, folder=tmp_path)
    assert done.returncode == 2
    assert "leave it out for a file" in done.stderr
