"""Decimal commas and thousands mean the same in Spark as in memory; identifiers that repeat are noticed there, too."""

import polars as pl
import pytest

from kohort.audit.spark.verify import verify
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.release.engines.spark.engine import anonymize

from .conftest import only
from .frames import in_spark

GERMAN = Policy.from_toml("""
privacy = { k = 4, models = [{ model = "distinct-l-diversity", l = 2, column = "owed" }] }
algorithm = { name = "fast", seed = 1 }
input = { decimal = ",", thousands = "." }
[columns]
who = "identifier"
pay = { role = "quasi", type = "number" }
owed = { role = "sensitive", type = "number" }
""")
PAY = {"800": 800, "1.250": 1250, "86.320": 86_320, "99.999,5": 99_999.5, "1.000.000": 10**6, "12,25": 12.25}


def table(**cells):
    pay = [*PAY] * 4
    columns = {"who": [f"p{n // 3}" for n in range(24)], "pay": pay, "owed": ["1.000", "7,5", "7,50", "2"] * 6}
    return pl.DataFrame(columns | cells)


@only("local")
def test_a_german_table_is_released_and_verified(spark):
    original = in_spark(spark, table())
    released = anonymize(original, GERMAN, partitions=1).persist()
    verdict = verify(released, GERMAN, original=original)
    assert verdict.passed, verdict.reason
    ends = {float(end) for row in released.collect() for end in row["pay"].strip("[]").split(" - ")}
    assert ends <= set(PAY.values())
    assert max(PAY.values()) in ends
    assert verdict.check("repeats").figures == {"values.who": 8}
    # one value in two spellings is one value
    few = in_spark(spark, table(owed=["7,5", "7,50"] * 12))
    assert not verify(
        anonymize(few, GERMAN.with_changes("privacy", models=()), partitions=1), GERMAN, original=few
    ).passed


@only("local")
def test_doubtful_numbers_are_refused(spark):
    doubtful = Policy.from_toml(GERMAN.to_toml().replace('decimal = ","', "").replace('thousands = "."', ""))
    with pytest.raises(DataError, match="could be thousands or have three decimals"):
        anonymize(in_spark(spark, table(pay=["86.320", "1.250"] * 12)), doubtful)
