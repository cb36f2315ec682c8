"""Figures: by hand, against counting record by record, and from files."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from helpers.cli import called
from kohort.cli.measure import print_figures
from kohort.codes.boxes import boxes_of_labels
from kohort.codes.encode import LineAxis, encode
from kohort.errors import PolicyError
from kohort.measures.figures import FIGURES, Partition
from kohort.measures.figures.base import figures_of
from kohort.measures.figures.discernibility import least_discernibility
from kohort.measures.figures.diversity import quasi_diversity, record_diversity
from kohort.policy import Policy
from kohort.table import typed_columns, typed_quasi_identifiers
from property.strategies import cases


def partition(frame, policy, labels, suppressed=0):
    """Classes as labelled, boxes tight."""
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    sensitive = None
    if policy.having_role("sensitive"):
        sensitive = encode(typed_columns(frame, policy, "sensitive"), policy, "sensitive")
    boxes = boxes_of_labels(codes.array, np.asarray(labels, np.int32))
    return Partition(np.asarray(labels), codes.axes, boxes.lo, boxes.hi, sensitive, policy.privacy.k, suppressed)


def small(labels, ill, pay=None, k=2, suppressed=0):
    frame = pl.DataFrame({"age": range(len(labels)), "ill": ill} | ({"pay": pay} if pay else {}))
    policy = Policy.build(k=k, quasi_identifiers=["age"], sensitive=[name for name in frame.columns if name != "age"])
    return figures_of(partition(frame, policy, labels, suppressed))


@given(case=cases(max_rows=30), data=st.data())
def test_as_counted_record_by_record(case, data):
    frame, policy = case
    n, k = frame.height, policy.privacy.k
    wild = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    labels = np.unique(wild, return_inverse=True)[1]
    suppressed = data.draw(st.integers(0, 3))
    figures = figures_of(partition(frame, policy, labels, suppressed))
    members = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    table = n + suppressed
    size = {i: len(group) for group in members for i in group}
    total = sum(size[i] if size[i] >= k else table for i in range(n)) + suppressed * table
    assert figures["discernibility"]["total"] == total
    assert figures["class-size"]["mean"] == pytest.approx(n / len(members))
    assert figures["class-size"]["c_avg"] == pytest.approx(n / len(members) / k)
    # null and "" are the same sensitive value, and no value at all counts as one
    values = [None if value is None else str(value) for value in frame["ill"]]
    wrong, alike = suppressed, 0
    for group in members:
        counts = Counter(values[i] for i in group)
        majority = max(counts.values())
        wrong += len(group) - majority
        alike += len(group) if len(counts) == 1 else 0
    assert figures["classification"]["ill"] == pytest.approx(wrong / table)
    assert figures["homogeneity"]["ill"] == pytest.approx(alike / n)
    domain = len(set(values))
    diversity = [len({values[i] for i in group}) / domain for group in members]
    if all(value is None for value in values):  # taken for numbers, which have no diversity
        assert figures["protection"] == {"mean": None, "classes_without": len(members)}
    else:
        assert figures["protection"]["mean"] == pytest.approx(np.mean([1 / share for share in diversity]))
        assert figures["protection"]["classes_without"] == 0


def test_a_tie_in_the_majority_is_no_error_twice():
    figures = small([0, 0, 0, 0], ["flu", "flu", "cold", "cold"])
    assert figures["classification"] == {"ill": 0.5}


def test_suppressed_records_are_errors_and_cost_the_table():
    figures = small([0, 0, 1, 1], ["flu", "flu", "cold", "flu"], suppressed=1)
    assert figures["classification"] == {"ill": 0.4}
    assert figures["discernibility"] == {"total": 4 + 4 + 5, "least": 4 + 9}
    assert figures["homogeneity"] == {"ill": 0.5}


def test_equal_sensitive_numbers_are_counted_apart():
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "pay": [10, 10, 10, 30]})
    policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["pay"])
    assert figures_of(partition(frame, policy, [0, 0, 1, 1]))["protection"] == {"mean": 1.0, "classes_without": 1}
    frame = frame.with_columns(pay=pl.lit(10))
    assert figures_of(partition(frame, policy, [0, 0, 1, 1]))["protection"] == {"mean": None, "classes_without": 2}


@pytest.mark.parametrize("kind", [pl.String, pl.Int64, pl.Float64, pl.Date])
def test_a_mean_of_no_class_is_none(kind, capsys):
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "pay": pl.Series([None] * 4, dtype=kind)})
    policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["pay"])
    for original in (None, frame):
        assert kohort.describe(frame, original, policy)["protection"] == {"mean": None, "classes_without": 2}
    print_figures(kohort.describe(frame, frame, policy))
    assert "mean none, classes_without 2" in capsys.readouterr().out


def test_missing_values_in_the_diversity():
    """A line with a missing value among others covers everything; on categories it is one more value."""
    frame = pl.DataFrame({"age": [1, None, None, None, 5, 6], "sex": ["f", None, "m", None, "f", "f"]})
    policy = Policy.build(k=2, quasi_identifiers=["age", "sex"])
    found = partition(frame, policy, [0, 0, 1, 1, 2, 2])
    figures = figures_of(found)
    # (1 + 3/3) of f..missing, (0 + 2/3), (1/5 + 1/3)
    assert figures["usefulness"]["mean"] == pytest.approx((2 + 2 / 3 + 1 / 5 + 1 / 3) / 3)
    assert "classification" not in figures


@pytest.mark.parametrize(
    ("records", "k", "least"),
    [(2000, 5, 10000), (2000, 10, 20000), (2000, 15, 30080), (2000, 20, 40000), (2000, 30, 60620),
     (2000, 45, 90920), (2000, 50, 100000), (7, 2, 17), (3, 2, 9), (2, 5, 4)],
)  # fmt: skip
def test_least_discernibility(records, k, least):
    assert least_discernibility(records, k) == least


def test_table_2_of_002():
    figures = small([0, 0, 1, 1, 2, 2, 2], ["flu"] * 7)
    assert figures["discernibility"]["total"] == 17
    assert figures["class-size"]["c_avg"] == pytest.approx(1.1667, abs=1e-4)


def test_no_partition_is_below_the_least():
    for sizes in ([2, 2, 3], [3, 4], [7], [2, 5]):
        labels = np.repeat(np.arange(len(sizes)), sizes)
        assert small(labels, ["flu"] * 7)["discernibility"]["total"] >= least_discernibility(7, 2)


def test_one_large_class():
    """No memory of records times records, nor of classes times values."""
    n = 200_000
    frame = pl.DataFrame({"age": [1] * n, "pay": range(n)})
    policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["pay"])
    whole = partition(frame, policy, np.zeros(n, np.int64))
    assert FIGURES.make("discernibility", {}).of(whole)["total"] == n * n
    assert FIGURES.make("protection", {}).of(whole)["mean"] == 1.0
    pairs = partition(frame, policy, np.arange(n) // 2)
    assert FIGURES.make("classification", {}).of(pairs)["pay"] == 0.5


# -- from a file ---------------------------------------------------------------------------------


@given(case=cases(max_rows=40))
@settings(max_examples=20)
def test_describe_finds_the_published_classes(tmp_path_factory, case):
    """The file says as much as the boxes: classes are counted from its texts by the standard library's means."""
    frame, policy = case
    release = kohort.anonymize(frame, policy)
    texts = [tuple(row) for row in release.table.select(policy.quasi_identifiers).rows()]
    sizes = Counter(texts).values()
    figures = kohort.describe(release.table, frame, policy)
    assert set(figures) == set(FIGURES)
    assert figures["class-size"]["classes"] == len(sizes)
    assert figures["discernibility"]["total"] == sum(size**2 for size in sizes)
    path = tmp_path_factory.mktemp("describe") / "release.csv"
    written = kohort.anonymize(frame, policy, output=path)
    again = kohort.describe(path, frame, policy)
    assert again["discernibility"] == kohort.describe(written.table, frame, policy)["discernibility"]
    assert again["usefulness"] == pytest.approx(figures["usefulness"])


