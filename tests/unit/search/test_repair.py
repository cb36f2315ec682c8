"""Search and repair under promises about sensitive values."""

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from helpers.engines import promise_of
from helpers.tasks import costs_of, numbers
from kohort.codes.boxes import Solution
from kohort.codes.encode import Codes
from kohort.errors import InfeasibleError
from kohort.kernels.search.rules import broken_by, count_records
from kohort.measures import MEASURES
from kohort.policy import Policy
from kohort.privacy import Histogram
from kohort.privacy import rules as kinds
from kohort.privacy.models.dissimilarity_plus import DissimilarityPlus
from kohort.privacy.models.entropy_l_diversity import EntropyLDiversity
from kohort.privacy.models.frequency_l_diversity import FrequencyLDiversity
from kohort.privacy.models.t_closeness import TCloseness
from kohort.search.merge import merged
from kohort.search.refine import Effort, Search
from kohort.search.repair import broken_classes, merged_until_kept, repaired
from kohort.search.rules import rules_of
from kohort.search.task import Task


def nobody(share, cost):
    pass


def promised(values, least):
    """Frequency l-diversity of a column with these values."""
    policy = Policy.build(k=2, quasi_identifiers=["q"], sensitive=["s"])
    frame = pl.DataFrame({"s": [f"v{value}" for value in values]})
    return promise_of(FrequencyLDiversity("s", least), frame, policy)


def broken(labels, values, least):
    """Classes in which one value has more than its share, counted plainly."""
    return [
        label
        for label in np.unique(labels)
        if max(np.bincount(values[labels == label])) * least > np.count_nonzero(labels == label)
    ]


def broken_in(rules, records):
    """By how much a class of some records breaks compiled rules."""
    counts, work = np.empty(rules.width, np.int64), np.empty(rules.width + 1, np.int64)
    count_records(rules.values, rules.listed, rules.lists, records, counts)
    return broken_by(rules.table, rules.whole, rules.real, counts, len(records), work)


def case(n, seed, kinds=4):
    """A table whose sensitive value hangs together with its first column."""
    rng = np.random.default_rng(seed)
    array = rng.integers(0, 12, (n, 3))
    values = np.where(rng.random(n) < 0.5, array[:, 0] % kinds, rng.integers(0, kinds, n))
    return numbers(array), values


def task_of(codes, k, promises, seed=1):
    return Task(
        codes=codes,
        measure=MEASURES.make("ncp", {}),
        costs=costs_of(codes),
        k=k,
        rng=np.random.default_rng(seed),
        progress=nobody,
        promises=promises,
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(20, 200), st.integers(0, 2**32 - 1))
def test_what_is_kept_stays_kept_and_what_is_broken_heals(k, n, seed):
    codes, values = case(n, seed)
    promise = promised(values, 2)
    if promise.model.refuses_values(promise.table):
        return
    search = Search(codes, costs_of(codes), k, np.random.default_rng(seed), promises=[promise])
    for start in (search.start, merged_until_kept(codes, task_of(codes, k, (promise,)), [promise], search.start)):
        ended = search.refined(start, Effort(60), nobody)
        sizes = np.bincount(ended)
        assert sizes[sizes > 0].min() >= k
        assert len(broken(ended, values, 2)) <= len(broken(start, values, 2))
        again = search.refined(ended, Effort(30), nobody)
        if not broken(ended, values, 2):
            assert not broken(again, values, 2)


def test_what_the_search_keeps_in_mind_is_so(monkeypatch):
    """By how much each cluster breaks the rules is not counted again after each step: here, before all are repaired."""
    codes, values = case(600, 3)
    policy = Policy.build(k=2, quasi_identifiers=["q"], sensitive=["s", "t"])
    frame = pl.DataFrame({"s": [f"v{value}" for value in values], "t": [f"v{value % 3}" for value in values]})
    promises = [
        promise_of(EntropyLDiversity("s", 3.9), frame, policy),
        promise_of(TCloseness("t", 0.05), frame, policy),
    ]
    search = Search(codes, costs_of(codes), 4, np.random.default_rng(1), promises=promises)
    judged = []
    whole = Search._broken

    def kept(self, state):
        remembered = state.broken.copy()
        told = whole(self, state)
        judged.append((remembered, state.broken.copy()))
        return told

    monkeypatch.setattr(Search, "_broken", kept)
    search.refined(search.start, Effort(2), nobody)
    [_, (remembered, counted)] = judged
    assert (counted > 0).any()
    assert (counted == 0).any()
    np.testing.assert_array_equal(remembered, counted)


