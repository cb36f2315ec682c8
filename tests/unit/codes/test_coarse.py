"""Grids, borders and least widths: what is published, what it costs, and what is refused."""

import datetime as dt
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.algorithms import ALGORITHMS
from kohort.codes.encode import encode
from kohort.errors import DataError, PolicyError
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.measures.loss import line_costs
from kohort.policy import Policy


def rules(k=2, algorithm="fast", measure="ncp", output=None, **keys):
    return Policy(
        privacy={"k": k},
        algorithm={"name": algorithm, "seed": 1, "measure": measure},
        columns={"x": {"role": "quasi", **keys}},
        output={"order": "kept", **(output or {})},
    )


def published(values, k=2, **keys):
    """What pairs of neighbours are published as."""
    column = values if isinstance(values, pl.Series) else pl.Series("x", values)
    return kohort.anonymize(column.alias("x").to_frame(), rules(k, **keys)).table["x"].to_list()[::k]


def axis_of(values, **keys):
    return encode(pl.DataFrame({"x": values}), rules(**keys)).axes[0]


# -- what is published -----------------------------------------------------------------------------


@pytest.mark.promise("2.4")
@pytest.mark.parametrize(
    ("values", "keys", "wanted"),
    [
        ([21, 24, 41, 44], {"snap": 5}, ["[20 - 25]", "[40 - 45]"]),
        ([20, 25, 41, 44], {"snap": 5}, ["[20 - 25]", "[40 - 45]"]),
        ([25, 25, 41, 44], {"snap": 5}, ["[25 - 30]", "[40 - 45]"]),
        ([-7, -6, -1, 1], {"snap": 5}, ["[-10 - -5]", "[-5 - 5]"]),
        ([0.31, 0.32, 7.0, 7.25], {"snap": 0.1}, ["[0.3 - 0.4]", "[7.0 - 7.3]"]),
        ([12, 18, 40, 41], {"bottom": 18}, ["<= 18", "[40 - 41]"]),
        ([12, 30, 90, 99], {"bottom": 18, "top": 90}, ["<= 30", ">= 90"]),
        ([40, 41, 60, 99], {"top": 90}, ["[40 - 41]", ">= 60"]),
        ([1, 99], {"bottom": 18, "top": 90}, ["*"]),
        ([12, 13, 14, 18], {"bottom": 18}, ["<= 18", "<= 18"]),
        ([40, 40, 60, 63], {"min_width": 10}, ["[40 - 50]", "[60 - 70]"]),
        ([37, 37, 78, 83], {"min_width": 10}, ["[30 - 40]", "[73 - 83]"]),
        ([37, 37, 60, 90], {"min_width": 10}, ["[30 - 40]", "[60 - 90]"]),
        ([23, 23, 78, 79], {"min_width": 10, "bottom": 22, "top": 81}, ["[22 - 32]", "[70 - 80]"]),
        ([50, 50, 80, 80], {"min_width": 10, "top": 81}, ["[50 - 60]", "[71 - 81]"]),
        ([23, 23, 78, 83], {"min_width": 10, "snap": 5}, ["[20 - 30]", "[75 - 85]"]),
        ([1, 2, 3, 4], {"bottom": -5, "top": 50}, ["[1 - 2]", "[3 - 4]"]),
    ],
)
def test_published_form(values, keys, wanted):
    assert published(values, **keys) == wanted


def test_dates_count_from_a_monday():
    days = [dt.date(2024, 1, 3), dt.date(2024, 1, 4), dt.date(2024, 3, 4), dt.date(2024, 3, 4)]
    assert published(days, snap=7) == ["[2024-01-01 - 2024-01-08]", "[2024-03-04 - 2024-03-11]"]
    assert published(days, top=dt.date(2024, 2, 1)) == ["[2024-01-03 - 2024-01-04]", ">= 2024-02-01"]
    assert published(days, bottom="2024-01-04", min_width=3) == ["<= 2024-01-04", "[2024-03-04 - 2024-03-07]"]


def test_decimals_keep_their_digits():
    column = pl.Series("x", [Decimal("1.10"), Decimal("1.20"), Decimal("7.00"), Decimal("7.05")])
    assert published(column, snap=0.5) == ["[1.00 - 1.50]", "[7.00 - 7.50]"]


def test_missing_values_are_values_of_their_own():
    policy = rules(snap=5, bottom=20, top=90)
    table = pl.DataFrame({"x": [None, None, 31, 33]})
    assert kohort.anonymize(table, policy).table["x"].to_list() == [None, None, "[30 - 35]", "[30 - 35]"]
    mixed = kohort.anonymize(pl.DataFrame({"x": [None, 31, 33]}), policy.with_changes("privacy", k=3))
    assert mixed.table["x"].to_list() == ["*"] * 3
    nothing = pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Int64)})
    assert kohort.anonymize(nothing, policy).table["x"].to_list() == [None, None]


