"""Out of core: the same release as in memory, part by part, and nothing left behind."""

import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.engines import parts_of, released_in_parts
from kohort.errors import DataError, InfeasibleError, PolicyError
from kohort.release.engines import disk, sample
from kohort.release.engines.duck import DuckScan
from kohort.release.finish import Documents

QUASI = ["birth_date", "sex", "zip_code", "education", "length_of_stay"]
MEMORY = 300_000_000


def policy_of(**more):
    made = kohort.Policy.build(
        k=5,
        identifiers=["name"],
        quasi_identifiers=QUASI,
        sensitive=["diagnosis"],
        insensitive=["ethnicity", "admission_date", "cost"],
        hierarchies={"zip_code": {"prefix": [5, 3]}},
        seed=1,
    )
    made = made.with_changes("output", shuffle_seed=1).with_changes("algorithm", bound_effort=0.0)
    for section, changes in more.items():
        made = made.with_changes(section, **changes)
    return made


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """As many parts as are asked for, however small the table."""
    monkeypatch.setattr(sample, "CLASSES", 1)


@pytest.mark.slow
def test_a_table_is_not_cut_into_tiny_parts(stored, tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "CLASSES", 200)
    release = kohort.anonymize(stored, policy_of(), output=tmp_path / "out.parquet", memory=MEMORY, partitions=9)
    assert int(release.facts["partitions"].split(",")[0]) == 3


@pytest.fixture(scope="module")
def patients():
    return kohort.datasets.patients(3000, seed=2)


@pytest.fixture
def stored(patients, tmp_path):
    path = tmp_path / "in.parquet"
    patients.write_parquet(path)
    return path


def rows_of(frame):
    return sorted(frame.rows(), key=repr)


