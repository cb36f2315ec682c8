"""Anonymity by matchings, against all permutations of small tables; and files that do not keep it."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.audit import verify
from kohort.audit.checks import consistency
from kohort.policy import Policy
from property.strategies import cases

NO_MATCHING = "no assignment gives every record a row of its own that covers it."


def policy(k=2, columns=("age",), privacy=None, **sections):
    quasi = {name: {"role": "quasi", "type": "integer"} for name in columns}
    return Policy(privacy={"k": k, "anonymity": "matchings", **(privacy or {})}, columns=quasi, **sections)


def spans(*ends):
    return pl.DataFrame({"age": [f"[{lo} - {hi}]" if lo != hi else str(lo) for lo, hi in ends]})


def ages(*values):
    return pl.DataFrame({"age": values}, schema={"age": pl.Int64})


def judged(release, original, k=2, **arguments):
    return verify(release, policy(k), original=original, **arguments).check("k")


def by_permutations(places, first, last):
    """For each record, the rows that some perfect matching gives it: try them all."""
    n = len(places)
    covers = ((first <= places[:, None]) & (places[:, None] <= last)).all(axis=2)
    every = np.array(list(permutations(range(n))))
    perfect = every[covers[np.arange(n), every].all(axis=1)]
    return [len(set(perfect[:, record].tolist())) for record in range(n)]


@st.composite
def graphs(draw):
    """(places, first, last) of up to seven records and rows in up to two columns; most rows cover somebody."""
    n, d = draw(st.integers(1, 7)), draw(st.integers(1, 2))
    numbers = st.lists(st.integers(0, 5), min_size=n * d, max_size=n * d)
    places = np.array(draw(numbers)).reshape(n, d)
    base = places[draw(st.permutations(range(n)))] if draw(st.booleans()) else np.array(draw(numbers)).reshape(n, d)
    below, above = (np.array(draw(numbers)).reshape(n, d) // 2 for _ in range(2))
    return places, base - below, base + above


@given(graph=graphs())
def test_every_record_has_the_rows_of_all_perfect_matchings(graph):
    places, first, last = graph
    made = consistency.graph_of(places, first, last)
    found = consistency.candidates(made, 1)
    exact = by_permutations(*graph)
    if not any(exact):
        assert found == NO_MATCHING.removesuffix(".")
    else:
        assert found.candidates[made.pairs[0]].tolist() == exact
        assert found.edges == found.of


@given(graph=graphs(), k=st.integers(1, 4), sample=st.integers(1, 3), edges=st.integers(0, 40))
def test_a_sample_of_the_edges_never_passes_what_all_of_them_fail(graph, k, sample, edges):
    exact = by_permutations(*graph)
    made = consistency.graph_of(*graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(consistency, "_SAMPLE", sample)
        patch.setattr(consistency, "_EDGES", edges)
        found = consistency.candidates(made, k)
    if isinstance(found, str):
        assert not any(exact) or "too much to decide" in found
    elif found.candidates.min() >= k:
        assert (found.candidates[made.pairs[0]] <= exact).all()
    else:
        assert min(exact) < k


@given(graph=graphs(), k=st.integers(2, 4), data=st.data())
def test_the_verdict_is_that_of_all_permutations(graph, k, data):
    places, first, last = graph
    names = [f"q{j}" for j in range(places.shape[1])]
    original = pl.DataFrame(places, schema=names, orient="row")
    release = pl.DataFrame(
        {
            name: [f"[{lo} - {hi}]" for lo, hi in zip(first[:, j], last[:, j], strict=True)]
            for j, name in enumerate(names)
        }
    )
    order = data.draw(st.permutations(range(len(places))))
    exact = by_permutations(*graph)
    for given_order in (None, order):
        check = verify(release[order], policy(k, names), original=original, row_order=given_order).check("k")
        assert check.passed == (min(exact) >= k)
        if any(exact):
            assert (check.figures["smallest_class"], check.figures["records_under_k"]) == (
                min(exact),
                sum(rows < k for rows in exact),
            )


@pytest.mark.slow
@given(case=cases(max_rows=20))
@settings(max_examples=25)
def test_classes_of_k_records_keep_it_too(case):
    frame, made = case
    release = kohort.anonymize(frame, made)
    asked = made.with_changes("privacy", anonymity="matchings")
    for order in (None, release.row_order):
        verdict = verify(release.table, asked, original=frame, row_order=order)
        assert verdict.passed, verdict.reason
        assert verdict.facts.smallest_class >= release.verdict.facts.smallest_class


# -- by hand ----------------------------------------------------------------------------------------

RING = spans((1, 2), (2, 3), (3, 4), (1, 4))


def test_a_ring():
    verdict = verify(RING, policy(), original=ages(1, 2, 3, 4))
    assert verdict.passed
    assert verdict.reason == (
        "every one of 4 records could be at least 2 rows (fewest 2), each in a perfect matching of records and rows; "
        "nothing suppressed; every published value covers the original, row by row."
    )
    assert (verdict.facts.classes, verdict.facts.smallest_class) == (4, 2)
    assert dict(verdict.check("k").figures) == {
        "k": 2,
        "suppressed_rows": 0,
        "classes": 4,
        "records": 4,
        "smallest_class": 2,
        "records_under_k": 0,
        "edges": 10,
        "edges_in_all": 10,
    }


def test_a_ring_of_too_few():
    check = judged(RING, ages(1, 2, 3, 4), k=3)
    assert not check.passed
    assert check.sentence == (
        "2 records could be fewer than k = 3 rows (fewest 2), each in a perfect matching of records and rows."
    )


def test_a_box_that_was_shrunk():
    """Record 2 keeps one row, and the row of record 1 cannot be anybody else's."""
    check = judged(spans((1, 1), (2, 3), (3, 4), (1, 4)), ages(1, 2, 3, 4))
    assert (check.passed, check.figures["smallest_class"]) == (False, 1)


