"""Non-homogeneous generalization: rings by hand, a plain version of them, and how evenly boxes are drawn."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS, nh
from kohort.codes.boxes import boxes_of_labels
from kohort.codes.encode import encode
from kohort.datasets import data_directory
from kohort.errors import PolicyError
from kohort.kernels.algorithms import nh as kernels
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.measures.loss import loss_of_boxes
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables
from property.strategies import cases

NCP = MEASURES.make("ncp", {})


def table(array):
    frame = pl.DataFrame(np.asarray(array), schema=[f"c{j}" for j in range(np.shape(array)[1])], orient="row")
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    return encode(typed_quasi_identifiers(frame, policy), policy)


def task_of(codes, k, seed=3, shares=None):
    progress = (lambda share: None) if shares is None else shares.append
    return Task(codes, NCP, compile_costs(NCP, codes.axes), k, np.random.default_rng(seed), progress)


def solve(codes, k, seed=3, shares=None, **parameters):
    return ALGORITHMS.make("nh", parameters).solve(task_of(codes, k, seed, shares))


def plain_rings(codes, k, parameters):
    """Records of each ring, straight from the description: the nearest that is left follows, the first of equals."""
    made = ALGORITHMS.make("nh", parameters)
    task = task_of(codes, k)
    size = min(made.size * k, len(codes.array))
    labels = ALGORITHMS.make(made.partition, {}).cluster(replace(task, k=size))
    tables = dense_tables(task.costs)

    def distance(one, other):
        pairs = zip(tables, codes.array[one], codes.array[other], strict=True)
        return sum(int(costs[min(a, b), max(a, b)]) if a != b else 0 for costs, a, b in pairs)

    for label in range(labels.max() + 1):
        left = [int(record) for record in codes.distinct.order if labels[record] == label]
        ring = [left.pop(0)]
        while left:
            nearest = min(left, key=lambda record: distance(ring[-1], record))
            left.remove(nearest)
            ring.append(nearest)
        yield ring


def as_boxes(boxes, records):
    return [(*boxes.lo[record].tolist(), *boxes.hi[record].tolist()) for record in records]


@given(case=cases(max_rows=40), size=st.integers(1, 3), partition=st.sampled_from(["mondrian", "top-down-greedy"]))
@settings(max_examples=40)
def test_every_ring_is_published_as_its_boxes(case, size, partition):
    """Box by box those of the plain version; each record has one of the k that it lies in."""
    frame, policy = case
    codes, k = encode(typed_quasi_identifiers(frame, policy), policy), policy.privacy.k
    solution = solve(codes, k, size=size, partition=partition)
    assert solution.kept is None
    rings = list(plain_rings(codes, k, {"size": size, "partition": partition}))
    assert solution.clusters == len(rings)
    assert sorted(record for ring in rings for record in ring) == list(range(frame.height))
    for ring in rings:
        windows = [[ring[(i + step) % len(ring)] for step in range(k)] for i in range(len(ring))]
        rows = [codes.array[window] for window in windows]
        expected = [(*box.min(axis=0).tolist(), *box.max(axis=0).tolist()) for box in rows]
        published = as_boxes(solution.boxes, ring)
        assert sorted(published) == sorted(expected)
        for record, box in zip(ring, published, strict=True):
            assert box in [expected[i] for i, window in enumerate(windows) if record in window]


def test_a_ring_by_hand():
    """30, 31, 33, 38 in a ring of two neighbours each: the last one closes it."""
    codes = table([[31], [38], [30], [33]])
    drawn = set()
    for seed in range(40):
        boxes = solve(codes, 2, seed, size=2).boxes
        values = np.array([30, 31, 33, 38])
        spans = list(zip(values[boxes.lo[:, 0]].tolist(), values[boxes.hi[:, 0]].tolist(), strict=True))
        assert sorted(spans) == [(30, 31), (30, 38), (31, 33), (33, 38)]
        drawn.add(tuple(spans))
    assert drawn == {
        ((31, 33), (30, 38), (30, 31), (33, 38)),
        ((30, 31), (33, 38), (30, 38), (31, 33)),
    }, "a ring of two neighbours has two perfect matchings"


def test_k_records_are_one_class():
    boxes = solve(table([[1, 5], [2, 9], [7, 3]]), 3).boxes
    assert boxes.lo.tolist() == [[0, 0]] * 3
    assert boxes.hi.tolist() == [[2, 2]] * 3


def test_equal_records_stay_as_they_are():
    solution = solve(table([[4, 4]] * 50), 5)
    assert (solution.boxes.lo == solution.boxes.hi).all()


@given(sizes=st.lists(st.integers(2, 30), min_size=1, max_size=6), data=st.data())
def test_boxes_of_rings(sizes, data):
    k = data.draw(st.integers(1, min(sizes)))
    begins = np.append(0, np.cumsum(sizes)).astype(np.int64)
    codes = np.random.default_rng(sum(sizes)).integers(0, 9, (begins[-1], 2)).astype(np.int32)
    boxes = nh.ring_boxes(codes, begins, k)
    for begin, size in zip(begins, sizes, strict=False):
        for place in range(size):
            window = codes[[begin + (place + step) % size for step in range(k)]]
            np.testing.assert_array_equal(boxes.lo[begin + place], window.min(axis=0))
            np.testing.assert_array_equal(boxes.hi[begin + place], window.max(axis=0))


# -- the draw ---------------------------------------------------------------------------------------


def places_drawn(size, k, seed, rings=1):
    """The place that each record has in its box, 0 to k - 1; every box is had once."""
    begins = np.arange(0, rings * size + 1, size)
    state = np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64)
    boxes = np.full(rings * size, -1)
    kernels.draw_matchings(begins, k, 0, rings, state, boxes)
    assert sorted(boxes) == list(range(rings * size))
    assert (boxes // size == np.arange(rings * size) // size).all(), "everybody stays in the ring"
    places = ((np.arange(rings * size) - boxes) % size).reshape(rings, size)
    assert places.max() < k
    return places


@pytest.mark.parametrize(("size", "k"), [(3, 2), (5, 5), (7, 3), (12, 4), (9, 8), (50, 40)])
def test_every_box_is_as_likely_as_any_other(size, k):
    """For each record, the k frequencies lie within five standard deviations of 1/k."""
    rings = 4000
    places = places_drawn(size, k, seed=11, rings=rings)
    frequencies = np.stack([(places == place).mean(axis=0) for place in range(k)])
    deviation = np.sqrt((k - 1) / k**2 / rings)
    assert np.abs(frequencies - 1 / k).max() < 5 * deviation


def test_records_do_not_all_move_by_the_same_step():
    """Whoever finds out the row of one person must not know those of all others."""
    places = places_drawn(20, 6, seed=2, rings=500)
    turned = (places == places[:, :1]).all(axis=1)
    assert turned.mean() < 0.05
    assert len({tuple(ring) for ring in places.tolist()}) > 480


def test_all_matchings_of_a_small_ring_are_drawn():
    """Three places in a ring of four: nine perfect matchings, the permanent of its matrix."""
    assert len({tuple(ring) for ring in places_drawn(4, 3, seed=5, rings=3000).tolist()}) == 9


def test_random_numbers_reach_every_value():
    state = np.array([7], np.uint64)
    with np.errstate(over="ignore"):
        drawn = np.bincount([kernels._draw(state, 5) for _ in range(5000)], minlength=5)
    assert len(drawn) == 5
    assert np.abs(drawn / 5000 - 0.2).max() < 0.03


# -- the algorithm ----------------------------------------------------------------------------------


def test_the_seed_decides_and_the_row_order_does_not():
    array = np.random.default_rng(5).integers(0, 9, (400, 4))
    mixed = np.random.default_rng(6).permutation(array)
    one, again, other = (solve(table(array), 7, seed).boxes for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.lo, again.lo)
    np.testing.assert_array_equal(one.hi, again.hi)
    assert (one.lo != other.lo).any()
    everybody = range(400)
    assert sorted(as_boxes(one, everybody)) == sorted(as_boxes(other, everybody)), "the seed is for the matching only"
    assert sorted(as_boxes(one, everybody)) == sorted(as_boxes(solve(table(mixed), 7, 1).boxes, everybody))


def test_work_in_small_steps_is_the_same_work(monkeypatch):
    codes = table(np.random.default_rng(3).integers(0, 30, (900, 3)))
    whole = solve(codes, 5).boxes
    monkeypatch.setattr(nh, "WORK", 10)
    shares = []
    stepwise = solve(codes, 5, shares=shares).boxes
    np.testing.assert_array_equal(stepwise.lo, whole.lo)
    np.testing.assert_array_equal(stepwise.hi, whole.hi)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 100


@pytest.mark.parametrize(("size", "share"), [(1, 0.9), (4, 0.7)])
def test_less_is_lost_than_with_one_box_for_the_group(size, share):
    codes = table(np.random.default_rng(8).integers(0, 60, (4000, 3)))
    groups = ALGORITHMS.make("mondrian", {}).cluster(task_of(codes, 10 * size))
    same, rings = boxes_of_labels(codes.array, groups), solve(codes, 10, size=size).boxes
    losses = [loss_of_boxes(NCP, codes, boxes.lo, boxes.hi).total for boxes in (same, rings)]
    assert losses[1] < share * losses[0]


# -- whole releases ---------------------------------------------------------------------------------


def asked(policy, **parameters):
    return policy.with_changes("privacy", anonymity="matchings").with_changes(
        "algorithm", name="nh", parameters=parameters
    )


@pytest.mark.slow
@given(case=cases(max_rows=30), kind=st.sampled_from(["csv", "parquet"]))
@settings(max_examples=25)
def test_a_release_is_verified_with_and_without_its_order(tmp_path_factory, kind, case):
    frame, policy = case
    policy = asked(policy)
    path = tmp_path_factory.mktemp("release") / f"out.{kind}"
    release = kohort.anonymize(frame, policy, output=path)
    assert release.verdict.passed
    assert release.verdict.facts.smallest_class >= policy.privacy.k
    assert release.verdict.facts.suppressed == 0
    verdict = kohort.verify(path, policy, original=frame)
    assert verdict.passed, verdict.reason
    assert not kohort.verify(path, policy).passed


def test_a_file_is_not_taken_for_more_than_it_is(tmp_path):
    """Ages 0 to 29 in one ring: 0 lies in three boxes, the first of which begins with it."""
    frame = pl.DataFrame({"age": range(30)})
    policy = asked(Policy.build(k=3, quasi_identifiers=["age"], seed=4), size=10)
    path = tmp_path / "out.csv"
    kohort.anonymize(frame, policy, output=path)
    more = kohort.verify(path, policy.with_changes("privacy", k=4), original=frame)
    assert more.reason.startswith("2 records could be fewer than k = 4 rows (fewest 3)")
    assert path.read_text().count("[0 - 2]") == 1
    path.write_text(path.read_text().replace("[0 - 2]", "[1 - 2]"))
    shrunk = kohort.verify(path, policy, original=frame)
    assert shrunk.reason.startswith("1 record could be fewer than k = 3 rows (fewest 2)")


def test_adult():
    if data_directory() is None:
        pytest.skip("the data folder is not on this machine")
    frame = kohort.datasets.adult(["age", "sex", "race", "education"])
    policy = Policy.build(k=10, quasi_identifiers=frame.columns, seed=1)
    rings = kohort.anonymize(frame, asked(policy))
    assert rings.verdict.facts.smallest_class == 10
    assert (
        rings.loss.total < 0.95 * kohort.anonymize(frame, policy.with_changes("algorithm", name="mondrian")).loss.total
    )


def test_records_that_miss_a_value_may_be_withheld():
    frame = pl.DataFrame({"age": [None, 1, 2, 3, 4, 5, 6, None, 7, 8]})
    policy = asked(Policy.build(k=3, quasi_identifiers=["age"], missing="suppress", suppression_limit=0.2))
    verdict = kohort.anonymize(frame, policy).verdict
    assert verdict.passed
    assert (verdict.facts.withheld, verdict.facts.smallest_class) == (2, 3)


@pytest.mark.promise("1.5")
def test_the_policy_must_ask_for_it():
    policy = Policy.build(k=2, quasi_identifiers=["age"], algorithm="nh")
    with pytest.raises(PolicyError, match="anonymity = 'classes'; set anonymity = 'matchings' if that is enough"):
        kohort.anonymize(pl.DataFrame({"age": [1, 2]}), policy)


def test_suppressed_records_may_not_look_like_its_own():
    policy = asked(Policy.build(k=2, quasi_identifiers=["age"])).with_changes("output", suppressed="starred")
    with pytest.raises(PolicyError, match="set suppressed = 'withheld' in \\[output\\]"):
        kohort.anonymize(pl.DataFrame({"age": [1, 2]}), policy)


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "many"])
def test_wrong_sizes(size):
    with pytest.raises(PolicyError, match=f"'size' must be an integer of at least 1; got {size!r}"):
        ALGORITHMS.make("nh", {"size": size})


def test_wrong_partition():
    with pytest.raises(PolicyError, match="'partition' must be 'mondrian' or 'top-down-greedy'; got 'cb'"):
        ALGORITHMS.make("nh", {"partition": "cb"})
