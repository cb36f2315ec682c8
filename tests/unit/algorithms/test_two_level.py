"""Two levels: the plain loops agree, k holds on one table, and the sub-tables tell what they disclose."""

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS, two_level
from kohort.algorithms.joins import alone, join_classes, values_left
from kohort.codes.encode import encode
from kohort.errors import PolicyError
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.release.engines.frame import loaded, usable_of
from kohort.release.plan import plan_of
from kohort.search.task import Task
from kohort.table import read_table, typed_quasi_identifiers
from oracles import exact
from oracles.plain_kmember import dense_tables
from property.strategies import cases

ACCEPTED = {"form": "vertical", "accept_broken_guarantee": True}
COARSE, FINE = "loss after level 1", "loss after level 2"


def task_on(frame, policy, k=None, progress=lambda share: None, measure="ncp", seed=3):
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    how = MEASURES.make(measure, {})
    rng = np.random.default_rng(seed)
    return Task(codes, how, compile_costs(how, codes.axes), k or policy.privacy.k, rng, progress)


def numbers(array, k, **options):
    frame = pl.DataFrame(array, schema=[f"c{i}" for i in range(array.shape[1])], orient="row")
    return task_on(frame, Policy.build(k=2, quasi_identifiers=frame.columns), k, **options)


def horizontal(task, **parameters):
    return ALGORITHMS.make("two-level", parameters).solve(task)


def labelled(task, **parameters):
    return ALGORITHMS.make("two-level", parameters).cluster(task)


# -- the horizontal form --------------------------------------------------------------------------


