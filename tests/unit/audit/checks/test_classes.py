from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.audit import verify
from kohort.audit.checks import classes as module
from kohort.audit.checks.classes import Classes, matches
from kohort.policy import Policy

cells = st.sampled_from(["a", "b", "c", "*", None])
tables = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=24))


def k_check(rows, k, missing):
    names = [f"q{j}" for j in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    policy = Policy.build(
        k=k,
        quasi_identifiers=names,
        types=dict.fromkeys(names, "string"),
        missing=missing,
        suppression_limit=1,
    )
    return verify(frame, policy).check("k")


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(2, 5))
def test_own_value_against_a_counter(rows, k):
    figures = k_check(rows, k, "own-value").figures
    kept = [row for row in rows if set(row) != {"*"}]
    sizes = Counter(kept)
    stars = len(rows) - len(kept)
    if stars >= k:  # enough of them to be a class of their own
        sizes["*"] = stars
    assert figures["suppressed_rows"] == (stars if stars < k else 0)
    assert figures["classes"] == len(sizes)
    assert figures["smallest_class"] == min(sizes.values(), default=0)
    assert figures["rows_under_k"] == sum(size for size in sizes.values() if size < k)


def matched(row, rows):
    """Rows that agree with a row wherever neither has a missing cell or a star."""
    return sum(all(a == b or {a, b} & {None, "*"} for a, b in zip(row, other, strict=True)) for other in rows)


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(2, 5))
def test_wildcard_against_all_pairs(rows, k):
    check = k_check(rows, k, "wildcard")
    kept = [row for row in rows if set(row) != {"*"}]
    counts = [matched(row, kept) for row in kept]
    stars = len(rows) - len(kept)
    assert check.figures["smallest_class"] == min(counts + [stars] * (stars >= k), default=0)
    assert check.figures["rows_under_k"] == sum(count < k for count in counts)
    assert check.passed == all(count >= k for count in counts)
    own = k_check(rows, k, "own-value")
    assert ("would hold only if" in own.sentence) == (check.passed and not own.passed)


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 200), st.sampled_from([1, 16, 1 << 16]))
def test_matches_however_it_splits(seed, width, n, block):
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(-1, 4, (n, width)), axis=0)
    sizes = rng.integers(1, 5, len(codes))
    wanted = np.flatnonzero(rng.random(len(codes)) < 0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        found = matches(codes, sizes, wanted)
    agree = (codes[:, None] == codes[None]) | (codes[:, None] < 0) | (codes[None] < 0)
    assert found.tolist() == (agree.all(axis=2) @ sizes)[wanted].tolist()


def test_many_columns_with_many_patterns_of_missing_cells():
    rng = np.random.default_rng(1)
    codes = np.unique(rng.integers(-1, 6, (20_000, 20)), axis=0)
    sizes = np.ones(len(codes), np.int64)
    fewest, under = Classes(codes, sizes).wildcard(2)
    first = codes[:200]
    agree = np.ones((200, len(codes)), bool)
    for j in range(20):
        a, b = first[:, j, None], codes[None, :, j]
        agree &= (a == b) | (a < 0) | (b < 0)
    assert matches(codes, sizes, np.arange(200)).tolist() == agree.sum(axis=1).tolist()
    assert (fewest, under > 0) == (1, True)
