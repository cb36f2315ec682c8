"""CB: its steps by hand, the same partition as a plain version of it, and l-diversity of what it makes."""

import csv
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from helpers.engines import promise_of
from kohort.algorithms import ALGORITHMS, cb
from kohort.codes.encode import LineAxis, encode
from kohort.errors import InfeasibleError, PolicyError
from kohort.kernels.algorithms.cb import deal, split
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.privacy.models.frequency_l_diversity import FrequencyLDiversity
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables
from property.strategies import cases

NCP = MEASURES.make("ncp", {})


def table(array):
    frame = pl.DataFrame(np.asarray(array), schema=[f"c{j}" for j in range(np.shape(array)[1])], orient="row")
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    return encode(typed_quasi_identifiers(frame, policy), policy)


def cluster(codes, k, seed=3, measure=NCP, shares=None, diverse=None, **parameters):
    """Labels; `diverse` has a sensitive column and its l for each promise."""
    progress = (lambda share: None) if shares is None else shares.append
    task = Task(codes, measure, compile_costs(measure, codes.axes), k, np.random.default_rng(seed), progress)
    if diverse:
        names = [f"c{j}" for j in range(len(diverse))]
        policy = Policy.build(k=2, quasi_identifiers=["q"], sensitive=names)
        frame = pl.DataFrame({name: np.asarray(column) for name, (column, _) in zip(names, diverse, strict=True)})
        models = [FrequencyLDiversity(name, share) for name, (_, share) in zip(names, diverse, strict=True)]
        task = replace(task, promises=tuple(promise_of(model, frame, policy) for model in models))
    return ALGORITHMS.make("cb", parameters).cluster(task)


def is_diverse(values, share):
    return max(Counter(values).values()) * share <= len(values)


class Shuffles:
    """SplitMix64, and Fisher-Yates shuffles by it, in whole numbers of any size."""

    def __init__(self, state):
        self.state = state

    def below(self, number):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        bits = self.state
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
        return ((bits ^ bits >> 31) >> 33) * number >> 31

    def shuffled(self, items):
        items = list(items)
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
        return items


class Fixed:
    """Costs as the product has them, in fixed point."""

    def __init__(self, measure, codes):
        self.costs = compile_costs(measure, codes.axes)
        self.tables = dense_tables(self.costs)

    def span(self, axis, lo, hi):
        return int(self.tables[axis, lo, hi])

    def position(self, axis, code):
        return int(self.costs.flat[self.costs.offset[axis] + code])

    def full(self, axis):
        return int(self.costs.full[axis])


class Exact:
    """NCP from its definition, in fractions: |y - x| over the range; leaves below the common ancestor over all."""

    def __init__(self, codes):
        self.axes = codes.axes

    def span(self, axis, lo, hi):
        own = self.axes[axis]
        if lo == hi:
            return Fraction(0)
        if own.missing_code in (lo, hi):
            return Fraction(own.weight)
        if isinstance(own, LineAxis):
            return self.position(axis, hi) - self.position(axis, lo)
        paths = [self._above(own.taxonomy, leaf) for leaf in (lo, hi)]
        [shared, *_] = [node for node in paths[0] if node in paths[1]]
        below = sum(shared in self._above(own.taxonomy, leaf) for leaf in range(own.taxonomy.n_leaves))
        return Fraction(own.weight) * below / own.taxonomy.n_leaves

    def _above(self, tree, leaf):
        path = [int(tree.leaf_node[leaf])]
        while path[-1] != 0:
            path.append(int(tree.parent[path[-1]]))
        return path

    def position(self, axis, code):
        values = [Fraction(value) for value in self.axes[axis].values]
        width = values[-1] - values[0]
        return Fraction(self.axes[axis].weight) * (values[code] - values[0]) / width if width else Fraction(0)

    def full(self, axis):
        return Fraction(self.axes[axis].weight)


