"""Worked examples of the papers on privacy models."""

import pytest

from kohort.privacy import MODELS
from oracles.models import earth_movers_distance, exact
from unit.privacy.tables import kept, make

# -- t-closeness: salaries of 3 to 11 thousand (Li, Li and Venkatasubramanian 2007, section 3) ------

SALARIES = [str(thousand) for thousand in range(3, 12)]


@pytest.mark.parametrize(
    ("group", "at", "below"),
    [(["3", "4", "5"], 0.375, 0.3749999999), (["6", "8", "11"], 0.1666666667, 0.1666666666)],
)
def test_salaries_of_the_paper_on_t_closeness(group, at, below):
    others = [salary for salary in SALARIES if salary not in group]
    for t, expected in ((at, True), (below, False)):
        assert kept(make("t-closeness", t=t, distance="ordered"), group, table=others) == [expected]
    numbers = [exact(float(salary)) for salary in SALARIES]
    found = earth_movers_distance([exact(float(salary)) for salary in group], numbers, "ordered")
    assert float(found) == pytest.approx(at)


def test_without_an_order_both_classes_are_as_far_away():
    model = make("t-closeness", t=0.6666666667)
    assert kept(model, SALARIES[:3], ["6", "8", "11"], table=["7", "9", "10"]) == [True, True]
    model = make("t-closeness", t=0.6666666666)
    assert kept(model, SALARIES[:3], ["6", "8", "11"], table=["7", "9", "10"]) == [False, False]


# -- (epsilon, m): Li, Tao and Xiao 2008 ------------------------------------------------------------


def test_a_value_in_the_middle_breaks_epsilon_m():
    model = make("epsilon-m", epsilon=15, m=2)
    assert kept(model, ["40", "60"], ["40", "50", "60"]) == [True, False]
    assert kept(model, ["40", "60"], ["50", "70"]) == [True, True]
    assert kept(model, ["40", "60", "50", "70"]) == [False]
    assert not model.monotone


# -- dissimilarity: Zhang et al. (003), theorem 1 ---------------------------------------------------


def test_theorem_1_dissimilarity_is_not_monotone():
    odd, even = ["1.0", "3.0", "5.0"], ["2.0", "4.0", "6.0"]
    raw = make("dissimilarity", epsilon=1.5, delta=1)
    normalised = MODELS.make("dissimilarity-plus", {"columns": ["s"], "epsilon": 0.3, "delta": 1})  # the range is 5
    for model in (raw, normalised):
        assert kept(model, odd, even) == [True, True]
        assert kept(model, [*odd, *even]) == [False]
        assert not model.monotone


def test_3_has_three_of_five_others_that_are_dissimilar():
    everybody = ["1.0", "3.0", "5.0", "2.0", "4.0", "6.0"]
    assert kept(make("dissimilarity", epsilon=1.5, delta=0.6), everybody) == [True]
    assert kept(make("dissimilarity", epsilon=1.5, delta=0.61), everybody) == [False]


def test_eps_min_itself_is_a_neighbourhood():
    """The paper says that a class satisfies (eps_MIN, ...): only below eps_MIN, as near means at most epsilon."""
    group = ["1", "3", "5"]
    assert kept(make("dissimilarity", epsilon=2, delta=1), group) == [False]
    assert kept(make("dissimilarity", epsilon=1.999999, delta=1), group) == [True]


def test_categories_of_unequal_depth():
    """Equation 2: edges over twice the height. {syphilis, gonorrhea, HIV} are near one another, and flu is far."""
    tree = {"tree": {"venereal": ["syphilis", "gonorrhea", {"viral": ["HIV"]}], "lung": ["flu"]}}

    def keeps(epsilon, *group):
        model = MODELS.make("dissimilarity-plus", {"columns": ["s"], "epsilon": epsilon, "delta": 1})
        return kept(model, list(group), table=["syphilis", "HIV", "flu"], hierarchy=tree)[0]

    assert not keeps(0.3333333334, "syphilis", "gonorrhea")  # 2 of 6 edges
    assert keeps(0.3333333333, "syphilis", "gonorrhea")
    assert not keeps(0.5, "syphilis", "HIV")  # 3 of 6
    assert keeps(0.4999999999, "syphilis", "HIV")
    assert not keeps(0.8333333334, "flu", "HIV")  # 5 of 6
    assert keeps(0.8333333333, "flu", "HIV")


# -- table II of paper 001, with the diseases of its table I ----------------------------------------

YOUNG = ["CANCER", "DIABETES", "HIGH BP", "DIABETES", "HIV", "FLU", "HIV", "CANCER"]
OLD = ["CANCER", "HIGH BP", "HIV", "CANCER", "CANCER", "FLU", "CANCER", "DIABETES"]


@pytest.mark.parametrize(
    ("name", "holds", "fails", "expected"),
    [
        ("distinct-l-diversity", {"l": 5}, {"l": 6}, [False, False]),
        ("entropy-l-diversity", {"l": 4}, {"l": 4.0001}, [True, False]),
        ("entropy-l-diversity", {"l": 4}, {"l": 4.7568}, [True, False]),
        ("entropy-l-diversity", {"l": 4}, {"l": 4.7569}, [False, False]),
        ("frequency-l-diversity", {"l": 2}, {"l": 3}, [True, False]),
        ("frequency-l-diversity", {"l": 2}, {"l": 4}, [True, False]),
        ("alpha-k", {"alpha": 0.5}, {"alpha": 0.25}, [True, False]),
        ("recursive-cl-diversity", {"c": 1.001, "l": 2}, {"c": 1, "l": 2}, [True, False]),
        ("recursive-cl-diversity", {"c": 1.334, "l": 3}, {"c": 1.333, "l": 3}, [True, False]),
        ("t-closeness", {"t": 0.125}, {"t": 0.1249999}, [False, False]),
        (
            "beta-likeness",
            {"beta": 0.3333334, "enhanced": False},
            {"beta": 0.3333333, "enhanced": False},
            [False, False],
        ),
        ("delta-disclosure", {"delta": 0.4055}, {"delta": 0.4054}, [False, False]),
    ],
)
def test_table_ii_of_two_level(name, holds, fails, expected):
    assert kept(make(name, **holds), YOUNG, OLD) == [True, True]
    assert kept(make(name, **fails), YOUNG, OLD) == expected


def test_recursive_diversity_ranks_the_most_frequent_first():
    """pycanon ranks the rarest first, and would find 1 < c * (2 + 3) here; (3, 2, 1) needs 3 < c * (2 + 1)."""
    values = ["a", "a", "a", "b", "b", "c"]
    assert kept(make("recursive-cl-diversity", c=1, l=2), values) == [False]


def test_three_equal_values_have_entropy_3():
    """pycanon cuts the exponential of the entropy off after rounding, and may find 2."""
    for size in range(1, 200):
        assert kept(make("entropy-l-diversity", l=3), ["a", "b", "c"] * size) == [True]
