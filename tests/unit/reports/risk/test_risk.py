"""Risk of tables, originals and releases, against counting by hand and by plain loops."""

from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.errors import DataError, PolicyError

PEOPLE = pl.DataFrame(
    {
        "age": ["31", "31", "64", "66", "64"],
        "sex": ["F", "F", "M", "M", "M"],
        "ill": ["flu", "cold", "flu", "flu", "flu"],
    }
)
PUBLISHED = pl.DataFrame(
    {
        "age": ["31", "31", "[64 - 66]", "[64 - 66]", "*"],
        "sex": ["F", "F", "M", "M", "*"],
        "ill": ["flu", "cold", "flu", "flu", "flu"],
    }
)
QI = ["age", "sex"]
POLICY = kohort.Policy.build(k=2, quasi_identifiers=QI, sensitive=["ill"], formats={})


def test_an_original_without_k():
    found = kohort.risk(PEOPLE, quasi_identifiers=QI)
    quasi = found.file.quasi
    assert (quasi.sizes, quasi.unique, quasi.smallest) == ({1: 1, 2: 2}, 1, 1)
    assert quasi.prosecutor.maximum == 1
    assert quasi.prosecutor.mean == 3 / 5 == quasi.marketer
    assert quasi.prosecutor.above == {"0.05": 1, "0.09": 1, "0.2": 1, "0.33": 1}
    assert found.file.strict.sizes == {1: 3, 2: 1}
    assert found.k is None


@pytest.mark.parametrize(("size", "above"), [(19, "0.05"), (10, "0.09"), (4, "0.2"), (2, "0.33")])
def test_a_threshold_stands_for_a_number_of_people(size, above):
    for rows, share in ((size, 1.0), (size + 1, 0.0)):
        table = pl.DataFrame({"age": ["31"] * rows})
        assert kohort.risk(table, quasi_identifiers=["age"]).file.quasi.prosecutor.above[above] == share


def test_before_and_after():
    found = kohort.risk(PUBLISHED, POLICY, original=PEOPLE)
    assert (found.file.rows, found.file.suppressed, found.file.quasi.sizes) == (5, 1, {2: 2})
    assert found.original.quasi.sizes == {1: 1, 2: 2}
    assert (found.containment.least, found.containment.covered, found.containment.below) == (2, 5, 0)
    assert found.containment.counts == {2: 5}


tables = st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=1, max_size=25)


@settings(max_examples=40, deadline=None)
@given(rows=tables)
def test_figures_equal_counting(rows):
    table = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    found = kohort.risk(table, quasi_identifiers=["a", "b"]).file
    sizes = Counter(row[:2] for row in rows)
    chances = [1 / sizes[row[:2]] for row in rows]
    assert found.quasi.prosecutor.mean == pytest.approx(sum(chances) / len(rows))
    assert found.quasi.prosecutor.maximum == max(chances)
    assert found.quasi.prosecutor.above["0.2"] == sum(sizes[row[:2]] < 5 for row in rows) / len(rows)
    everything = Counter(rows)
    assert found.strict.unique == sum(everything[row] == 1 for row in rows)
    for place, column in enumerate(found.columns):
        values = [row[place] for row in rows]
        pairs = list(combinations(values, 2))
        assert column.distinction == len(set(values)) / len(rows)
        assert column.separation == pytest.approx(sum(x != y for x, y in pairs) / max(len(pairs), 1))
    alone = {
        some: sum(count == 1 for count in Counter(tuple(row[j] for j in some) for row in rows).values()) / len(rows)
        for size in (1, 2, 3)
        for some in combinations(range(3), size)
    }
    least = {
        tuple("abc"[j] for j in some): share
        for some, share in alone.items()
        if share >= 0.05 and not any(alone[less] >= 0.05 for less in alone if set(less) < set(some))
    }
    assert {one.columns: one.unique for one in found.sets.found} == least
    assert found.sets.complete


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"sampling_fraction": 0.0}, "more than 0"),
        ({"population_size": 3}, "3 people and the table 5 rows"),
        ({"population_size": 10, "sampling_fraction": 0.1}, "more than once"),
    ],
)
def test_strange_populations_are_refused(given, says):
    with pytest.raises((DataError, PolicyError), match=says):
        kohort.risk(PEOPLE, quasi_identifiers=QI, **given)


def test_what_is_public_does_not_change_with_the_original_or_a_population():
    alone = kohort.risk(PUBLISHED, POLICY)
    population = pl.concat([PEOPLE.select(QI)] * 3)
    both = kohort.risk(PUBLISHED, POLICY, original=PEOPLE, population=population)
    assert alone.to_dict(private=False) == both.to_dict(private=False)
    assert alone.sentences(private=False) == both.sentences(private=False)
    assert alone.rows(private=False) == both.rows(private=False)
    assert [one.description for one in alone.charts(private=False)] == [
        one.description for one in both.charts(private=False)
    ]
    assert both.to_dict()["private"]["population"]["quasi"]["journalist"]["mean"] < alone.file.quasi.prosecutor.mean
    assert "private" not in alone.to_dict(private=False)


def test_charts_show_before_and_after():
    before, after, at_risk, telling = kohort.risk(PUBLISHED, POLICY, original=PEOPLE).charts()
    assert before.records == {"1": 1, "2": 4}
    assert after.records == {"2": 4}
    assert at_risk.series == {"original": [1, 1, 1, 1], "release": [1, 1, 1, 1]}
    assert telling.things == ["age", "sex", "ill"]
    for chart in (before, after, at_risk, telling):
        assert chart.svg("one").startswith("<svg")


def test_nothing_but_stars():
    found = kohort.risk(pl.DataFrame({"age": ["*"] * 3}), quasi_identifiers=["age"], population_size=10)
    assert (found.file.rows, found.file.suppressed, found.file.quasi.rows) == (3, 3, 0)
    assert found.sentences()[0].startswith("Every row is nothing but *")
    assert found.charts()
    # k of them are a class, as verify sees it
    found = kohort.risk(pl.DataFrame({"age": ["*"] * 3}), quasi_identifiers=["age"], k=3)
    assert (found.file.suppressed, found.file.quasi.smallest) == (0, 3)


def test_a_notebook_shows_it():
    assert "<table>" in kohort.risk(PUBLISHED, POLICY, original=PEOPLE)._repr_html_()


def test_releases_that_are_not_in_classes():
    people = pl.DataFrame({"age": [*range(20, 40)] * 2, "ill": ["a", "b", "c", "d"] * 10})
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    buckets = policy.with_changes("privacy", anonymity="buckets").with_changes("algorithm", name="anatomy")
    made = kohort.anonymize(people, buckets).tables["quasi"]
    found = kohort.risk(made, buckets, original=people)
    assert "as they are" in found.sentences()[0]
    assert [column.name for column in found.file.columns] == ["age"]
    assert (found.k, found.containment.below) == (None, None)

    matchings = policy.with_changes("privacy", anonymity="matchings").with_changes("algorithm", name="nh")
    found = kohort.risk(kohort.anonymize(people, matchings).table, matchings, original=people)
    assert "rows of a group differ" in found.sentences()[0]
    assert not any("promised" in sentence for sentence in found.sentences())
    assert found.containment.least >= 2


def test_persons_are_said():
    table = PUBLISHED.with_columns(who=pl.lit("x"))
    policy = kohort.Policy.build(k=2, quasi_identifiers=QI, sensitive=["ill"], identifiers=["who"], person="who")
    assert any("a person may have several" in one for one in kohort.risk(table, policy).sentences())