def plain(task, split, seed=3):
    """The page's pseudocode, on lists of records, with no box kept and nothing cut short."""
    order = np.lexsort(task.codes.array.T[::-1])
    records, tables = task.codes.array[order].astype(int), dense_tables(task.costs)

    def loss(members):
        rows = records[members]
        sides = zip(tables, rows.min(axis=0), rows.max(axis=0), strict=True)
        return len(members) * sum(int(table[lo, hi]) for table, lo, hi in sides)

    def systematic(members, size, place):
        clusters = [[members[block * size + place]] for block in range(max(1, len(members) // size))]
        seeds = {cluster[0] for cluster in clusters}
        for record in members:
            if record not in seeds:
                having_room = [cluster for cluster in clusters if len(cluster) < size] or clusters
                min(having_room, key=lambda cluster: loss([*cluster, record]) - loss(cluster)).append(record)
        return clusters

    n, k, rng = len(records), task.k, np.random.default_rng(seed)
    coarse = systematic(list(range(n)), 2 * k, rng.integers(min(2 * k, n)))
    losses = [loss(cluster) for cluster in coarse]
    least = sum(losses) / len(losses) if split == "above-mean" else 0
    fine = []
    for cluster, lost, place in zip(coarse, losses, rng.integers(k, size=len(coarse)), strict=True):
        divisible = lost > least and len(cluster) >= 2 * k
        fine += systematic(sorted(cluster), k, place) if divisible else [cluster]
    return sorted(sorted(map(tuple, records[cluster].tolist())) for cluster in fine)


def classes(task, labels):
    return sorted(
        sorted(map(tuple, task.codes.array[labels == label].tolist())) for label in range(int(labels.max()) + 1)
    )


@pytest.mark.parametrize("split", ["above-mean", "all"])
@pytest.mark.parametrize("measure", ["ncp", "height"])
@given(case=cases(max_rows=60))
@settings(max_examples=25, deadline=None)
def test_same_partition_as_the_plain_loop(split, measure, case):
    frame, policy = case
    task = task_on(frame, policy, measure=measure)
    assert classes(task, labelled(task, split=split)) == plain(task, split)


@given(seed=st.integers(0, 99), k=st.integers(2, 7), columns=st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_same_partition_where_rows_repeat(seed, k, columns):
    task = numbers(np.random.default_rng(seed).integers(0, 3, (80, columns)), k)
    assert classes(task, labelled(task)) == plain(task, "above-mean")


@given(case=cases(max_rows=60), split=st.sampled_from(["above-mean", "all"]))
@settings(max_examples=40, deadline=None)
def test_level_2_only_divides_and_never_loses(case, split):
    frame, policy = case
    levels = two_level.two_levels(task_on(frame, policy), 2 * policy.privacy.k, policy.privacy.k, split)
    assert np.bincount(levels.fine).min() >= policy.privacy.k
    assert len({*zip(levels.fine, levels.coarse, strict=True)}) == levels.fine.max() + 1
    finer = Counter(label for _, label in {*zip(levels.fine, levels.coarse, strict=True)})
    assert sum(parts > 1 for parts in finer.values()) == levels.divided
    facts = horizontal(task_on(frame, policy), split=split).facts
    assert facts["clusters divided"] == levels.divided
    assert facts[FINE] <= facts[COARSE]


def test_only_clusters_above_the_mean_are_divided():
    """Three clusters of 2k; the widest one is divided, and with `all` also the other that is no point."""
    array = np.array([0, 0, 0, 0, 100, 101, 102, 103, 500, 501, 900, 901])[:, None]
    rare, every = (classes(numbers(array, 2), labelled(numbers(array, 2), split=s)) for s in ("above-mean", "all"))
    assert [len(members) for members in rare] == [4, 4, 2, 2]
    assert [len(members) for members in every] == [4, 2, 2, 2, 2]


def test_the_told_loss_is_that_of_the_release():
    frame = pl.DataFrame({"a": np.random.default_rng(1).integers(0, 99, 200), "b": list("xyzz") * 50})
    policy = Policy.build(k=5, quasi_identifiers=["a", "b"], weights={"a": 2.0}, algorithm="two-level", seed=1)
    release = kohort.anonymize(frame, policy)
    assert release.facts[FINE] == pytest.approx(release.loss.total, abs=1e-12)
    assert release.facts[COARSE] > release.facts[FINE]


@pytest.mark.parametrize(
    ("n", "k", "clusters"), [(2, 2, 1), (3, 2, 1), (5, 3, 1), (5, 5, 1), (9, 5, 1), (10, 5, 2), (11, 5, 2), (19, 5, 3)]
)
def test_tiny_tables(n, k, clusters):
    """Fewer than 2k records are one cluster; one cluster is never above the mean, but it may lose."""
    assert labelled(numbers(np.arange(n)[:, None], k)).max() == 0
    sizes = np.bincount(labelled(numbers(np.arange(n)[:, None], k), split="all"))
    assert len(sizes) == clusters
    assert sizes.min() >= k


def test_all_equal_rows_are_never_divided():
    task = numbers(np.zeros((25, 2), np.int64), 4)
    assert sorted(np.bincount(labelled(task, split="all"))) == [8, 8, 9]


def test_calls_of_the_kernel_do_not_change_the_result(monkeypatch):
    array = np.random.default_rng(1).integers(0, 9, (500, 3))
    whole, shares = labelled(numbers(array, 6)), []
    monkeypatch.setattr(two_level, "WORK", 30)
    np.testing.assert_array_equal(labelled(numbers(array, 6, progress=shares.append)), whole)
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_row_order_does_not_matter_and_seeds_do():
    array = np.random.default_rng(2).integers(0, 9, (200, 3))
    mixed = array[np.random.default_rng(3).permutation(200)]

    def found(array, seed):
        return classes(numbers(array, 5, seed=seed), labelled(numbers(array, 5, seed=seed)))

    assert found(array, 1) == found(mixed, 1)
    assert found(array, 1) != found(array, 2)


# -- joining tables -------------------------------------------------------------------------------


@given(seed=st.integers(0, 9999), tables=st.integers(1, 4), sensitive=st.integers(1, 2))
@settings(max_examples=40, deadline=None)
def test_joins_agree_with_plain_sets(seed, tables, sensitive):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 50))
    apart = [rng.integers(0, rng.integers(1, 8), n) for _ in range(tables)]
    values = [rng.integers(0, rng.integers(1, 9), n) for _ in range(sensitive)]
    rows, shown = list(zip(*apart, strict=True)), list(zip(*values, strict=True))
    joined = join_classes(apart)
    assert all((joined[a] == joined[b]) == (rows[a] == rows[b]) for a, b in itertools.combinations(range(n), 2))
    assert alone(apart) == sum(times == 1 for times in Counter(rows).values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kohort.algorithms.joins.CHUNK", int(rng.integers(1, 60)))
        left = values_left(apart, values)
    assert left.shape == (n, sensitive)
    for record in range(n):
        common = set.intersection(
            *({shown[other] for other in range(n) if labels[other] == labels[record]} for labels in apart)
        )
        assert left[record].tolist() == [len({value[c] for value in common}) for c in range(sensitive)]


# -- the vertical form ----------------------------------------------------------------------------


def vertical(frame, policy, **parameters):
    chosen = policy.with_changes("algorithm", name="two-level", parameters=ACCEPTED | parameters)
    plan = plan_of(chosen)
    task = loaded(plan, usable_of(read_table(frame), chosen)).work.whole
    return task.codes, plan.algorithm.solve(task)


def published(codes, boxes, axes):
    """What each record is in the sub-table of some axes."""
    columns = [codes.axes[j].published(boxes.lo[:, j], boxes.hi[:, j]).to_list() for j in axes]
    return list(zip(*columns, strict=True))


def cut_in_two(names, data):
    cut = data.draw(st.integers(1, max(1, len(names) - 1)))
    return [part for part in (names[:cut], names[cut:]) if part]


@given(case=cases(max_rows=60), data=st.data())
@settings(max_examples=60, deadline=None)
def test_sub_tables_keep_their_own_promise_and_the_facts_tell_the_rest(case, data):
    frame, policy = case
    k, parameters = policy.privacy.k, {"split": data.draw(st.sampled_from(["above-mean", "all"]))}
    groups = [[name] for name in policy.quasi_identifiers]
    if data.draw(st.booleans()):
        groups = cut_in_two(list(reversed(policy.quasi_identifiers)), data)
        parameters |= {"grouping": "unequal", "groups": groups}
    codes, solution = vertical(frame, policy, **parameters)
    assert [[codes.axes[j].name for j in sub.axes] for sub in solution.tables] == groups
    apart = [published(codes, solution.boxes, sub.axes) for sub in solution.tables]
    facts = solution.facts
    for number, (sub, names, rows) in enumerate(zip(solution.tables, groups, apart, strict=True), 1):
        smallest = min(Counter(rows).values())
        assert facts[f"effective k of table {number} ({', '.join(names)})"] == smallest
        assert sub.k in (k, max(2, k // 2))
        assert smallest >= sub.k
    joined = Counter(zip(*apart, strict=True))
    assert facts["effective k if the tables are joined row by row"] == min(joined.values())
    assert facts["records alone if the tables are joined row by row"] == sum(n == 1 for n in joined.values())
    assert ("NOT kept" in facts["warning"]) == (min(joined.values()) < k)
    ill = frame["ill"].to_list()
    left = [
        len(set.intersection(*({ill[j] for j in range(len(ill)) if rows[j] == rows[i]} for rows in apart)))
        for i in range(len(ill))
    ]
    assert facts["fewest sensitive values that the classes of a record have in common"] == min(left)
    assert facts["records whose classes have one sensitive value in common"] == left.count(1)
    own = sum(times == 1 for times in Counter(ill).values())
    assert facts["records that sensitive values of their own link across the tables"] == own
    assert facts[FINE] <= facts[COARSE]


UNBALANCED = {"abc": {"ab": ["a", "b"], "c'": ["c"]}, "def": ["d", "e", "f"]}


def one_level(codes, k, seed):
    """Equal grouping alone, in fractions: for each column, the box of each record."""
    rng = np.random.default_rng(seed)
    for table, column in zip(exact.tables("ncp", codes.axes), codes.array.T.tolist(), strict=True):
        order = sorted(range(len(column)), key=lambda i, column=column: column[i])
        place, blocks = rng.integers(min(k, len(order))), max(1, len(order) // k)
        clusters = [[order[block * k + place]] for block in range(blocks)]
        rng.integers(max(2, k // 2), size=blocks)  # drawn for a second level that is not there

        def loss(members, table=table, column=column):
            ends = [column[i] for i in members]
            return len(members) * table[min(ends), max(ends)]

        for record in order:
            if all(record != cluster[0] for cluster in clusters):
                having_room = [cluster for cluster in clusters if len(cluster) < k] or clusters
                min(having_room, key=lambda one, record=record: loss([*one, record]) - loss(one)).append(record)
        of = {record: cluster for cluster in clusters for record in cluster}
        yield [(min(column[i] for i in of[r]), max(column[i] for i in of[r])) for r in range(len(column))]


@given(
    rows=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5) | st.none(), st.sampled_from("abcdef")), min_size=5),
    k=st.integers(2, 5),
    seed=st.integers(0, 9),
)
@settings(max_examples=30, deadline=None)
def test_without_a_second_level_in_fractions(rows, k, seed):
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64, "c": pl.String}, orient="row")
    trees = {"c": {"tree": UNBALANCED}}
    policy = Policy.build(k=k, quasi_identifiers=["a", "b", "c"], hierarchies=trees, seed=seed)
    codes, solution = vertical(frame, policy, split="none")
    for axis, boxes in enumerate(one_level(codes, k, seed)):
        assert list(zip(solution.boxes.lo[:, axis], solution.boxes.hi[:, axis], strict=True)) == boxes
    assert [table.k for table in solution.tables] == [k] * 3


@pytest.mark.parametrize(("k", "half"), [(8, 4), (9, 4), (5, 2), (3, 2), (2, 2)])
def test_the_promise_of_a_table_is_half_of_k_only_where_it_was_divided(k, half):
    """All are of one sex, so nothing is divided; ages are spread unevenly, so some are."""
    frame = pl.DataFrame({"sex": ["F"] * 60, "age": [i**2 for i in range(60)]})
    _, solution = vertical(frame, Policy.build(k=k, quasi_identifiers=["sex", "age"], seed=1))
    assert solution.tables[0].k == k
    # A cluster of 2 or 3 records has no two halves of 2.
    assert solution.tables[1].k == (half if k > 3 else k)


def test_without_a_sensitive_column():
    frame = pl.DataFrame({"a": list(range(40)), "b": [i * 7 % 40 for i in range(40)]})
    _, solution = vertical(frame, Policy.build(k=4, quasi_identifiers=["a", "b"], seed=1))
    assert solution.facts["warning"] == "k is NOT kept on all quasi-identifiers together"
    assert not [name for name in solution.facts if "sensitive" in name]


def test_a_table_where_k_holds_by_chance_says_that_it_is_not_promised():
    frame = pl.DataFrame({"a": [1, 2] * 10, "b": list("xy") * 10})
    _, solution = vertical(frame, Policy.build(k=4, quasi_identifiers=["a", "b"], seed=1))
    assert solution.facts["warning"] == "k is NOT promised on all quasi-identifiers together"
    assert solution.facts["effective k if the tables are joined row by row"] == 10


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"form": "diagonal"}, "'form' must be 'horizontal' or 'vertical'; got 'diagonal'"),
        ({"split": 3}, "'split' must be 'above-mean', 'all' or 'none'; got 3"),
        ({"split": "none"}, "split = 'none' is for form = 'vertical'; .* use the algorithm 'systematic'"),
        ({"grouping": ["equal"]}, "'grouping' must be 'equal' or 'unequal'"),
        ({"accept_broken_guarantee": "yes"}, "'accept_broken_guarantee' must be true or false; got 'yes'"),
        ({"form": "vertical"}, "do not keep k on all quasi-identifiers together.*accept_broken_guarantee = true"),
        ({"groups": [["a"], ["b"]]}, "'groups' and grouping = 'unequal' of the vertical form belong together"),
        (ACCEPTED | {"grouping": "unequal"}, "belong together; give both or none"),
        (ACCEPTED | {"groups": [["a"], ["b"]]}, "belong together"),
        (ACCEPTED | {"grouping": "unequal", "groups": "ab"}, "'groups' must be a list of lists of column names"),
        (ACCEPTED | {"grouping": "unequal", "groups": [["a"], []]}, "none of them empty"),
        (ACCEPTED | {"grouping": "unequal", "groups": [["a"], [1]]}, "'groups' must be a list of lists"),
        (ACCEPTED | {"grouping": "unequal", "groups": ["a", "b"]}, "'groups' must be a list of lists"),
    ],
)
def test_wrong_parameters(parameters, sentence):
    with pytest.raises(PolicyError, match=sentence):
        ALGORITHMS.make("two-level", parameters)