@pytest.mark.parametrize("n", [200, 2000])
def test_threads_make_no_difference(n):
    codes, values = case(n, 5)
    found = []
    for threads in (1, 2, 3):
        rng = np.random.default_rng(7)
        search = Search(codes, costs_of(codes), 4, rng, threads, promises=[promised(values, 2)])
        found.append(search.refined(search.start, Effort(80), nobody))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_repairing_costs_less_than_merging():
    codes, values = case(3000, 3)
    promise = promised(values, 2)
    task = task_of(codes, 5, (promise,))
    search = Search(codes, task.costs, 5, task.rng, promises=[promise])
    assert broken(search.start, values, 2)
    by_merging = merged_until_kept(codes, task, [promise], search.start)
    repaired = search.refined(search.start, Effort(300), nobody)
    assert not broken(by_merging, values, 2)
    assert not broken(repaired, values, 2)

    def loss(labels):
        boxes = Solution.of_labels(codes, labels).boxes
        return (boxes.hi - boxes.lo).sum()

    assert loss(repaired) < 0.85 * loss(by_merging)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(10, 120), st.integers(0, 2**32 - 1))
def test_repair_merges_whole_classes(k, n, seed):
    codes, values = case(n, seed)
    promise = promised(values, 2)
    if promise.model.refuses_values(promise.table):
        return
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, max(1, n // (2 * k)), n), return_inverse=True)[1].astype(np.int32)
    before = Solution.of_labels(codes, labels)
    after = repaired(task_of(codes, k, (promise,)), before)
    boxes = after.boxes
    assert (boxes.lo <= before.boxes.lo).all()
    assert (boxes.hi >= before.boxes.hi).all()
    classes = np.unique(np.hstack([boxes.lo, boxes.hi]), axis=0, return_inverse=True)[1].reshape(-1)
    assert not broken(classes, values, 2)


def test_a_solution_that_keeps_everything_is_left_alone():
    codes, values = numbers([[1], [1], [5], [5]]), np.array([0, 1, 0, 1])
    solution = Solution.of_labels(codes, np.array([0, 0, 1, 1], np.int32))
    assert repaired(task_of(codes, 2, (promised(values, 2),)), solution) is solution


def test_the_partner_that_heals_is_chosen_before_the_nearest():
    """Two classes of one value side by side, and one of the other value further away."""
    codes = numbers([[1], [1], [2], [2], [9], [9]])
    labels = np.array([0, 0, 1, 1, 2, 2], np.int32)
    only = np.array([True, False, False])
    nearest = merged(codes.array, costs_of(codes), labels, only, [], np.random.default_rng(1))
    assert nearest[0] == nearest[2] != nearest[4]
    promise = promised([0, 0, 0, 0, 1, 1], 2)
    repairing = merged(codes.array, costs_of(codes), labels, only, [promise], np.random.default_rng(1))
    assert repairing[0] == repairing[4] != repairing[2]


def test_a_class_is_repaired_in_few_rounds_however_many_others_it_needs(monkeypatch):
    """600 records of one value at one place need 200 others, in classes of 4, that are no farther on."""
    values = np.append(np.zeros(600, np.int64), np.arange(600) % 2 + 1)
    codes = numbers(np.append(np.zeros(600, np.int64), 1 + np.arange(600) // 4)[:, None])
    promise = promised(values, 2)
    labels = np.append(np.zeros(600, np.int32), 1 + np.arange(600, dtype=np.int32) // 4)
    rounds = []

    def counted(*given):
        rounds.append(1)
        return merged(*given)

    monkeypatch.setattr("kohort.search.repair.merged", counted)
    found = merged_until_kept(codes, task_of(codes, 4, [promise]), [promise], labels)
    assert not broken_classes(found, [promise]).any()
    assert len(rounds) < 20


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_a_large_broken_class_is_dealt_among_others(seed):
    """Records that are alike in all columns, too many of one value for a class that the search could change."""
    values = np.append(np.zeros(200, np.int64), 1 + np.arange(400) % 3)
    codes = numbers(np.append(np.zeros(200, np.int64), 1 + np.arange(400) // 7)[:, None])
    promise = promised(values, 2)
    task = task_of(codes, 4, [promise])
    labels = np.append(np.zeros(200, np.int32), 1 + np.arange(400, dtype=np.int32) // 4)
    found = Search(codes, task.costs, 4, np.random.default_rng(seed), 1, [promise]).refined(
        labels, Effort(200.0), nobody
    )
    assert not broken(found, values, 2)
    assert np.bincount(np.unique(found, return_inverse=True)[1]).max() < 200


def test_dissimilarity_has_a_rule_that_does_not_grow_with_the_square_of_the_values():
    frame = pl.DataFrame({"a": range(5000), "b": ["x", "y"] * 2500}).cast(pl.String)
    policy = Policy.build(k=2, quasi_identifiers=["q"], sensitive=["a", "b"])
    promise = promise_of(DissimilarityPlus(["a", "b"], 0.2, 0.5), frame, policy)
    [rule] = promise.model.rules(promise.table)
    assert len(rule.whole) < 3 * 5000
    # 0.2 is near: 2000 places apart in one column that counts as much as the other, in which they agree.
    for others, kept in (([0, 1000], False), ([0, 1998], False), ([0, 2000], True), ([0, 1], True)):
        assert (broken_in(rules_of([promise], 5000), np.array(others)) == 0) == kept


def test_distances_that_need_many_digits_are_rounded_such_that_near_stays_near():
    texts = ["0", "0.3000000000001", "0.3000000000007", "1.0000000000003"]
    frame = pl.DataFrame({"a": texts, "b": ["0", "0.00000000000011", "7", "13.0000000000003"]})
    policy = Policy.build(k=2, quasi_identifiers=["q"], sensitive=["a", "b"])
    for epsilon, rounded in ((0.1, False), (0.15000000000000002, True), (0.3, False), (0.42, False), (0.9, False)):
        promise = promise_of(DissimilarityPlus(["a", "b"], epsilon, 0.5), frame, policy)
        rules = rules_of([promise], 4)
        for one, other in itertools.combinations(range(4), 2):
            pair = np.array([one, other])
            kept = promise.model.keeps(Histogram.of(np.zeros(2, int), promise.values[pair]), promise.table)[0]
            fits = broken_in(rules, pair) == 0
            assert fits == kept or (rounded and not fits)


def test_what_cannot_be_kept_is_refused():
    codes = numbers([[1], [2], [3], [4]])
    promise = promised([0, 0, 0, 1], 2)
    solution = Solution.of_labels(codes, np.zeros(4, np.int32))
    with pytest.raises(InfeasibleError, match="frequency-l-diversity: impossible for this table"):
        repaired(task_of(codes, 2, (promise,)), solution)


def test_a_promise_counts_published_records_only():
    """Half of the majority is withheld, so the rest keeps what the whole does not."""
    promise = promised([0, 0, 0, 1], 2)
    some = promise.among(np.array([True, False, False, True]))
    assert some.table.counts.tolist() == [1, 1]
    assert some.kept(np.zeros(2, np.int64)).all()
    assert broken_classes(np.zeros(4, np.int64), [promise]).tolist() == [True]


def test_the_order_of_the_input_does_not_matter():
    codes, values = case(300, 9)
    shuffled = np.random.default_rng(1).permutation(300)
    losses = []
    for order in (np.arange(300), shuffled):
        some = Codes(codes.array[order], codes.axes)
        search = Search(some, costs_of(codes), 4, np.random.default_rng(2), promises=[promised(values[order], 2)])
        labels = search.refined(search.start, Effort(60), nobody)
        boxes = Solution.of_labels(some, labels).boxes
        losses.append((boxes.hi - boxes.lo).sum())
    assert losses[0] == losses[1]


@pytest.mark.parametrize(("times", "kind"), [(1, kinds.DISTANCE), (10**4, kinds.ROUGH_DISTANCE)])
def test_distances_in_a_table_of_any_size(times, kind):
    """1,000 ordered values, once each or 10,000 times: then whole numbers would need more than 64 bits."""
    policy = Policy.build(k=2, quasi_identifiers=["q"], sensitive=["s"])
    frame = pl.DataFrame({"s": [str(number) for number in range(1000)]})
    few = promise_of(TCloseness("s", 0.1999, "ordered"), frame, policy)
    promise = replace(few, table=replace(few.table, counts=few.table.counts * times))
    [rule] = promise.model.rules(promise.table)
    assert rule.kind == kind
    rules = rules_of([promise], 1000)
    own = np.arange(1000)
    # The lowest x of all values lie at a distance of about (1 - x) / 2.
    parts = {"all": own >= 0, "most": own < 620, "fewer": own < 580, "every other": own % 2 == 0, "last": own == 999}
    well = {"all", "most", "every other"}
    for name, part in parts.items():
        assert promise.model.keeps(Histogram.of(np.zeros(part.sum(), int), own[part]), promise.table) == (name in well)
        for size in (1, times):
            counts = part.astype(np.int64) * size
            broken = broken_by(rules.table, rules.whole, rules.real, counts, counts.sum(), np.empty(1001, np.int64))
            assert (broken == 0) == (name in well)
            assert broken >= 0


@pytest.mark.parametrize("algorithm", ["auto", "fast", "k-member", "mondrian", "gccg", "datafly"])
def test_every_algorithm_keeps_it_in_the_file(algorithm, tmp_path):
    rng = np.random.default_rng(4)
    ages = rng.integers(20, 80, 400)
    frame = pl.DataFrame(
        {
            "age": ages,
            "sex": rng.choice(["f", "m"], 400),
            "ill": np.where(ages < 50, "flu", rng.choice(["flu", "cold"], 400)),
        }
    )
    frame = pl.concat([frame, frame.with_columns(ill=pl.lit("cough"))])
    policy = Policy.build(k=4, quasi_identifiers=["age", "sex"], sensitive=["ill"], seed=1, algorithm=algorithm)
    policy = policy.with_changes(
        "privacy", models=[{"model": "frequency-l-diversity", "column": "ill", "l": 2}], suppression_limit=0.3
    )
    kohort.anonymize(frame, policy, output=tmp_path / "out.csv")
    published = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    for _, group in published.group_by("age", "sex"):
        assert group.height >= 4
        assert group["ill"].value_counts()["count"].max() * 2 <= group.height
