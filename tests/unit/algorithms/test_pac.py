"""PAC: both phases by hand, and the same partition as a plain version of it."""

import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS, pac
from kohort.codes.encode import LineAxis, encode
from kohort.errors import InfeasibleError, PolicyError
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.measures.distance import compile_metric, metric_units
from kohort.policy import Policy
from kohort.search import ancestors
from kohort.search.task import Task
from kohort.table import typed_columns, typed_quasi_identifiers
from oracles import exact
from property.strategies import cases

NCP = MEASURES.make("ncp", {})


def task_of(frame, policy, seed=3, shares=None):
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    sensitive = None
    if policy.having_role("sensitive"):
        sensitive = encode(typed_columns(frame, policy, "sensitive"), policy, "sensitive")
    progress = (lambda share: None) if shares is None else shares.append
    costs = compile_costs(NCP, codes.axes)
    return Task(codes, NCP, costs, policy.privacy.k, np.random.default_rng(seed), progress, sensitive)


def task(k, quasi, sensitive=None, seed=3, shares=None, **policy):
    """A task on columns of values."""
    frame = pl.DataFrame(quasi | (sensitive or {}))
    policy = Policy.build(k=k, quasi_identifiers=list(quasi), sensitive=list(sensitive or {}), **policy)
    return task_of(frame, policy, seed, shares)


def cluster(task, **parameters):
    return ALGORITHMS.make("pac", parameters).cluster(task)


def groups(labels):
    return sorted(sorted(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist()))


# -- the plain version ---------------------------------------------------------------------------


