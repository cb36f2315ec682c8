"""What Spark publishes is what the same parts give in memory, and what it writes is verified from the files."""

import numpy as np
import polars as pl

from engines_tables import released_in_parts
from kohort.engines.spark.engine import anonymize
from kohort.engines.spark.verify import verify
from kohort.policy import Policy

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
        "seed": 3,
    }
    return Policy.build(**(given | more))


def rows_of(frame):
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def test_spark_publishes_what_the_same_parts_give_in_memory(spark):
    people = patients()
    released = anonymize(in_spark(spark, people), policy(), partitions=PARTS)
    assert released.columns == ["age", "Zip.code", "income", "illness", "note"]
    expected, job = released_in_parts(people, policy(), PARTS)
    assert len(job.cuts.parts) > 1
    assert rows_of(released) == expected
    verdict = verify(released, policy(), original=in_spark(spark, people))
    assert verdict.passed, verdict.reason
    assert verdict.facts.rows_released == people.height
