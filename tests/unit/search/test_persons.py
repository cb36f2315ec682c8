"""k persons in every class, where a person has several records."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.tasks import costs_of, numbers
from kohort.algorithms import ALGORITHMS
from kohort.audit.meaning.spelling import identity
from kohort.codes.boxes import Solution
from kohort.errors import DataError, PolicyError
from kohort.measures import MEASURES
from kohort.search.persons import Work, with_k_persons
from kohort.search.task import Task
from kohort.table.identities import identities

IN_CLASSES = [name for name, algorithm in ALGORITHMS.items() if algorithm.anonymity == "classes"]


def table(patients=60, seed=5):
    """Visits: one to five for each patient; the age may change between them."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(patients), rng.integers(1, 6, patients))
    return pl.DataFrame(
        {
            "patient": who + 100,
            "age": rng.integers(18, 90, patients)[who] + rng.integers(0, 2, len(who)),
            "sex": rng.choice(["f", "m"], patients)[who],
            "ill": rng.choice(["flu", "cold", "cough", "fever"], len(who)),
        }
    )


def rules(**changes):
    given = {"algorithm": "fast", "person": "patient"} | changes
    return kohort.Policy.build(
        k=4, identifiers=["patient"], quasi_identifiers=["age", "sex"], sensitive=["ill"], seed=2, **given
    )


def persons_by_class(release, original, quasi=("age", "sex")):
    """Count with Python's own sets, from the published table and the original."""
    found = {}
    for row, record in zip(release.table.select(quasi).rows(), release.row_order.tolist(), strict=True):
        found.setdefault(row, set()).add(original["patient"][record])
    return sorted(map(len, found.values()))


@pytest.mark.parametrize("name", IN_CLASSES)
def test_every_algorithm_in_classes_can_count_persons(name):
    original = table()
    records = kohort.anonymize(original, rules(algorithm=name, person=None))
    release = kohort.anonymize(original, rules(algorithm=name))
    assert persons_by_class(release, original)[0] >= 4
    assert release.verdict.check("persons").figures["fewest_persons"] == persons_by_class(release, original)[0]
    assert "patient" not in release.table.columns
    assert release.loss.total >= 0.99 * records.loss.total


def test_records_of_one_person_would_be_enough_without_it():
    """The test above means something: counting records leaves classes of too few persons."""
    assert persons_by_class(kohort.anonymize(table(), rules(person=None)), table())[0] < 4


def test_equal_visits_need_no_joining():
    """A person with ten equal records takes part once."""
    who = np.repeat(np.arange(12), 10)
    original = pl.DataFrame({"patient": who, "age": 20 + who, "sex": ["f"] * 120, "ill": ["flu"] * 120})
    release = kohort.anonymize(original, rules(algorithm="auto"))
    assert persons_by_class(release, original) == [4, 4, 4]
    assert "too few persons" not in release.facts


def test_refining_comes_before():
    original = table()
    policy = rules().with_changes("algorithm", refine=True)
    release = kohort.anonymize(original, policy)
    assert persons_by_class(release, original)[0] >= 4
    assert "local search" in release.facts.get("before that", release.facts)
    assert list(release.provenance.seconds).index("persons") == list(release.provenance.seconds).index("refine") + 1


def test_the_nearest_class_is_joined_and_facts_are_told():
    """1, 2 and 9, 10 are classes of two persons; 4 and 4 are one person's."""
    codes = numbers([[1], [2], [4], [4], [9], [10]])
    labels = np.array([0, 0, 1, 1, 2, 2], np.int32)
    persons = np.array([0, 1, 2, 2, 3, 4])
    solution = with_k_persons(_task(codes, 2), Solution.of_labels(codes, labels, {"told": 1}), persons)
    assert solution.boxes.lo.ravel().tolist() == [0, 0, 0, 0, 3, 3]
    assert solution.boxes.hi.ravel().tolist() == [2, 2, 2, 2, 4, 4]
    assert solution.clusters == 2
    assert solution.facts == {
        "too few persons": "in 1 of 3 classes, which joined others",
        "before that": {"told": 1},
    }