class Plain:
    """The algorithm over lists, one record at a time, straight from its description."""

    def __init__(self, codes, costs, k, seed, rounds, assign, diverse=()):
        # Records in lexicographic order of their codes, then of their sensitive values.
        self.drawn = np.array(
            sorted(
                range(len(codes.array)), key=lambda i: (*codes.array[i], *(int(column[i]) for column, _ in diverse), i)
            )
        )
        self.shuffles = Shuffles(int(np.random.default_rng(seed).integers(2**63, size=1, dtype=np.uint64)[0]))
        self.rows, self.axes, self.costs = codes.array[self.drawn], codes.axes, costs
        self.k, self.rounds, self.assign = k, rounds, assign
        self.diverse = [(np.asarray(column)[self.drawn], share) for column, share in diverse]

    def classes(self):
        return sorted(sorted(self.drawn[members]) for members in self.divided(list(range(len(self.rows)))))

    def cost(self, members):
        rows = self.rows[list(members)]
        return sum(self.costs.span(axis, *ends) for axis, ends in enumerate(zip(rows.min(0), rows.max(0), strict=True)))

    def place(self, axis, code):
        """A position or the code of a leaf, None for missing."""
        if code == self.axes[axis].missing_code:
            return None
        return self.costs.position(axis, code) if self.is_line(axis) else int(code)

    def is_line(self, axis):
        return isinstance(self.axes[axis], LineAxis)

    def places(self, i):
        return [self.place(axis, code) for axis, code in enumerate(self.rows[i])]

    def distance(self, centre, i):
        total = 0
        for axis, (here, there) in enumerate(zip(centre, self.places(i), strict=True)):
            if not self.is_line(axis):
                last = self.axes[axis].missing_code
                ends = last if here is None else here, last if there is None else there
                total += self.costs.span(axis, min(ends), max(ends))
            elif here is None or there is None:
                total += 0 if here is there else self.costs.full(axis)
            else:
                total += abs(here - there)
        return total

    def centre(self, members):
        return [self.middle(values) for values in zip(*map(self.places, members), strict=True)]

    def middle(self, values):
        present = [value for value in values if value is not None]
        if 2 * len(present) < len(values):
            return None
        return (2 * sum(present) + len(present)) // (2 * len(present))

    def divided(self, members):
        if len(members) < 2 * self.k:
            return [members]
        tries, sides = [], ()
        for number in range(self.rounds):
            members = self.shuffles.shuffled(members)
            if number == 0:
                first = members[0]
                others = [i for i in members[1:] if list(self.rows[i]) != list(self.rows[first])]
                centres = [self.places(first), self.places(others[0] if others else members[1])]
            else:
                centres = [self.centre(side) for side in sides]
            sides = self.one_round(members, centres)
            if all(is_diverse(column[side].tolist(), share) for side in sides for column, share in self.diverse):
                tries.append((sum(len(side) * self.cost(side) for side in sides), sides))
        if not tries:
            return [members]
        best = min(tries, key=lambda found: found[0])[1]
        return [found for side in best for found in self.divided([i for i in members if i in side])]

    def one_round(self, members, centres):
        if self.assign == "centre":
            sides, price = ([], []), lambda side, i: self.distance(centres[side], i)
        else:
            u = min(members, key=lambda i: self.distance(centres[0], i))
            v = min((i for i in members if i != u), key=lambda i: self.distance(centres[1], i))
            sides, price = ([u], [v]), lambda side, i: self.loss([*sides[side], i]) - self.loss(sides[side])
        for i in members:
            if i not in sides[0] and i not in sides[1]:
                number = min((0, 1), key=lambda side: (price(side, i), len(sides[side]), side))
                sides[number].append(i)
        self.borrow(members, sides, centres)
        return sides

    def loss(self, group):
        return len(group) * self.cost(group)

    def borrow(self, members, sides, centres):
        for small, large, centre in ((sides[0], sides[1], centres[0]), (sides[1], sides[0], centres[1])):
            while len(small) < self.k:
                inside = [i for i in members if i in large]
                price = [self.cost([*small, i]) if small else self.distance(centre, i) for i in inside]
                moved = inside[price.index(min(price))]
                small.append(moved)
                large.remove(moved)


def classes_of_labels(labels):
    return sorted(sorted(np.flatnonzero(labels == label)) for label in range(labels.max() + 1))


@pytest.mark.parametrize("assign", ["growth", "centre"])
@pytest.mark.parametrize("rounds", [1, 4])
@pytest.mark.parametrize("measure", ["ncp", "leaf"])
@given(case=cases(max_rows=40))
@settings(max_examples=15, deadline=None)
def test_same_partition_as_the_plain_version(assign, rounds, measure, case):
    frame, policy = case
    codes, k = encode(typed_quasi_identifiers(frame, policy), policy), policy.privacy.k
    made = MEASURES.make(measure, {})
    labels = cluster(codes, k, measure=made, rounds=rounds, assign=assign)
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() < 2 * k
    assert classes_of_labels(labels) == Plain(codes, Fixed(made, codes), k, 3, rounds, assign).classes()


