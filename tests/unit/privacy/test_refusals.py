"""What is impossible is refused before work, with the reason and what is possible; values are never told."""

import pytest

from kohort.privacy import MODELS
from unit.privacy.tables import make, policy, refusal

TREE = {"tree": {"x": ["a", "b"], "y": ["c"]}}


def plus(**parameters):
    return MODELS.make("dissimilarity-plus", {"columns": ["s"], **parameters})


@pytest.mark.parametrize(
    ("model", "values", "counts", "reason"),
    [
        (
            make("distinct-l-diversity", l=5),
            ["a", "b", "c", None],
            [9, 9, 9, 9],
            "l = 5 is impossible for column 's': it has 4 values; at most l = 4 can be kept",
        ),
        (
            make("entropy-l-diversity", l=2.5),
            ["a", "b"],
            [3, 1],
            "l = 2.5 is impossible for column 's': the entropy of all its values is too low; "
            "at most l = 1.75 can be kept",
        ),
        (
            make("entropy-l-diversity", l=2.5),
            ["a"],
            [3],
            "l = 2.5 is impossible for column 's': the entropy of all its values is too low; no l above 1 can be kept",
        ),
        (
            make("recursive-cl-diversity", c=1.5, l=2),
            ["a", "b", "c"],
            [6, 2, 1],
            "c = 1.5 is impossible for column 's' with l = 2: even the whole table breaks it; c = 2.01 can be kept",
        ),
        (
            make("recursive-cl-diversity", c=1.5, l=4),
            ["a", "b", "c"],
            [6, 2, 1],
            "l = 4 is impossible for column 's': it has 3 values; at most l = 3 can be kept",
        ),
        (
            make("alpha-k", alpha=0.5),
            ["a", "b"],
            [2000, 1000],
            "alpha = 0.5 is impossible for column 's': one value has 2,000 of 3,000 records; alpha = 0.667 can be kept",
        ),
        (
            make("alpha-k", alpha=0.5),
            ["a"],
            [3],
            "alpha = 0.5 is impossible for column 's': one value has 3 of 3 records; no alpha below 1 can be kept",
        ),
        (
            make("alpha-k", alpha=0.5, values=["typo", 5]),
            ["a", "b"],
            [2, 1],
            "none of the values that alpha-k lists occurs in column 's'; list values that do",
        ),
        (
            make("k-e", k=3, e=1),
            ["1", "1.0", "2", None],
            [1, 1, 1, 1],
            "k = 3 is impossible for column 's': it has 2 known values; at most k = 2 can be kept",
        ),
        (
            make("k-e", k=2, e=2000),
            ["1", "1235"],
            [1, 1],
            "e = 2000 is impossible for column 's': all its values lie closer together; at most e = 1200 can be kept",
        ),
        (
            make("variance-control", variance=100),
            ["1", "10"],
            [1, 1],
            "variance = 100 is impossible for column 's': even all its values vary less; "
            "at most variance = 20 can be kept",
        ),
        (
            make("epsilon-m", epsilon=1, m=4),
            ["1", "2", "3", "9"],
            [3, 1, 2, 4],
            "m = 4 is impossible for column 's' with epsilon = 1: values of 4 of 10 records lie within epsilon "
            "of one of them; no more than m = 2 can be kept",
        ),
        (
            make("epsilon-m", epsilon=0.5, m=4, relative=True),
            ["-10", "-5", "-4", "100"],
            [1, 1, 1, 1],
            "m = 4 is impossible for column 's' with epsilon = 0.5: values of 2 of 4 records lie within epsilon "
            "of one of them; no more than m = 2 can be kept",
        ),
        (
            make("dissimilarity", epsilon=1, delta=0.8),
            ["1", "2", "9"],
            [40, 40, 20],
            "delta = 0.8 is impossible for column 's' with epsilon = 1: values of 80 of 100 records lie within epsilon "
            "of one another; no more than delta = 0.25 can be kept",
        ),
        (
            plus(epsilon=0.5, delta=1),
            ["a"],
            [5],
            "delta = 1 is impossible for column 's' with epsilon = 0.5: values of 5 of 5 records lie within epsilon "
            "of one another; no delta above 0 can be kept",
        ),
    ],
)
def test_the_reason_and_what_can_be_kept(model, values, counts, reason):
    assert refusal(model, values, counts) == reason


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("epsilon", "crowd"),
    [(0.5, 4), (0.2, 3), (1.5, 5)],  # 10 reaches down to 5, 6 to 4.8; and 4 reaches up to 10
)
def test_the_largest_crowd_of_a_relative_distance(sign, epsilon, crowd):
    values = [f"{sign}{number}" for number in (4, 5, 5.5, 6, 10, 1000, 10**6, 10**9)]
    model = make("epsilon-m", epsilon=epsilon, m=8, relative=True)
    assert f"values of {crowd} of 8 records lie within epsilon of one of them" in refusal(model, values)


@pytest.mark.parametrize("counts", [[1], [1, 5], [7, 1, 1]])
def test_the_whole_table_is_close_to_itself(counts):
    values = ["a", "b", None][: len(counts)]
    for model in (
        make("t-closeness", t=0),
        make("beta-likeness", beta=0.001),
        make("delta-disclosure", delta=0.001),
        make("delta-disclosure", delta=0.001, zeros="skip"),
    ):
        assert refusal(model, values, counts) is None


NUMERIC = [
    make("k-e", k=1, e=0),
    make("variance-control", variance=1),
    make("epsilon-m", epsilon=1, m=2),
    make("dissimilarity", epsilon=1, delta=0.5),
]


