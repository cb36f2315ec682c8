"""Golden labels: a verifier parses them, so their form is a promise."""

from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.errors import DataError, PolicyError
from kohort.policy.hierarchy import Taxonomy, cuts, dates, intervals, prefixes


def refusal(error, build, *args, **options):
    with pytest.raises(error) as caught:
        build(*args, **options, column="c")
    return list(caught.value.faults)


def columns(taxonomy):
    return [list(level) for level in zip(*taxonomy.to_rows(), strict=True)]


def test_intervals_of_whole_numbers():
    ages = np.array([-11, -10, -1, 0, 4, 5, 19, 20])
    assert columns(intervals(ages, width=5, integers=True, column="age")) == [
        ["-11", "-10", "-1", "0", "4", "5", "19", "20"],
        ["[-15 - -11]", "[-10 - -6]", "[-5 - -1]", "[0 - 4]", "[0 - 4]", "[5 - 9]", "[15 - 19]", "[20 - 24]"],
        [
            "[-20 - -11]",
            "[-10 - -1]",
            "[-10 - -1]",
            "[0 - 9]",
            "[0 - 9]",
            "[0 - 9]",
            "[10 - 19]",
            "[20 - 29]",
        ],
        ["[-20 - -1]"] * 3 + ["[0 - 19]"] * 4 + ["[20 - 39]"],
        ["*"] * 8,
    ]


def test_intervals_of_other_numbers():
    values = np.array([-0.5, 0.0, 2.4999, 2.5, 7.25, 1e3])
    taxonomy = intervals(values, width=2.5, levels=(1, 4), integers=False, column="x")
    assert columns(taxonomy) == [
        ["-0.5", "0", "2.4999", "2.5", "7.25", "1000"],
        ["[-2.5, 0[", "[0, 2.5[", "[0, 2.5[", "[2.5, 5[", "[5, 7.5[", "[1000, 1002.5["],
        ["[-10, 0[", "[0, 10[", "[0, 10[", "[0, 10[", "[0, 10[", "[1000, 1010["],
        ["*"] * 6,
    ]


def test_bins_are_decimal_not_binary():
    values = np.array([0.1, 0.3, 0.6, 0.7, 1.1])
    taxonomy = intervals(values, width=0.1, levels=(1,), integers=False, column="x")
    assert columns(taxonomy)[1] == ["[0.1, 0.2[", "[0.3, 0.4[", "[0.6, 0.7[", "[0.7, 0.8[", "[1.1, 1.2["]


def test_huge_and_tiny_numbers_stay_exact():
    taxonomy = intervals(np.array([1e-300, 1e300]), width=0.5, levels=(1,), integers=False, column="x")
    low = "1" + "0" * 300
    assert columns(taxonomy)[1] == ["[0, 0.5[", f"[{low}, {low}.5["]
    big = np.array([-(2**63), 2**63 - 1])
    assert columns(intervals(big, width=10, levels=(1,), integers=True, column="x"))[1] == [
        "[-9223372036854775810 - -9223372036854775801]",
        "[9223372036854775800 - 9223372036854775809]",
    ]


def test_intervals_from_an_origin_with_given_texts():
    taxonomy = intervals(
        np.array([17, 18, 22, 23]),
        width=5,
        levels=(1,),
        origin=18,
        integers=True,
        column="age",
        text=list("abcd"),
    )
    assert columns(taxonomy) == [
        list("abcd"),
        ["[13 - 17]", "[18 - 22]", "[18 - 22]", "[23 - 27]"],
        ["*"] * 4,
    ]


def test_all_values_in_one_bin_keep_their_levels():
    assert intervals(np.array([1, 2]), width=5, integers=True, column="x").levels == 5


def test_bins_of_a_single_whole_number_are_the_values_themselves():
    taxonomy = intervals(np.array([3, 4]), width=1, levels=(1, 2), integers=True, column="x")
    assert taxonomy.to_rows() == [("3", "[2 - 3]", "*"), ("4", "[4 - 5]", "*")]