class Plain:
    """Both phases over lists of records, straight from their description.

    A value is a code, or None for missing. An ancestor's value on a line is a code, in a taxonomy a node.
    """

    def __init__(self, task, weight, t, one_way, tau=0.001, theta=5, capacity=5000):
        self.quasi, self.k, self.rng = task.codes, task.k, np.random.default_rng(3)
        self.sensitive = task.sensitive if weight else None
        rows = task.codes.array.tolist()
        extra = self.sensitive.array.tolist() if self.sensitive else [[]] * len(rows)
        self.order = sorted(range(len(rows)), key=lambda i: (rows[i], extra[i], i))
        self.rows, self.extra = [rows[i] for i in self.order], [extra[i] for i in self.order]
        self.weight, self.t, self.one_way, self.tau, self.theta, self.capacity = (
            weight,
            t,
            one_way,
            tau,
            theta,
            capacity,
        )

    # distances

    def path(self, tree, node):
        return [node] if tree.parent[node] < 0 else [node, *self.path(tree, int(tree.parent[node]))]

    def steps(self, axes, axis, share, here, there, up_only=False):
        """Distance of two values on one axis; `here` is the record's."""
        unit = self.unit(axes, axis, share)
        if here is None or there is None:
            return 0 if here is there else unit
        if isinstance(axes[axis], LineAxis):
            return unit * exact.width(axes[axis], min(here, there), max(here, there))
        tree = axes[axis].taxonomy
        up, down = self.path(tree, here), self.path(tree, there)
        climbed, fallen = len(set(up) - set(down)), len(set(down) - set(up))
        height = int(tree.height[0])
        return unit * Fraction(2 * climbed if up_only else climbed + fallen, 2 * height)

    def unit(self, axes, axis, share):
        """The largest distance on an axis."""
        weights = [Fraction(str(a.weight)) for a in axes]
        return Fraction(str(share)) * weights[axis] / sum(weights)

    def values(self, axes, codes):
        """Codes of a record as values: nodes in taxonomies."""
        return [self.value(axis, code) for axis, code in zip(axes, codes, strict=True)]

    def value(self, axis, code):
        if code == axis.missing_code:
            return None
        return code if isinstance(axis, LineAxis) else int(axis.taxonomy.leaf_node[code])

    def to_ancestor(self, i, ancestor, up_only):
        here = self.values(self.quasi.axes, self.rows[i])
        return sum(self.steps(self.quasi.axes, j, 1.0, here[j], ancestor[j], up_only) for j in range(len(here)))

    def between(self, i, j):
        """Equation 9."""
        total = 0
        for axes, codes, share, sign in (
            (self.quasi.axes, self.rows, round(1 - self.weight, 9), 1),
            (self.sensitive.axes if self.sensitive else (), self.extra, self.weight, -1),
        ):
            if sign < 0:
                total += sum(self.unit(axes, axis, share) for axis in range(len(axes)))
            here, there = self.values(axes, codes[i]), self.values(axes, codes[j])
            total += sign * sum(self.steps(axes, a, share, here[a], there[a]) for a in range(len(axes)))
        return total

    # phase 1

    def ancestor(self, members):
        found = []
        for j, axis in enumerate(self.quasi.axes):
            codes = sorted(self.rows[i][j] for i in members if self.rows[i][j] != axis.missing_code)
            if 2 * len(codes) < len(members):
                found.append(None)
            elif isinstance(axis, LineAxis):
                found.append(codes[(len(codes) - 1) // 2])
            else:
                paths = [self.path(axis.taxonomy, int(axis.taxonomy.leaf_node[code])) for code in codes]
                found.append(next(node for node in paths[0] if all(node in path for path in paths)))
        return found

    def apart(self, one, other):
        return sum(self.steps(self.quasi.axes, j, 1.0, one[j], other[j]) for j in range(len(one)))

    def parted(self):
        n = len(self.rows)
        if self.t == 1 or len(set(map(tuple, self.rows))) == 1:
            return [list(range(n))]
        drawn = [i for i, number in enumerate(self.rng.random(n)) if number < self.capacity / n]
        seeds = [drawn[self.rng.integers(len(drawn))]]
        while len(seeds) < self.t:
            far = [
                min(self.to_ancestor(i, self.values(self.quasi.axes, self.rows[s]), False) for s in seeds)
                for i in drawn
            ]
            if max(far) == 0:
                break
            seeds.append(drawn[far.index(max(far))])
        ancestors = [self.values(self.quasi.axes, self.rows[s]) for s in seeds]
        for _ in range(self.theta):
            new = [
                self.ancestor(part) if part else old
                for part, old in zip(self.assigned(ancestors), ancestors, strict=True)
            ]
            moved = sum(self.apart(a, b) for a, b in zip(ancestors, new, strict=True)) / len(new)
            ancestors = new
            if moved < self.tau:
                break
        parts = [(part, ancestor) for part, ancestor in zip(self.assigned(ancestors), ancestors, strict=True) if part]
        while min(len(part) for part, _ in parts) < self.k:
            index = min(range(len(parts)), key=lambda p: len(parts[p][0]))
            small, ancestor = parts[index]
            near = min((p for p in range(len(parts)) if p != index), key=lambda p: self.apart(ancestor, parts[p][1]))
            both = sorted(parts[near][0] + small)
            parts[near] = (both, self.ancestor(both))
            del parts[index]
        return [part for part, _ in parts]

    def assigned(self, ancestors):
        parts = [[] for _ in ancestors]
        for i in range(len(self.rows)):
            distances = [self.to_ancestor(i, ancestor, self.one_way) for ancestor in ancestors]
            parts[distances.index(min(distances))].append(i)
        return parts

    # phase 2

    def linked(self, one, other):
        """Equation 11."""
        return (len(one) + len(other)) * max(self.between(i, j) for i in one for j in other)

    def merged(self, members, draw):
        live, done = [[i] for i in members], []
        while len(live) > 1:
            pairs = [(self.linked(a, b), x, y) for x, a in enumerate(live) for y, b in enumerate(live) if x < y]
            _, x, y = min(pairs)
            live[x] += live.pop(y)
            if len(live[x]) >= self.k:
                done.append(live.pop(x))
        done.sort(key=min)
        left = sorted(live[0]) if live else []
        while left:
            room = [c for c in done if len(c) <= 2 * self.k - 2]
            if not room:
                break
            min(room, key=lambda c: self.linked([left[0]], c)).append(left.pop(0))
        if left:
            giver = done[int(draw * len(done))]
            while len(left) < self.k:
                moved = min(sorted(giver), key=lambda i: self.linked([i], left))
                giver.remove(moved)
                left.append(moved)
            done.append(left)
        return done

    def clusters(self):
        parts = self.parted()
        found = [
            c for part, draw in zip(parts, self.rng.random(len(parts)), strict=True) for c in self.merged(part, draw)
        ]
        return sorted(sorted(self.order[i] for i in c) for c in found)


def is_exact(task, weight):
    """Whether there are units of which all distances are whole numbers, in both phases."""
    others = task.sensitive.axes if weight else ()
    return units_are_exact(task.codes.axes, (), 0.0) and units_are_exact(task.codes.axes, others, weight)


def units_are_exact(axes, others, weight):
    weights = []
    for some, share in ((axes, 1 - Fraction(str(weight))), (others, Fraction(str(weight)))):
        weights += [share * Fraction(str(axis.weight)) / sum(Fraction(str(a.weight)) for a in some) for axis in some]
    units = [Fraction(unit) for unit in metric_units(axes, others, weight)]
    one = sum(units)
    for axis, unit, part in zip((*axes, *others), units, weights, strict=True):
        if isinstance(axis, LineAxis):
            steps = [exact.width(axis, 0, code) for code in range(len(axis.values))]
        else:
            steps = [Fraction(1, 2 * max(1, axis.taxonomy.height_edges))]
        if unit != one * part or any((unit * step).denominator > 1 for step in steps):
            return False
    return True


@given(
    case=cases(max_rows=26),
    weight=st.sampled_from([0.0, 0.3, 1.0]),
    t=st.integers(1, 4),
    distance=st.sampled_from(["two-way", "one-way"]),
    pay=st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=26, max_size=26),
)
@settings(max_examples=60, deadline=None)
def test_same_partition_as_the_plain_version(case, weight, t, distance, pay):
    frame, policy = case
    described = {name: column.model_dump(exclude_unset=True) for name, column in policy.columns.items()}
    described["ill"]["hierarchy"] = {"tree": {"lung": ["flu", {"nose": ["cold"]}], "none": ["=1+1"]}}
    described["pay"] = {"role": "sensitive", "type": "integer"}
    policy = Policy(privacy={"k": policy.privacy.k}, columns=described)
    frame = frame.with_columns(pl.Series("pay", pay[: frame.height], dtype=pl.Int64))
    task = task_of(frame, policy)
    assume(is_exact(task, weight))
    labels = cluster(task, sensitive_weight=weight, t=t, distance=distance)
    assert policy.privacy.k <= np.bincount(labels).min() <= np.bincount(labels).max() < 2 * policy.privacy.k
    assert groups(labels) == Plain(task, weight, t, distance == "one-way").clusters()


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"tau": 0.0, "theta": 1}, {"tau": 0.05, "theta": 9}, {"capacity": 90}])
def test_same_partition_with_other_parameters(parameters):
    rng = np.random.default_rng(1)
    made = task(3, {"a": rng.integers(0, 20, 56), "b": rng.choice(list("xyz"), 56)}, {"s": rng.integers(0, 5, 56)})
    plain = Plain(made, 0.4, 5, one_way=False, **parameters)
    assert groups(cluster(made, sensitive_weight=0.4, t=5, **parameters)) == plain.clusters()