RELEASE = """age,zip,ill
"[30, 40[",132**,flu
"[30, 40[",132**,cold
>=40,*,flu
>=40,*,flu
*,*,flu
"""


def foreign():
    original = pl.DataFrame({"age": [30, 39, 40, 52, 61], "zip": ["13201", "13202", "90001", "90002", "90002"],
                             "ill": ["flu", "cold", "flu", "flu", "flu"]})  # fmt: skip
    return original, Policy.build(
        k=2, quasi_identifiers=["age", "zip"], sensitive=["ill"], hierarchies={"zip": {"prefix": [5, 3]}}
    )


def test_a_file_of_another_tool(tmp_path):
    """Intervals count the values inside them; one row of stars is fewer than k, so it was suppressed."""
    path = tmp_path / "release.csv"
    path.write_text(RELEASE)
    original, policy = foreign()
    figures = kohort.describe(path, original, policy)
    assert figures["class-size"] == {"classes": 2, "smallest": 2, "largest": 2, "mean": 2.0, "c_avg": 1.0}
    assert figures["discernibility"] == {"total": 4 + 4 + 5, "least": 13}
    assert figures["classification"] == {"ill": 2 / 5}
    assert figures["homogeneity"] == {"ill": 2 / 4}
    # first class 9/31 of the ages, 2 of 4 codes; the second 21/31 and all codes
    assert figures["usefulness"]["mean"] == pytest.approx((9 / 31 + 2 / 4 + 21 / 31 + 1) / 2)


