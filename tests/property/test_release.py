"""Every algorithm on random tables, judged from the file that was written."""

import csv

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS
from property.strategies import cases, classes_of_csv


def released(frame, policy, path, algorithm="k-member"):
    chosen = policy.with_changes("algorithm", name=algorithm)
    return kohort.anonymize(frame, chosen, output=path)


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
@given(case=cases())
def test_written_file_keeps_the_promise(tmp_path_factory, algorithm, case):
    frame, policy = case
    path = tmp_path_factory.mktemp("release") / "out.csv"
    before = frame.clone()
    release = released(frame, policy, path, algorithm)
    quasi = policy.quasi_identifiers
    classes = classes_of_csv(path, quasi)
    assert sum(classes.values()) == frame.height
    assert min(classes.values()) >= policy.privacy.k
    assert release.verdict.passed
    assert release.verdict.facts.smallest_class == min(classes.values())
    assert "who" not in path.read_text().splitlines()[0]
    assert frame.equals(before)
    assert 0 <= release.loss.total <= 1


@given(case=cases())
def test_published_boxes_cover_their_members(case):
    """Each published interval or label covers the original value of its own row."""
    frame, policy = case
    release = kohort.anonymize(frame, policy)
    originals = frame[release.row_order]
    for name in policy.quasi_identifiers:
        hierarchy = policy.columns[name].hierarchy
        for text, value in zip(release.table[name], originals[name], strict=True):
            if text is None:
                assert value is None
            elif text == "*" or hierarchy is not None:
                continue  # labels are checked against the tree by the audit's own tests
            elif text.startswith("[") and frame.schema[name] != pl.String:
                low, high = text[1:-1].split(" - ")
                assert _as(value, low) <= value <= _as(value, high)
            else:
                assert str(value) == text or float(text) == value
    assert sorted(release.row_order) == list(range(frame.height))


def _as(value, text):
    import datetime as dt

    return dt.date.fromisoformat(text) if isinstance(value, dt.date) else type(value)(text)


@given(case=cases(max_rows=25))
def test_loss_read_from_the_file_is_the_loss_of_the_boxes(tmp_path_factory, case):
    frame, policy = case
    path = tmp_path_factory.mktemp("release") / "out.csv"
    release = released(frame, policy, path)
    again = kohort.measure(path, frame, policy)
    assert again.by_column == pytest.approx(release.loss.by_column, abs=1e-9)
    assert again.total == pytest.approx(release.loss.total, abs=1e-9)


@given(case=cases(max_rows=25), data=st.data())
def test_every_corruption_that_breaks_k_is_rejected(tmp_path_factory, case, data):
    """Change one published cell: the verdict must agree with a count of the classes."""
    frame, policy = case
    path = tmp_path_factory.mktemp("release") / "out.csv"
    released(frame, policy, path)
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
def test_row_order_of_the_input_does_not_matter(case, seed):
    """The same multiset of quasi-identifiers gives the same classes, whatever its order."""
    frame, policy = case
    mixed = frame[np.random.default_rng(seed).permutation(frame.height)]
    quasi = list(policy.quasi_identifiers)
    one, two = (kohort.anonymize(table, policy).table.select(quasi) for table in (frame, mixed))
    assert sorted(one.rows(), key=str) == sorted(two.rows(), key=str)
