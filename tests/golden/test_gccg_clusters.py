"""Paper 000 (GCCG): scores, classes and parts of tables 2 to 8."""

from fractions import Fraction

import numpy as np
import pytest

from helpers.papers import FOUR_LEVELS, ROWS
from kohort.algorithms import ALGORITHMS
from kohort.algorithms.gccg import distance_costs, form_classes, graded, grades
from kohort.algorithms.gccg_parallel import halved
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.search.task import Task

THREE_LEVELS = {"Low": ["9th", "11th", "HS-grad"], "High": ["Bachelors", "Masters"]}
NAMES = ("education", "race", "sex", "age")
TABLE_3 = [{39, 50}, {38, 52}, {53, 49}, {28, 37}]
TABLE_6 = [{39, 42}, {50, 52}, {38, 37}, {31, 28}, {53, 49}]
TABLE_8 = [{39, 42}, {50, 38, 37}, {52, 53}, {31, 28, 49}]


@pytest.fixture
def table(example):
    def made(records=10, tree=FOUR_LEVELS):
        return example(
            [dict(zip(NAMES, row, strict=True)) for row in ROWS[:records]],
            list(NAMES),
            {"education": {"tree": tree}, "race": {"flat": True}, "sex": {"flat": True}},
        )

    return made


def task(codes):
    # Neither measure nor random numbers matter; a measure that differs from the paper's distance shows it.
    measure = MEASURES.make("leaf", {})
    return Task(codes, measure, compile_costs(measure, codes.axes), 2, np.random.default_rng(), lambda share: None)


def by_age(table, labels):
    """Classes in the order of their numbers, each as the ages of its members."""
    ages = table.frame["age"].to_numpy()
    return [set(ages[labels == label].tolist()) for label in range(labels.max() + 1)]


def classes(table, name, **parameters):
    return by_age(table, ALGORITHMS.make(name, parameters).cluster(task(table.codes)))


def scores(table, numeric_score):
    numerators, denominator = grades(table.codes, 2, numeric_score)
    order = graded(table.codes, 2, numeric_score)
    return table.frame["age"].to_numpy()[order].tolist(), [Fraction(int(x), denominator) for x in numerators[order]]


def test_table_5_is_table_4_sorted_by_score(table):
    ages, sorted_scores = scores(table(), "freq")
    assert ages == [39, 50, 42, 38, 52, 37, 31, 28, 53, 49]
    assert sorted_scores == [
        Fraction(text) for text in ("1.8", "1.8", "1.8", "1.6", "1.6", "1.4", "1.4", "1.2", "1.1", "0.9")
    ]


@pytest.mark.slow
def test_the_other_reading_of_numeric_scores_rounds_to_the_printed_column(table):
    ages, sorted_scores = scores(table(), "freq_over_k")
    assert ages == [39, 50, 42, 38, 52, 37, 31, 28, 53, 49]
    assert sorted_scores == [
        Fraction(text) for text in ("1.75", "1.75", "1.75", "1.55", "1.55", "1.35", "1.35", "1.15", "1.05", "0.85")
    ]
    assert classes(table(), "gccg", numeric_score="freq_over_k") == TABLE_6


def test_scores_of_table_2(table):
    ages, sorted_scores = scores(table(8), "freq")
    assert ages == [39, 50, 38, 52, 53, 28, 37, 49]  # 53, 28 and 37 keep their order
    assert sorted_scores == [Fraction(text) for text in ("1.75", "1.75", "1.625", "1.625", *["1.25"] * 3, "1")]


@pytest.mark.parametrize("tree", [FOUR_LEVELS, THREE_LEVELS], ids=["four levels", "three levels"])
@pytest.mark.parametrize(("records", "printed"), [(8, TABLE_3), (10, TABLE_6)], ids=["table 3", "table 6"])
def test_classes_of_tables_3_and_6(table, tree, records, printed):
    assert classes(table(records, tree), "gccg") == printed


def test_classes_of_table_8(table):
    assert classes(table(), "gccg-parallel", parts=2) == TABLE_8


def test_three_levels_do_not_give_table_8(table):
    printed = [{39, 42}, {50, 38, 52}, {37, 31}, {28, 53, 49}]
    assert classes(table(tree=THREE_LEVELS), "gccg-parallel", parts=2) == printed


def test_scoring_again_inside_the_parts_would_break_table_8(table):
    ten = table()
    codes, costs = ten.codes, distance_costs(ten.codes)
    sets = halved(codes, costs, graded(codes, 2, "freq"), 2, 2)
    assert by_age(ten, form_classes(task(codes), costs, sets)) == TABLE_8
    again = []
    for records in sets:
        records = np.sort(records)
        part = type(codes)(codes.array[records], codes.axes)
        again.append(records[graded(part, 2, "freq")])
    assert by_age(ten, form_classes(task(codes), costs, again)) != TABLE_8