# -- phase 1 by hand -----------------------------------------------------------------------------

TREE = {"Lung": ["Asthma", "Flu"], "Heart": ["Angina", {"Acute": ["Infarction", "Arrest"]}]}


def test_seeds_are_far_from_each_other():
    made = task(2, {"x": [0, 1, 10, 4, 6]})
    metric = compile_metric(made.codes.axes, metric_units(made.codes.axes))
    rows = np.array([[0], [1], [4], [2], [3]], np.int32)  # codes: 0, 1, 10, 4, 6
    assert ancestors.farthest_first(metric, rows, 0, 4).tolist() == [0, 2, 3, 4]  # 4 and 6 are both 4 from the nearest
    assert ancestors.farthest_first(metric, rows, 3, 9).tolist() == [3, 2, 0, 4, 1]
    assert ancestors.farthest_first(metric, np.zeros((4, 1), np.int32), 2, 3).tolist() == [2]


@pytest.mark.parametrize(("distance", "sides"), [("two-way", [2, 2, 1, 2, 2]), ("one-way", [4, 4, 2, 4, 4])])
def test_distance_to_an_ancestor(distance, sides):
    """The ancestor Heart: Lung's leaves climb 2 edges and go down 1; H = 3."""
    from kohort.kernels.proximity import measure_sides

    made = task(2, {"ill": ["Asthma", "Flu", "Angina", "Arrest", "Infarction"]}, hierarchies={"ill": {"tree": TREE}})
    metric = compile_metric(made.codes.axes)
    heart = np.array([2], np.int32), np.array([4], np.int32)
    found = np.zeros(5)
    measure_sides(metric, *heart, distance == "one-way", found)
    extra = [1, 1, 0, 0, 0] if distance == "two-way" else [0] * 5
    np.testing.assert_allclose(found * 6, np.array(sides) + extra)