def test_typed_ends_are_null_where_there_is_none():
    policy = rules(snap=5, bottom=20, top=90, output={"bounds": True})
    table = kohort.anonymize(pl.DataFrame({"x": [12, 19, 31, 33, 88, 97]}), policy).table
    assert table.rows()[::2] == [("<= 20", None, 20, None), ("[30 - 35]", 30, 35, 32.5), (">= 85", 85, None, None)]
    assert table.schema["x_lo"] == table.schema["x_hi"] == pl.Int64


def test_values_that_cannot_be_told_apart_have_one_code():
    axis = axis_of([1, 12, 20, 21, 24, 25, 26, 95, 99], snap=5, bottom=20, top=90)
    assert axis.values.to_list() == [1, 21, 25, 26, 95]
    assert axis.numbers.tolist() == [1, 12, 20, 21, 24, 25, 26, 95, 99]


def test_sides_that_are_published_alike_have_one_key():
    axis = axis_of([1, 21, 25, 26, 30, 95, None], snap=5, bottom=20, top=90)
    lo, hi = (side.astype(np.int32) for side in np.triu_indices(axis.size))
    keys, texts = axis.keys(lo, hi), axis.published(lo, hi)
    for key in np.unique(keys):
        assert texts.filter(pl.Series(keys == key)).n_unique() == 1
    assert len(np.unique(keys)) == texts.n_unique()


# -- what it costs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "keys",
    [{"snap": 5}, {"min_width": 7}, {"bottom": 20, "top": 80}, {"snap": 5, "min_width": 10, "bottom": 20, "top": 80}],
    ids=str,
)
def test_loss_of_the_boxes_is_the_loss_of_the_file(measure, keys):
    values = pl.DataFrame({"x": np.random.default_rng(4).integers(0, 100, 80)})
    policy = rules(3, measure=measure, **keys)
    release = kohort.anonymize(values, policy)
    assert kohort.measure(release.table, values, policy).total == pytest.approx(release.loss.total, abs=1e-12)
    assert release.loss.total > kohort.anonymize(values, rules(3, measure=measure)).loss.total
    assert release.bound <= release.loss.total


def test_a_single_value_costs_what_is_told_about_it():
    release = kohort.anonymize(pl.DataFrame({"x": [20, 20, 100, 100]}), rules(snap=5))
    assert release.loss.total == pytest.approx(5 / 80)


@pytest.mark.parametrize("measure", MEASURES)
def test_tables_of_costs_are_monotone_and_exact_for_widths(measure):
    axis = axis_of([3, 21, 22, 25, 31, 38, 40, 77, 95, None], min_width=10, bottom=20, top=80)
    costs = compile_costs(MEASURES.make(measure, {}), (axis,))
    table = costs.flat.reshape(axis.size, axis.size)
    lo, hi = (side.astype(np.int32) for side in np.triu_indices(axis.size - 1))
    for a, b in zip(lo, hi, strict=True):
        assert (table[a : b + 1, a : b + 1] <= table[a, b]).all()
    true = line_costs(MEASURES.make(measure, {}), axis, lo, hi)
    assert (table[lo, hi] >= np.rint(true * costs.full[0])).all()
    if measure != "iloss":
        np.testing.assert_array_equal(table[lo, hi], np.rint(true * costs.full[0]))
    assert table[0, -1] == costs.full[0]
    assert table[-1, -1] == 0


def test_many_codes_are_a_line_whose_costs_are_never_too_high():
    axis = axis_of(np.random.default_rng(5).integers(0, 90_000, 3000), snap=7, min_width=70, bottom=700, top=84_000)
    assert axis.size > compile.TABLE_LIMIT
    positions = axis.positions
    assert (np.diff(positions) >= 0).all()
    rng = np.random.default_rng(6)
    lo, hi = np.sort(rng.integers(0, axis.size, (2, 4000)).astype(np.int32), axis=0)
    true = line_costs(MEASURES.make("ncp", {}), axis, lo, hi)
    assert (positions[hi] - positions[lo] <= true + 1e-12).all()


def test_algorithms_know_the_grid():
    """24 and 26 lie near each other, and on two sides of a multiple of 5."""
    values = [20, 22, 24, 26, 28, 29]
    assert published(values, k=3, algorithm="auto", snap=5) == ["[20 - 25]", "[25 - 30]"]
    assert sorted(set(published([21, 24, 26, 29], algorithm="auto", snap=5))) == ["[20 - 25]", "[25 - 30]"]