def test_enough_rows_of_stars_are_a_class(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text(RELEASE + "*,*,cold\n")
    original, policy = foreign()
    original = original.vstack(original[:1])
    figures = kohort.describe(path, original, policy)
    assert figures["class-size"]["classes"] == 3
    starred = policy.with_changes("output", suppressed="starred")
    assert kohort.describe(path, original, starred)["class-size"]["classes"] == 2
    assert kohort.describe(path, original, starred)["discernibility"]["total"] == 4 + 4 + 2 * 6


def test_a_release_without_its_sensitive_column(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("\n".join(line.rsplit(",", 1)[0] for line in RELEASE.splitlines()) + "\n")
    original, policy = foreign()
    figures = kohort.describe(path, original, policy)
    assert set(figures) == {name for name in FIGURES if not FIGURES[name].uses_sensitive}


def test_a_published_mean_counts_as_a_point(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("age,ill\n34.5,flu\n34.5,cold\n99,flu\n99,flu\n")
    original, _ = foreign()
    policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"])
    assert kohort.describe(path, original.select("age", "ill"), policy)["usefulness"] == {
        "mean": 0.0,
        "mean_of_records": 0.0,
    }


def test_neutralised_texts_and_dates_of_their_own_form(tmp_path):
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "ill": ["=a", "=a", "-b", "=a"], "day": ["1.2.2020"] * 3 + ["2.2.2020"]})
    policy = Policy(
        privacy={"k": 2},
        output={"formulas": "neutralised"},
        columns={
            "age": {"role": "quasi"},
            "ill": {"role": "sensitive", "hierarchy": {"tree": {"x": ["=a", "-b"]}}},
            "day": {"role": "sensitive", "type": "date", "format": "%d.%m.%Y"},
        },
    )
    path = tmp_path / "release.csv"
    kohort.anonymize(frame, policy, output=path)
    expected = {"ill": 0.25, "day": 0.25}
    assert kohort.describe(path, frame, policy)["classification"] == expected
    typed = frame.with_columns(pl.col("day").str.to_date("%d.%m.%Y"))
    typed.write_parquet(tmp_path / "release.parquet")
    assert kohort.describe(tmp_path / "release.parquet", frame, policy)["classification"] == expected


def test_the_command_prints_them(tmp_path):
    original, policy = foreign()
    (tmp_path / "release.csv").write_text(RELEASE)
    original.write_csv(tmp_path / "data.csv")
    (tmp_path / "policy.toml").write_text(policy.to_toml())
    command = ["measure", "release.csv", "--original", "data.csv", "-p", "policy.toml"]
    done = called(*command, folder=tmp_path)
    assert done.returncode == 0
    assert "discernibility  total 13, least 13" in done.stdout
    assert "classification  ill 0.4000" in done.stdout
    told = called(*command, "--json", folder=tmp_path)
    facts = json.loads(told.stdout)
    assert facts["figures"]["class-size"]["classes"] == 2
    assert 0 < facts["total"] < 1


# -- with the original at hand ----------------------------------------------------------------------


def test_usefulness_of_table_1_2_from_files_is_that_of_the_paper():
    """Definition 3 counts the values of the members: the second class has 2 of 4 postal codes."""
    original = pl.DataFrame(
        {
            "gender": ["Male", "Male", "Female", "Female", "Female", "Female", "Male"],
            "age": [40, 32, 40, 38, 29, 34, 39],
            "zip": ["23051", "70825", "23051", "23038", "81307", "23038", "23051"],
        }
    )
    release = pl.DataFrame(
        {
            "gender": ["*", "*", "*", "Female", "*", "Female", "*"],
            "age": ["[39,40]", "[29,32]", "[39,40]", "[34,38]", "[29,32]", "[34,38]", "[39,40]"],
            "zip": ["23051", "*****", "23051", "23038", "*****", "23038", "23051"],
        }
    ).sample(fraction=1, shuffle=True, seed=1)
    policy = Policy.build(
        k=2, quasi_identifiers=["gender", "age", "zip"], hierarchies={"zip": {"prefix": [5, 4, 3, 2, 1]}}
    )
    members = [(0, 2, 6), (1, 4), (3, 5)]
    shares = []
    for some in members:
        gender, age, code = (original[name].gather(some).to_list() for name in original.columns)
        shares.append(Fraction(len(set(gender)), 2) + Fraction(max(age) - min(age), 11) + Fraction(len(set(code)), 4))
    figures = kohort.describe(release, original, policy)["usefulness"]
    assert figures["mean_of_records"] == pytest.approx(float(sum(shares) / 3), abs=1e-12)
    assert round(figures["mean_of_records"], 4) == 1.4091
    assert round(figures["mean"], 4) == 1.5758
    assert "mean_of_records" not in kohort.describe(release, None, policy)["usefulness"]


@given(case=cases(max_rows=25))
@settings(max_examples=30, deadline=None)
def test_usefulness_counts_the_records_that_fit_a_class(case):
    """Against comparing every record with every class; never more than what the boxes cover."""
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    labels = np.arange(frame.height) * 3 // frame.height
    boxes = boxes_of_labels(codes.array, labels.astype(np.int32))
    part = Partition(labels, codes.axes, boxes.lo, boxes.hi, None, 2, 0, codes.array)
    found = record_diversity(part)
    for label in range(labels.max() + 1):
        lo, hi = boxes.lo[labels == label][0], boxes.hi[labels == label][0]
        inside = codes.array[((codes.array >= lo) & (codes.array <= hi)).all(axis=1)]
        share = 0.0
        for axis, column in zip(codes.axes, inside.T, strict=True):
            if not isinstance(axis, LineAxis):
                share += len(set(column.tolist())) / axis.size
            elif column.max() == axis.missing_code:
                share += 0.0 if column.min() == axis.missing_code else 1.0
            else:
                share += axis.positions[column.max()] - axis.positions[column.min()]
        assert found[label] == pytest.approx(share)
    assert (found <= quasi_diversity(part) + 1e-12).all()


def test_epsilon_can_be_set():
    frame = pl.DataFrame({"a": [1, 1, 1], "pay": [0, 2, 10]})
    policy = Policy.build(k=3, quasi_identifiers=["a"], sensitive=["pay"])
    deltas = {
        epsilon: kohort.describe(frame, frame, policy, epsilon=epsilon)["epsilon"]["delta"]
        for epsilon in (0.1, 0.2, 0.8)
    }
    assert deltas == {0.1: 1.0, 0.2: 0.5, 0.8: 0.0}  # distances .2, .8 and 1
    with pytest.raises(PolicyError, match="'epsilon' must be a number from 0 to 1"):
        kohort.describe(frame, frame, policy, epsilon=1.5)