LEAVES = ["a", "b", "c", "d", "e", "f"]
UNBALANCED = {"abc": {"ab": ["a", "b"], "c'": ["c"]}, "def": ["d", "e", "f"]}


@pytest.mark.parametrize("assign", ["growth", "centre"])
@given(
    rows=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5) | st.none(), st.sampled_from(LEAVES)), min_size=4),
    k=st.integers(2, 4),
)
@settings(max_examples=25, deadline=None)
def test_same_partition_in_fractions(assign, rows, k):
    """One round: its centres are records, so no mean is rounded, and every cost is a fraction."""
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64, "c": pl.String}, orient="row")
    policy = Policy.build(k=2, quasi_identifiers=["a", "b", "c"], hierarchies={"c": {"tree": UNBALANCED}})
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    labels = cluster(codes, k, rounds=1, assign=assign)
    assert classes_of_labels(labels) == Plain(codes, Exact(codes), k, 3, 1, assign).classes()


def test_two_heaps_by_hand():
    """Whatever the first centres are, the means move into the heaps."""
    codes = table([[1], [2], [3], [90], [91], [92]])
    for seed in range(10):
        labels = cluster(codes, 3, seed)
        assert len(set(labels[:3])) == len(set(labels[3:])) == 1
        assert labels[0] != labels[3]


def test_a_lone_outlier_borrows_its_nearest():
    """Wherever the division begins, 99 takes 9 with it: no other pair costs less."""
    labels = cluster(table([[0], [1], [9], [99]]), 2)
    assert labels[2] == labels[3] != labels[0] == labels[1]


def test_a_centre_without_records_starts_a_group():
    """Round 2 of equal rows and one other: both groups end with k all the same."""
    sizes = np.bincount(cluster(table([[5]] * 9 + [[6]]), 5))
    assert sorted(sizes) == [5, 5]


def test_work_in_small_steps_is_the_same_work(monkeypatch):
    codes = table(np.random.default_rng(3).integers(0, 30, (1500, 3)))
    whole = cluster(codes, 5)
    monkeypatch.setattr(cb, "WORK", 1)
    shares = []
    np.testing.assert_array_equal(cluster(codes, 5, shares=shares), whole)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 100


