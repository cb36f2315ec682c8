"""loukides-shao: the same partition as a plain version; suppression, thresholds and refusals."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS, loukides_shao
from kohort.codes.encode import LineAxis, encode
from kohort.errors import InfeasibleError, PolicyError
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_columns, typed_quasi_identifiers
from property.strategies import cases

NCP = MEASURES.make("ncp", {})
ONE = 2**20


def task_of(frame, policy, seed=3, allowance=0, shares=None):
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    sensitive = encode(typed_columns(frame, policy, "sensitive"), policy, "sensitive")
    progress = (lambda share: None) if shares is None else shares.append
    costs = compile_costs(NCP, codes.axes)
    rng = np.random.default_rng(seed)
    return Task(codes, NCP, costs, policy.privacy.k, rng, progress, sensitive, allowance=allowance)


def cluster(task, **parameters):
    return ALGORITHMS.make("loukides-shao", parameters).cluster(task)


class Plain:
    """The algorithm on sets of values, straight from definitions 1 to 4."""

    def __init__(self, task, seed, threshold, weight):
        self.quasi, self.axes = len(task.codes.axes), task.codes.axes + task.sensitive.axes
        self.k, self.threshold, self.weight, self.allowance = task.k, threshold, weight, task.allowance
        records = np.column_stack([task.codes.array, task.sensitive.array])
        self.order = np.lexsort(records.T[::-1])
        self.records = [tuple(row) for row in records[self.order].tolist()]
        self.draws = iter(np.random.default_rng(seed).random(len(records)))

    def diversity(self, axis, codes):
        described, codes = self.axes[axis], set(codes)
        weights = [other.weight for other in self.axes[: self.quasi]]
        unit = round(ONE * described.weight / max(weights)) if axis < self.quasi else ONE
        if not isinstance(described, LineAxis):
            return len(codes) * unit // described.size
        if described.missing_code in codes:
            return 0 if len(codes) == 1 else unit
        places = [round(described.positions[code] * unit) for code in codes]
        return max(places) - min(places)

    def value(self, members):
        """Of record numbers."""
        sides = list(zip(*(self.records[i] for i in members), strict=True))
        useful = sum(self.diversity(axis, sides[axis]) for axis in range(self.quasi))
        diverse = sum(self.diversity(axis, sides[axis]) for axis in range(self.quasi, len(sides)))
        if self.weight == 0:
            return useful
        return useful + (round(self.weight * ONE) * ONE // diverse if diverse else 2**60)

    def best(self, members, left):
        return min(left, key=lambda i: (self.value([*members, i]), self.records[i], i))

    def goes_on(self, members, left):
        if not left:
            return False
        if self.threshold is None:
            return len(members) < self.k
        value = self.value([*members, self.best(members, left)])
        return value <= int(self.threshold * ONE) or value < self.value(members)

    def clusters(self):
        left, clusters, over = list(range(len(self.records))), [], []
        while len(left) >= (self.k if self.threshold is None else 1):
            members = [left.pop(int(next(self.draws) * len(left)))]
            while self.goes_on(members, left):
                members.append(self.best(members, left))
                left.remove(members[-1])
            if len(members) >= self.k:
                clusters.append(members)
            else:
                over += members
        if not clusters:
            return None
        over = sorted(over + left)
        price = {i: min(self.grown(members, i) for members in clusters) for i in over}
        # the most expensive ones first; of equals the first
        gone = sorted(over, key=lambda i: -price[i])[: self.allowance]
        for i in over:
            if i not in gone:
                min(clusters, key=lambda members, i=i: self.grown(members, i)).append(i)
        return [sorted(self.records[i] for i in members) for members in clusters]

    def grown(self, members, i):
        return self.value([*members, i]) - self.value(members)


def found_by(task, **parameters):
    labels = cluster(task, **parameters)
    records = np.column_stack([task.codes.array, task.sensitive.array])
    return labels, [sorted(map(tuple, records[labels == label].tolist())) for label in range(labels.max() + 1)]


def add_numbers(frame, policy, data):
    """A second sensitive column, of numbers: classes may have no diversity at all there."""
    pay = data.draw(st.lists(st.sampled_from([1, 2, 50, None]), min_size=frame.height, max_size=frame.height))
    columns = policy.model_dump(exclude_unset=True)["columns"] | {"pay": {"role": "sensitive", "type": "integer"}}
    if data.draw(st.booleans()):
        del columns["ill"]
    policy = Policy(privacy={"k": policy.privacy.k}, columns=columns)
    return frame.with_columns(pl.Series("pay", pay, pl.Int64)), policy


@pytest.mark.parametrize("weight", [0, 0.5, 1])
@pytest.mark.parametrize("threshold", [None, 1.5, 3])
@given(case=cases(max_rows=25), data=st.data(), few=st.sampled_from([1, 3, 32]))
@settings(max_examples=40, deadline=None)
def test_same_partition_as_the_plain_version(weight, threshold, case, data, few):
    """Whatever the number of rows that a cluster keeps in mind."""
    frame, policy = add_numbers(*case, data)
    allowance = data.draw(st.integers(0, 3))
    task = task_of(frame, policy, allowance=allowance)
    expected = Plain(task, 3, threshold, weight).clusters()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loukides_shao, "candidates", lambda k: few)
        if expected is None:
            with pytest.raises(InfeasibleError, match="no cluster of k records within its threshold"):
                cluster(task, threshold=threshold, weight=weight)
            return
        labels, found = found_by(task, threshold=threshold, weight=weight)
    assert found == expected
    assert np.bincount(labels[labels >= 0]).min() >= policy.privacy.k
    assert (labels < 0).sum() <= allowance


def people(n=600, seed=1):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({"age": rng.integers(0, 40, n), "sex": rng.choice(["f", "m"], n)})
    frame = frame.with_columns(ill=pl.Series(rng.choice(list("abcd"), n)), pay=pl.Series(rng.integers(0, 9, n)))
    return frame, Policy.build(k=6, quasi_identifiers=["age", "sex"], sensitive=["ill", "pay"], seed=1)


@pytest.mark.parametrize("threshold", [None, 1.2])
def test_few_candidates_and_small_steps_change_nothing(monkeypatch, threshold):
    """With one candidate a cluster looks at all rows before almost every record."""
    frame, policy = people()
    whole = cluster(task_of(frame, policy, allowance=5), threshold=threshold)
    monkeypatch.setattr(loukides_shao, "WORK", 1)
    monkeypatch.setattr(loukides_shao, "candidates", lambda k: 1)
    shares = []
    again = cluster(task_of(frame, policy, allowance=5, shares=shares), threshold=threshold)
    np.testing.assert_array_equal(again, whole)
    assert shares == sorted(shares)
    assert len(shares) > 100


def test_protection_makes_classes_diverse():
    frame, policy = people()
    homogeneous = []
    for weight in (0, 3):
        chosen = policy.with_changes("algorithm", name="loukides-shao", parameters={"weight": weight})
        release = kohort.anonymize(frame, chosen)
        homogeneous.append(kohort.describe(release.table, frame, chosen)["protection"]["mean"])
    assert homogeneous[1] < homogeneous[0]


def test_suppression_takes_the_most_expensive_left_overs():
    """Four heaps of three and one person far away; who is left over last is suppressed if allowed."""
    frame = pl.DataFrame({"age": [0, 0, 0, 1000], "ill": ["a", "b", "a", "b"]})
    policy = Policy.build(k=3, quasi_identifiers=["age"], sensitive=["ill"])
    labels = cluster(task_of(frame, policy, seed=0, allowance=1), weight=0)
    assert sorted(labels) == [-1, 0, 0, 0]
    assert sorted(cluster(task_of(frame, policy, seed=0), weight=0)) == [0, 0, 0, 0]


def test_the_policy_limits_suppression():
    frame, policy = people(601)
    for limit in (0.0, 0.5):
        chosen = policy.with_changes("privacy", suppression_limit=limit)
        chosen = chosen.with_changes("algorithm", name="loukides-shao", parameters={"threshold": 1.0})
        release = kohort.anonymize(frame, chosen)
        assert release.verdict.passed
        assert (release.table.height < 601) == (limit > 0)


def test_the_row_order_does_not_matter_and_the_seed_does():
    frame, policy = people(300)
    mixed = frame.sample(fraction=1, shuffle=True, seed=4)
    _, one = found_by(task_of(frame, policy, 1))
    assert one == found_by(task_of(mixed, policy, 1))[1]
    assert one != found_by(task_of(frame, policy, 2))[1]


def test_it_needs_a_sensitive_column():
    frame, _ = people(50)
    policy = Policy.build(k=5, quasi_identifiers=["age"], algorithm="loukides-shao")
    with pytest.raises(PolicyError, match="'loukides-shao' needs a sensitive column"):
        kohort.anonymize(frame.select("age"), policy)


def test_large_tables_are_refused_before_any_work(monkeypatch):
    frame, policy = people()
    rows = frame.unique().height
    with pytest.raises(InfeasibleError, match=rf"100 clusters of {rows} distinct rows.*such as 'k-member'"):
        cluster(task_of(frame, policy), limit=100 * rows - 1)
    assert cluster(task_of(frame, policy), limit=100 * rows).max() == 99
    monkeypatch.setattr(loukides_shao, "MEMORY", 100)
    with pytest.raises(InfeasibleError, match=r"GiB for the values in 100 clusters"):
        cluster(task_of(frame, policy))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"threshold": -1}, "'threshold' must be a number from 0 to 1000; got -1"),
        ({"threshold": True}, "'threshold' must be a number"),
        ({"weight": None}, "'weight' must be a number from 0 to 1000; got None"),
        ({"weight": float("inf")}, "'weight' must be a number"),
        ({"limit": 0}, "'limit' must be an integer of at least 1; got 0"),
    ],
)
def test_wrong_parameters(parameters, sentence):
    with pytest.raises(PolicyError, match=sentence):
        ALGORITHMS.make("loukides-shao", parameters)