def alone(folder):
    """Everything in a folder but the tables that the test made."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("in"))


@pytest.mark.slow
@pytest.mark.promise("5.1", "5.2")
@pytest.mark.parametrize("parts", [1, 4, 9])
def test_a_run_in_parts_gives_what_the_parts_give(stored, patients, tmp_path, parts):
    policy = policy_of()
    release = kohort.anonymize(stored, policy, output=tmp_path / "out.parquet", memory=MEMORY, partitions=parts)
    assert release.verdict.passed
    assert release.verdict.facts.rows_released == 3000
    expected, job = released_in_parts(patients, policy, parts)
    assert len(job.cuts.parts) == parts
    assert pl.read_parquet(tmp_path / "out.parquet").rows() == expected
    found = kohort.measure(tmp_path / "out.parquet", stored, policy)
    assert release.loss.total == pytest.approx(found.total, abs=1e-12)
    assert alone(tmp_path) == ["out.parquet"]


@pytest.mark.promise("5.1", "5.2")
def test_which_of_equal_records_a_row_shows_is_not_left_to_chance(tmp_path, monkeypatch):
    """The database gives the records of a partition in any order, and equal ones need not share a class."""
    draws = np.random.default_rng(1)
    frame = pl.DataFrame(
        {name: draws.integers(most, size=200) for name, most in [("age", 20), ("stay", 4), ("ward", 2)]}
    )
    frame.write_parquet(tmp_path / "in.parquet")
    policy = kohort.Policy.build(k=3, quasi_identifiers=["age", "stay"], sensitive=["ward"], seed=1)
    policy = policy.with_changes("output", order="kept").with_changes("algorithm", bound_effort=0.0)
    expected = kohort.anonymize(frame, policy, partitions=3).table
    shown = pl.concat([frame.select(pl.struct(pl.all()).alias("record")), expected], how="horizontal")
    assert shown.n_unique() > frame.n_unique()  # some equal records are in different classes
    named = DuckScan.named
    monkeypatch.setattr(
        DuckScan, "named", lambda scan, rows: named(scan, rows).sample(fraction=1, shuffle=True, seed=1)
    )
    out = tmp_path / "out.parquet"
    kohort.anonymize(tmp_path / "in.parquet", policy, output=out, memory=MEMORY, partitions=3)
    assert pl.read_parquet(out).rows() == expected.rows()


@pytest.mark.slow
def test_parts_lose_hardly_more_than_the_whole(stored, tmp_path):
    whole = kohort.anonymize(stored, policy_of(), output=tmp_path / "a.parquet").loss.total
    parts = kohort.anonymize(stored, policy_of(), output=tmp_path / "b.parquet", memory=MEMORY, partitions=4)
    assert parts.loss.total < 1.05 * whole


@pytest.mark.slow
def test_csv_files_of_a_folder_are_one_table(patients, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        patients[number * 1000 : number * 1000 + 1000].write_csv(folder / f"{number}.csv")
    policy = policy_of(output={"order": "kept"})
    for source in (folder, str(folder / "*.csv")):
        release = kohort.anonymize(
            source, policy, output=tmp_path / "out.csv", memory=MEMORY, partitions=3, overwrite=True
        )
        assert release.verdict.passed
        released = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
        assert released["diagnosis"].to_list() == patients["diagnosis"].to_list()
    kohort.anonymize(folder, policy, output=tmp_path / "out.csv.gz", memory=MEMORY, partitions=3)
    assert pl.read_csv(tmp_path / "out.csv.gz", infer_schema=False).equals(released)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["xlsx", "jsonl", "feather", "sav", "dta", "xpt", "tsv", "csv.gz", "csv.zst"])
def test_a_release_of_any_kind(tmp_path, end):
    table = pl.DataFrame({"age": ["1", "2", "3"] * 4, "ill": list("ab") * 6})
    table.write_csv(tmp_path / "in.csv")
    policy = kohort.Policy.build(k=3, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    release = kohort.anonymize(tmp_path / "in.csv", policy, output=tmp_path / f"out.{end}", memory=MEMORY)
    assert release.table.collect_schema().names() == ["age", "ill"]
    assert release.table.collect()["ill"].sort().to_list() == table["ill"].sort().to_list()
    assert kohort.verify(tmp_path / f"out.{end}", policy, original=table).passed


def test_suppressed_records_are_shown_among_all_others(patients, stored, tmp_path):
    policy = policy_of(
        privacy={"missing": "suppress", "suppression_limit": 0.5}, output={"suppressed": "starred", "shuffle_seed": 3}
    )
    missing = patients.select(pl.any_horizontal(pl.col(QUASI).is_null())).to_series()
    release = kohort.anonymize(stored, policy, output=tmp_path / "out.parquet", memory=MEMORY, partitions=4)
    released = pl.read_parquet(tmp_path / "out.parquet")
    stars = released.select(pl.all_horizontal(pl.col(QUASI) == "*")).to_series().to_numpy()
    assert stars.sum() == release.verdict.facts.suppressed >= missing.sum() > 0
    assert released.rows() == released_in_parts(patients, policy, 4)[0]
    assert released.height == 3000
    # They stand where others would: no third of the file has far more or fewer of them than the rest.
    thirds = np.array([stars[first : first + 1000].sum() for first in (0, 1000, 2000)])
    assert (np.abs(thirds - stars.sum() / 3) < 4 * np.sqrt(stars.sum() * 2 / 9)).all()
    refused = policy_of(privacy={"missing": "refuse"})
    with pytest.raises(PolicyError, match=rf"{missing.sum()} records miss a quasi-identifier and missing = 'refuse'"):
        kohort.anonymize(stored, refused, output=tmp_path / "no.parquet", memory=MEMORY)
    limited = policy_of(privacy={"missing": "suppress", "suppression_limit": 0.0})
    with pytest.raises(InfeasibleError, match=r"suppression_limit is 0\.00 %"):
        kohort.anonymize(stored, limited, output=tmp_path / "no.parquet", memory=MEMORY)
    assert alone(tmp_path) == ["out.parquet"]


@pytest.mark.slow
@pytest.mark.promise("1.4")
def test_promises_are_about_the_whole_table(stored, tmp_path):
    models = [
        {"model": "distinct-l-diversity", "column": "diagnosis", "l": 3},
        {"model": "t-closeness", "column": "diagnosis", "t": 0.5},
    ]
    policy = policy_of(privacy={"models": models})
    release = kohort.anonymize(stored, policy, output=tmp_path / "out.parquet", memory=MEMORY, partitions=4)
    assert release.verdict.passed
    assert [check.passed for check in release.verdict.checks if "closeness" in check.name] == [True]
    impossible = policy_of(privacy={"models": [{"model": "distinct-l-diversity", "column": "diagnosis", "l": 3000}]})
    with pytest.raises(InfeasibleError):
        kohort.anonymize(stored, impossible, output=tmp_path / "no.parquet", memory=MEMORY, partitions=4)


@pytest.mark.parametrize("name", ["mondrian", "k-member", "fast"])
def test_every_way_to_make_classes_works_in_parts(stored, tmp_path, name):
    policy = policy_of(algorithm={"name": name})
    release = kohort.anonymize(stored, policy, output=tmp_path / "out.parquet", memory=MEMORY, partitions=3)
    assert release.verdict.passed


def test_a_table_of_few_different_rows_is_published_as_it_is(tmp_path):
    frame = pl.DataFrame({"sex": ["f", "m"] * 5000, "note": [str(i) for i in range(10_000)]})
    frame.write_parquet(tmp_path / "in.parquet")
    policy = kohort.Policy.build(k=5, quasi_identifiers=["sex"], insensitive=["note"], seed=1)
    release = kohort.anonymize(
        tmp_path / "in.parquet", policy, output=tmp_path / "out.parquet", memory=MEMORY, partitions=8
    )
    assert release.loss.total == 0
    assert rows_of(pl.read_parquet(tmp_path / "out.parquet")) == rows_of(frame)


@pytest.mark.promise("6.1")
@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"algorithm": {"name": "datafly"}}, "'datafly' cannot be used on disk, as it needs the whole table at once"),
        (
            {"privacy": {"person": "name"}},
            "as persons are counted over the whole table; run in memory",
        ),
    ],
)
def test_what_needs_the_whole_table_is_refused(stored, tmp_path, changes, fault):
    with pytest.raises(PolicyError, match=fault):
        kohort.anonymize(stored, policy_of(**changes), output=tmp_path / "out.parquet", memory=MEMORY)
    assert alone(tmp_path) == []


def test_faults_of_values_name_the_column_and_leave_nothing(patients, tmp_path):
    patients.with_columns(length_of_stay=pl.lit("long")).write_parquet(tmp_path / "in.parquet")
    policy = policy_of().with_changes("columns", length_of_stay={"role": "quasi", "type": "integer"})
    with pytest.raises(DataError, match="column 'length_of_stay': 3,000 values are not whole numbers;") as fault:
        kohort.anonymize(tmp_path / "in.parquet", policy, output=tmp_path / "out.parquet", memory=MEMORY)
    assert "long" not in str(fault.value).replace("length_of_stay", "")
    patients.rename({"cost": "__kohort_cost"}).write_parquet(tmp_path / "in.parquet")
    policy = kohort.Policy(
        **policy.to_dict()
        | {
            "columns": {
                "__kohort_cost" if name == "cost" else name: spec for name, spec in policy.to_dict()["columns"].items()
            }
        }
    )
    with pytest.raises(DataError, match="names that begin with '__kohort_' are kohort's own"):
        kohort.anonymize(tmp_path / "in.parquet", policy, output=tmp_path / "out.parquet", memory=MEMORY)
    assert alone(tmp_path) == []


def test_too_many_distinct_values_are_seen_before_any_work(stored, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "BYTES_PER_VALUE", MEMORY // 4000)
    with pytest.raises(DataError, match=r"need about .*GB, most of it for column 'birth_date'"):
        kohort.anonymize(stored, policy_of(), output=tmp_path / "out.parquet", memory=MEMORY)
    assert alone(tmp_path) == []


def test_a_full_disk_is_seen_before_any_work(stored, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "kohort.release.engines.workspace.shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000})()
    )
    with pytest.raises(DataError, match=r"disk: about 0\.0 GB are needed beside out\.parquet"):
        kohort.anonymize(stored, policy_of(), output=tmp_path / "out.parquet", memory=MEMORY)
    assert alone(tmp_path) == []


SCRIPT = """
import sys, kohort
from kohort.release.engines import sample
sample.CLASSES = 1
kohort.anonymize(sys.argv[1], kohort.Policy.load(sys.argv[2]), output=sys.argv[3], memory=300_000_000, partitions=6,
                 resume=sys.argv[4] == "resume")
