"""A table in memory that is cut into partitions: the same rows as on disk, and nothing that the whole table has not."""

import _thread
from functools import partial

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.features import ASKED
from helpers.features import policy_of as policy_with
from kohort.errors import DataError, PolicyError
from kohort.release.engines import frame as frame_engine
from kohort.release.engines import parallel, sample

QUASI = ["birth_date", "sex", "zip_code", "length_of_stay"]
MEMORY = "1GB"


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
    """As many partitions as are asked for, however small the table."""
    monkeypatch.setattr(sample, "CLASSES", 1)


@pytest.fixture(scope="module")
def patients():
    frame = kohort.datasets.patients(700, seed=2).drop("education")
    gaps = pl.Series(np.random.default_rng(1).random(frame.height) < 0.02)
    return frame.with_columns(length_of_stay=pl.when(~gaps).then("length_of_stay"))


def partitions_of(release):
    return int(release.facts.get("partitions", "1,").split(",")[0])


def rows_of(table):
    return sorted(table.rows(), key=str)


@pytest.mark.slow
@pytest.mark.promise("5.2")
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("parquet", {}),
        ("csv", {"privacy": {"missing": "suppress", "suppression_limit": 0.2}}),
        ("csv", {"privacy": {"missing": "suppress", "suppression_limit": 0.2}, "output": {"suppressed": "starred"}}),
        ("csv", {"privacy": {"models": [{"model": "frequency-l-diversity", "l": 3, "column": "diagnosis"}]}}),
        ("parquet", {"privacy": {"models": [{"model": "t-closeness", "t": 0.3, "column": "diagnosis"}]}}),
        ("csv", {"algorithm": {"name": "mondrian"}}),
        ("parquet", {"algorithm": {"name": "fast", "refine": True}}),
    ],
    ids=["plain", "suppressed", "starred", "l-diversity", "t-closeness", "mondrian", "refined"],
)
def test_a_table_in_memory_and_on_disk_become_the_same_rows(patients, tmp_path, kind, more):
    source = tmp_path / f"in.{kind}"
    (patients.write_csv if kind == "csv" else patients.write_parquet)(source)
    policy = policy_of(**more)
    here = kohort.anonymize(source, policy, output=tmp_path / f"here.{kind}", partitions=4)
    there = kohort.anonymize(source, policy, output=tmp_path / f"there.{kind}", partitions=4, memory=MEMORY)
    read = pl.read_parquet if kind == "parquet" else partial(pl.read_csv, infer_schema=False)
    assert rows_of(read(tmp_path / f"here.{kind}")) == rows_of(read(tmp_path / f"there.{kind}"))
    assert here.facts["partitions"] == there.facts["partitions"]
    assert here.verdict.facts.withheld == there.verdict.facts.withheld
    assert here.loss.total == there.loss.total
    assert here.verdict.passed


@pytest.mark.slow
@pytest.mark.promise("5.1")
def test_the_release_depends_neither_on_the_order_of_rows_nor_on_the_cores(patients, monkeypatch):
    policy = policy_of()
    release = kohort.anonymize(patients, policy, partitions=4)
    assert partitions_of(release) == 4
    assert release.table.equals(kohort.anonymize(patients, policy, partitions=4).table)
    mixed = patients[np.random.default_rng(3).permutation(patients.height)]
    assert rows_of(kohort.anonymize(mixed, policy, partitions=4).table) == rows_of(release.table)
    for cores in (1, 9):
        monkeypatch.setattr(parallel, "cores", lambda cores=cores: cores)
        assert release.table.equals(kohort.anonymize(patients, policy, partitions=4).table)


