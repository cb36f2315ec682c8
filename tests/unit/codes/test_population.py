"""Promises about a population and about the sizes of classes: what is counted, repaired and refused."""

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.errors import DataError, InfeasibleError, PolicyError
from kohort.policy import Policy
from kohort.privacy import MODELS

AGES = {"age": [30, 31, 32, 60, 61, 62], "sex": ["f", "f", "f", "m", "m", "m"]}
PEOPLE = {"age": [30, 31, 32, 33, 60, 61, 62, 62, 62, 99, None], "sex": [*"ffffmmmmmm", None]}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A policy with one model beside k, in a folder with a population."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(PEOPLE).write_csv("people.csv")

    def make(model, **policy):
        policy = {"k": 2, "quasi_identifiers": ["age", "sex"], "seed": 1, "algorithm": "fast"} | policy
        return Policy.build(**policy).with_changes("privacy", models=[model])

    return make


def classes(release):
    return sorted(release.table.group_by("age", "sex").len().rows())


def kmap(k, file="people.csv"):
    return {"model": "k-map", "k": k, "population": file}


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (3, [("[30 - 32]", "f", 3), ("[60 - 62]", "m", 3)]),
        # the men cover five, as three people are 62; the women cover three only, as the one of 33 is not described
        (4, [("[30 - 62]", "*", 6)]),
        (9, [("[30 - 62]", "*", 6)]),
    ],
)
def test_classes_that_cover_too_few_are_merged(asked, k, expected):
    assert classes(kohort.anonymize(pl.DataFrame(AGES), asked(kmap(k)))) == expected


def test_a_population_that_is_too_small_is_refused_with_what_it_has(asked):
    with pytest.raises(InfeasibleError, match="even one class of all records covers 9 records of the population"):
        kohort.anonymize(pl.DataFrame(AGES), asked(kmap(10)))


def test_values_that_the_table_lacks_are_covered_by_what_describes_them(asked):
    """A prefix covers codes that no record of the table has."""
    pl.DataFrame({"zip": ["10001", "10002", "10003", "10004", "20001"]}).write_csv("people.csv")
    table = pl.DataFrame({"zip": ["10001", "10002"]})
    policy = asked(kmap(4), quasi_identifiers=["zip"], hierarchies={"zip": {"prefix": [5, 3]}})
    release = kohort.anonymize(table, policy)
    assert set(release.table["zip"]) == {"100**"}
    assert release.verdict.check("k-map").figures["fewest_covered"] == 4


def test_the_audit_counts_for_itself(asked):
    """A file of another tool, with descriptions that are too narrow."""
    written = pl.DataFrame({"age": ["[30 - 32]"] * 2 + ["[62 - 99]"] * 2, "sex": ["f"] * 2 + ["m"] * 2})
    check = kohort.verify(written, asked(kmap(4))).check("k-map")
    assert not check.passed
    assert check.sentence == "k-map: 1 of 2 classes does not keep it."
    assert check.figures == {"classes_failing": 1, "rows_in_them": 2, "fewest_covered": 3, "population": 11}
    assert kohort.verify(written, asked(kmap(3))).check("k-map").passed


@pytest.mark.parametrize(
    ("least", "most", "passed"),
    [(0.5, 0.67, True), (0.5, 0.66, False), (0.51, 0.67, False), (0.0, 1.0, True)],
)
def test_presence_is_judged_at_both_limits(asked, least, most, passed):
    """Two of three and two of four."""
    written = pl.DataFrame({"age": ["[30 - 32]"] * 2 + ["[62 - 99]"] * 2, "sex": ["f"] * 2 + ["m"] * 2})
    model = {"model": "delta-presence", "least": least, "most": most, "population": "people.csv"}
    assert kohort.verify(written, asked(model)).check("delta-presence").passed == passed


def test_presence_that_merging_does_not_reach(asked):
    """One class of all records is too present, and two wide ones are not."""
    model = {"model": "delta-presence", "least": 0.0, "most": 0.5, "population": "people.csv"}
    release = kohort.anonymize(pl.DataFrame(AGES), asked(model))
    assert release.verdict.check("delta-presence").passed
    with pytest.raises(InfeasibleError, match="no release was found that keeps delta-presence"):
        kohort.anonymize(pl.DataFrame(AGES), asked(model | {"most": 0.1}))