"""


def started(stored, policy, output, how):
    return subprocess.Popen([sys.executable, "-c", SCRIPT, stored, policy, output, how])


def until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


@pytest.fixture
def slow_policy(tmp_path):
    """Searches long enough to be killed in the middle."""
    path = tmp_path / "in.policy.toml"
    path.write_text(policy_of(algorithm={"budget": "20s"}).to_toml())
    return path


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_behind(stored, slow_policy, tmp_path):
    run = started(stored, slow_policy, tmp_path / "out.parquet", "once")
    until(lambda: list(tmp_path.glob(".out.parquet.kohort-work-*/raw/parts/*")))
    [folder] = tmp_path.glob(".out.parquet.kohort-work-*")
    assert folder.stat().st_mode & 0o077 == 0
    run.send_signal(signal.SIGKILL)
    run.wait()
    until(lambda: not folder.exists())
    # Only an empty draft of the file, which the next run removes.
    assert all(path.stat().st_size == 0 for path in tmp_path.glob(".out*"))


@pytest.mark.slow
def test_finished_parts_are_kept_until_the_verdict_is_there_too(stored, tmp_path, monkeypatch):
    output, kept = tmp_path / "out.parquet", tmp_path / ".out.parquet.kohort-resume"

    def full(self, release, files):
        raise DataError("verdict: the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Documents, "write", full)
        with pytest.raises(DataError, match="the disk is full"):
            kohort.anonymize(stored, policy_of(), output=output, memory=MEMORY, partitions=2, resume=True)
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.tally.json")}
    assert before
    assert not output.exists()
    made = []
    monkeypatch.setattr(disk, "release_partition", made.append)
    assert kohort.anonymize(stored, policy_of(), output=output, memory=MEMORY, partitions=2, resume=True).verdict.passed
    assert not made
    assert alone(tmp_path) == ["out.parquet"]


@pytest.mark.slow
def test_a_killed_run_is_resumed_from_its_finished_parts(stored, tmp_path):
    policy = tmp_path / "in.policy.toml"
    policy.write_text(policy_of().to_toml())
    kept = tmp_path / ".out.parquet.kohort-resume"
    run = started(stored, policy, tmp_path / "out.parquet", "resume")
    until(lambda: list(kept.glob("*.tally.json")))
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.tally.json")}
    assert not (tmp_path / "out.parquet").exists()
    with pytest.raises(DataError, match="of another table, policy or number of partitions"):
        kohort.anonymize(stored, policy_of(), output=tmp_path / "out.parquet", memory=MEMORY, resume=True)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    again = kohort.anonymize(
        stored, kohort.Policy.load(policy), output=tmp_path / "out.parquet", memory=MEMORY, partitions=6, resume=True
    )
    assert again.verdict.passed
    once = kohort.anonymize(
        stored, kohort.Policy.load(policy), output=tmp_path / "other.parquet", memory=MEMORY, partitions=6
    )
    assert pl.read_parquet(tmp_path / "out.parquet").equals(pl.read_parquet(tmp_path / "other.parquet"))
    assert once.loss == again.loss
    assert alone(tmp_path) == ["other.parquet", "out.parquet"]


def z_scores(positions, parts):
    """How far the mean position of each part's rows is from the middle, in standard deviations."""
    middle, spread = (len(positions) - 1) / 2, len(positions) / np.sqrt(12)
    return [
        abs(positions[parts == part].mean() - middle) / (spread / np.sqrt((parts == part).sum()))
        for part in np.unique(parts)
    ]