def test_joining_goes_on_until_there_are_enough():
    codes = numbers([[1], [2], [3], [4], [5], [6]])
    labels = np.array([0, 0, 1, 1, 2, 2], np.int32)
    solution = with_k_persons(_task(codes, 3), Solution.of_labels(codes, labels), np.array([0, 0, 1, 1, 2, 2]))
    assert solution.boxes.lo.ravel().tolist() == [0] * 6
    assert solution.boxes.hi.ravel().tolist() == [5] * 6


def test_suppressed_records_hide_nobody():
    """With the suppressed record there are enough persons, without it there are not: then nobody is suppressed."""
    codes = numbers([[1], [2], [3], [4], [90]])
    labels = np.array([0, 0, 1, 1, -1], np.int32)
    solution = with_k_persons(_task(codes, 3), Solution.of_labels(codes, labels), np.array([0, 0, 1, 1, 2]))
    assert solution.kept is None
    assert solution.boxes.hi.ravel().tolist() == [4] * 5


def test_who_is_suppressed_takes_equal_records_along_within_the_limit():
    """Ten copies of an outlier stand for one person: the allowance is in records."""
    codes = numbers([[1]] * 3 + [[90]] * 10)
    work = Work(_task(codes, 2, allowance=9), np.array([0, 1, 2] + [3] * 10))
    assert len(work.task.codes.array) == 4
    assert work.task.allowance == 0
    assert Work(_task(codes, 2, allowance=10), work.persons).task.allowance == 1


def _task(codes, k, **more):
    return Task(
        codes=codes,
        measure=MEASURES.make("ncp", {}),
        costs=costs_of(codes),
        k=k,
        rng=np.random.default_rng(1),
        progress=lambda share: None,
        **more,
    )


def test_suppression_and_missing_values():
    original = table().with_columns(
        pl.when(pl.int_range(pl.len()) % 17 == 3).then(None).otherwise(pl.col("age")).alias("age")
    )
    policy = rules(missing="suppress", suppression_limit=0.2, algorithm="datafly")
    release = kohort.anonymize(original, policy)
    assert release.table.height < original.height
    assert persons_by_class(release, original)[0] >= 4


def test_a_further_model_is_kept():
    original = table(150)
    models = [{"model": "frequency-l-diversity", "column": "ill", "l": 2}]
    policy = rules(algorithm="cb").with_changes("privacy", models=models)
    release = kohort.anonymize(original, policy)
    assert release.verdict.check("frequency-l-diversity").passed
    assert persons_by_class(release, original)[0] >= 4


# -- who is who --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "series",
    [
        pl.Series("patient", [7, 8, None]),
        pl.Series("patient", [7, 8, None], dtype=pl.UInt8),
        pl.Series("patient", [7.0, 8.0, float("nan")]),
        pl.Series("patient", ["7.00", "8", None], dtype=pl.String).cast(pl.Decimal(10, 2)),
        pl.Series("patient", ["7", " +8.0 ", ""]),
        pl.Series("patient", ["7", "8", "  "]),
    ],
    ids=str,
)
def test_equal_numbers_are_one_identifier_in_every_kind_of_table(series):
    assert identities(series, rules()).to_list() == ["7", "8", None]


def test_codes_and_texts_are_identifiers_as_they_are():
    texts = ["007", "-0", "-7", "1e3", "7.5", "ZOE\u0308", "zo\u00eb", "+-7"]
    found = identities(pl.Series("patient", texts), rules()).to_list()
    assert found == ["007", "0", "-7", "1e3", "7.5", "ZO\u00cb", "zo\u00eb", "+-7"]
    assert identities(pl.Series("patient", [dt.date(2020, 1, 2)]), rules()).to_list() == ["2020-01-02"]
    assert identities(pl.Series("patient", [True]), rules()).to_list() == ["true"]


