"""Spark starts in three shapes, runs kohort on its workers, and says clearly what is missing."""

import pyarrow as pa
import pytest

from kohort.common.spark import guarded
from kohort.errors import EngineError, InternalError
from kohort.release.engines.spark import session as module
from kohort.release.engines.spark.session import refuse_without_java, refuse_without_spark


def test_workers_have_kohort(spark):
    def count(batches):
        from kohort.policy import Policy

        Policy.build(k=2, quasi_identifiers=["age"])
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"rows": [batch.num_rows]})

    counted = spark.range(100).repartition(3).mapInArrow(count, "rows long")
    assert sum(row.rows for row in counted.collect()) == 100


def test_a_failed_job_quotes_no_cell(spark):
    def fail(batches):
        for _ in batches:
            raise ValueError("the secret of Smith")
        yield

    with pytest.raises(InternalError, match="A job of Spark failed") as caught:
        guarded(spark.range(1).mapInArrow(fail, "rows long").collect)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_missing_java_is_told_with_the_command_that_installs_it(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match=r"none was found; install it with: apt-get install openjdk-17-jre-headless"):
        refuse_without_java()


def test_old_java_is_refused(monkeypatch):
    monkeypatch.setattr(module, "java_version", lambda: 11)
    with pytest.raises(EngineError, match="this is Java 11"):
        refuse_without_java()


def test_missing_spark_is_told_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"pip install 'kohort\[spark\]'"):
        refuse_without_spark()