def test_a_root_is_half_way_to_every_leaf_of_full_depth():
    from kohort.kernels.proximity import measure_sides

    made = task(2, {"x": list("abc")})
    metric = compile_metric(made.codes.axes)
    for one_way, expected in ((False, 0.5), (True, 1.0)):
        sides = np.zeros(3)
        measure_sides(metric, np.array([0], np.int32), np.array([2], np.int32), one_way, sides)
        np.testing.assert_allclose(sides, expected)


def updated(metric, rows, counts, labels, old):
    """The ancestors after a round; counted in two halves, as on two machines."""
    halves = [ancestors.tally(rows[half], counts[half], labels[half]) for half in (slice(0, 1), slice(1, None))]
    return ancestors.ancestors_of(
        metric, ancestors.merged(ancestors.Tally(*map(np.concatenate, zip(*halves, strict=True)))), old
    )


def test_ancestors_are_lower_medians_and_common_ancestors():
    columns = {"x": [1, 2, 3, None, 5], "ill": ["Angina", "Arrest", "Flu", None, None]}
    made = task(2, columns, hierarchies={"ill": {"tree": TREE}})
    metric = compile_metric(made.codes.axes, metric_units(made.codes.axes))
    rows = made.codes.array
    old = ancestors.Ancestors(*(np.full((3, 2), 4, np.int32),) * 2)
    new = updated(metric, rows, np.array([1, 2, 1, 3, 2]), np.array([0, 0, 0, 2, 2], np.int32), old)
    missing_ill = made.codes.axes[1].missing_code
    # label 0: 1, 2, 2, 3 and Angina, Arrest, Flu; label 1: nobody; label 2: missing x 3, 5 x 2, all without illness
    assert new.lo.tolist() == [[1, 1], [4, 4], [4, missing_ill]]
    assert new.hi.tolist() == [[1, 4], [4, 4], [4, missing_ill]]


def test_most_missing_is_missing_and_half_is_not():
    made = task(2, {"x": [1, None, None]})
    metric = compile_metric(made.codes.axes, metric_units(made.codes.axes))
    old = ancestors.Ancestors(*(np.zeros((1, 1), np.int32),) * 2)
    for copies, code in (([1, 1], 0), ([1, 2], 1)):
        rows = np.array([[0], [1]], np.int32)
        assert updated(metric, rows, np.array(copies), np.zeros(2, np.int32), old).lo[0, 0] == code


def test_small_beta_clusters_join_the_nearest():
    """Heaps at 0, 100 and one record at 90: it cannot stand alone, and goes to 100."""
    made = task(3, {"x": [0, 1, 2, 90, 98, 99, 100]})
    parts = ALGORITHMS.make("pac", {"sensitive_weight": 0, "t": 3, "theta": 1}).parts(made)
    assert sorted(map(sorted, map(np.ndarray.tolist, parts))) == [[0, 1, 2], [3, 4, 5, 6]]


def test_a_small_sample_is_enough():
    made = task(2, {"x": range(40)})
    labels = cluster(made, sensitive_weight=0, t=20, capacity=4)
    assert set(np.bincount(labels)) <= {2, 3}


# -- phase 2 by hand -----------------------------------------------------------------------------


def test_unlike_values_are_merged():
    made = task(2, {"x": [0, 0, 1, 1]}, {"s": ["a", "a", "b", "b"]})
    assert groups(cluster(made, sensitive_weight=0.0)) == [[0, 1], [2, 3]]
    # Equal ages with equal values are 0.6 apart, unlike ages with unlike values 0.4.
    assert groups(cluster(made, sensitive_weight=0.6)) == [[0, 2], [1, 3]]


def test_weights_of_sensitive_columns():
    """Equation 4: the column that weighs more decides whom a record is kept apart from."""
    quasi, sensitive = {"x": [0, 0, 0, 0]}, {"s": ["a", "a", "b", "b"], "t": ["c", "d", "c", "d"]}
    by_s, by_t = ({"s": 3.0, "t": 1.0}, {"s": 1.0, "t": 3.0})
    for weights, apart in ((by_s, {(0, 2), (0, 3)}), (by_t, {(0, 1), (0, 3)})):
        made = task(2, quasi, sensitive, weights=weights)
        plain = Plain(made, 1.0, 1, one_way=False)
        of = {record: place for place, record in enumerate(plain.order)}
        assert plain.between(of[0], of[3]) == 0
        assert plain.between(of[0], of[2 if weights is by_s else 1]) == Fraction(1, 4)
        assert plain.between(of[0], of[1 if weights is by_s else 2]) == Fraction(3, 4)
        assert tuple(groups(cluster(made, sensitive_weight=1.0, t=1))[0]) in apart