def test_rows_that_fit_but_never_in_a_perfect_matching():
    """Record 3 fits three rows, but the two of 1 to 3 are needed for records 1 and 2, who fit no others."""
    release, original = spans((1, 3), (1, 3), (3, 4), (3, 4)), ages(1, 2, 3, 4)
    check = judged(release, original, k=2)
    assert check.passed
    assert check.figures["edges"] == 5, "distinct rows: 1 and 2 have one each, 3 has both, 4 has one"
    check = judged(spans((1, 3), (1, 3), (3, 4), (3, 4), (3, 4)), ages(1, 2, 3, 4, 3), k=3)
    assert check.figures["records_under_k"] == 2
    check = judged(spans((1, 3), (1, 3), (1, 3), (3, 5)), ages(1, 1, 2, 3), k=3)
    assert (check.passed, check.figures["smallest_class"]) == (False, 1)


def test_no_row_at_all_for_somebody():
    check = judged(spans((1, 3), (1, 3)), ages(1, 4))
    assert (check.passed, check.sentence) == (False, NO_MATCHING)


def test_a_row_for_two():
    """Everybody fits a row, but two of them only the same."""
    check = judged(spans((1, 1), (2, 9), (2, 9)), ages(1, 1, 9))
    assert (check.passed, check.sentence) == (False, NO_MATCHING)


def test_equal_records_and_rows_count_each():
    check = judged(spans(*[(5, 5)] * 6), ages(*[5] * 6), k=6)
    assert (check.passed, check.figures["smallest_class"], check.figures["edges"]) == (True, 6, 1)


# -- what is lacking --------------------------------------------------------------------------------


def test_it_needs_the_original():
    verdict = verify(RING, policy())
    assert verdict.reason == "k cannot be checked, as anonymity = 'matchings' needs the original, which was not given."
    assert (verdict.facts.classes, verdict.facts.smallest_class) == (None, None)


def test_it_needs_every_quasi_identifier():
    both = policy(columns=("age", "height"))
    check = verify(RING, both, original=ages(1, 2, 3, 4)).check("k")
    assert check.sentence == "k cannot be checked, as column 'height' is not in the release."
    tall = RING.with_columns(height=pl.Series(["9"] * 4))
    check = verify(tall, both, original=ages(1, 2, 3, 4)).check("k")
    assert check.sentence == "k cannot be checked, as column 'height' is not in the original."


def test_who_was_withheld_must_be_known():
    original, some = ages(1, 2, 9, 3, 4), {"suppression_limit": 0.2}
    check = verify(RING, policy(privacy=some), original=original).check("k")
    assert check.sentence == (
        "k cannot be checked, as some records are suppressed and it is not known which; give row_order."
    )
    verdict = verify(RING, policy(privacy=some), original=original, row_order=[0, 1, 3, 4])
    assert verdict.passed, verdict.reason
    assert verdict.check("k").figures["records"] == 4


def test_the_policy_may_tell_who_was_withheld():
    """Who misses a value is suppressed, and nobody else was if the numbers agree."""
    rule = {"suppression_limit": 0.5, "missing": "suppress"}
    assert verify(RING, policy(privacy=rule), original=ages(1, None, 2, 3, 4)).passed
    check = verify(RING, policy(privacy=rule), original=ages(1, None, 2, 3, 4, 5)).check("k")
    assert "give row_order" in check.sentence
    starred = pl.concat([pl.DataFrame({"age": ["*"]}), RING])
    shown = policy(privacy=rule, output={"suppressed": "starred"})
    check = verify(starred, shown, original=ages(1, None, 2, 3, 4)).check("k")
    assert (check.passed, check.figures["records"]) == (True, 4)


def test_a_withheld_record_is_nobodys_hiding_place():
    """If 2 could be anybody's, record 1 would have two rows; but it was withheld."""
    some = {"suppression_limit": 0.5}
    check = verify(spans((1, 2), (3, 4), (3, 4)), policy(privacy=some), original=ages(1, 2, 3, 4), row_order=[0, 2, 3])
    assert check.check("k").figures["records_under_k"] == 1