def test_the_audit_reads_identifiers_in_the_same_way():
    texts = ["007", "-0", "-7", "1e3", "7.5", "ZOE\u0308", "+-7", " 7.0", "+8", "0.0", "Ann Lee "]
    assert [identity(text) for text in texts] == identities(pl.Series("patient", texts), rules()).to_list()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_of_either_kind(tmp_path, kind):
    """A float column has 100.0 in Parquet and in CSV; nobody is counted twice."""
    original = table().with_columns(pl.col("patient").cast(pl.Float64))
    path = tmp_path / f"visits.{kind}"
    getattr(original, f"write_{kind}")(path)
    release = kohort.anonymize(path, rules(), output=tmp_path / f"out.{kind}")
    assert persons_by_class(release, original)[0] >= 4


def test_two_texts_of_one_person_are_one_person():
    original = pl.DataFrame({"patient": ["7", "7.0", " 8", "9"], "age": [1, 1, 50, 51], "sex": ["f"] * 4, "ill": "x"})
    release = kohort.anonymize(original, rules().with_changes("privacy", k=2))
    assert "1" not in release.table["age"].to_list(), "both rows of age 1 are one person's"


# -- refusals --------------------------------------------------------------------------------------


def test_a_missing_person_is_refused_by_row():
    original = table().with_columns(pl.col("patient").cast(pl.String)).with_row_index()
    original = original.with_columns(
        pl.when(pl.col("index").is_in([4, 9])).then(pl.lit(" ")).otherwise(pl.col("patient")).alias("patient")
    ).drop("index")
    with pytest.raises(DataError, match=r"column 'patient': 2 records do not say who .* \(first in row 5\)"):
        kohort.anonymize(original, rules())


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.5, 2.0, 3.0], "1 value is no whole number of at most 2\\^53 \\(first in row 1\\)"),
        ([1.0, 2.0, 2.0**60], "\\(first in row 3\\)"),
        (pl.Series([1, 2, 3]).cast(pl.Datetime), "dates with a time cannot identify people"),
    ],
)
def test_identifiers_without_one_text_are_refused(values, sentence):
    with pytest.raises(DataError, match=sentence):
        identities(pl.Series("patient", values), rules())


def test_too_few_persons_are_refused_before_work():
    original = table(3)
    assert original.height > 4
    with pytest.raises(PolicyError, match="k = 4 is more than the 3 persons who take part"):
        kohort.anonymize(original, rules())


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name not in IN_CLASSES])
def test_other_kinds_of_release_are_refused(name):
    policy = rules(algorithm=name).with_changes("privacy", anonymity=ALGORITHMS[name].anonymity)
    with pytest.raises(PolicyError, match=f"persons are counted in releases of one table in classes, and '{name}'"):
        kohort.anonymize(table(), policy)


def test_several_tables_are_refused():
    vertical = {"name": "two-level", "form": "vertical", "accept_broken_guarantee": True}
    with pytest.raises(PolicyError, match="persons are counted in releases of one table in classes"):
        kohort.anonymize(table(), rules(algorithm=vertical))


@pytest.mark.parametrize("person", ["patent", "age"])
def test_the_person_must_be_an_identifier(person):
    with pytest.raises(PolicyError, match=r"'privacy\.person' must name a column of role 'identifier'"):
        rules(person=person)


# -- beside anonymize ------------------------------------------------------------------------------


def test_compare_counts_persons_and_tells_who_cannot():
    outcomes = {outcome.algorithm: outcome for outcome in kohort.compare(table(), rules(), algorithms=["fast", "nh"])}
    assert outcomes["fast"].loss == pytest.approx(kohort.anonymize(table(), rules()).loss.total)
    assert "persons are counted" in outcomes["nh"].refused


def test_explain_is_about_classes_of_persons():
    found = kohort.explain(table(), rules())
    assert found.loss == pytest.approx(kohort.anonymize(table(), rules()).loss.total)
    assert found.loss > found.tried_loss


def test_the_order_of_the_table_does_not_matter():
    original = table()
    mixed = original.sample(fraction=1.0, shuffle=True, seed=3)
    one, two = (kohort.anonymize(each, rules()).table.select("age", "sex") for each in (original, mixed))
    assert sorted(one.rows()) == sorted(two.rows())
