"""Whether one person can fit two published values: all kinds of columns, and what cannot be read."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.audit.earlier.overlap import stretches
from kohort.audit.meaning.published import published_column
from kohort.policy import Policy

TREE = {"Lung": ["Asthma", "Flu"], "Skin": ["Acne", "Eczema"]}
COLUMNS = {
    "number": {"type": "integer"},
    "date": {"type": "date"},
    "label": {"hierarchy": {"tree": TREE}},
    "numbers as labels": {"hierarchy": {"tree": {"low": ["1", "2"], "high": ["8", "9"]}}},
    "prefix": {"hierarchy": {"prefix": [5, 3]}},
    "text": {"hierarchy": {"flat": True}},
}


def meet(kind, one, other, *, missing_is_any=False):
    """Whether two texts overlap."""
    policy = Policy(privacy={"k": 2}, columns={"q": {"role": "quasi", **COLUMNS[kind]}})
    reader = published_column("q", policy, [text for text in (one, other) if text is not None])
    found = stretches(reader, {one, other}, missing_is_any=missing_is_any)
    (first, last), (other_first, other_last) = found[one], found[other]
    assert first <= last
    assert other_first <= other_last
    return first <= other_last and other_first <= last


MEET = [
    ("number", "30", "30"),
    ("number", "30", "30.0"),
    ("number", "30", "[20 - 30]"),
    ("number", "[20 - 30]", "[30 - 40]"),
    ("number", "(20, 30)", "(20, 30)"),
    ("number", "[20, 30[", "29.5"),
    ("number", "65+", "[60 - 70]"),
    ("number", "< 18", "-5"),
    ("number", "*", "30"),
    ("number", "about 30", "90"),  # cannot be read, so it may be anything
    ("number", "[40 - 30]", "90"),
    ("date", "2024-Q1", "2024-03-31"),
    ("date", "2020s", "2029"),
    ("date", "2024-01-03", "[2024-01-03 - 2024-02-01]"),
    ("label", "Lung", "Flu"),
    ("label", "Lung", "Lung"),
    ("label", "*", "Acne"),
    ("label", "Bone", "Acne"),
    ("numbers as labels", "[1 - 2]", "high"),
    ("prefix", "132**", "13210"),
    ("prefix", "13***", "132**"),
    ("prefix", "13210", "13210"),
    ("text", "F", "F"),
    ("text", "*", "F"),
]
APART = [
    ("number", "30", "31"),
    ("number", "[20 - 29]", "[30 - 39]"),
    ("number", "[20, 30[", "30"),
    ("number", "(20, 30]", "20"),
    ("number", "(20, 30)", "[30, 40]"),
    ("number", "< 18", "18"),
    ("date", "2024-Q1", "2024-04-01"),
    ("date", "2020s", "2019"),
    ("label", "Lung", "Skin"),
    ("label", "Lung", "Acne"),
    ("numbers as labels", "low", "8"),
    ("prefix", "132**", "133**"),
    ("prefix", "132**", "13310"),
    ("prefix", "132**", "1321"),
    ("prefix", "13210", "13211"),
    ("text", "F", "M"),
]


@pytest.mark.parametrize(("kind", "one", "other"), MEET)
def test_values_that_can_be_true_of_one_person(kind, one, other):
    assert meet(kind, one, other)
    assert meet(kind, other, one)


@pytest.mark.parametrize(("kind", "one", "other"), APART)
def test_values_that_cannot(kind, one, other):
    assert not meet(kind, one, other)
    assert not meet(kind, other, one)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_missing_value_is_a_value_of_its_own_or_any(kind):
    value = {"number": "1", "date": "2024", "label": "Flu", "numbers as labels": "1"}.get(kind, "x")
    assert meet(kind, None, None)
    assert meet(kind, None, "*")
    assert not meet(kind, None, value)
    assert meet(kind, None, value, missing_is_any=True)


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from("[(]"), st.sampled_from("])[")), max_size=6
    )
)
def test_intervals_overlap_where_they_share_a_number(cut):
    """All at once, as in a release; halves stand for the numbers between."""
    texts = {f"{left}{min(a, b)}, {max(a, b)}{right}" for a, b, left, right in cut}
    policy = Policy(privacy={"k": 2}, columns={"q": {"role": "quasi", "type": "number"}})
    found = stretches(published_column("q", policy, texts), texts, missing_is_any=False)

    def numbers(text):
        low, high = (float(end) for end in text[1:-1].split(", "))
        inside = [n / 2 for n in range(13) if low < n / 2 < high]
        inside += [low] * (text[0] == "[" and (low < high or text[-1] == "]"))
        inside += [high] * (text[-1] == "]" and (low < high or text[0] == "["))
        return set(inside)

    for one, other in product(texts, repeat=2):
        if numbers(one) and numbers(other):
            (first, last), (other_first, other_last) = found[one], found[other]
            assert (first <= other_last and other_first <= last) == bool(numbers(one) & numbers(other))