@given(
    st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=40, unique=True),
    st.integers(2, 50),
    st.integers(-30, 30),
)
def test_each_interval_covers_its_values_and_leaves_keep_their_order(values, width, origin):
    values = np.array(sorted(values))
    taxonomy = intervals(values, width=width, levels=(1, 3), origin=origin, integers=True, column="x")
    assert taxonomy.leaf_labels == tuple(map(str, values))
    for value, fine, coarse, _ in taxonomy.to_rows():
        for label, size in ((fine, width), (coarse, 3 * width)):
            low, high = map(int, label.strip("[]").split(" - "))
            assert low <= int(value) <= high
            assert high - low + 1 == size
            assert (low - origin) % size == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"width": 0}, "width must be a positive number, and origin a number"),
        ({"width": float("nan")}, "width must be a positive number, and origin a number"),
        ({"width": 2.5}, "width and origin must be whole numbers, as the values are"),
        ({"width": 5, "levels": ()}, "levels must be whole numbers from 1 up"),
        ({"width": 5, "levels": (0, 1)}, "levels must be whole numbers from 1 up"),
        (
            {"width": 5, "levels": (2, 3)},
            "each of the levels must be a multiple of the one before, and wider",
        ),
        (
            {"width": 5, "levels": (2, 2)},
            "each of the levels must be a multiple of the one before, and wider",
        ),
    ],
)
def test_faulty_intervals(options, sentence):
    expected = [f"hierarchy of column 'c': {sentence}."]
    assert refusal(PolicyError, intervals, np.array([1]), integers=True, **options) == expected


@pytest.mark.parametrize(
    ("values", "options", "sentence"),
    [
        ([], {}, "there are no values to build a hierarchy from."),
        ([1.0, np.nan, np.inf], {}, "2 of 3 values are not finite; read them as missing."),
        ([2.0, 1.0], {}, "values must be distinct and ascending; sort them first."),
        ([1.0, 1.0], {}, "values must be distinct and ascending; sort them first."),
        ([1.0, 2.5], {"integers": True}, "1 of 2 values are not whole; declare the column as a number."),
        ([1.0, 2.5], {"text": ["a"]}, "2 values but texts for 1; give one text each."),
    ],
)
def test_faulty_numbers(values, options, sentence):
    options = {"integers": False, **options}
    for build, how in ((intervals, {"width": 5}), (cuts, {"cuts": [[5]]})):
        assert refusal(DataError, build, np.array(values), **how, **options) == [f"column 'c': {sentence}"]


def test_cuts_of_whole_numbers():
    ages = np.array([-3, 17, 18, 29, 30, 64, 65, 90])
    assert columns(cuts(ages, cuts=[[18, 30, 65], [18, 65], [65]], integers=True, column="age"))[1:] == [
        ["<= 17"] * 2 + ["[18 - 29]"] * 2 + ["[30 - 64]"] * 2 + [">= 65"] * 2,
        ["<= 17"] * 2 + ["[18 - 64]"] * 4 + [">= 65"] * 2,
        ["<= 64"] * 6 + [">= 65"] * 2,
        ["*"] * 8,
    ]


def test_cuts_of_other_numbers():
    values = np.array([-1.0, 17.99, 18.0, 36.6, 65.0])
    assert columns(cuts(values, cuts=[[-0.5, 18, 36.6, 65], [18, 65]], integers=False, column="x")) == [
        ["-1", "17.99", "18", "36.6", "65"],
        ["< -0.5", "[-0.5, 18[", "[18, 36.6[", "[36.6, 65[", ">= 65"],
        ["< 18", "< 18", "[18, 65[", "[18, 65[", ">= 65"],
        ["*"] * 5,
    ]


@pytest.mark.parametrize(
    ("given_cuts", "sentence"),
    [
        ([], "cuts must list at least one cut per level"),
        ([[18], []], "cuts must list at least one cut per level"),
        ([[float("inf")]], "cuts must be finite numbers"),
        ([[1.5]], "cuts must be whole numbers, as the values are"),
        ([[65, 18]], "cuts must ascend within a level"),
        ([[18, 65], [30]], "the cuts of a level must be some, not all, of the cuts of the level before"),
        ([[18, 65], [18, 65]], "the cuts of a level must be some, not all, of the cuts of the level before"),
    ],
)
def test_faulty_cuts(given_cuts, sentence):
    found = refusal(PolicyError, cuts, np.array([1]), cuts=given_cuts, integers=True)
    assert f"hierarchy of column 'c': {sentence}." in found


def test_prefixes():
    taxonomy = prefixes(["13210", "13053", "02139", "13210"], column="zip")
    assert taxonomy.to_rows() == [
        ("02139", "021**", "02***", "*"),
        ("13053", "130**", "13***", "*"),
        ("13210", "132**", "13***", "*"),
    ]


