"""How far Spark is, is told while it works."""

from kohort.release.engines.spark.progress import watched


def test_the_share_of_finished_tasks_is_told(spark):
    def slow(batches):
        import time

        time.sleep(1)
        yield from batches

    shares = []
    with watched(spark, 8, shares.append):
        assert spark.range(0, 8, 1, 8).mapInArrow(slow, "id long").count() == 8
    assert any(0 < share < 1 for share in shares)
    assert all(0 <= share <= 1 for share in shares)
    told = len(shares)
    spark.range(0, 8, 1, 8).count()
    assert len(shares) == told