@pytest.mark.promise("2.4")
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_keeps_them(name):
    rng = np.random.default_rng(7)
    table = pl.DataFrame(
        {
            "x": rng.integers(0, 100, 60),
            "day": [dt.date(2020, 1, 1) + dt.timedelta(int(day)) for day in rng.integers(0, 900, 60)],
            "ill": [f"ill {number}" for number in rng.permutation(60) // 10],
        }
    )
    columns = {
        "x": {"role": "quasi", "snap": 5, "bottom": 15, "top": 85},
        "day": {"role": "quasi", "min_width": 30},
        "ill": "sensitive",
    }
    privacy = {"k": 3, "anonymity": ALGORITHMS[name].anonymity}
    policy = Policy(privacy=privacy, algorithm={"name": name, "seed": 1}, columns=columns)
    release = kohort.anonymize(table, policy)
    assert release.verdict.check("precision").passed


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"snap": 0}, "'columns\\.x\\.snap' must be greater than 0"),
        ({"snap": float("inf")}, "'columns\\.x\\.snap' must be a finite number"),
        ({"min_width": -1}, "'columns\\.x\\.min_width' must be greater than 0"),
        ({"bottom": "soon"}, "'columns\\.x\\.bottom' must be a number, or a date such as 1930-01-01"),
        ({"top": float("nan")}, "'columns\\.x\\.top' must be a number, or a date"),
        ({"bottom": 20, "top": 10}, "'top' must be above 'bottom'"),
        ({"bottom": 20, "top": 25, "min_width": 10}, "'top' must be above 'bottom', at least"),
        ({"snap": 5, "bottom": 18}, "'bottom' must be a multiple of 'snap'; the nearest are 15 and 20"),
        ({"snap": 5, "top": -18}, "'top' must be a multiple of 'snap'; the nearest are -20 and -15"),
        ({"snap": 7, "top": "2024-01-03"}, "the nearest are 2024-01-01 and 2024-01-08"),
        ({"snap": 5, "min_width": 7}, "'min_width' must be a multiple of 'snap'"),
        ({"bottom": 5, "top": "2024-01-01"}, "must be of the type of the column"),
        ({"bottom": 5, "type": "date"}, "must be of the type of the column"),
        ({"bottom": "2024-01-01", "type": "integer"}, "must be of the type of the column"),
        ({"snap": 5, "type": "string"}, "'snap' is for numbers and dates; remove it"),
        ({"snap": 5, "hierarchy": {"flat": True}}, "'snap' is for columns that become intervals"),
    ],
)
def test_keys_that_make_no_sense(keys, sentence):
    with pytest.raises(PolicyError, match=sentence):
        rules(**keys)


def test_other_roles_have_no_use_for_them():
    with pytest.raises(PolicyError, match="'snap' is for quasi columns only"):
        Policy(privacy={"k": 2}, columns={"x": "quasi", "y": {"role": "sensitive", "snap": 5}})


@pytest.mark.parametrize(
    ("values", "keys", "sentence"),
    [
        ([1, 2], {"snap": 0.5}, "'snap' must be whole numbers, as the values are"),
        ([1, 2], {"top": 1.5}, "'top' must be whole numbers, as the values are"),
        ([dt.date(2024, 1, 1)] * 2, {"min_width": 1.5}, "'min_width' must be whole days"),
        ([dt.date(2024, 1, 1)] * 2, {"top": 5}, "'bottom' and 'top' must be dates, as the values are"),
        ([1, 2], {"bottom": "2024-01-01"}, "'bottom' and 'top' must be numbers, as the values are"),
        (["a", "b"], {"snap": 5, "top": 10}, "'snap', 'top' is for numbers and dates, and it holds texts"),
        ([2**63 - 2] * 2, {"snap": 1000}, "an end would be no 64-bit integer"),
        ([dt.date(9999, 12, 30)] * 2, {"snap": 1000}, "an end would lie outside the years 1 to 9999"),
        ([Decimal("1.5")] * 2, {"snap": 0.25}, "must have at most 1 digits after the point"),
    ],
)
def test_keys_that_do_not_fit_the_values(values, keys, sentence):
    with pytest.raises((PolicyError, DataError), match=sentence):
        kohort.anonymize(pl.DataFrame({"x": values}), rules(**keys))


def test_policies_survive_toml():
    policy = rules(snap=7, bottom=dt.date(1930, 1, 6), top="2010-01-04", min_width=14)
    assert Policy.from_toml(policy.to_toml()) == policy
    text = '[privacy]\nk = 2\n[columns.x]\nrole = "quasi"\nbottom = 1930-01-06\n'
    assert Policy.from_toml(text).columns["x"].bottom == "1930-01-06"