def test_prefixes_shorter_than_the_values_hide_the_rest():
    assert prefixes(["123456789"], lengths=(5, 1), column="zip", mask="#").to_rows() == [
        ("123456789", "12345####", "1########", "*")
    ]
    assert prefixes(["a", "b"], lengths=(1,), column="c").to_rows() == [("a", "*"), ("b", "*")]


@pytest.mark.parametrize("lengths", [(), (0,), (3, 3), (2, 3), (3, 0)])
def test_faulty_lengths(lengths):
    assert refusal(PolicyError, prefixes, ["12345"], lengths=lengths) == [
        "hierarchy of column 'c': prefix lengths must be positive and decrease."
    ]


@pytest.mark.parametrize("mask", ["", "**", " "])
def test_faulty_mask(mask):
    assert refusal(PolicyError, prefixes, ["12345"], mask=mask) == [
        "hierarchy of column 'c': the mask must be one visible character."
    ]


@pytest.mark.parametrize(
    ("values", "sentences"),
    [
        ([], ["there are no values to build a hierarchy from."]),
        (
            ["Q345", "Q3456", "Q3457", "Q3"],
            [
                "values differ in length (1 of length 2, 1 of length 4, 2 of length 5); pad them to one length.",
                "2 of 4 values are shorter than the prefix length 5; shorten the prefixes or pad the values.",
            ],
        ),
        (
            ["Q****", "Q3456"],
            ["1 of 2 values contain the mask character; choose another mask, or read these values as missing."],
        ),
    ],
)
def test_faulty_codes(values, sentences):
    found = refusal(DataError, prefixes, values)
    assert found == [f"column 'c': {sentence}" for sentence in sentences]
    assert not any("Q" in sentence for sentence in found)


def test_a_value_like_the_root_is_refused_whatever_the_mask():
    assert refusal(DataError, prefixes, ["*", "1"], lengths=(1,), mask="#") == [
        "hierarchy of column 'c', path 1, label 1: the value is labelled like the root; rename the root."
    ]


def test_dates():
    days = [date(2024, 3, 15), date(1892, 12, 31), date(2019, 12, 31), date(2020, 1, 1), date(2024, 4, 1)]
    assert dates(days, column="born").to_rows() == [
        ("1892-12-31", "1892-12", "1892-Q4", "1892", "1890s", "*"),
        ("2019-12-31", "2019-12", "2019-Q4", "2019", "2010s", "*"),
        ("2020-01-01", "2020-01", "2020-Q1", "2020", "2020s", "*"),
        ("2024-03-15", "2024-03", "2024-Q1", "2024", "2020s", "*"),
        ("2024-04-01", "2024-04", "2024-Q2", "2024", "2020s", "*"),
    ]


def test_the_first_and_the_last_day_of_the_calendar():
    assert dates([date.max, date.min], column="born").to_rows() == [
        ("0001-01-01", "0001-01", "0001-Q1", "0001", "0000s", "*"),
        ("9999-12-31", "9999-12", "9999-Q4", "9999", "9990s", "*"),
    ]


def test_some_levels_of_dates_and_times_of_day():
    taxonomy = dates([datetime(2024, 8, 1, 9), datetime(2024, 8, 1, 17)], levels=("quarter", "decade"), column="c")
    assert taxonomy.to_rows() == [("2024-08-01", "2024-Q3", "2020s", "*")]


@pytest.mark.parametrize("levels", [(), ("year", "month"), ("week",), ("year", "year")])
def test_faulty_date_levels(levels):
    assert refusal(PolicyError, dates, [date(2024, 1, 1)], levels=levels) == [
        "hierarchy of column 'c': date levels must be some of month, quarter, year, decade, in this order."
    ]


def test_no_dates():
    assert refusal(DataError, dates, []) == ["column 'c': there are no values to build a hierarchy from."]


@given(st.lists(st.dates(), min_size=1, max_size=30, unique=True))
def test_days_stay_in_the_order_of_time(days):
    taxonomy = dates(days, column="c")
    assert taxonomy.leaf_labels == tuple(day.isoformat() for day in sorted(days))
    assert taxonomy.levels == 6


def test_flat():
    taxonomy = Taxonomy.flat(["b", "a"], "c")
    assert taxonomy.to_rows() == [("b", "*"), ("a", "*")]
