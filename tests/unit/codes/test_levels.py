"""Ladders: the levels of an axis by hand, and what holds on any axis."""

from collections import Counter
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.codes.encode import LineAxis, TreeAxis, encode
from kohort.codes.levels import bins, ladder_of, solution_at
from kohort.codes.publish import publish
from kohort.kernels.frequency import Frequencies, roll_up
from kohort.policy import Policy
from kohort.policy.hierarchy import Taxonomy
from kohort.table import typed_quasi_identifiers
from property.strategies import cases


def line(*values, low=None, high=None, missing=False):
    series = pl.Series(values)
    numbers = series.cast(pl.Int32) if series.dtype == pl.Date else series
    low = numbers[0] if low is None else low
    high = numbers[-1] if high is None else high
    return LineAxis("x", 1.0, series, low, high, missing)


def tree(nested, missing=False):
    return TreeAxis("x", 1.0, Taxonomy.from_tree(nested, "x"), missing)


def groups(axis):
    return [level.tolist() for level in ladder_of(axis).groups]


def sets(axis):
    """The values that are alike at each level, on a line."""
    values = axis.values.to_list()
    return [
        [[value for value, group in zip(values, level, strict=False) if group == number] for number in sorted({*level})]
        for level in groups(axis)
    ]


@pytest.mark.parametrize(
    ("low", "high", "widths"),
    [
        (17, 90, [5, 10, 20, 40]),
        (0, 100_000, [5_000, 10_000, 20_000, 40_000, 80_000]),
        (0, 320, [10, 20, 40, 80, 160]),
        (0, 321, [20, 40, 80, 160, 320]),
        (0, 5, [1, 2, 4]),
        (0, 1, []),
        (3, 3, []),
    ],
)
def test_widths_of_whole_numbers(low, high, widths):
    finest, doublings = bins(low, high, integers=True)
    assert [finest * 2**i for i in range(doublings)] == widths


@given(st.floats(1e-6, 1e9))
def test_widths_of_any_range(reach):
    finest, doublings = bins(0, reach, integers=False)
    assert float(f"{finest:.0e}") == finest
    assert f"{finest:.0e}"[0] in "125"
    assert reach / 32 <= finest < 2.5001 * reach / 32
    assert 4 <= doublings <= 5
    assert finest * 2 ** (doublings - 1) < reach <= finest * 2**doublings


def test_ages():
    ages = line(17, 19, 20, 24, 25, 39, 40, 90)
    assert sets(ages) == [
        [[17], [19], [20], [24], [25], [39], [40], [90]],
        [[17, 19], [20, 24], [25], [39], [40], [90]],
        [[17, 19], [20, 24, 25], [39], [40], [90]],
        [[17, 19], [20, 24, 25, 39], [40], [90]],
        [[17, 19, 20, 24, 25, 39], [40], [90]],
        [[17, 19, 20, 24, 25, 39, 40, 90]],
    ]


def test_bins_of_fractions_begin_where_people_expect_them():
    """0.3 is the third multiple of 0.1 although the doubles are not."""
    levels = sets(line(0.0, 0.29, 0.3, 0.39, 0.4, 3.0))
    assert [0.3, 0.39] in levels[1]


def test_bins_below_zero():
    assert sets(line(-90, -5, -1, 0, 4))[1] == [[-90], [-5, -1], [0, 4]]


def test_a_declared_domain_decides_the_widths():
    assert sets(line(20, 21, 22, low=0, high=64))[1:3] == [[[20, 21], [22]], [[20, 21, 22]]]


def test_dates():
    days = line(date(1999, 11, 3), date(1999, 12, 1), date(1999, 12, 24), date(2000, 1, 1), date(2001, 5, 5))
    assert groups(days) == [[0, 1, 2, 3, 4], [0, 1, 1, 2, 3], [0, 0, 0, 1, 2], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]


def test_a_leaf_moves_up_with_the_highest_ancestor_that_is_low_enough():
    """`near` waits for its cousins; all meet in the root at once."""
    axis = tree({"A": {"B": ["b1", "b2"], "C": ["c1"]}, "D": ["near"]})
    assert groups(axis) == [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 1], [0, 0, 0, 0]]


def test_a_missing_value_stays_alone_until_the_top():
    assert groups(tree({"A": ["a", "b"], "C": ["c", "d"]}, missing=True)) == [
        [0, 1, 2, 3, 4],
        [0, 0, 1, 1, 2],
        [0, 0, 0, 0, 0],
    ]
    assert groups(line(1, 2, missing=True)) == [[0, 1, 2], [0, 0, 0]]
    assert groups(LineAxis("x", 1.0, pl.Series([], dtype=pl.Int64), 0, 0, has_missing=True)) == [[0]]


def test_levels_that_change_nothing_are_left_out():
    assert groups(tree(["only"])) == [[0]]
    assert groups(tree({"A": {"B": ["a"]}, "C": {"D": ["b"]}})) == [[0, 1], [0, 0]]


