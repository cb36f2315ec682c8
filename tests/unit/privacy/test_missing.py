"""What a missing value means to each model."""

import pytest

from kohort.privacy import MODELS
from unit.privacy.tables import kept, make, refusal


def test_missing_is_one_value_of_its_own():
    assert kept(make("distinct-l-diversity", l=2), ["a", None], [None, None]) == [True, False]
    assert kept(make("entropy-l-diversity", l=2), ["a", None], [None, None]) == [True, False]
    assert kept(make("recursive-cl-diversity", c=1.5, l=2), ["a", None], [None, None]) == [True, False]
    assert kept(make("alpha-k", alpha=0.5), ["a", None], [None, None, "a"]) == [True, False]
    assert kept(make("t-closeness", t=0.25), ["a", None], [None, None], table=["a", "a"]) == [True, False]
    assert kept(make("beta-likeness", beta=0.5), ["a", None], [None, None], table=["a", "a"]) == [True, False]
    assert kept(make("delta-disclosure", delta=2), ["a", None], [None, None]) == [True, False]


def test_only_known_numbers_are_different_far_and_varied():
    assert kept(make("k-e", k=2, e=1), ["1", "2", None], ["1", None], [None, None]) == [True, False, False]
    assert kept(make("k-e", k=1, e=0), ["1", None], [None, None]) == [True, False]
    assert kept(make("variance-control", variance=0.25), ["1", "2", None], ["1", None], [None]) == [True, False, False]


def test_missing_is_near_missing_only():
    assert kept(make("epsilon-m", epsilon=100, m=2), ["1", None], [None, None], ["1", "2"]) == [True, False, False]
    far = make("dissimilarity", epsilon=100, delta=1)
    assert kept(far, ["1", None], [None, None], ["1", "2"]) == [True, False, False]
    apart = MODELS.make("dissimilarity-plus", {"columns": ["s"], "epsilon": 0.9, "delta": 1})
    assert kept(apart, ["1", None], [None, None], ["1", "2"]) == [True, False, True]
    assert kept(apart, ["a", None], [None, None], ["a", "b"]) == [True, False, True]
    tree = {"tree": {"x": ["a", "b"], "y": ["c"]}}
    assert kept(apart, ["a", None], [None, None], ["a", "b"], ["a", "c"], hierarchy=tree) == [True, False, False, True]


def test_missing_lies_one_step_beyond_the_largest():
    """Ranks 0, 1, 2: the one in the middle is a third away from the table, and the others are a half."""
    assert kept(make("t-closeness", t=0.5, distance="ordered"), ["2"], ["1"], [None]) == [True, True, True]
    assert kept(make("t-closeness", t=0.4, distance="ordered"), ["2"], ["1"], [None]) == [True, False, False]


@pytest.mark.parametrize(
    ("name", "parameters", "keeps"),
    [
        ("distinct-l-diversity", {"l": 2}, False),
        ("entropy-l-diversity", {"l": 2}, False),
        ("recursive-cl-diversity", {"c": 2, "l": 2}, False),
        ("frequency-l-diversity", {"l": 2}, False),
        ("alpha-k", {"alpha": 0.5}, False),
        ("k-e", {"k": 1, "e": 0}, False),
        ("variance-control", {"variance": 1}, False),
        ("epsilon-m", {"epsilon": 0, "m": 2}, False),
        ("dissimilarity", {"epsilon": 0, "delta": 0.5}, False),
        ("t-closeness", {"t": 0}, True),
        ("t-closeness", {"t": 0, "distance": "ordered"}, True),
        ("beta-likeness", {"beta": 0.1}, True),
        ("delta-disclosure", {"delta": 0.1}, True),
    ],
)
@pytest.mark.parametrize("value", [None, "5"])
def test_a_column_with_one_value_alone(name, parameters, keeps, value):
    """It cannot be diverse, and it is close to itself; one number is one different number, and as far from itself."""
    model = make(name, **parameters)
    keeps = keeps or (name == "k-e" and value is not None)
    assert kept(model, [value] * 3, [value] * 2) == [keeps, keeps]
    assert (refusal(model, [value], [5]) is None) == keeps


def test_an_all_missing_column_with_a_tree():
    tree = {"tree": {"x": ["a", "b"], "y": ["c"]}}
    assert kept(make("t-closeness", t=0, distance="hierarchical"), [None, None], hierarchy=tree) == [True]
    model = MODELS.make("dissimilarity-plus", {"columns": ["s"], "epsilon": 0, "delta": 1})
    assert kept(model, [None, None], [None], hierarchy=tree) == [False, True]