def sub_tables(groups=None, **options):
    unequal = {"grouping": "unequal", "groups": groups} if groups else {}
    policy = Policy.build(k=4, quasi_identifiers=["age", "sex", "zip"], sensitive=["ill"], **options)
    return policy.with_changes("algorithm", name="two-level", parameters=ACCEPTED | unequal)


@pytest.mark.parametrize(
    ("policy", "sentences"),
    [
        (sub_tables([["age"], ["sex"]]), ["quasi-identifier 'zip' stands in no group; put it into one group."]),
        (
            sub_tables([["age", "sex"], ["zip", "sex"]]),
            ["quasi-identifier 'sex' stands 2 times in 'groups'; put it into one group."],
        ),
        (
            sub_tables([["age", "sex"], ["zip", "ill", "town"]]),
            [
                "column 'ill' of 'groups' is no quasi-identifier of the policy; remove it, or give it the role.",
                "column 'town' of 'groups' is no quasi-identifier of the policy; remove it, or give it the role.",
            ],
        ),
        (
            sub_tables(weights={"sex": 0.0}),
            ["every quasi-identifier of group 2 has weight 0; give one a weight above 0."],
        ),
        (
            sub_tables(insensitive=["cost", "day"]),
            [
                "form = 'vertical' has no table for insensitive columns ('cost', 'day'), which would link the "
                "sub-tables; make them identifiers, which drops them."
            ],
        ),
        (
            sub_tables(output={"order": "kept", "suppressed": "starred", "bounds": True}),
            [
                "form = 'vertical' with order = 'kept' would link the sub-tables; let the order be shuffled.",
                "form = 'vertical' cannot show suppressed records; set suppressed = 'withheld'.",
                "form = 'vertical' cannot add bounds; set bounds = false.",
            ],
        ),
    ],
)
def test_policies_that_sub_tables_cannot_honour(policy, sentences):
    with pytest.raises(PolicyError) as caught:
        plan_of(policy)
    assert list(caught.value.faults) == [f"policy: {sentence}" for sentence in sentences]


def test_a_group_may_hold_a_column_of_weight_0():
    policy = sub_tables([["age", "sex"], ["zip"]], weights={"sex": 0.0})
    assert plan_of(policy).algorithm.tables(policy) == ("1", "2")


def test_the_horizontal_form_has_none_of_these_limits():
    policy = Policy.build(
        k=4,
        quasi_identifiers=["age"],
        insensitive=["cost"],
        algorithm="two-level",
        output={"order": "kept", "suppressed": "starred", "bounds": True},
    )
    assert plan_of(policy).algorithm.tables(policy) == ()
