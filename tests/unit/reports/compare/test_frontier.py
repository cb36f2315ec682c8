"""Which results no other beats, and which is recommended: compared with the definitions, one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.reports.compare.chart import frontier_chart
from kohort.reports.compare.outcomes import Outcome, Outcomes


def outcome(number, risk, loss, k=2, models="none", algorithm="a"):
    return Outcome(
        algorithm, k, "classes", loss, 1, 1, 1, 0, 0.0, number=number, highest_risk=risk, mean_risk=risk, models=models
    )


SHARES = st.sampled_from([0.01, 0.1, 0.2, 0.25, 0.5, 1.0])


@given(st.lists(st.tuples(SHARES, SHARES), max_size=12))
def test_the_frontier_is_what_no_other_beats(points):
    outcomes = Outcomes([outcome(number, *point) for number, point in enumerate(points, 1)])
    unbeaten = {
        point
        for point in points
        if not any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in points)
    }
    found = [points[number - 1] for number in outcomes.frontier]
    assert set(found) == unbeaten
    assert found == sorted(found, reverse=True), "the riskiest first, each once"


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=12))
def test_the_best_balance_is_recommended(points):
    outcomes = Outcomes([outcome(number, *point) for number, point in enumerate(points, 1)])
    balances = [(1 - risk) * (1 - loss) for risk, loss in points]
    best = outcomes.recommended
    if max(balances) == 0:
        assert best is None
    else:
        assert balances[best.number - 1] == pytest.approx(max(balances))
        assert best.number in outcomes.frontier
        assert f"is {max(balances):.3f}" in best.reason


def test_a_useless_result_far_out_changes_nothing():
    some = [outcome(1, 0.2, 0.1), outcome(2, 0.1, 0.15), outcome(3, 0.05, 0.3)]
    assert Outcomes(some).recommended.number == 2
    assert Outcomes([*some, outcome(4, 0.0001, 1.0)]).recommended.number == 2


def test_what_the_policy_does_not_allow_is_not_recommended():
    models = ({"model": "t-closeness", "column": "ill", "t": 0.2},)
    kept = "average-risk:most=0.5 + t-closeness:column=ill:t=0.2"
    some = [outcome(1, 0.1, 0.1, k=5), outcome(2, 0.1, 0.1, k=10), outcome(3, 0.1, 0.3, k=10, models=kept)]
    assert Outcomes(some, k=5).recommended.number == 1
    assert Outcomes(some, k=6).recommended.number == 2
    assert Outcomes(some, k=6, models=models).recommended.number == 3
    assert Outcomes(some, k=11).recommended is None
    assert Outcomes().recommended is None


def test_what_has_no_classes_is_on_no_frontier():
    matchings = Outcome("nh", 5, "matchings", 0.01, 1, 1, 1, 0, 0.0, number=1)
    refused = Outcome("x", 5, "classes", None, None, None, None, None, 0.0, number=2, refused="no.")
    outcomes = Outcomes([matchings, refused])
    assert (outcomes.frontier, outcomes.recommended) == ([], None)


def test_a_bound_is_drawn_where_it_says_something():
    some = [outcome(1, 0.2, 0.1, k=5), outcome(2, 0.1, 0.3, k=10)]
    chart = frontier_chart(Outcomes(some, k=5, bounds={5: 0.05, 10: 0.1, 20: 0.2, 40: None}))
    assert [(bound.risk, bound.loss) for bound in chart.bounds] == [(0.2, 0.05)]
    assert [one.standing for one in chart.results] == ["recommended", "beaten by none"]