def test_rows_are_mixed_over_all_partitions(patients):
    """Where a row stands does not tell its partition; with order = "kept" it is that of the input."""
    release = kohort.anonymize(patients, policy_of(output={"order": "kept"}), partitions=4)
    assert release.row_order.tolist() == list(range(patients.height))
    assert release.table["diagnosis"].equals(patients["diagnosis"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["auto", "fast"])
def test_a_large_table_is_cut_where_the_algorithm_is_auto(patients, monkeypatch, name):
    policy = policy_of(algorithm={"name": name})
    whole = kohort.anonymize(patients, policy)
    assert "partitions" not in whole.facts
    monkeypatch.setattr(frame_engine, "LARGE", 700)
    monkeypatch.setattr(frame_engine, "CLASSES", 20)
    monkeypatch.setattr(frame_engine, "ROWS", 10)
    monkeypatch.setattr(frame_engine, "RECORDS", 100)
    release = kohort.anonymize(patients, policy)
    assert (partitions_of(release) > 1) == (name == "auto")
    if name == "auto":
        assert release.facts["partitions"].endswith(", each clustered by itself")
        assert release.facts["partitions"] in release.private_json()
        assert "partitions" not in str(release.public())
        assert kohort.explain(patients, policy).loss == pytest.approx(release.loss.total)
        [outcome] = kohort.compare(patients, policy, algorithms=["auto"])
        assert outcome.loss == pytest.approx(release.loss.total)
    assert kohort.anonymize(patients, policy, partitions=1).table.equals(whole.table)
    monkeypatch.setattr(frame_engine, "ROWS", 400)
    assert partitions_of(kohort.anonymize(patients, policy)) == 1


@pytest.mark.promise("6.1")
@pytest.mark.parametrize("feature", ["whole-table", "person", "budget"])
def test_what_partitions_cannot_keep_is_not_cut(tmp_path, monkeypatch, feature):
    monkeypatch.setattr(frame_engine, "LARGE", 60)
    monkeypatch.setattr(frame_engine, "CLASSES", 2)
    monkeypatch.setattr(frame_engine, "ROWS", 10)
    monkeypatch.setattr(frame_engine, "RECORDS", 4)
    monkeypatch.setattr(sample, "FEWEST_CLASSES", 1)
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "name": [f"n{number}" for number in range(60)],
            "age": rng.integers(0, 1000, 60),
            "ill": rng.choice([*"abcdef"], 60),
        }
    )
    assert partitions_of(kohort.anonymize(frame, policy_with(""))) > 1
    policy = policy_with(feature)
    if "budget" in ASKED[feature].get("algorithm", {}):
        policy = policy.with_changes("algorithm", budget="0.1s")
    assert partitions_of(kohort.anonymize(frame, policy)) == 1
    assert partitions_of(kohort.anonymize(frame, policy, partitions=1)) == 1
    with pytest.raises(
        PolicyError, match=r"cannot be used in memory in partitions.*leave the number of partitions out"
    ):
        kohort.anonymize(tmp_path / "no.csv", policy, output=tmp_path / "out.csv", partitions=2)


@pytest.mark.parametrize("partitions", [0, -1, True, 2.5, "4"])
def test_a_number_of_partitions_that_is_none_is_refused(patients, tmp_path, partitions):
    for how in ({}, {"memory": MEMORY}):
        with pytest.raises(DataError, match="partitions: give a whole number, 1 or more"):
            kohort.anonymize(
                tmp_path / "no.csv", policy_of(), output=tmp_path / "out.csv", partitions=partitions, **how
            )


@pytest.mark.slow
def test_ctrl_c_publishes_what_the_partitions_have_found(patients):
    policy = policy_of()
    came = []

    def progress(step, share):
        if step.startswith("cluster") and share > 0.1 and not came:
            came.append(share)
            _thread.interrupt_main()

    release = kohort.anonymize(patients, policy, partitions=4, progress=progress)
    assert came
    assert release.verdict.passed
    assert release.facts["local search"] == "stopped before its end"
    assert release.loss.total > kohort.anonymize(patients, policy, partitions=4).loss.total


def test_ctrl_c_ends_a_run_that_is_no_search(patients):
    def progress(step, share):
        if step.startswith("cluster") and 0 < share < 1:
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        kohort.anonymize(patients, policy_of(algorithm={"name": "mondrian"}), partitions=4, progress=progress)
