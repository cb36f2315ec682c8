"""The demo table: its form, its determinism, and what a hospital statistician would check first."""

import hashlib
import time
from datetime import date

import polars as pl
import pytest

from kohort.datasets import _vocabulary as people
from kohort.datasets import patients, patients_hierarchies
from kohort.datasets.hospital import _BATCH
from kohort.errors import DataError

SCHEMA = {
    "name": pl.String,
    "birth_date": pl.Date,
    "sex": pl.String,
    "zip_code": pl.String,
    "ethnicity": pl.String,
    "education": pl.String,
    "admission_date": pl.Date,
    "length_of_stay": pl.Int64,
    "diagnosis": pl.String,
    "cost": pl.Float64,
}
MANY = 200_000


def values(frame, column):
    return set(frame[column].drop_nulls().to_list())


class TestForm:
    @pytest.mark.parametrize("n", [0, 1, 7, 10_000, _BATCH + 1])
    def test_has_the_rows_asked_for_and_always_the_same_schema(self, n):
        table = patients(n)
        assert table.height == n
        assert dict(table.schema) == SCHEMA
        assert list(table.columns) == list(SCHEMA)

    def test_default_is_ten_thousand_rows_of_seed_seven(self):
        assert patients().equals(patients(10_000, seed=7))

    def test_refuses_a_negative_number(self):
        with pytest.raises(DataError, match="must not be negative"):
            patients(-1)

    def test_same_seed_same_table_also_over_several_batches(self):
        assert patients(2 * _BATCH + 3, seed=1).equals(patients(2 * _BATCH + 3, seed=1))

    def test_batches_do_not_repeat_each_other(self):
        table = patients(2 * _BATCH)
        assert not table[:_BATCH].equals(table[_BATCH:])

    def test_other_seed_other_table(self):
        one, other = patients(1000, seed=1), patients(1000, seed=2)
        for column in SCHEMA:
            assert not one[column].equals(other[column]), column

    def test_table_is_the_same_on_every_machine(self):
        # Changes only when the generator or its vocabulary is changed on purpose.
        text = patients(10_000, seed=7).write_csv(float_precision=2)
        assert (
            hashlib.sha256(text.encode()).hexdigest()
            == "75919c6d291236295c857ca50dbc2b15c2451525cae651397ea520c3bcea7167"
        )

    def test_a_million_rows_take_seconds(self):
        start = time.perf_counter()
        patients(1_000_000)
        assert time.perf_counter() - start < 10

    def test_costs_have_cents(self, many):
        cost = many["cost"].drop_nulls()
        assert (cost - cost.round(2)).abs().max() == 0
        assert not cost.is_nan().any()