@given(case=cases(max_rows=20), weights=st.tuples(*[st.sampled_from([0.5, 1.0, 3.0])] * 2))
@settings(max_examples=15, deadline=None)
def test_same_partition_and_objective_with_weights_of_sensitive_columns(case, weights):
    frame, policy = case
    described = {name: column.model_dump(exclude_unset=True) for name, column in policy.columns.items()}
    described["ill"]["weight"] = weights[0]
    described["pay"] = {"role": "sensitive", "type": "integer", "weight": weights[1]}
    policy = Policy(privacy={"k": policy.privacy.k}, columns=described)
    made = task_of(frame.with_columns(pl.Series("pay", [row % 7 for row in range(frame.height)])), policy)
    assume(is_exact(made, 0.3))
    plain = Plain(made, 0.3, 1, one_way=False)
    clusters = plain.clusters()
    assert groups(cluster(made, sensitive_weight=0.3, t=1)) == clusters
    of = {record: place for place, record in enumerate(plain.order)}
    spac = sum(
        len(some) * max(plain.between(*sorted((of[one], of[other]))) for one in some for other in some if one < other)
        for some in clusters
    )
    labels = cluster(task_again(made), sensitive_weight=0.3, t=1)
    found = ALGORITHMS.make("pac", {"sensitive_weight": 0.3, "t": 1}).objective(made, labels)
    assert found == pytest.approx(float(spac), rel=1e-9)


def task_again(made):
    """The same task with its random numbers from the start."""
    return replace(made, rng=np.random.default_rng(3))


def test_a_left_over_record_joins_the_nearest_cluster():
    made = task(2, {"x": [0, 1, 40, 50, 51]})
    assert groups(cluster(made, sensitive_weight=0, t=1)) == [[0, 1], [2, 3, 4]]


def test_full_clusters_give_records_back():
    """k = 4: {0, 0, 0, 10, 10, 10} is closed with 2k - 2, then has room for one of the three at 1000."""
    made = task(4, {"x": [0, 0, 0, 10, 10, 10, 1000, 1000, 1000]})
    assert groups(cluster(made, sensitive_weight=0, t=1)) == [[0, 1, 2, 4, 5], [3, 6, 7, 8]]


@pytest.mark.slow
def test_one_part_without_sensitive_weight_is_complete_linkage():
    rng = np.random.default_rng(5)
    made = task(4, {"a": rng.integers(0, 100, 40), "b": rng.integers(0, 100, 40)})
    assert groups(cluster(made, sensitive_weight=0, t=1)) == Plain(made, 0.0, 1, one_way=False).clusters()


# -- size, memory, threads -----------------------------------------------------------------------


def random_task(n, k=5, seed=3, shares=None, values=30):
    rng = np.random.default_rng(8)
    quasi = {"a": rng.integers(0, values, n), "b": rng.integers(0, values, n), "c": rng.choice(list("uvwxyz"), n)}
    return task(k, quasi, {"s": rng.integers(0, 9, n), "r": rng.choice(list("abc"), n)}, seed, shares)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    whole = cluster(random_task(2000), t=12)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    np.testing.assert_array_equal(cluster(random_task(2000), t=12), whole)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    np.testing.assert_array_equal(cluster(random_task(2000), t=12), whole)


def test_work_in_small_steps_is_the_same_work(monkeypatch):
    whole = cluster(random_task(600), t=4)
    monkeypatch.setattr(pac, "WORK", 1)
    shares = []
    np.testing.assert_array_equal(cluster(random_task(600, shares=shares), t=4), whole)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