def test_the_seed_decides_and_the_row_order_does_not():
    array = np.random.default_rng(5).integers(0, 9, (400, 4))
    mixed = np.random.default_rng(6).permutation(array)
    one, again, other = (cluster(table(array), 7, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert _rows_by_class(array, one) == _rows_by_class(mixed, cluster(table(mixed), 7, 1))
    assert _rows_by_class(array, one) != _rows_by_class(array, other)


def _rows_by_class(array, labels):
    return sorted(sorted(map(tuple, array[labels == label].tolist())) for label in np.unique(labels))


def test_equal_rows_are_halved():
    """25 = 13 + 12, and these 7 + 6 and 6 + 6: ties go to the smaller group."""
    assert sorted(np.bincount(cluster(table(np.zeros((25, 2), int)), 4))) == [6, 6, 6, 7]


def test_fewer_than_2k_records_are_one_class():
    assert len(set(cluster(table([[1], [5], [9]]), 2))) == 1
    assert len(set(cluster(table([[1], [5]]), 2))) == 1


def test_more_rounds_lose_less():
    codes = table(np.random.default_rng(8).integers(0, 60, (3000, 3)))
    loss = [np.mean([_loss(codes, cluster(codes, 10, seed, rounds=rounds)) for seed in range(4)]) for rounds in (1, 15)]
    assert loss[1] < loss[0]


def _loss(codes, labels):
    return sum((labels == label).sum() * np.ptp(codes.array[labels == label], axis=0).sum() for label in set(labels))


def test_wrong_assign():
    with pytest.raises(PolicyError, match="'assign' must be 'growth' or 'centre'; got 'nearest'"):
        ALGORITHMS.make("cb", {"assign": "nearest"})


@pytest.mark.parametrize("rounds", [0, -1, 2.0, True, "many"])
def test_wrong_parameters(rounds):
    with pytest.raises(PolicyError, match=f"'rounds' must be an integer of at least 1; got {rounds!r}"):
        ALGORITHMS.make("cb", {"rounds": rounds})


# -- l-diversity --------------------------------------------------------------------------------


@st.composite
def diverse_cases(draw):
    """(frame, policy, promises): a random table, and sensitive columns that can be l-diverse as a whole."""
    frame, policy = draw(cases(max_rows=40))
    promises = []
    for _ in range(draw(st.integers(1, 2))):
        share = draw(st.integers(2, 4))
        values = draw(st.lists(st.integers(0, 6), min_size=frame.height, max_size=frame.height))
        if frame.height >= share:
            # What is too frequent becomes l values in turn.
            if not is_diverse(values, share):
                values = [i % share if frame.height % share == 0 else i % (share + 1) for i in range(frame.height)]
            if is_diverse(values, share):
                promises.append((np.array(values), share))
    return frame, policy, promises


@given(case=diverse_cases())
def test_same_divisions_as_the_plain_version(case):
    """Without the splitter, a set of which no round gives two diverse groups stays whole."""
    frame, policy, promises = case
    codes, k = encode(typed_quasi_identifiers(frame, policy), policy), policy.privacy.k
    labels = cluster(codes, k, rounds=4, splitter=False, diverse=promises)
    assert classes_of_labels(labels) == Plain(codes, Fixed(NCP, codes), k, 3, 4, "growth", promises).classes()


@given(case=diverse_cases())
def test_the_splitter_keeps_k_and_every_promise_and_loses_no_more(case):
    frame, policy, promises = case
    codes, k = encode(typed_quasi_identifiers(frame, policy), policy), policy.privacy.k
    whole, halves = (cluster(codes, k, diverse=promises, splitter=splitter) for splitter in (False, True))
    assert np.bincount(halves).min() >= k
    for label in range(halves.max() + 1):
        assert all(is_diverse(column[halves == label].tolist(), share) for column, share in promises)
        assert len(set(whole[halves == label])) == 1, "only what was not divided is split"


def test_without_a_promise_the_splitter_has_nothing_to_do():
    codes = table(np.random.default_rng(2).integers(0, 30, (500, 3)))
    np.testing.assert_array_equal(cluster(codes, 7, splitter=True), cluster(codes, 7, splitter=False))


def dealt(values, groups, rows=None):
    """Groups of members by the kernel, and how many of each value by hand."""
    values = np.asarray(values, np.int32)
    codes = table(rows if rows is not None else np.arange(len(values))[:, None])
    group = np.full(len(values), -1, np.int32)
    members = np.random.default_rng(len(values)).permutation(len(values)).astype(np.int32)
    deal(np.array(codes.array), compile_costs(NCP, codes.axes), values, groups, members, group)
    by_hand = Counter((value, i % groups) for i, value in enumerate(sorted(values.tolist())))
    return group, by_hand


@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=40), data=st.data())
def test_every_group_gets_as_many_of_a_value_as_dealing_in_turn_gives(values, data):
    groups = data.draw(st.integers(1, len(values)))
    group, by_hand = dealt(values, groups)
    assert Counter(zip(values, group.tolist(), strict=True)) == by_hand


def test_dealing_puts_near_records_together():
    """Two values at 0, 1, 10, 11, 20, 21 each: three groups with one stretch each."""
    places = [0, 1, 10, 11, 20, 21] * 2
    group, _ = dealt([0] * 6 + [1] * 6, 3, [[place] for place in places])
    assert [sorted(np.array(places)[group == g]) for g in range(3)] == [
        [0, 0, 1, 1],
        [10, 10, 11, 11],
        [20, 20, 21, 21],
    ]