def test_spans_end_with_values_that_occur():
    ladder = ladder_of(line(17, 19, 20, 24, 25, 39, 40, 90))
    whole = ladder.spans(3)
    assert (whole.lo.tolist(), whole.hi.tolist()) == ([0, 0, 2, 2, 2, 2, 6, 7], [1, 1, 5, 5, 5, 5, 6, 7])
    some = ladder.spans(3, np.array([0, 1, 3, 4, 6], np.int32))
    assert (some.lo[[0, 1, 3, 4, 6]].tolist(), some.hi[[0, 1, 3, 4, 6]].tolist()) == ([0, 0, 3, 3, 6], [1, 1, 4, 4, 6])


def test_labels_of_a_tree_do_not_depend_on_what_occurs():
    ladder = ladder_of(tree({"A": ["a", "b", "c"], "D": ["d"]}))
    span = ladder.spans(1, np.array([1, 3], np.int32))
    assert ladder.axis.published(span.lo, span.hi).to_list() == ["A", "A", "A", "d"]


@given(case=cases(max_rows=30))
def test_what_holds_on_any_axis(case):
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    for axis in codes.axes:
        ladder = ladder_of(axis)
        assert ladder.groups[0].tolist() == list(range(axis.size))
        assert set(ladder.groups[-1].tolist()) == {0}
        for level in range(ladder.top):
            fine, coarse = ladder.groups[level], ladder.groups[level + 1]
            assert len(set(fine.tolist())) > len(set(coarse.tolist()))
            assert len({*zip(fine.tolist(), coarse.tolist(), strict=True)}) == len(set(fine.tolist())), "spans nest"
            np.testing.assert_array_equal(ladder.step(level, level + 1)[fine], coarse)
            if axis.has_missing:
                assert (fine == fine[axis.missing_code]).sum() == 1
        for level, group in enumerate(ladder.groups):
            span = ladder.spans(level)
            for code in range(axis.size):
                alike = [other for other in range(axis.size) if group[other] == group[code]]
                assert (span.lo[code], span.hi[code]) == (alike[0], alike[-1])


@given(case=cases(max_rows=30))
def test_levels_of_a_tree_are_those_of_its_written_form(case):
    """A level publishes what the hierarchy file has in that column, or a label below it that covers as much."""
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    for axis in codes.axes:
        if isinstance(axis, TreeAxis):
            columns = list(zip(*axis.taxonomy.to_rows(), strict=True))
            written = {tuple(column.index(label) for label in column) for column in columns}
            groups = [tuple(level[: axis.taxonomy.n_leaves].tolist()) for level in ladder_of(axis).groups]
            assert written == {tuple(level.index(group) for group in level) for level in groups}


def test_nothing_of_a_suppressed_record_is_shown():
    """At ten-year bins, 21 is alone with its sex and 90 with its age: the twenties begin with 23."""
    frame = pl.DataFrame({"age": [21, 23, 25, 60, 61, 90], "sex": list("fmmmmm")})
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    solution = solution_at(codes, [ladder_of(axis) for axis in codes.axes], (2, 0), 2)
    assert solution.kept.tolist() == [False, True, True, True, True, False]
    table = publish(frame.filter(solution.kept), codes, solution.boxes.of(solution.kept), (), bounds=False)
    assert table.rows() == [("[23 - 25]", "m")] * 2 + [("[60 - 61]", "m")] * 2
    assert solution.clusters == 2
    assert solution.facts == {"levels": {"age": "2 of 3", "sex": "0 of 1"}}


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 5)] * 3, st.integers(1, 4)), min_size=1, max_size=200),
    maps=st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=3, max_size=3),
)
def test_roll_up_counts(rows, maps):
    array = np.array(rows)
    fine = Frequencies(array[:, :3].astype(np.int32), array[:, 3].astype(np.int64))
    classes, labels = roll_up(fine, [np.array(column, np.int32) for column in maps])
    expected = Counter()
    for *row, count in rows:
        expected[tuple(maps[j][value] for j, value in enumerate(row))] += count
    assert dict(zip(map(tuple, classes.rows.tolist()), classes.counts.tolist(), strict=True)) == expected
    for (*row, _), label in zip(rows, labels, strict=True):
        assert tuple(classes.rows[label]) == tuple(maps[j][value] for j, value in enumerate(row))
    assert classes.small(5) == sum(count for count in expected.values() if count < 5)


def test_roll_up_of_many_wide_rows():
    """More columns than a 64-bit key could number."""
    rows = np.random.default_rng(2).integers(0, 1000, (5000, 40)).astype(np.int32)
    fine = Frequencies(np.concatenate([rows, rows]), np.ones(10_000, np.int64))
    classes, labels = roll_up(fine, [np.arange(1000, dtype=np.int32)] * 40)
    np.testing.assert_array_equal(classes.rows, rows)
    assert (classes.counts == 2).all()
    np.testing.assert_array_equal(labels, np.tile(np.arange(5000), 2))
