"""A few requests of the adversary on Spark; `make adversary` runs any number."""

import pytest

from adversary.generate import case_of
from adversary.run import attack

from .conftest import only


@only("local")
@pytest.mark.slow
@pytest.mark.promise("1.1", "1.4", "2.1", "2.2", "2.3", "3.3", "4.2")
@pytest.mark.parametrize("seed", [101, 106, 109, 40013, 40069, 40104])  # the last three were found by it
def test_requests_on_spark_end_as_promised(spark, tmp_path, seed):
    _, faults, _ = attack(case_of(seed, "spark"), tmp_path, spark, mutants=1)
    assert faults == []