def test_dealing_cuts_where_it_costs_least():
    """The second axis falls into two values that no cut tears; the first is even."""
    rows = [[i % 5, 100 * (i // 5 % 2)] for i in range(20)]
    group, _ = dealt([0] * 20, 2, rows)
    assert len({row[1] for row, g in zip(rows, group, strict=True) if g == 0}) == 1


def test_the_splitter_makes_fewer_groups_where_rounding_would_break_the_promise():
    """aaabbb with k = 3: two groups of three would have a value twice. With k = 2 there are three."""
    values = np.array([[0], [0], [0], [1], [1], [1]], np.int32)
    codes = table(np.arange(6)[:, None])
    for k, groups in ((3, 1), (2, 3)):
        group = np.full(6, -1, np.int32)
        members = np.arange(6, dtype=np.int32)
        made = split(
            np.array(codes.array), compile_costs(NCP, codes.axes), values, np.array([2]), k, members, group
        )  # fmt: skip
        assert made == groups == len(set(group))


def policy_of(frame, k, models, **parameters):
    sensitive = sorted({column for column, _ in models})
    policy = Policy.build(
        k=k,
        quasi_identifiers=[name for name in frame.columns if name not in sensitive],
        sensitive=sensitive,
        algorithm={"name": "cb", **parameters},
        seed=1,
    )
    entries = [{"model": "frequency-l-diversity", "column": column, "l": share} for column, share in models]
    return policy.with_changes("privacy", models=entries)


def classes_of(path, quasi):
    """Records of each class of a written CSV file, by the standard library alone."""
    found = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[tuple(row[name] for name in quasi)].append(row)
    return found


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(12, 120),
    k=st.integers(2, 6),
    splitter=st.booleans(),
)
@settings(max_examples=25)
def test_every_class_of_the_file_keeps_every_promise(tmp_path_factory, seed, n, k, splitter):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "a": rng.integers(0, 20, n),
            "b": rng.choice(list("xyz"), n),
            "ill": rng.permutation([None if i % 6 == 5 else f"v{i % 6}" for i in range(n)]).tolist(),
            "pay": rng.permutation([float(i % 4) for i in range(n)]),
        },
        schema_overrides={"ill": pl.String},
    )
    models = [("ill", 3), ("pay", 2), ("ill", 4)]
    path = tmp_path_factory.mktemp("out") / "out.csv"
    release = kohort.anonymize(frame, policy_of(frame, k, models, splitter=splitter), output=path)
    assert [check.passed for check in release.verdict.checks if check.name == "frequency-l-diversity"] == [True] * 3
    for rows in classes_of(path, ["a", "b"]).values():
        assert len(rows) >= k
        assert all(is_diverse([row[column] for row in rows], share) for column, share in models)


def test_what_no_class_can_keep_is_refused():
    frame = pl.DataFrame({"a": range(8), "ill": ["s3cret"] * 5 + ["x", "y", "z"]})
    policy = policy_of(frame, 2, [("ill", 2)])
    for limit, allowed in ((0.0, ""), (0.2, ", and at most 1 may be suppressed")):
        some = policy.with_changes("privacy", suppression_limit=limit)
        with pytest.raises(InfeasibleError, match=f"one value has 5 of 8 records{allowed}; at most l = 1") as refused:
            kohort.anonymize(frame, some)
        assert "s3cret" not in str(refused.value)
    release = kohort.anonymize(frame, policy.with_changes("privacy", suppression_limit=0.25))
    assert sorted(release.table["ill"]) == ["s3cret"] * 3 + ["x", "y", "z"]


@pytest.mark.parametrize("texts", [["", None], ["", "?"], ["?", "-"]])
def test_all_texts_for_missing_are_one_value(texts):
    """A class with three of one and three of the other would have one value six times."""
    frame = pl.DataFrame({"a": range(12), "ill": texts * 3 + list("uvwxyz")})
    policy = policy_of(frame, 2, [("ill", 2)])
    policy = Policy(**policy.to_dict() | {"input": {"missing": ["?", "-"]}})
    assert kohort.anonymize(frame, policy).verdict.passed
    with pytest.raises(InfeasibleError, match="one value has 6 of 11 records"):
        kohort.anonymize(frame[:11], policy)


def test_the_row_order_does_not_matter_for_diverse_classes_either():
    rng = np.random.default_rng(5)
    array = np.column_stack([rng.integers(0, 4, (300, 2)), rng.integers(0, 6, 300)])
    mixed = rng.permutation(array)
    one, other = (cluster(table(part[:, :2]), 5, diverse=[(part[:, 2], 3)]) for part in (array, mixed))
    assert _rows_by_class(array, one) == _rows_by_class(mixed, other)


@pytest.mark.parametrize("splitter", [0, 1, "yes", None])
def test_wrong_splitter(splitter):
    with pytest.raises(PolicyError, match=f"'splitter' must be true or false; got {splitter!r}"):
        ALGORITHMS.make("cb", {"splitter": splitter})