def test_suppressed_rows_that_are_shown_hide_nobody():
    shown = {"privacy": {"suppression_limit": 0.5}, "output": {"suppressed": "starred"}}
    release = pl.DataFrame({"age": ["[1 - 2]", "*", "*", "[3 - 4]", "[3 - 4]"]})
    original = ages(1, 2, 2, 3, 4)
    check = verify(release, policy(**shown), original=original, row_order=range(5)).check("k")
    assert (check.passed, check.figures["records_under_k"], check.figures["suppressed_rows"]) == (False, 1, 2)
    assert "give row_order" in verify(release, policy(**shown), original=original).check("k").sentence
    withheld = policy(privacy={"suppression_limit": 0.5})
    check = verify(release, withheld, original=original, row_order=range(5)).check("k")
    assert (check.passed, check.figures["suppressed_rows"]) == (True, 0), (
        "with nobody suppressed, these are ordinary rows"
    )


def test_nothing_but_suppressed_rows():
    shown = {"privacy": {"suppression_limit": 1.0}, "output": {"suppressed": "starred"}}
    verdict = verify(pl.DataFrame({"age": ["*", "*"]}), policy(**shown), original=ages(1, 2), row_order=[0, 1])
    assert verdict.check("k").sentence == "every row is suppressed, so there is no record to check."
    assert verdict.facts.smallest_class is None


# -- missing values ---------------------------------------------------------------------------------


def test_an_empty_cell_covers_a_missing_value_only():
    release, original = pl.DataFrame({"age": [None, "*", "[1 - 2]", "[1 - 2]"]}), ages(None, None, 1, 2)
    check = judged(release, original)
    assert (check.passed, check.figures["smallest_class"]) == (True, 2)
    assert not judged(release, ages(None, 3, 1, 2)).passed
    wildcard = policy(privacy={"missing": "wildcard"})
    assert verify(release, wildcard, original=ages(None, 3, 1, 2)).check("k").passed


def test_a_star_that_is_listed_as_missing_still_covers_everything_and_an_empty_cell_does_not():
    starry = policy(input={"missing": ["*", ""]})
    release = pl.DataFrame({"age": ["*", "*", "", ""]})
    assert verify(release, starry, original=ages(1, 2, None, None)).check("k").passed
    assert not verify(release, starry, original=ages(1, 2, 3, None)).check("k").passed


# -- large ------------------------------------------------------------------------------------------


def ring_of(n, k):
    """One column: record i stands at i, and box i covers i to i + k - 1, the last ones everything."""
    places = np.arange(n)[:, None]
    wraps = places + k > n
    return places, np.where(wraps, 0, places), np.where(wraps, n - 1, places + k - 1)


def test_a_graph_with_more_edges_than_are_held(monkeypatch):
    n, k = 3000, 300
    monkeypatch.setattr(consistency, "_EDGES", 120_000)
    places, first, last = ring_of(n, k)
    found = consistency.candidates(consistency.graph_of(places, first, last), k)
    assert found.candidates.min() == k
    assert found.edges <= 120_000 < found.of
    mixed = np.random.default_rng(1).permutation(n)
    again = consistency.candidates(consistency.graph_of(places, first[mixed], last[mixed]), k)
    assert again.candidates.min() == k, "without being told who is whose"
    narrow = first.copy()
    narrow[0] += 1
    worse = consistency.candidates(consistency.graph_of(places, narrow, last), k)
    assert (worse.candidates < k).sum() == 1, "record 0 lay in box 0 and in those that cover everything"
    monkeypatch.setattr(consistency, "_EDGES", 1000)
    undecided = consistency.candidates(consistency.graph_of(places, first, last), k)
    assert undecided.startswith("which record could be which row is too much to decide")


def test_what_a_sample_cannot_prove_is_failed(monkeypatch):
    """The last record fits 101 rows, of which the other records need 100."""
    places = np.stack([np.arange(101), np.full(101, 200)], axis=1)
    first = np.stack([np.zeros(101, int), np.arange(101)], axis=1)
    first[100, 0] = 100
    graph = consistency.graph_of(places, first, np.array([[100, 200]] * 101))
    exact = consistency.candidates(graph, 50)
    assert exact.candidates.tolist() == [100] * 100 + [1]
    monkeypatch.setattr(consistency, "_EDGES", 5000)
    assert consistency.candidates(graph, 50) == "which record could be which row is too much to decide (10,101 edges)"


def test_blocks_compare_every_pair_once(monkeypatch):
    rng = np.random.default_rng(4)
    places = rng.integers(0, 30, (400, 3))
    first = places[rng.permutation(400)] - rng.integers(0, 12, (400, 3))
    last = first + rng.integers(0, 24, (400, 3))
    graph = consistency.graph_of(places, first, last)
    expected = ((graph.first <= graph.places[:, None]) & (graph.places[:, None] <= graph.last)).all(axis=2)
    monkeypatch.setattr(consistency, "_BLOCK", 50)
    found, blocks = np.zeros(expected.shape, int), 0
    for records, rows, covers in consistency._covering(graph):
        found[np.ix_(records, rows)] += covers
        blocks += 1
    np.testing.assert_array_equal(found, expected)
    assert blocks > 100