class TestSense:
    def test_nobody_is_admitted_before_birth_or_beyond_the_oldest_age(self, many):
        assert many["age_in_days"].min() == 0
        assert 95 < many["age"].max() <= 102

    def test_admissions_fill_two_years(self, many):
        assert many["admission_date"].min() == date(2023, 1, 1)
        assert many["admission_date"].max() == date(2024, 12, 31)

    def test_diseases_of_one_sex(self, many):
        trees = patients_hierarchies()["diagnosis"]
        birth = trees["Pregnancy and birth"]
        mothers = many.filter(pl.col("diagnosis").is_in(birth["Childbirth"] + birth["Pregnancy complications"]))
        assert mothers.height > 10_000
        assert values(mothers, "sex") == {"F"}
        assert mothers["age"].is_between(14, 48).all()
        prostate = many.filter(pl.col("diagnosis").str.contains("(?i)prostat"))
        assert prostate["diagnosis"].n_unique() == 2
        assert values(prostate, "sex") == {"M"}

    def test_sexes(self, many):
        share = dict(many["sex"].value_counts(normalize=True).iter_rows())
        assert set(share) == {"F", "M", "X"}
        assert 0 < share["X"] < 0.002
        assert 0.5 < share["F"] < 0.6

    def test_names_match_the_sex(self, many):
        women = {first for style in people.NAMES for first in style.women.split()}
        men = {first for style in people.NAMES for first in style.men.split()}
        first = many.select("sex", first=pl.col("name").str.split(" ").list.first())
        assert values(first.filter(pl.col("sex") == "F"), "first") == women
        assert values(first.filter(pl.col("sex") == "M"), "first") == men

    def test_names_follow_ethnicity_loosely(self, many):
        last = set(people.NAMES[1].last.split())
        share = (
            many.with_columns(hit=pl.col("name").str.split(" ").list.last().is_in(list(last)))
            .group_by("ethnicity")
            .agg(pl.col("hit").mean())
        )
        share = dict(share.iter_rows())
        assert share["Hispanic White"] > 0.8
        assert 0 < share["White"] < 0.1

    def test_newborns_are_admitted_at_birth(self, many):
        born = many.filter(pl.col("diagnosis") == "Liveborn infant")
        assert 0.07 < born.height / MANY < 0.12
        assert (born["birth_date"] == born["admission_date"]).all()
        assert many.filter(pl.col("diagnosis") == "Neonatal jaundice")["age_in_days"].max() < 28

    def test_admissions_peak_at_birth_and_grow_with_age(self, many):
        share = dict(many["age"].value_counts(normalize=True).iter_rows())
        decade = [sum(share.get(age, 0) for age in range(start, start + 10)) for start in range(0, 100, 10)]
        assert share[0] > 0.08 > 20 * share[8]
        assert decade[1] < decade[4] < decade[5] < decade[6] < decade[7]
        assert decade[9] < decade[8]

    def test_dementia_is_of_the_old(self, many):
        old = many.filter(pl.col("diagnosis").is_in(["Alzheimer disease", "Vascular dementia"]))
        assert old.height > 500
        assert old["age"].min() >= 55
        assert old["age"].mean() > 78

    @pytest.mark.parametrize(
        ("education", "youngest"),
        [
            ("Primary school", 6),
            ("High school", 18),
            ("Bachelor degree", 22),
            ("Master degree", 25),
            ("Doctorate", 28),
        ],
    )
    def test_education_takes_time(self, many, education, youngest):
        # The age of the draw counts years of 365.25 days: a birthday may be a day off.
        ages = many.filter(pl.col("education") == education)["age"]
        assert youngest - 1 <= ages.min() <= youngest + 3

    def test_stays_are_skewed_and_longer_for_the_old(self, many):
        stay = many["length_of_stay"]
        assert stay.min() == 1
        assert stay.max() > 40
        assert 1.2 * stay.median() < stay.mean() < 6
        pneumonia = many.filter(pl.col("diagnosis") == "Pneumonia")
        old, young = (
            pneumonia.filter(test)["length_of_stay"].mean() for test in (pl.col("age") > 75, pl.col("age") < 40)
        )
        assert old > 1.2 * young

    def test_costs_rise_with_the_stay_and_depend_on_the_disease(self, many):
        by_stay = many.group_by("length_of_stay").agg(pl.col("cost").median()).sort("length_of_stay")["cost"]
        assert by_stay[:10].is_sorted()
        assert many.select(pl.corr("length_of_stay", "cost")).item() > 0.7
        short = many.filter(pl.col("length_of_stay") == 2).group_by("diagnosis").agg(pl.col("cost").median())
        cost = dict(short.iter_rows())
        assert cost["Hip osteoarthritis"] > 2 * cost["Depression"]
        assert many["cost"].mean() > 1.1 * many["cost"].median()

    def test_influenza_comes_in_winter_and_fractures_in_summer(self, many):
        def share(disease, months):
            month = many.filter(pl.col("diagnosis") == disease)["admission_date"].dt.month()
            return month.is_in(months).mean()

        assert share("Influenza", [12, 1, 2]) > 0.55
        assert share("Influenza", [6, 7, 8]) < 0.05
        assert share("Forearm fracture", [6, 7, 8]) > 0.35
        assert share("Depression", [12, 1, 2]) == pytest.approx(0.25, abs=0.03)

    def test_planned_admissions_avoid_weekends(self, many):
        def weekend(disease):
            return (many.filter(pl.col("diagnosis") == disease)["admission_date"].dt.weekday() > 5).mean()

        assert weekend("Knee osteoarthritis") < 0.06
        assert 0.2 < weekend("Sepsis") < 2 / 7


class TestPlaces:
    def test_codes_are_five_digits_some_with_leading_zero(self, many):
        zip_code = many["zip_code"].drop_nulls()
        assert zip_code.str.contains(r"^\d{5}$").all()
        assert 0.1 < zip_code.str.starts_with("0").mean() < 0.9
        assert zip_code.str.head(3).n_unique() == 12
        assert 380 <= zip_code.n_unique() <= 420

    def test_codes_are_skewed(self, many):
        counts = many["zip_code"].drop_nulls().value_counts()["count"]
        assert counts.max() > 50 * counts.median()
        assert counts.min() < counts.median() / 5

    def test_ethnicity_depends_on_the_region_and_is_skewed(self, many):
        black = many.group_by(pl.col("zip_code").str.head(3)).agg((pl.col("ethnicity") == "Black").mean())
        share = dict(black.iter_rows())
        assert share["061"] > 5 * share["128"]
        counts = many["ethnicity"].drop_nulls().value_counts(sort=True)["count"]
        assert counts[0] > MANY / 2
        assert counts[-1] < MANY / 100


@pytest.mark.parametrize(
    ("column", "target"), [("education", 0.04), ("ethnicity", 0.02), ("zip_code", 0.005), ("cost", 0.003)]
)
def test_share_of_missing_cells(many, column, target):
    assert many[column].null_count() / MANY == pytest.approx(target, rel=0.12)


def test_nothing_else_is_missing(many):
    full = ["name", "birth_date", "sex", "admission_date", "length_of_stay", "diagnosis"]
    assert sum(many[column].null_count() for column in full) == 0


def test_education_is_missing_more_often_for_children(many):
    missing = many.group_by(pl.col("age") < 18).agg(pl.col("education").is_null().mean())
    share = dict(missing.iter_rows())
    assert share[True] > 3 * share[False]
