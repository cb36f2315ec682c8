"""k-map, delta-presence and average risk on random tables, counted from the written file pair by pair."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.errors import InfeasibleError
from oracles.covering import counted
from oracles.files import classes_of_csv, rows_of
from property.strategies import cases

ALGORITHMS = st.sampled_from(["fast", "mondrian", "datafly", "k-member"])


@st.composite
def samples(draw):
    """(table, population, policy): a random population, and some of it as the table."""
    people, policy = draw(cases(max_rows=30))
    n = draw(st.integers(policy.privacy.k, people.height))
    chosen = draw(st.permutations(range(people.height)))[:n]
    return people[sorted(chosen)], people, policy.with_changes("algorithm", name=draw(ALGORITHMS))


def released(tmp_path_factory, table, people, policy, model):
    """The written file and its verdict; the population has more values than the table."""
    folder = tmp_path_factory.mktemp("population")
    people.write_parquet(folder / "people.parquet")
    asked = policy.with_changes("privacy", models=[{**model, "population": str(folder / "people.parquet")}])
    release = kohort.anonymize(table, asked, output=folder / "out.csv", overwrite=True)
    return rows_of(folder / "out.csv"), release.verdict.check(model["model"])


@pytest.mark.promise("1.4")
@settings(max_examples=25, deadline=None)
@given(sample=samples(), data=st.data())
def test_every_class_covers_k_of_the_population(tmp_path_factory, sample, data):
    table, people, policy = sample
    k = data.draw(st.integers(2, people.height + 1))
    try:
        rows, check = released(tmp_path_factory, table, people, policy, {"model": "k-map", "k": k})
    except InfeasibleError:
        assert k > table.height, "one class of all records covers them at least"
        return
    found = counted(rows, people.to_dicts(), policy)
    assert min(covered for _, covered in found) >= k
    assert check.figures["fewest_covered"] == min(covered for _, covered in found)


@pytest.mark.promise("1.4")
@settings(max_examples=25, deadline=None)
@given(sample=samples(), limits=st.tuples(st.integers(0, 10), st.integers(1, 10)).map(sorted))
def test_every_class_has_its_share_of_the_population(tmp_path_factory, sample, limits):
    table, people, policy = sample
    least, most = limits[0] / 10, limits[1] / 10
    model = {"model": "delta-presence", "least": least, "most": most}
    try:
        rows, _ = released(tmp_path_factory, table, people, policy, model)
    except InfeasibleError:
        return
    for size, covered in counted(rows, people.to_dicts(), policy):
        assert Fraction(str(least)) <= Fraction(size, covered) <= Fraction(str(most))


@pytest.mark.promise("1.4")
@settings(max_examples=40, deadline=None)
@given(case=cases(max_rows=40), algorithm=ALGORITHMS, most=st.sampled_from([0.05, 0.07, 0.1, 0.3, 0.5, 1.0]))
def test_the_average_risk_is_limited(tmp_path_factory, case, algorithm, most):
    frame, policy = case
    path = tmp_path_factory.mktemp("risk") / "out.csv"
    models = [{"model": "average-risk", "most": most}, {"model": "sample-uniqueness", "most": 0}]
    policy = policy.with_changes("privacy", models=models).with_changes("algorithm", name=algorithm)
    try:
        kohort.anonymize(frame, policy, output=path, overwrite=True)
    except InfeasibleError:
        assert Fraction(1, frame.height) > Fraction(str(most))
        return
    sizes = classes_of_csv(path, policy.quasi_identifiers).values()
    assert Fraction(len(sizes), sum(sizes)) <= Fraction(str(most))