@pytest.mark.parametrize("model", NUMERIC, ids=lambda model: model.name)
def test_models_about_numbers_need_numbers(model):
    from kohort.privacy import Histogram, reference_of

    reason = refusal(model, ["1", "two", None])
    assert reason == (
        "the values of column 's' are not all numbers, or all dates; "
        "choose another model, or list what is no number in [input] missing"
    )
    assert model.refuses_policy(policy()) is None
    assert "needs numbers or dates, and column 's' has type = \"string\"" in model.refuses_policy(policy(type="string"))
    table, _ = reference_of(policy(), {"s": ["1", "two"]}, [1, 1])
    assert not model.keeps(Histogram.of_all(table), table).any(), "what cannot be judged is not kept"


@pytest.mark.parametrize("model", NUMERIC, ids=lambda model: model.name)
def test_dates_are_days(model):
    written = {"type": "date", "format": "%d.%m.%Y"}
    assert model.refuses_policy(policy(**written)) is None
    assert refusal(model, ["01.03.2024", "28.02.2024", "01.01.1999", "09.09.2009", None], **written) is None


def test_dates_are_days_apart():
    from unit.privacy.tables import kept

    written = {"type": "date", "format": "%d.%m.%Y"}
    leap, year = ["28.02.2024", "01.03.2024"], ["28.02.2023", "01.03.2023"]
    assert kept(make("k-e", k=2, e=2), leap, year, **written) == [True, False]


def test_distances_that_the_column_does_not_have():
    hierarchical, ordered = (make("t-closeness", t=0.2, distance=name) for name in ("hierarchical", "ordered"))
    assert hierarchical.refuses_policy(policy()) == (
        "distance = \"hierarchical\" needs a hierarchy, from a file or as a tree; column 's' has none: "
        "take another distance"
    )
    assert "needs a hierarchy" in hierarchical.refuses_policy(policy(hierarchy={"prefix": [2, 1]}))
    assert hierarchical.refuses_policy(policy(hierarchy=TREE)) is None
    assert "needs numbers, dates, or a hierarchy" in ordered.refuses_policy(policy(type="string"))
    assert ordered.refuses_policy(policy()) is None
    assert "needs numbers, dates, or a hierarchy" in refusal(ordered, ["1", "two"])
    assert refusal(ordered, ["1", "2"]) is None
    assert refusal(ordered, ["a", "c"], hierarchy=TREE) is None
    unknown = "1 value of column 's' is not in its hierarchy; add what is missing there"
    assert refusal(ordered, ["a", "z"], hierarchy=TREE) == unknown
    assert refusal(hierarchical, ["a", "z"], hierarchy=TREE) == unknown
    assert refusal(plus(epsilon=0, delta=0.5), ["a", "z", "y"], hierarchy=TREE) == (
        "column 's': 2 values are not in its hierarchy; add what is missing there"
    )


def test_what_cannot_be_judged_is_not_kept():
    from unit.privacy.tables import kept

    for model in (
        make("t-closeness", t=1, distance="hierarchical"),
        make("t-closeness", t=1, distance="ordered"),
        plus(epsilon=0, delta=0.5),
    ):
        assert kept(model, ["a", "z"], hierarchy=TREE) == [False]


def test_values_that_alpha_k_lists():
    model = make("alpha-k", alpha=0.5, values=["a", "typo", ""])
    assert model.refuses_policy(policy()) is None
    assert model.refuses_policy(policy(hierarchy=TREE)) == (
        "one of the 'values' is not in the hierarchy of column 's'; list its leaves as they are written there"
    )
    assert refusal(model, ["a", "b"], [1, 9]) is None
    assert refusal(model, ["b", None], [1, 9]) is not None
    numbers = make("alpha-k", alpha=0.5, values=[1, 2.5])
    assert refusal(numbers, ["1.00", "7"], [9, 1]) is not None
    assert refusal(numbers, ["2.5", "7"], [9, 1]) is not None
    assert refusal(numbers, ["1", "7", "b"], [9, 1, 1]) is not None
    assert refusal(numbers, ["1", "7"], [1, 9]) is None
    dates = make("alpha-k", alpha=0.5, values=["02.01.2024"])
    assert refusal(dates, ["2024-01-02", "2024-01-03"], [9, 1], type="date", format="%d.%m.%Y") is not None


def test_many_different_records_have_a_rule_too():
    from kohort.privacy import reference_of

    table, _ = reference_of(policy(), {"s": [str(i) for i in range(3001)]}, [1] * 3001)
    for model in (plus(epsilon=0, delta=1), make("dissimilarity", epsilon=0, delta=1)):
        [rule] = model.rules(table)
        assert rule.lists
        assert len(rule.whole) < 3 * 3001


def test_a_tree_that_is_not_in_the_order_of_its_numbers_has_no_rule():
    from kohort.privacy import reference_of
    from unit.privacy.tables import kept

    tree = {"tree": {"odd": ["1", "3"], "even": ["2", "4"]}}
    model = make("t-closeness", t=0.5, distance="hierarchical")
    table, _ = reference_of(policy(hierarchy=tree), {"s": ["1", "2", "3", "4"]}, [1] * 4)
    assert model.rules(table) == ()
    assert kept(model, ["1", "3"], ["2", "4"], hierarchy=tree) == [True, True]
    nearly = make("t-closeness", t=0.49, distance="hierarchical")
    assert kept(nearly, ["1", "3"], ["1", "2"], table=["4", "4"], hierarchy=tree) == [False, True]
    in_order = {"tree": {"low": ["1", "2"], "high": ["3", "4"]}}
    table, _ = reference_of(policy(hierarchy=in_order), {"s": ["1", "2", "3", "4"]}, [1] * 4)
    assert len(model.rules(table)) == 1
