"""How many rows cover a record, and how many people a class could be about, against plain loops."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.errors import DataError, PolicyError
from kohort.kernels.cover import cover
from property.strategies import cases

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_points_and_boxes_are_counted_as_in_a_loop(seed):
    random = np.random.default_rng(seed)
    axes, boxes, points = random.integers(1, 5), random.integers(0, 60), random.integers(0, 150)
    most = random.integers(1, 12)
    where = random.integers(0, most, (points, axes)).astype(np.int32)
    first = random.integers(-1, most + 1, (boxes, axes)).astype(np.int32)
    last = (first + random.integers(-1, most, (boxes, axes))).astype(np.int32)
    of_box, of_point = random.integers(1, 5, boxes), random.integers(1, 5, points)
    inside = ((first[:, None] <= where[None]) & (where[None] <= last[:, None])).all(axis=2)
    covered, covering = cover(first, last, of_box, where, of_point)
    assert covered.tolist() == (inside @ of_point).tolist()
    assert covering.tolist() == (of_box @ inside).tolist()


@settings(max_examples=20, deadline=None)
@given(case=cases(max_rows=25))
def test_at_least_k_rows_cover_a_record_that_is_in_the_release(case):
    frame, policy = case
    try:
        made = kohort.anonymize(frame, policy.with_changes("algorithm", seed=3))
    except kohort.InfeasibleError:
        return
    found = kohort.risk(made.table, policy, original=frame)
    assert found.containment.covered <= found.containment.records == frame.height
    if made.table.height == frame.height and not found.file.suppressed and found.containment.covered:
        assert found.containment.least >= policy.privacy.k
        assert found.containment.below == 0
        assert found.containment.covered == frame.height


@pytest.mark.slow
def test_arx_releases_cover_their_original(shared):
    trees = {name: str(shared / f"adult/hierarchies/{name}.csv") for name in QUASI}
    policy = kohort.Policy.build(k=5, quasi_identifiers=QUASI, insensitive=["salary-class"], hierarchies=trees)
    found = kohort.risk(shared / "releases/arx_local_k5.csv.gz", policy, original=shared / "adult/adult.csv")
    assert (found.file.quasi.classes, found.file.quasi.smallest, found.file.suppressed) == (4580, 5, 3)
    assert found.file.quasi.prosecutor.mean == 4580 / 30159
    assert (found.containment.covered, found.containment.least, found.containment.below) == (30159, 5, 0)
    assert found.containment.mean > 30159 / 4580, "boxes overlap, so more rows fit than are in a class"
    assert found.original.quasi.classes == 18109
    assert found.original.quasi.unique == 14021


def test_what_sdcmicro_suppresses_may_leave_fewer_rows_than_k(shared):
    release = shared / "releases/sdcmicro_localsuppression_4qi_k5.csv.gz"
    quasi = ["age", "sex", "race", "education"]
    found = kohort.risk(release, quasi_identifiers=quasi, k=5, original=shared / "adult/adult.csv")
    assert found.file.quasi.below(5) == 64
    files = (release, shared / "adult/adult.csv")
    rows, people = (pl.read_csv(path, separator=";", infer_schema=False, null_values="*") for path in files)
    some = people.select(quasi).unique().sample(40, seed=2)
    for person in some.rows():
        fits = [pl.col(name).is_null() | (pl.col(name) == value) for name, value in zip(quasi, person, strict=True)]
        assert rows.filter(*fits).height in found.containment.counts
    assert found.containment.least == 1
    assert found.containment.below == 4


def test_labels_of_an_unknown_hierarchy_are_a_caveat(shared):
    found = kohort.risk(
        shared / "releases/anjana_k10.csv.gz",
        quasi_identifiers=["race", "education"],
        original=shared / "adult/adult.csv",
    )
    assert found.containment is None
    assert found.caveats == (
        "How many rows fit a record is not known: column 'education': a published value covers no value of its "
        "hierarchy; give a policy that has it, or run verify.",
    )


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_people_are_counted_as_in_a_loop(seed):
    random = np.random.default_rng(seed)
    population = pl.DataFrame({"age": random.integers(20, 28, 60), "sex": random.choice(["F", "M"], 60)})
    sample = population.sample(random.integers(1, 30), seed=seed).with_columns(name=pl.int_range(pl.len()))
    ages = [(low, low + random.integers(0, 4)) for low in random.integers(20, 28, 5).tolist()]
    release = pl.DataFrame({"age": [f"[{low} - {high}]" if low < high else f"{low}" for low, high in ages], "sex": "*"})
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age", "sex"], identifiers=["name"], types={"age": "integer"})
    found = kohort.risk(release, policy, population=population).file.quasi
    rows = [sum(one == other for one in release["age"]) for other in release["age"]]
    people = [sum(low <= age <= high for age in population["age"]) for low, high in ages]
    chances = [1 / max(row, person) for row, person in zip(rows, people, strict=True)]
    assert found.journalist.mean == pytest.approx(np.mean(chances))
    assert found.journalist.maximum == max(chances)

    exact = kohort.risk(sample, policy, population=population).file
    everybody, records = population.rows(), sample.select("age", "sex").rows()
    assert exact.quasi.journalist.mean == pytest.approx(np.mean([1 / everybody.count(one) for one in records]))
    alone = np.mean([everybody.count(one) == 1 for one in records])
    assert (exact.uniqueness.chosen, exact.uniqueness.share.value) == ("counted", alone)


@pytest.mark.parametrize(
    ("population", "says"),
    [
        (pl.DataFrame({"age": [31]}), "'sex' is not in it"),
        (pl.DataFrame({"age": [31], "sex": ["F"]}), "1 people and the table 2 rows"),
    ],
)
def test_populations_that_do_not_fit_are_refused(population, says):
    with pytest.raises((DataError, PolicyError), match=says):
        kohort.risk(
            pl.DataFrame({"age": [31, 40], "sex": ["F", "F"]}), quasi_identifiers=["age,sex"], population=population
        )
