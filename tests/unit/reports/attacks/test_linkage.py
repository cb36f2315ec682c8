"""Linkage: people who fit a single row are found; whoever is one of k is not."""

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.errors import DataError


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    n = 600
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "sex": rng.choice(["F", "M"], n),
            "town": rng.choice(list("abcdefgh"), n),
            "ill": rng.choice(["flu", "cold", "acne"], n),
        }
    )


POLICY = kohort.Policy.build(
    k=4, quasi_identifiers=["age", "sex", "town"], sensitive=["ill"], seed=1, algorithm="mondrian"
)


def linked(release, **more):
    [found] = kohort.attack(release, POLICY, only=["linkage"], **more).results
    return found


def test_a_release_in_classes_singles_nobody_out(people):
    release = kohort.anonymize(people, POLICY).table
    found = linked(release, original=people)
    assert found.private
    assert not found.succeeds
    assert found.figures["fewest_candidates"] >= 4
    assert found.figures["fitting_none"] == 0
    boxes = release.group_by("age", "sex", "town").len()
    assert found.figures["expected_right"] >= boxes.height / people.height * 0.2, "overlapping classes hide, too"


def test_rows_that_are_alone_are_found(people):
    found = linked(people, original=people)
    alone = people.group_by("age", "sex", "town").len().filter(pl.col("len") == 1).height
    assert found.success.value == pytest.approx(alone / people.height)
    assert found.succeeds
    assert found.advantage.low > 0.1


def test_candidates_are_those_of_comparing_cell_by_cell(people):
    release = kohort.anonymize(people, POLICY).table
    found = linked(release, original=people)

    def fits(cell, value):
        if cell == "*":
            return True
        if isinstance(value, int) and cell.startswith("["):
            low, high = map(int, cell[1:-1].split(" - "))
            return low <= value <= high
        return cell == str(value)

    rows = release.select("age", "sex", "town").rows()
    counts = [sum(all(map(fits, row, person)) for row in rows) for person in people.select("age", "sex", "town").rows()]
    assert found.figures["mean_candidates"] == pytest.approx(np.mean(counts))
    assert found.figures["fewest_candidates"] == min(counts)


def test_an_outsider_who_knows_some_columns_of_some_people(people):
    release = kohort.anonymize(people, POLICY).table
    few = people.select("town", "age").head(50)
    found = linked(release, auxiliary=few)
    assert (found.attempts, found.of) == (50, 50)
    assert found.figures["fewest_candidates"] >= 4
    knowing = linked(release, auxiliary=people.select("town", "age", "sex", "ill"))
    assert knowing.figures["fewest_candidates"] < 4, "what is published as it is may be known"


def test_samples_say_how_many_of_how_many(people):
    found = linked(people, original=people, attempts=100)
    assert (found.attempts, found.of) == (100, 600)
    assert found == linked(people, original=people, attempts=100)
    assert found != linked(people, original=people, attempts=100, seed=1)


def test_people_of_whom_nothing_is_known_are_refused(people):
    with pytest.raises(DataError, match="auxiliary table: it has no quasi-identifier"):
        linked(people, auxiliary=people.select("ill"))
    with pytest.raises(DataError, match=r"auxiliary table: .*no rows"):
        linked(people, auxiliary=people.head(0))
    with pytest.raises(DataError, match="600 rows and the original 10"):
        linked(people, original=people.head(10))


def reason(release, **more):
    [found] = kohort.attack(release, POLICY, only=["linkage"], **more).not_run
    return found.reason


def test_what_nobody_fits_is_no_success_of_the_release(people):
    grouped = people.with_columns(town=pl.lit("north"), age=pl.lit("[20 - 80]"))
    assert "covers no value of its hierarchy" in reason(grouped, original=people), "its groups are unknown"
    assert "none of 600 people fits any row" in reason(grouped, auxiliary=people.select("town"))


def test_people_who_are_not_in_the_release(people):
    release = kohort.anonymize(people, POLICY).table
    strangers = pl.DataFrame({"town": ["a", "elsewhere", "b", None]})
    found = linked(release, auxiliary=strangers)
    assert found.figures["fitting_none"] == 2
    assert "(50 % fit none)" in found.sentence


def test_a_single_row_of_somebody_who_is_in_the_table_is_certain(people):
    ids = people.with_columns(town=pl.lit("a"), age=pl.int_range(600))
    release = ids.with_columns(
        age=pl.when(pl.col("age") > 1).then(pl.lit("[2 - 599]")).otherwise(pl.col("age").cast(str))
    )
    found = linked(release, original=ids)
    assert (found.figures["singled_out"], found.certain) == (2, 2)
    assert found.succeeds
    assert linked(release.tail(598), original=ids).certain == 0
    assert linked(release, auxiliary=ids.head(1).select("age")).certain == 0
