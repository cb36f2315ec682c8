"""Datafly: the same levels as a plain loop over records, on any table."""

from collections import Counter

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS
from kohort.codes.encode import encode
from kohort.codes.levels import ladder_of
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from property.strategies import cases

NCP = MEASURES.make("ncp", {})


def encoded(frame, policy):
    return encode(typed_quasi_identifiers(frame, policy), policy)


def solve(codes, k, allowance=0, shares=None):
    progress = (lambda share: None) if shares is None else shares.append
    costs = compile_costs(NCP, codes.axes)
    task = Task(codes, NCP, costs, k, np.random.default_rng(1), progress, allowance=allowance)
    return ALGORITHMS.make("datafly", {}).solve(task)


def levels_of(solution):
    return [int(text.split(" of ")[0]) for text in solution.facts["levels"].values()]


def plain(codes, k, allowance):
    """The page's pseudocode, on lists of records."""
    ladders = [ladder_of(axis) for axis in codes.axes]
    levels = [0] * len(ladders)
    while True:
        groups = [ladder.groups[level].tolist() for ladder, level in zip(ladders, levels, strict=True)]
        rows = [tuple(groups[j][code] for j, code in enumerate(row)) for row in codes.array.tolist()]
        sizes = Counter(rows)
        small = [row for row in rows if sizes[row] < k]
        if len(small) <= min(k, allowance) and len(small) < len(rows):
            return levels, [sizes[row] >= k for row in rows], len({*rows} - {*small})
        values = [len({row[j] for row in rows}) for j in range(len(ladders))]
        levels[values.index(max(values))] += 1


@given(case=cases(max_rows=40), allowance=st.integers(0, 8))
def test_same_levels_as_the_plain_version(case, allowance):
    frame, policy = case
    codes, k = encoded(frame, policy), policy.privacy.k
    solution = solve(codes, k, allowance)
    levels, kept, classes = plain(codes, k, allowance)
    assert levels_of(solution) == levels
    assert solution.clusters == classes
    assert (solution.kept is None and all(kept)) or solution.kept.tolist() == kept
    kept = np.array(kept)
    lo, hi = solution.boxes.lo[kept], solution.boxes.hi[kept]
    assert ((lo <= codes.array[kept]) & (codes.array[kept] <= hi)).all()
    assert min(Counter(map(tuple, np.column_stack([lo, hi]).tolist())).values()) >= k


def test_by_hand():
    """Bins of 2, 4, 8, 16 and 32 years, 2 of the last; these tie with 2 sexes, and 33 is the only woman of hers."""
    frame = pl.DataFrame({"age": [21, 22, 29, 31, 33, 38, 39, 57], "sex": list("fmfmfmmm")})
    codes = encoded(frame, Policy.build(k=2, quasi_identifiers=["age", "sex"]))
    shares = []
    solution = solve(codes, 2, shares=shares)
    assert solution.facts == {"levels": {"age": "6 of 6", "sex": "0 of 1"}}
    assert shares == [step / 7 for step in (1, 2, 3, 4, 5, 6)]


def test_records_that_may_be_suppressed_are():
    """Bins of 4 years leave 33 and 57 alone, those of 8 only 57."""
    frame = pl.DataFrame({"age": [21, 22, 29, 31, 33, 38, 39, 57]})
    codes = encoded(frame, Policy.build(k=2, quasi_identifiers=["age"]))
    solution = solve(codes, 2, allowance=1)
    assert solution.kept.tolist() == [True] * 7 + [False]
    assert solution.clusters == 3
    assert levels_of(solution) == [3]


def test_never_more_than_k_are_suppressed():
    """Three pairs and one class of nine: k = 3 would leave six records over."""
    frame = pl.DataFrame({"x": list("aabbcc") + ["d"] * 9})
    codes = encoded(frame, Policy.build(k=3, quasi_identifiers=["x"]))
    assert levels_of(solve(codes, 3, allowance=6)) == [1]
    assert levels_of(solve(codes, 3, allowance=0)) == [1]
    frame = pl.DataFrame({"x": list("aab") + ["d"] * 9})
    codes = encoded(frame, Policy.build(k=3, quasi_identifiers=["x"]))
    assert levels_of(solve(codes, 3, allowance=6)) == [0]


def test_a_release_with_suppressed_records_is_verified():
    rng = np.random.default_rng(6)
    frame = pl.DataFrame(
        {"age": rng.normal(45, 15, 400).astype(int), "town": rng.choice(["a", "b", None], 400).tolist()}
    )
    policy = Policy.build(k=5, quasi_identifiers=["age", "town"], algorithm="datafly")
    policy = policy.with_changes("privacy", suppression_limit=0.05)
    release = kohort.anonymize(frame, policy)
    assert release.verdict.passed
    assert 0 <= frame.height - release.table.height <= 5