def test_the_seed_decides_and_the_row_order_does_not():
    one, again, other = (cluster(random_task(500, seed=seed), t=5) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert groups(one) != groups(other)
    made = random_task(500, seed=1)
    mixed = np.random.default_rng(6).permutation(500)
    codes, sensitive = (type(c)(np.ascontiguousarray(c.array[mixed]), c.axes) for c in (made.codes, made.sensitive))
    shuffled = Task(codes, NCP, made.costs, 5, np.random.default_rng(1), made.progress, sensitive)
    assert _rows_by_class(made, one) == _rows_by_class(shuffled, cluster(shuffled, t=5))


def _rows_by_class(made, labels):
    rows = np.hstack([made.codes.array, made.sensitive.array])
    return sorted(sorted(map(tuple, rows[labels == label].tolist())) for label in np.unique(labels))


@pytest.mark.parametrize("values", [1, 2, 30])
def test_no_part_is_larger_than_the_capacity(values):
    """Skewed tables, too: with one value of `a` and `b`, six rows have all the records."""
    made = random_task(900, values=values)
    parts = ALGORITHMS.make("pac", {"t": 18, "capacity": 60}).parts(made)
    assert sorted(np.concatenate(parts)) == list(range(900))
    assert 5 <= min(map(len, parts)) <= max(map(len, parts)) <= 60
    sizes = np.bincount(cluster(random_task(900, values=values), t=18, capacity=60))
    assert 5 <= sizes.min() <= sizes.max() <= 9


def test_too_few_ancestors_are_refused_with_an_estimate():
    message = (
        r"'pac' with t = 1 and k = 5 would compare 900 of 900 records at once, which needs 0\.0 GiB, and its "
        r"capacity is 60 records; raise 't' to 15, or raise 'capacity' to 900, or use"
    )
    with pytest.raises(InfeasibleError, match=message):
        cluster(random_task(900), t=1, capacity=60)


def test_a_capacity_below_two_classes_is_refused():
    with pytest.raises(
        InfeasibleError, match=r"would compare 80 of 900 records .* records; raise 'capacity' to 80, or"
    ):
        cluster(random_task(900, k=40), capacity=60)


# -- edges, facts, refusals ----------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 7, 8])
def test_few_records(n):
    labels = cluster(task(4, {"x": range(n)}, {"s": range(n)}))
    assert np.bincount(labels).min() >= 4
    assert len(set(labels)) == n // 4


def test_equal_records():
    sizes = np.bincount(cluster(task(4, {"x": [5] * 23}, {"s": ["a"] * 23}), t=3))
    assert 4 <= sizes.min() <= sizes.max() <= 7


def test_facts_are_those_of_the_published_classes():
    """Two clusters with one description are one class: nobody can tell them apart."""
    frame = pl.DataFrame({"x": [1, 1, 1, 1], "s": [0, 10, 0, 10]})
    policy = Policy.build(k=2, quasi_identifiers=["x"], sensitive=["s"], algorithm="pac", seed=1)
    release = kohort.anonymize(frame, policy)
    assert release.provenance.clusters == 2
    assert release.facts["smallest_eps_min"] == 0
    assert release.facts["mean_eps_avg"] == pytest.approx(4 / 6)
    assert release.facts["beta_clusters"] == 1
    assert len(release.facts["eps_min_rcf"]) == 20


def test_no_sensitive_column():
    frame = pl.DataFrame({"x": [1, 2, 8, 9]})
    policy = Policy.build(k=2, quasi_identifiers=["x"], algorithm="pac")
    with pytest.raises(PolicyError, match="has no sensitive column; give one the role, or set sensitive_weight = 0 to"):
        kohort.anonymize(frame, policy)
    policy = Policy.build(k=2, quasi_identifiers=["x"], algorithm={"name": "pac", "sensitive_weight": 0})
    assert kohort.anonymize(frame, policy).facts == {"beta_clusters": 1, "spac_objective": 0.5}


def test_facts_without_sensitive_weight():
    frame = pl.DataFrame({"x": [1, 2, 8, 9], "s": [0, 5, 0, 10]})
    policy = Policy.build(
        k=2, quasi_identifiers=["x"], sensitive=["s"], algorithm={"name": "pac", "sensitive_weight": 0}
    )
    assert kohort.anonymize(frame, policy).facts["mean_eps_avg"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sensitive_weight": 1.2}, "'sensitive_weight' must be a number from 0 to 1; got 1.2"),
        ({"sensitive_weight": True}, "'sensitive_weight' must be a number from 0 to 1; got True"),
        ({"tau": -1}, "'tau' must be a number from 0 to 1; got -1"),
        ({"t": 0}, "'t' must be an integer of at least 1; got 0"),
        ({"t": 2.0}, "'t' must be an integer of at least 1; got 2.0"),
        ({"theta": None}, "'theta' must be an integer of at least 1; got None"),
        ({"capacity": 1}, "'capacity' must be an integer of at least 2; got 1"),
        ({"distance": "both"}, "'distance' must be 'two-way' or 'one-way'; got 'both'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(PolicyError, match=message):
        ALGORITHMS.make("pac", parameters)
