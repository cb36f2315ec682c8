"""Every algorithm on random tables, judged from the file that was written."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS
from kohort.errors import InfeasibleError
from oracles.files import broken_files, classes_of_csv, verified_again
from property.strategies import cases, may_be_impossible, requests


@pytest.mark.promise("1.1", "1.2", "2.1", "2.2")
@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
@given(data=st.data())
@settings(max_examples=25)
def test_written_files_keep_the_promise(tmp_path_factory, algorithm, data):
    """By the audit, by a second reader of the files; and what can be kept is not refused."""
    frame, policy = data.draw(requests(algorithm))
    path = tmp_path_factory.mktemp("release") / "out.csv"
    before = frame.clone()
    try:
        release = kohort.anonymize(frame, policy, output=path, overwrite=True)
    except InfeasibleError:
        assert may_be_impossible(frame, policy)
        return
    assert release.verdict.passed
    for verdict in verified_again(path, release, frame, policy):
        assert verdict.passed, verdict.reason
    assert broken_files(path, release, frame, policy) == []
    if policy.privacy.anonymity == "classes" and path.exists():
        classes = classes_of_csv(path, policy.quasi_identifiers)
        assert release.verdict.facts.smallest_class == min(classes.values())
        assert release.verdict.facts.classes == len(classes)
    assert frame.equals(before)
    assert 0 <= release.loss.total <= 1


@given(case=cases(max_rows=25))
@settings(max_examples=25)
def test_loss_read_from_the_file_is_the_loss_of_the_boxes(tmp_path_factory, case):
    frame, policy = case
    path = tmp_path_factory.mktemp("release") / "out.csv"
    release = kohort.anonymize(frame, policy, output=path, overwrite=True)
    again = kohort.measure(path, frame, policy)
    assert again.by_column == pytest.approx(release.loss.by_column, abs=1e-9)
    assert again.total == pytest.approx(release.loss.total, abs=1e-9)


@pytest.mark.promise("3.1")
@given(case=cases(max_rows=25), data=st.data())
@settings(max_examples=25)
def test_every_corruption_that_breaks_k_is_rejected(tmp_path_factory, case, data):
    """Change one published cell: the verdict must agree with a count of the classes."""
    frame, policy = case
    path = tmp_path_factory.mktemp("release") / "out.csv"
    kohort.anonymize(frame, policy, output=path, overwrite=True)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    column = data.draw(st.sampled_from([rows[0].index(name) for name in policy.quasi_identifiers]))
    row = data.draw(st.integers(1, len(rows) - 1))
    donor = data.draw(st.integers(1, len(rows) - 1))
    rows[row][column] = rows[donor][column] if data.draw(st.booleans()) else "*"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    quasi = policy.quasi_identifiers
    classes = classes_of_csv(path, quasi)
    stars = classes.pop(("*",) * len(quasi), 0)
    broken = bool(classes) and min(classes.values()) < policy.privacy.k
    verdict = kohort.verify(path, policy)
    assert (not verdict.check("k").passed) == broken
    # Fewer than k rows of nothing but stars are suppressed records, and the policy allows none.
    assert verdict.passed == (not broken and not 0 < stars < policy.privacy.k)


@given(case=cases(), seed=st.integers(0, 5))
@settings(max_examples=25)
def test_row_order_of_the_input_does_not_matter(case, seed):
    """The same multiset of quasi-identifiers gives the same classes, whatever its order."""
    frame, policy = case
    mixed = frame[np.random.default_rng(seed).permutation(frame.height)]
    quasi = list(policy.quasi_identifiers)
    one, two = (kohort.anonymize(table, policy).table.select(quasi) for table in (frame, mixed))
    assert sorted(one.rows(), key=str) == sorted(two.rows(), key=str)