def test_the_population_is_never_written_over(asked):
    with pytest.raises(PolicyError, match="population of 'k-map'"):
        kohort.anonymize(pl.DataFrame(AGES), asked(kmap(3)), output="people.csv")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, r"people\.csv: cannot be read \(No such file"),
        ("age,sex\n", "has no rows"),
        ("age\n30\n", "quasi-identifier 'sex' is not in it"),
        ("age,sex\nold,f\n", "column 'age': holds texts?, and .* in the table; give it a type"),
    ],
)
def test_a_population_that_does_not_fit_is_refused(asked, tmp_path, content, says):
    (tmp_path / "people.csv").unlink()
    if content is not None:
        (tmp_path / "people.csv").write_text(content)
    with pytest.raises(DataError, match=says) as raised:
        kohort.anonymize(pl.DataFrame(AGES), asked(kmap(3)), output="out.csv")
    assert str(raised.value).startswith("population of 'k-map': ")
    assert not (tmp_path / "out.csv").exists()


def test_values_that_the_hierarchy_lacks_are_refused_by_row(asked):
    policy = asked(kmap(3), hierarchies={"sex": {"tree": {"all": ["f", "m"]}}})
    (pl.DataFrame(PEOPLE).with_columns(sex=pl.lit("other"))).write_csv("people.csv")
    with pytest.raises(DataError, match=r"population of 'k-map': column 'sex': 1 distinct values in 11 rows are not"):
        kohort.anonymize(pl.DataFrame(AGES), policy)


@pytest.mark.parametrize("content", [None, "age\n30\n"])
def test_verify_refuses_it_too(asked, tmp_path, content):
    (tmp_path / "people.csv").unlink()
    if content is not None:
        (tmp_path / "people.csv").write_text(content)
    with pytest.raises(DataError, match=r"population0? people\.csv: (cannot be opened|column 'sex' of the policy)"):
        kohort.verify(pl.DataFrame({"age": ["30"] * 2, "sex": ["f"] * 2}), asked(kmap(3)))


@pytest.mark.parametrize(
    ("name", "parameters", "says"),
    [
        ("average-risk", {"most": 0}, "'most' must be a number above 0 and at most 1; got 0"),
        ("average-risk", {"most": float("nan")}, "'most' must be a number"),
        ("average-risk", {"most": True}, "'most' must be a number"),
        ("average-risk", {"most": "0.1"}, "'most' must be a number"),
        ("sample-uniqueness", {"most": 1.5}, "'most' must be a number from 0 to 1; got 1.5"),
        ("k-map", {"k": 1, "population": "p.csv"}, "'k' must be an integer of at least 2; got 1"),
        ("k-map", {"k": 3, "population": " "}, "'population' must be the path of a file"),
        ("delta-presence", {"least": 0.5, "most": 0.1, "population": "p.csv"}, "'least' must not be more than 'most'"),
        ("delta-presence", {"least": -1, "most": 0.1, "population": "p.csv"}, "'least' must be a number from 0 to 1"),
    ],
)
def test_bad_numbers_are_refused(name, parameters, says):
    with pytest.raises(PolicyError, match=says):
        MODELS.make(name, parameters)


@pytest.mark.parametrize("model", [{"model": "average-risk", "most": 0.5}, kmap(3)])
def test_releases_without_classes_are_refused_before_work(asked, model):
    policy = asked(model, algorithm="nh").with_changes("privacy", anonymity="matchings")
    with pytest.raises(PolicyError, match=f"algorithm 'nh' cannot keep '{model['model']}'; choose one that can"):
        kohort.anonymize(pl.DataFrame(AGES), policy)


def test_the_limit_is_the_decimal_that_the_policy_writes():
    """One tenth is no binary number: ten classes of 100 records are exactly one tenth."""
    assert MODELS.make("average-risk", {"most": 0.1}).keeps(np.full(10, 10))
    assert not MODELS.make("average-risk", {"most": 0.1}).keeps(np.array([9] + [10] * 9))
    assert MODELS.make("average-risk", {"most": 0.09}).least_size == 12
    assert (
        MODELS.make("delta-presence", {"least": 0.1, "most": 0.3, "population": "p"})
        .keeps(np.array([1, 3]), np.array([10, 10]))
        .all()
    )


def test_a_risk_that_one_class_does_not_reach_is_refused(asked):
    with pytest.raises(InfeasibleError, match=r"even one class of all has 1/6"):
        kohort.anonymize(pl.DataFrame(AGES), asked({"model": "average-risk", "most": 0.1}))
    assert classes(kohort.anonymize(pl.DataFrame(AGES), asked({"model": "average-risk", "most": 0.2}))) == [
        ("[30 - 62]", "*", 6)
    ]


@pytest.mark.parametrize(("most", "passed"), [(0.2, True), (0.19, False)])
def test_unique_records_of_other_files_are_counted(asked, most, passed):
    written = pl.DataFrame({"age": ["1", "2", "2", "2", "2"], "sex": ["f"] * 5})
    check = kohort.verify(written, asked({"model": "sample-uniqueness", "most": most})).check("sample-uniqueness")
    assert check.passed == passed
    assert check.figures["found"] == 0.2
