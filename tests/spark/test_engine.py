"""What Spark publishes is what the same parts give in memory, whatever happens to its workers."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from pyspark.sql import functions as F

import kohort
from helpers.engines import parts_of, released_in_parts
from kohort.audit.spark.verify import verify
from kohort.common.spark import guarded, naming_faults
from kohort.errors import DataError, InfeasibleError, PolicyError
from kohort.policy import Policy
from kohort.release.engines.spark import ancestors
from kohort.release.engines.spark.batches import read_batches, write_batches
from kohort.release.engines.spark.engine import anonymize, prepared
from kohort.release.plan import plan_of

from .conftest import only
from .frames import in_spark

PARTS = 4


def patients(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "Zip.code": rng.choice(["1010", "1020", "2010", "2020", "3300"], n),
            "income": np.round(rng.lognormal(10, 0.5, n), -2),
            "illness": rng.choice(["flu", "cold", "asthma", "acne"], n),
            "note": rng.choice(["a", "b", ""], n).tolist(),
        }
    )


def policy(k=5, **more):
    given = {
        "k": k,
        "quasi_identifiers": ["age", "Zip.code", "income"],
        "sensitive": ["illness"],
        "identifiers": ["name"],
        "insensitive": ["note"],
        "hierarchies": {"Zip.code": {"prefix": [4, 2]}},
        "types": {"Zip.code": "string"},
        "algorithm": "k-member",
        "output": {"shuffle_seed": 5},
        "seed": 3,
    }
    return Policy.build(**(given | more))


def rows_of(frame):
    return [tuple(row) for row in frame.collect()]


def test_spark_publishes_what_the_same_parts_give_in_memory(spark):
    people = patients()
    released = anonymize(in_spark(spark, people), policy(), partitions=PARTS).persist()
    assert released.columns == ["age", "Zip.code", "income", "illness", "note"]
    expected, job = released_in_parts(people, policy(), PARTS)
    assert len(job.cuts.parts) > 1
    assert rows_of(released) == expected
    unmixed = prepared(in_spark(spark, people), plan_of(policy()), PARTS).rows()
    sizes = unmixed.groupBy(F.spark_partition_id()).count().collect()
    assert len(sizes) == len(job.cuts.parts)  # no task has two parts


@pytest.mark.promise("5.1", "5.2")
@only("local")
@pytest.mark.parametrize("parts", [1, 4, 16])
def test_every_engine_publishes_the_same_rows(spark, tmp_path, parts):
    people = patients(1600)
    people.write_parquet(tmp_path / "in.parquet")
    out = tmp_path / "out.parquet"
    kohort.anonymize(tmp_path / "in.parquet", policy(), output=out, memory="300MB", partitions=parts)
    expected, job = released_in_parts(people, policy(), parts)
    assert (len(job.cuts.parts) > 1) == (parts > 1)
    assert pl.read_parquet(out).rows() == expected
    assert rows_of(anonymize(in_spark(spark, people), policy(), partitions=parts)) == expected


@pytest.mark.promise("4.1", "4.4")
@only("local")
def test_where_a_row_stands_does_not_tell_its_part(spark):
    people = patients(2400).with_columns(
        pl.when(pl.int_range(pl.len()) % 11 == 0).then(None).otherwise(pl.col("age")).alias("age"),
        note=pl.int_range(pl.len()),
    )
    promised = policy(
        algorithm="mondrian",
        missing="suppress",
        suppression_limit=0.1,
        output={"suppressed": "starred", "shuffle_seed": 7},
    )
    released = anonymize(in_spark(spark, people), promised, partitions=6)
    found = released.withColumn("file", F.spark_partition_id()).select("note", "file").collect()
    expected, job = released_in_parts(people, promised, 6)
    records = np.array([row[0] for row in found])
    assert records.tolist() == [row[-1] for row in expected]
    part_of = parts_of(people, promised, job, "note")
    parts = np.array([part_of.get(record, -1) for record in range(2400)])
    assert len(np.unique(parts)) == 7
    middle, spread = 2399 / 2, 2400 / np.sqrt(12)
    for kinds in (parts, np.arange(2400) // 400):
        for kind in np.unique(kinds):
            mean = np.argsort(records)[kinds == kind].mean()
            assert abs(mean - middle) < 4 * spread / np.sqrt((kinds == kind).sum())
    # As many files as rows ask for, each with its share of every part.
    files = np.array([row[1] for row in found])
    assert len(np.unique(files)) == 3
    for file in np.unique(files):
        assert abs((files == file).sum() - 800) < 4 * np.sqrt(2400 * 2 / 9)
        assert set(parts[records[files == file]]) == set(parts)


@only("local")
def test_a_run_that_was_cut_off_goes_on_from_its_finished_batches(spark, tmp_path):
    people = patients()
    ready = prepared(in_spark(spark, people), plan_of(policy()), 16)
    kept = tmp_path / "kept"
    kept.mkdir()

    def cut_off(share):
        if share > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_batches(ready.persisted(), kept, cut_off)
    before = {path: path.stat().st_mtime_ns for path in kept.glob("batch-*/*")}
    assert len({path.parent for path in before}) == 3
    (kept / "draft-3").mkdir()
    (kept / "draft-3" / "half.parquet").write_bytes(b"PAR1")
    shares = []
    write_batches(ready, kept, shares.append)
    assert shares == [number / 8 for number in range(1, 9)]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert rows_of(read_batches(ready, kept)) == released_in_parts(people, policy(), 16)[0]


@only("local")
@pytest.mark.parametrize("few", [0, 200_000])
def test_pac_parts_and_clusters_as_in_memory(spark, monkeypatch, few):
    monkeypatch.setattr(ancestors, "FEW", few)
    people = patients(900).with_columns(note=pl.lit("a"))
    pac = policy(algorithm={"name": "pac", "t": 5, "capacity": 200, "sensitive_weight": 0.4})
    there = kohort.anonymize(people, pac)
    assert there.facts["beta_clusters"] > 5  # some were parted again
    here = anonymize(in_spark(spark, people), pac, partitions=PARTS)
    assert sorted(rows_of(here), key=repr) == sorted(there.table.rows(), key=repr)


@only("local")
def test_suppressed_records_are_shown_as_stars_or_not_at_all(spark):
    people = patients(600).with_columns(
        pl.when(pl.int_range(pl.len()) < 20).then(None).otherwise(pl.col("age")).alias("age")
    )
    original = in_spark(spark, people)
    for shown, rows in (("withheld", 580), ("starred", 600)):
        promised = policy(missing="suppress", suppression_limit=0.04, output={"suppressed": shown})
        released = anonymize(original, promised, partitions=2).persist()
        assert released.count() == rows
        verdict = verify(released, promised, original=original)
        assert verdict.passed, verdict.reason
        assert (verdict.facts.suppressed, verdict.facts.withheld) == (rows - 580, 600 - rows)


@only("local")
@pytest.mark.parametrize("sensitive", ["true", "false"])
def test_names_that_differ_in_case_alone_stay_apart(spark, sensitive):
    people = patients(600).with_columns(NOTE=pl.lit("x"), AGE=pl.col("age") % 7)
    promised = policy(insensitive=["note", "NOTE"], quasi_identifiers=["age", "AGE", "Zip.code", "income"])
    named = in_spark(spark, people.rename({"NOTE": "a", "AGE": "b"})).toDF(*people.columns)
    try:
        spark.conf.set("spark.sql.caseSensitive", sensitive)
        released = anonymize(named, promised, partitions=3)
        assert released.columns == [name for name in people.columns if name != "name"]
        assert rows_of(released) == released_in_parts(people, promised, 3)[0]
        assert verify(released, promised, original=named).passed
    finally:
        spark.conf.set("spark.sql.caseSensitive", "true")


def by_age(n):
    """A table in which the sensitive value follows from a quasi-identifier."""
    return (
        patients(n).with_columns(illness=pl.lit("")).sort("age").with_columns(illness=pl.int_range(pl.len()) * 4 // n)
    )


@pytest.mark.promise("5.2", "6.3")
@only("local")
@pytest.mark.parametrize(
    "model",
    [{"model": "frequency-l-diversity", "l": 4}, {"model": "epsilon-m", "epsilon": 0.5, "m": 4}],
    ids=lambda model: model["model"],
)
def test_parts_are_joined_for_a_promise_as_in_the_other_engines(spark, model):
    people = by_age(400)
    promised = policy(k=2, algorithm="mondrian").with_changes("privacy", models=[model | {"column": "illness"}])
    expected, job = released_in_parts(people, promised, 4)
    assert len(job.cuts.parts) < 4
    released = anonymize(in_spark(spark, people), promised, partitions=4).persist()
    assert rows_of(released) == expected
    assert verify(released, promised, original=in_spark(spark, people)).passed


@only("local")
def test_pac_keeps_a_promise_that_its_parts_cannot_keep(spark):
    people = by_age(400)
    model = {"model": "frequency-l-diversity", "column": "illness", "l": 4}
    pac = policy(k=2, algorithm={"name": "pac", "t": 5}).with_changes("privacy", models=[model])
    released = anonymize(in_spark(spark, people), pac, partitions=PARTS).persist()
    assert verify(released, pac, original=in_spark(spark, people)).passed


@only("local")
def test_promises_about_sensitive_values_are_kept_and_faults_of_workers_are_told(spark):
    people = in_spark(spark, patients(1000))
    promised = policy().with_changes("privacy", models=[{"model": "distinct-l-diversity", "column": "illness", "l": 3}])
    released = anonymize(people, promised, partitions=2).persist()
    assert verify(released, promised, original=people).passed

    def fail(batches):
        def infeasible():
            raise InfeasibleError("in one of 2 parts: it cannot be done.")

        for _ in batches:
            naming_faults(infeasible)
        yield

    with pytest.raises(InfeasibleError, match=r"^in one of 2 parts: it cannot be done\.$"):
        guarded(people.select("age").mapInArrow(fail, "x long").collect)


@pytest.mark.promise("6.1")
@only("local")
def test_what_spark_cannot_do_is_refused_before_any_work(spark):
    people = in_spark(spark, patients(100))
    for changed, fault in (
        ({"output": {"order": "kept"}}, "cannot be used on Spark, as rows have no order there"),
        ({"output": {"formulas": "neutralised"}}, "formulas = 'neutralised' cannot be used on Spark"),
        ({"algorithm": "incognito"}, "needs the whole table at once"),
        ({"person": "name"}, "persons are counted over the whole table"),
        ({"k": 101}, "k = 101"),
        ({"sensitive": [], "insensitive": ["note"]}, "column 5 of the table has no role"),
    ):
        with pytest.raises(PolicyError, match=fault):
            anonymize(people, policy(**changed))
    with pytest.raises(PolicyError, match="budget cannot be used on Spark"):
        anonymize(people, policy(algorithm="auto").with_changes("algorithm", budget="5s"))
    with pytest.raises(DataError, match="has no rows"):
        anonymize(people.filter("age < 0"), policy())
    with pytest.raises(DataError, match="give a whole number, 1 or more"):
        anonymize(people, policy(), partitions=0)
    with pytest.raises(DataError, match="column 'note' holds lists"):
        anonymize(people.selectExpr("* except (note)", "array(note) AS note"), policy())


@only("cluster")
def test_a_worker_that_dies_in_the_middle_changes_nothing(spark, workers, tmp_path):
    people = patients(2000)
    original = in_spark(spark, people)
    begun, on = tmp_path / "begun", tmp_path / "on"

    def waits(batches):
        """Rows as they are, but not before the test says so: the part has been worked on by then."""
        for batch in batches:
            begun.touch()
            end = time.monotonic() + 60
            while not on.exists() and time.monotonic() < end:
                time.sleep(0.05)
            yield batch

    released = anonymize(original, policy(), partitions=PARTS)
    plain = released.toDF(*"abcde")  # Spark itself cannot do it with a dot in a name
    slow = plain.mapInArrow(waits, plain.schema)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(rows_of, slow)
        while not begun.exists():
            assert not running.done()
            time.sleep(0.05)
        workers[0].kill()
        on.touch()
        found = running.result()
    assert sorted(found, key=repr) == sorted(released_in_parts(people, policy(), PARTS)[0], key=repr)
    verdict = verify(spark.createDataFrame(found, released.schema), policy(), original=original)
    assert verdict.passed, verdict.reason
    assert verdict.facts.rows_released == people.height
