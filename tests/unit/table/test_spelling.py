"""One form for all spellings of a value: of the maker and of the auditor, which must agree."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.audit.meaning import spelling as auditor
from kohort.policy import Policy
from kohort.table import spelling as maker
from kohort.table.identities import identities

SAME = [
    ("flu", " flu", "flu ", "\tflu", "flu\u00a0", "\u3000flu", "flu\u200b", "\ufefffl\u00adu", "FLU", "Flu", "ﬂu"),
    ("heart attack", "heart  attack", "heart\u00a0attack", "heart\tattack", "Heart Attack"),
    ("é", "e\u0301", " É", "e\u034f\u0301"),
    ("1", "1.0", "+1", "1e0", "01", "1.", "10e-1", " 1 ", "１", "1\u200b"),
    ("0", "-0", "0.00", ".0", "-0e5"),
    ("-1.5", "\u22121.50", "-15e-1", "-01.5"),
    ("2024-01-31", "2024-01-31 00:00:00", "2024-01-31T00:00", " 2024-01-31 00:00:00.000"),
    ("", " ", "\u2003", "\u200b", "\u2800"),
    ("true", "True", "TRUE"),
    ("crohn's", "Crohn\u2019s", "Crohn\u02bcs", "CROHN\uff07S"),
    ("covid-19", "COVID\u201119", "Covid\u201319", "covid\u00ad\u201019"),
    ('say "a"', "say \u201ca\u201d", "say \u201ea\u201c"),
]
PERSONS = [
    ("Ann", " Ann", "Ann\u00a0", "Ann\u200b"),
    ("7", "7.0", "+7", " 7 ", "7."),
    ("7.5", "7.50"),
    ("O'Brien-Smith", "O\u2019Brien\u2011Smith"),
    ("007",),
    ("ann",),
    ("1e2",),
    ("100",),
]


@pytest.mark.parametrize("side", [maker, auditor])
def test_spellings_of_one_value_have_one_form(side):
    forms = [{side.alike(text) for text in texts} for texts in SAME]
    assert all(len(form) == 1 for form in forms)
    assert len(set.union(*forms)) == len(SAME)
    people = [{side.identity(text) for text in texts} for texts in PERSONS]
    assert all(len(form) == 1 for form in people)
    assert len(set.union(*people)) == len(PERSONS)


odd = st.sampled_from(
    [
        *"0123456789+-.eE aAbBßé'",
        *("\u00a0", "\u200b", "\u0301", "\u2212", "ﬁ", "１", "\u2800", "\u034f", "\ufe0f", "\x1f", "\x01", "  "),
        *("2024-01-01", "T00:00", "e5", "İ", "ſ", "ﷺ", "\u00a8", "\u3164", "\u180e"),
        *("\u2010", "\u2014", "\u2019", "\u2033", "\u201c"),
    ]
)
texts = st.one_of(
    st.lists(odd, max_size=8).map("".join),
    st.text(max_size=6),
    st.from_regex(r"[+-]?[0-9]{0,3}\.?[0-9]{0,3}([eE][+-]?[0-9]{0,3})?", fullmatch=True),
)


@pytest.mark.promise("1.6", "3.2")
@given(texts)
@settings(max_examples=400)
def test_maker_and_auditor_write_values_alike(text):
    assert maker.alike(text) == auditor.alike(text)
    assert maker.identity(text) == auditor.identity(text)
    assert maker.alike(maker.alike(text)) == maker.alike(text)
    assert maker.identity(maker.identity(text)) == maker.identity(text)


@given(st.lists(st.one_of(st.none(), texts), min_size=1, max_size=30))
@settings(max_examples=60)
def test_only_odd_texts_are_looked_at_one_by_one(cells):
    policy = Policy.build(k=2, quasi_identifiers=["age"], identifiers=["id"])
    policy = policy.with_changes("input", missing=("", "NA", " 5.0"))
    plain = [
        None if cell is None or maker.identity(cell) in ("", "NA", "5") else maker.identity(cell) for cell in cells
    ]
    assert identities(pl.Series("id", cells, dtype=pl.String), policy).to_list() == plain


def test_one_spelling_prefers_that_of_the_tree_and_leaves_out_the_missing():
    policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"])
    policy = policy.with_changes("input", missing=("", "NA"))
    cells = pl.Series("ill", ["hiv ", "HIV", " na", "flu", " ", None])
    assert maker.one_spelling(cells, policy, ["HIV"]).to_list() == ["HIV", "HIV", None, "flu", None, None]
    whole = pl.Series("ill", ["a", "b"])
    assert maker.one_spelling(whole, policy) is whole


def test_an_empty_text_beside_plain_ones_is_missing():
    policy = Policy.build(k=2, quasi_identifiers=["a"], sensitive=["ill"])
    assert maker.one_spelling(pl.Series("ill", ["", "u", "v"]), policy).to_list() == [None, "u", "v"]
