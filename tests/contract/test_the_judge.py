"""The judges of the contract: they let sound algorithms of every kind pass, and catch each way of being unsound."""

import csv
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

from contract.tables import SENSITIVE, example_of, trial_of
from kohort.algorithms import ALGORITHMS, Algorithm, Clusterer
from kohort.algorithms.anatomy import InBuckets
from kohort.algorithms.two_level import InSubTables, SubTable
from kohort.audit.verdict import Check
from kohort.codes.boxes import Boxes, Solution
from kohort.codes.publish import published_tables
from kohort.table.targets import table_path
from oracles.files import broken_files, rows_of
from oracles.promises import broken, digest, possible_rows

K = 4


@dataclass(frozen=True)
class Dummy(Algorithm):
    """What every algorithm has to say of itself."""

    summary = paper = recoding = guarantee = complexity = "a dummy"
    keeps = frozenset({"k-anonymity"})


def runs(n, k):
    """Runs of k, the last of them longer."""
    return np.minimum(np.arange(n) // k, n // k - 1).astype(np.int32)


def rings(task):
    """Each record gets the box of itself and the next k - 1 of its run, the first of the run following its last."""
    labels = runs(len(task.codes.array), task.k)
    lo, hi = task.codes.array.copy(), task.codes.array.copy()
    for label in range(labels.max() + 1):
        members = np.flatnonzero(labels == label)
        for step in range(task.k):
            others = task.codes.array[np.roll(members, -step)]
            lo[members], hi[members] = np.minimum(lo[members], others), np.maximum(hi[members], others)
    return Boxes(lo, hi)


@dataclass(frozen=True)
class Runs(Dummy, Clusterer):
    """Runs of k in the order of the table."""

    def cluster(self, task):
        return runs(len(task.codes.array), task.k)


@dataclass(frozen=True)
class Suppressing(Dummy, Clusterer):
    """Runs of k, and as many records suppressed as may be."""

    def cluster(self, task):
        out = np.full(task.allowance, -1, np.int32)
        return np.append(out, runs(len(task.codes.array) - len(out), task.k))


@dataclass(frozen=True)
class Rings(Dummy):
    """Overlapping boxes."""

    anonymity = "matchings"

    def solve(self, task):
        return Solution(rings(task), len(task.codes.array))


@dataclass(frozen=True)
class Buckets(Dummy):
    """Records in the order of their sensitive values, dealt like cards."""

    anonymity = "buckets"
    uses_sensitive = True

    def solve(self, task):
        order = np.argsort(task.sensitive.array[:, 0], kind="stable")
        number = len(order) // task.k
        buckets = np.empty(len(order), np.int32)
        buckets[order] = np.arange(len(order)) % number
        return InBuckets(Boxes(task.codes.array, task.codes.array), number, buckets=buckets)


@dataclass(frozen=True)
class Tables(Dummy):
    """One sub-table for each quasi-identifier."""

    def solve(self, task):
        found = Solution.of_labels(task.codes, runs(len(task.codes.array), task.k))
        tables = tuple(SubTable((j,), task.k) for j in range(len(task.codes.axes)))
        return InSubTables(found.boxes, found.clusters, tables=tables)


@pytest.fixture
def register(monkeypatch):
    """Make a dummy known."""

    def add(cls):
        monkeypatch.setitem(ALGORITHMS._classes, "dummy", cls)
        monkeypatch.setattr(cls, "name", "dummy", raising=False)

    return add


@pytest.fixture
def judged(register):
    """Run a dummy on a table, let its solution be changed, and judge that."""

    def judge(cls, change=lambda solution, trial: solution, table="mixed", **changes):
        register(cls)
        trial = trial_of("dummy", example_of(table), **changes)
        task = trial.task
        solution = change(trial.algorithm.solve(task), trial)
        return broken(solution, task.codes, task.k, cls.anonymity, task.allowance, trial.sensitive)

    return judge


@pytest.mark.parametrize("cls", [Runs, Suppressing, Rings, Buckets, Tables])
@pytest.mark.parametrize("table", ["n = k", "n = 2k - 1", "n = 2k", "all equal", "missing", "mixed"])
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_sound_algorithms_pass(judged, cls, table, limit):
    assert judged(cls, table=table, suppression_limit=limit) == []


def too_many(solution, trial):
    kept = np.ones(len(trial.sensitive), bool)
    kept[: trial.task.allowance + 1] = False
    return replace(solution, kept=kept)


def one_leaves_its_class(solution, trial):
    boxes = Boxes(solution.boxes.lo.copy(), solution.boxes.hi.copy())
    boxes.lo[0] = boxes.hi[0] = trial.task.codes.array[0]
    return replace(solution, boxes=boxes)


def one_is_not_covered(solution, trial):
    lo = solution.boxes.lo.copy()
    lo[:K, 0] = solution.boxes.hi[:K, 0]
    return replace(solution, boxes=Boxes(lo, solution.boxes.hi))


def beyond_the_axis(solution, trial):
    hi = solution.boxes.hi.copy()
    hi[:] = trial.task.codes.axes[0].size
    return replace(solution, boxes=Boxes(solution.boxes.lo, hi))


@pytest.mark.parametrize(
    ("cls", "change", "fault"),
    [
        (Runs, too_many, "1 records are suppressed, and only 0 may be"),
        (Runs, one_leaves_its_class, "a box is that of 1 records"),
        (Runs, one_is_not_covered, "does not cover"),
        (Runs, beyond_the_axis, "outside its axis"),
        (Runs, lambda s, t: replace(s, kept=np.zeros(310, bool)), "every record is suppressed"),
        (Runs, lambda s, t: replace(s, kept=np.ones(309, bool)), "kept has shape"),
        (Runs, lambda s, t: replace(s, boxes=Boxes(s.boxes.lo.astype(int), s.boxes.hi)), "lo has shape .* int64"),
        (Runs, lambda s, t: InBuckets(s.boxes, 1, buckets=np.zeros(310, np.int32)), "the algorithm promises classes"),
        (Tables, one_leaves_its_class, "a box is that of"),
        (Tables, lambda s, t: replace(s, tables=(SubTable((0,), 1),)), "promises k = 1"),
        (Rings, one_is_not_covered, "does not cover"),
        (Rings, one_leaves_its_class, "of the rows only"),
        (Buckets, lambda s, t: Solution(s.boxes, s.clusters), "no bucket"),
        (Buckets, lambda s, t: replace(s, buckets=s.buckets + 1), "not numbered"),
        (Buckets, lambda s, t: replace(s, buckets=runs(310, K - 1)), "a bucket has fewer than 4"),
        (Buckets, lambda s, t: replace(s, buckets=runs(310, K)), "more than one in 4"),
        (Buckets, lambda s, t: replace(s, boxes=rings(t.task)), "not exact"),
    ],
)
def test_each_fault_is_caught(judged, cls, change, fault):
    assert any(re.search(fault, found) for found in judged(cls, change))


def test_a_box_that_fits_is_not_yet_a_row_that_can_be_had():
    """Record 0 fits rows 0 and 1; but if it is row 1, nobody is left for row 0."""
    fits = np.array([[1, 1, 0], [0, 1, 1], [0, 1, 1]], bool)
    assert possible_rows(fits).astype(int).tolist() == [[1, 0, 0], [0, 1, 1], [0, 1, 1]]


def test_possible_rows_are_those_of_some_permutation():
    rng = np.random.default_rng(4)
    for _ in range(50):
        fits = (rng.random((5, 5)) < 0.35) | np.eye(5, dtype=bool)
        expected = np.zeros((5, 5), bool)
        for rows in permutations(range(5)):
            if fits[range(5), rows].all():
                expected[range(5), rows] = True
        np.testing.assert_array_equal(possible_rows(fits), expected)


def test_a_digest_tells_solutions_apart():
    boxes = Boxes(np.zeros((3, 1), np.int32), np.ones((3, 1), np.int32))
    some = [
        Solution(boxes, 1),
        Solution(boxes, 2),
        Solution(Boxes(boxes.lo, boxes.hi + 1), 1),
        Solution(boxes, 1, kept=np.array([True, True, False])),
        InBuckets(boxes, 1, buckets=np.zeros(3, np.int32)),
        InSubTables(boxes, 1, tables=(SubTable((0,), 2),)),
    ]
    assert len({digest(solution) for solution in some}) == len(some)


# -- the reader of files ---------------------------------------------------------------------------


@pytest.fixture
def written(register, tmp_path):
    """Write the tables of a dummy's release, change their rows, and read them again."""

    def write(cls, change=lambda rows, trial: None, **changes):
        register(cls)
        example = example_of("missing in a tree")
        trial = trial_of("dummy", example, **changes)
        policy = example.policy_for("dummy", **changes).with_changes("output", shuffle_seed=1)
        everyone = np.arange(example.frame.height)
        parts = published_tables(example.frame, everyone, trial.task.codes, trial.algorithm.solve(trial.task), policy)
        for part in parts:
            file = table_path(tmp_path / "out.csv", part.name)
            part.frame.write_csv(file)
            rows = rows_of(file)
            change(rows, part.order)
            with file.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.DictWriter(stream, list(dict.fromkeys(name for row in rows for name in row)))
                writer.writeheader()
                writer.writerows(rows)
        checks = [Check("k", True, "", {"k": part.policy.privacy.k}, part.name) for part in parts]
        release = SimpleNamespace(
            tables={part.name: part.frame for part in parts},
            row_order=parts[0].order,
            verdict=SimpleNamespace(checks=checks),
        )
        return broken_files(tmp_path / "out.csv", release, example.frame, policy)

    return write


@pytest.mark.parametrize("cls", [Runs, Suppressing, Rings, Buckets, Tables])
def test_sound_files_pass(written, cls):
    assert written(cls, suppression_limit=0.1) == []


def give_the_first_row(**cells):
    """Change cells of one row."""

    def change(rows, order):
        for name, text in cells.items():
            if name in rows[0]:
                rows[0][name] = text

    return change


def exact(rows, order):
    """Publish every record as it was: it covers itself, and few others are like it."""
    frame = example_of("missing in a tree").frame
    for row, record in zip(rows, order, strict=True):
        values = frame.row(int(record), named=True)
        row |= {name: "" if values[name] is None else str(values[name]) for name in "ab"}


def one_value(rows, order):
    """All records of every bucket have the same value."""
    if "count" in rows[0]:
        merged = Counter()
        for row in rows:
            merged[row["bucket"]] += int(row["count"])
        rows[:] = [{"bucket": bucket, SENSITIVE: "x", "count": count} for bucket, count in merged.items()]


@pytest.mark.parametrize(
    ("cls", "change", "fault"),
    [
        (Runs, exact, "a class has 1 rows"),
        (Runs, give_the_first_row(a="Burns", b="8"), "row 0 does not cover its record"),
        (Tables, give_the_first_row(a="Burns", b="8"), "a class has 1 rows"),
        (Rings, exact, "a record can be . of the rows only"),
        (Rings, give_the_first_row(a="Burns", b="8"), "row 0 does not cover its record"),
        (Buckets, give_the_first_row(a="*"), "generalized"),
        (Buckets, give_the_first_row(b="[1 - 2]"), "generalized"),
        (Buckets, give_the_first_row(bucket="1000"), "a bucket has fewer than 4"),
        (Buckets, give_the_first_row(bucket="1000"), "do not count the same"),
        (Buckets, give_the_first_row(count="9"), "do not count the same"),
        (Buckets, one_value, "more than one in 4"),
    ],
)
def test_each_fault_of_a_file_is_caught(written, cls, change, fault):
    assert any(re.search(fault, found) for found in written(cls, change))


def test_a_frequent_value_in_a_class_is_caught(written, monkeypatch):
    """Runs of 4 records, all with values of their own but for one class."""
    monkeypatch.setattr(Runs, "keeps", frozenset({"k-anonymity", "frequency-l-diversity"}))
    model = {"model": "frequency-l-diversity", "column": SENSITIVE, "l": 4}

    def alike(rows, order):
        for row in rows:
            row[SENSITIVE] = "x"

    assert written(Runs, alike, models=[model]) == [f"a value of {SENSITIVE} has more than one in 4 of a class"]