@pytest.mark.slow
@pytest.mark.promise("4.1", "4.4")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_where_a_row_stands_does_not_tell_its_part(patients, stored, tmp_path, kind):
    numbered = patients.with_columns(cost=pl.int_range(pl.len()))
    numbered.write_parquet(stored)
    policy = policy_of(
        privacy={"missing": "suppress", "suppression_limit": 0.5},
        output={"suppressed": "starred"},
        algorithm={"name": "mondrian"},
    )
    out = tmp_path / f"out.{kind}"
    kohort.anonymize(stored, policy, output=out, memory=MEMORY, partitions=6)
    expected, job = released_in_parts(numbered, policy, 6)
    released = pl.read_parquet(out) if kind == "parquet" else pl.read_csv(out)
    assert released["cost"].to_list() == [row[-1] for row in expected]
    positions = np.argsort(released["cost"].to_numpy())
    part_of = parts_of(numbered, policy, job, "cost")
    parts = np.array([part_of.get(record, -1) for record in range(3000)])  # -1: a suppressed record
    assert len(np.unique(parts)) == 7
    assert max(z_scores(positions, parts)) < 4
    assert max(z_scores(positions, np.arange(3000) // 500)) < 4  # nor where it stood in the table
    policy = policy.with_changes("output", shuffle_seed=2)
    other = kohort.anonymize(stored, policy, output=out, memory=MEMORY, overwrite=True)
    assert other.verdict.passed
    again = pl.read_parquet(out) if kind == "parquet" else pl.read_csv(out)
    assert abs(np.corrcoef(positions, np.argsort(again["cost"].to_numpy()))[0, 1]) < 0.1


def test_pseudonyms_of_records_that_do_not_take_part_are_pseudonyms(patients, stored, tmp_path, monkeypatch):
    monkeypatch.setenv("KEY_OF_THE_TEST", "0123456789abcdef")
    policy = policy_of(
        privacy={"missing": "suppress", "suppression_limit": 0.5},
        output={"suppressed": "starred"},
        algorithm={"name": "mondrian"},
    ).to_dict()
    policy["columns"]["name"] = {"role": "identifier", "pseudonym": True}
    policy["output"]["pseudonym_key"] = {"env": "KEY_OF_THE_TEST"}
    policy = kohort.Policy(**policy)
    release = kohort.anonymize(stored, policy, output=tmp_path / "out.parquet", memory=MEMORY, partitions=2)
    assert release.verdict.passed
    names = pl.read_parquet(tmp_path / "out.parquet")["name"]
    assert names.str.contains("^[0-9a-f]{64}$").all()
    assert names.len() == 3000


@pytest.mark.slow
def test_names_that_differ_in_case_alone_stay_apart(patients, tmp_path):
    renamed = {"ethnicity": "Cost", "admission_date": "COST", "sex": "ZIP_code"}
    patients.rename(renamed).write_parquet(tmp_path / "in.parquet")
    (tmp_path / "in").mkdir()
    for number in range(2):
        patients.rename(renamed)[number * 1500 :][:1500].write_csv(tmp_path / "in" / f"{number}.csv")
    made = kohort.Policy.build(
        k=5,
        identifiers=["name"],
        quasi_identifiers=["birth_date", "ZIP_code", "zip_code", "education", "length_of_stay"],
        sensitive=["diagnosis"],
        insensitive=["Cost", "COST", "cost"],
        hierarchies={"zip_code": {"prefix": [5, 3]}},
        missing="suppress",
        suppression_limit=0.5,
        output={"suppressed": "starred", "shuffle_seed": 4},
        algorithm="mondrian",
        seed=1,
    )
    for source, kind in ((tmp_path / "in.parquet", "parquet"), (tmp_path / "in", "csv")):
        out = tmp_path / f"out.{kind}"
        release = kohort.anonymize(source, made, output=out, memory=MEMORY, partitions=4)
        assert release.verdict.passed
        released = pl.read_parquet(out) if kind == "parquet" else pl.read_csv(out, infer_schema=False)
        assert released.columns == [renamed.get(name, name) for name in patients.columns if name != "name"]
        assert sorted(released["COST"].cast(str)) == sorted(patients["admission_date"].cast(str))
        assert kohort.verify(out, made, original=source).passed


def by_age(n, kinds):
    """A table in which the sensitive value follows from a quasi-identifier, each as often as the others."""
    rng = np.random.default_rng(1)
    age, place = np.sort(rng.integers(0, 100, n)), rng.integers(0, 5, n).astype(str)
    return pl.DataFrame({"age": age, "place": place, "illness": np.arange(n) * kinds // n}).with_columns(
        pl.col("illness").cast(pl.String)
    )


@pytest.mark.promise("6.3")
@pytest.mark.parametrize("parts", [4, 16])
@pytest.mark.parametrize(
    "model",
    [
        {"model": "frequency-l-diversity", "l": 4},
        {"model": "distinct-l-diversity", "l": 4},
        {"model": "entropy-l-diversity", "l": 3.9},
        {"model": "recursive-cl-diversity", "c": 2, "l": 3},
        {"model": "t-closeness", "t": 0.1},
        {"model": "alpha-k", "alpha": 0.25},
        {"model": "beta-likeness", "beta": 0.2},
        {"model": "delta-disclosure", "delta": 0.3},
    ],
    ids=lambda model: model["model"],
)
def test_a_promise_that_the_whole_table_keeps_is_kept_in_parts(tmp_path, model, parts):
    by_age(600, 4).write_parquet(tmp_path / "in.parquet")
    promised = kohort.Policy.build(
        k=3, quasi_identifiers=["age", "place"], sensitive=["illness"], types={"place": "string"}, seed=1
    ).with_changes("privacy", models=[model | {"column": "illness"}])
    out = tmp_path / "out.parquet"
    release = kohort.anonymize(tmp_path / "in.parquet", promised, output=out, memory=MEMORY, partitions=parts)
    assert release.verdict.passed


@pytest.mark.slow
def test_records_are_dealt_by_chance_where_joined_parts_do_not_fit_into_memory(tmp_path, monkeypatch):
    by_age(4000, 4).write_parquet(tmp_path / "in.parquet")
    out = tmp_path / "out.parquet"
    promised = kohort.Policy.build(
        k=3,
        quasi_identifiers=["age", "place"],
        sensitive=["illness"],
        types={"place": "string"},
        algorithm="mondrian",
        seed=1,
    ).with_changes("output", order="kept")

    def released(least, room):
        monkeypatch.setattr(disk, "BYTES_PER_RECORD", MEMORY * (1 - disk.DATABASE) / room)
        models = [{"model": "frequency-l-diversity", "column": "illness", "l": least}]
        policy = promised.with_changes("privacy", models=models)
        release = kohort.anonymize(
            tmp_path / "in.parquet", policy, output=out, memory=MEMORY, partitions=8, overwrite=True
        )
        assert release.verdict.passed
        return int(release.facts["partitions"].split(",")[0])

    assert released(3, room=9000) < 4
    assert released(3, room=3000) >= 2
    with pytest.raises(DataError, match=r"only if 4,000 records are worked on together, which takes about 0\.\dGB"):
        released(4, room=3000)  # every value has exactly a quarter, so chance does not help
    assert alone(tmp_path) == ["out.parquet"]


def test_a_table_of_quasi_identifiers_alone_shows_all_its_suppressed_records(patients, tmp_path):
    patients.select(QUASI).write_parquet(tmp_path / "in.parquet")
    missing = patients.select(pl.any_horizontal(pl.col(QUASI).is_null())).to_series().sum()
    policy = kohort.Policy.build(
        k=5,
        quasi_identifiers=QUASI,
        hierarchies={"zip_code": {"prefix": [5, 3]}},
        missing="suppress",
        suppression_limit=0.5,
        output={"suppressed": "starred", "shuffle_seed": 1},
        algorithm="mondrian",
        seed=1,
    )
    out = tmp_path / "out.parquet"
    release = kohort.anonymize(tmp_path / "in.parquet", policy, output=out, memory=MEMORY, partitions=4)
    assert release.verdict.facts.suppressed >= missing > 1
    assert release.verdict.facts.rows_released == 3000
