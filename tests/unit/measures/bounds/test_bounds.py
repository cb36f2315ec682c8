"""Lower bounds: never above the optimum, and every certificate passes the independent check."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from kohort.codes.encode import Codes, LineAxis, TreeAxis
from kohort.measures import MEASURES
from kohort.measures.bounds import lower_bound
from kohort.measures.bounds.check import ONE, certifies
from kohort.measures.bounds.rows import Rows
from kohort.measures.loss import cell_costs, star_cost
from kohort.policy.hierarchy import Taxonomy

pytestmark = pytest.mark.usefixtures("full_bounds")

NCP = MEASURES.make("ncp", {})
TREES = [
    ["a", "b", "c", "d"],
    {"x": ["a", "b", "c"], "y": ["d", "e"]},
    {"x": {"xx": ["a", "b"], "xy": ["c"]}, "y": ["d"], "z": {"zz": ["e", "f", "g"]}},
    {"x": ["a"], "y": {"yy": {"yyy": ["b", "c"]}, "yz": ["d", "e"]}},
]


def line(name, n_values, rng, weight=1.0, has_missing=False):
    values = np.sort(rng.choice(1000, n_values, replace=False)).astype(float)
    wider = float(rng.choice([0, 0, 500]))
    return LineAxis(name, weight, pl.Series(values), values[0] - wider, values[-1], has_missing)


def random_codes(rng, n, d, values=4):
    axes, columns = [], []
    for j in range(d):
        weight, has_missing = float(rng.choice([0.3, 1.0, 2.0])), bool(rng.random() < 0.3)
        if rng.random() < 0.5:
            axis = line(f"q{j}", int(rng.integers(1, values + 1)), rng, weight, has_missing)
        else:
            tree = TREES[rng.integers(len(TREES))]
            taxonomy = Taxonomy.flat(tree, "q") if isinstance(tree, list) else Taxonomy.from_tree(tree, "q")
            axis = TreeAxis(f"q{j}", weight, taxonomy, has_missing)
        axes.append(axis)
        columns.append(rng.integers(axis.size, size=n))
    return Codes(np.column_stack(columns).astype(np.int32), tuple(axes))


def subset_costs(codes, measure):
    """What each record costs in the box of each subset of the records: float[2**n, n]; and of its suppression."""
    n = len(codes.array)
    weights = np.array([axis.weight for axis in codes.axes])
    inside = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    costs = np.zeros((2**n, n))
    for j, axis in enumerate(codes.axes):
        column = codes.array[:, j]
        lo = np.where(inside, column, 10**6).min(1).astype(np.int32)
        hi = np.where(inside, column, -1).max(1).astype(np.int32)
        lo[0] = hi[0] = 0
        for i in range(n):
            here = np.full(2**n, column[i], np.int32)
            costs[:, i] += weights[j] * cell_costs(measure, axis, np.minimum(lo, here), np.maximum(hi, here))
    return costs, sum(weight * star_cost(measure, axis) for weight, axis in zip(weights, codes.axes, strict=True))


def optimum(codes, measure, k):
    """Least loss of any partition into groups of at least k, records suppressed at will; over all subsets."""
    n = len(codes.array)
    costs, everything = subset_costs(codes, measure)
    group = [sum(costs[s, i] for i in range(n) if s >> i & 1) for s in range(2**n)]
    least = [0.0] * 2**n
    for mask in range(1, 2**n):
        first = mask & -mask
        best = everything + least[mask ^ first]
        rest = mask ^ first
        part = rest
        while True:
            if part.bit_count() + 1 >= k:
                best = min(best, group[part | first] + least[mask ^ first ^ part])
            if part == 0:
                break
            part = (part - 1) & rest
        least[mask] = best
    return least[-1] / (n * everything)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
def test_never_above_the_optimum(measure):
    rng = np.random.default_rng(len(measure))
    made = MEASURES.make(measure, {})
    reached = []
    for _ in range(600):
        n = int(rng.integers(2, 9))
        codes = random_codes(rng, n, int(rng.integers(1, 4)))
        k = int(rng.integers(1, min(n, 5) + 1))
        bound = lower_bound(codes, made, k, rng, effort=0.05)
        best = optimum(codes, made, k)
        assert bound.value <= best
        proved = certifies(codes, made, k, bound.y)
        assert proved == pytest.approx(bound.value, rel=1e-9, abs=1e-12)
        reached.append((bound.value, best))
    # And it is worth something: most of the optimum, taken over all tables.
    bounds, optima = np.sum(reached, axis=0)
    assert bounds > 0.8 * optima


@pytest.mark.parametrize("seed", range(12))
def test_certificates_of_larger_tables_pass_the_check(seed):
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, 200, int(rng.integers(1, 5)), values=12)
    for k in (2, 7, 30):
        nearest = lower_bound(codes, NCP, k, rng, effort=1e-4)
        dual = lower_bound(codes, NCP, k, rng, effort=0.5)
        for bound in (nearest, dual):
            assert certifies(codes, NCP, k, bound.y) == pytest.approx(bound.value, rel=1e-9, abs=1e-12)
        assert dual.value >= nearest.value


def test_without_patience_the_bound_is_still_valid():
    """Six continuous columns have too many boxes to open them all; all triples are judged by brute force."""
    rng = np.random.default_rng(5)
    n, d = 60, 6
    numbers = rng.random((n, d))
    axes = tuple(LineAxis(f"q{j}", 1.0, pl.Series(np.sort(numbers[:, j])), 0.0, 1.0, False) for j in range(d))
    codes = Codes(numbers.argsort(0).argsort(0).astype(np.int32), axes)
    rows = Rows(codes, NCP, 3)
    base = rows.own_costs()
    rows.nearest(np.arange(n), 10**9, base)
    triples = np.array(list(combinations(range(n), 3)))
    allowed = 3 * np.ptp(numbers[triples], axis=1).sum(1)
    totals = []
    for patience in (10, 1000, 10**7):
        values, _, left = rows.insert(base, 3 * base, patience, 10**9)
        assert left > 0
        y = np.empty(n)
        y[codes.distinct.order[rows.order]] = values / ONE
        assert (y[triples].sum(1) <= allowed + 1e-7).all()
        totals.append(rows.total(values))
    assert rows.total(base) <= totals[0] < totals[2]


def test_a_taxonomy_too_large_for_a_table_of_pairs():
    rng = np.random.default_rng(8)
    tree = {f"g{group}": [f"{group}-{leaf}" for leaf in range(30)] for group in range(20)}
    axes = (TreeAxis("tree", 1.0, Taxonomy.from_tree(tree, "tree"), True), line("line", 20, rng))
    codes = Codes(np.column_stack([rng.integers(601, size=120), rng.integers(20, size=120)]).astype(np.int32), axes)
    bound = lower_bound(codes, NCP, 4, rng, effort=0.2)
    assert bound.method == "dual"
    assert certifies(codes, NCP, 4, bound.y) == pytest.approx(bound.value, rel=1e-9)


def test_a_crowded_neighbourhood_keeps_the_cheap_value(monkeypatch):
    from kohort.measures.bounds import rows as module

    monkeypatch.setattr(module, "ROOM", 3)
    rng = np.random.default_rng(6)
    codes = random_codes(rng, 80, 3, values=12)
    bound = lower_bound(codes, NCP, 5, rng, effort=0.2)
    assert certifies(codes, NCP, 5, bound.y) is not None


@pytest.mark.parametrize("k", [2, 3, 10])
def test_one_numeric_column(k):
    """In one column the best groups are runs, so the optimum is found by dynamic programming."""
    numbers = np.sort(np.random.default_rng(k).random(300))
    axis = LineAxis("q", 1.0, pl.Series(numbers), 0.0, 1.0, False)
    codes = Codes(np.arange(300, dtype=np.int32)[:, None], (axis,))
    least = [0.0] + [np.inf] * 300
    for stop in range(k, 301):
        sizes = range(k, min(2 * k, stop + 1))
        least[stop] = min(least[stop - size] + size * (numbers[stop - 1] - numbers[stop - size]) for size in sizes)
    bound = lower_bound(codes, NCP, k, np.random.default_rng(1))
    assert bound.method == "dual"
    assert 0.9 * least[-1] < 300 * bound.value <= least[-1]


def test_same_seed_same_certificate():
    codes = random_codes(np.random.default_rng(9), 300, 3, values=30)
    for effort in (1e-4, 0.3):
        first, second = (lower_bound(codes, NCP, 4, np.random.default_rng(2), effort) for _ in range(2))
        assert first.value == second.value
        assert (first.y == second.y).all()


def test_more_effort_looks_at_more_records():
    codes = random_codes(np.random.default_rng(9), 300, 3, values=30)
    small, large = (lower_bound(codes, NCP, 4, np.random.default_rng(2), effort) for effort in (1e-5, 1.0))
    assert small.method == "nearest"
    assert small.value < large.value


@pytest.mark.parametrize("k", [0, 4])
def test_impossible_k(k):
    with pytest.raises(ValueError, match=f"between 1 and the number of records, 3; got {k}"):
        lower_bound(random_codes(np.random.default_rng(1), 3, 1), NCP, k, np.random.default_rng(1))


def test_equal_records_lose_nothing():
    codes = Codes(np.zeros((6, 1), np.int32), (line("q", 3, np.random.default_rng(1)),))
    assert lower_bound(codes, NCP, 6, np.random.default_rng(1)).value == 0.0


@pytest.mark.parametrize("measure", ["ncp", "leaf", "height"])
def test_the_check_draws_the_line_where_brute_force_does(measure):
    rng = np.random.default_rng(11)
    made = MEASURES.make(measure, {})
    tried = 0
    while tried < 40:
        n, k = int(rng.integers(3, 8)), int(rng.integers(2, 4))
        codes = random_codes(rng, n, int(rng.integers(1, 4)))
        largest = max(axis.weight for axis in codes.axes)
        costs, everything = subset_costs(codes, made)
        sums = {s: sum(costs[sum(1 << i for i in s), i] for i in s) / largest for s in combinations(range(n), k)}
        y = rng.random(n)
        if min(sums.values()) < 1e-3:
            continue
        tried += 1
        y /= max(y[list(s)].sum() / cost for s, cost in sums.items())
        if y.max() > 0.99 * everything / largest:
            continue  # worth more than its suppression
        assert certifies(codes, made, k, (0.9999 * y * ONE).astype(np.int64)) is not None
        assert certifies(codes, made, k, (1.0001 * y * ONE).astype(np.int64)) is None


def test_the_check_refuses_what_is_no_certificate():
    codes = random_codes(np.random.default_rng(3), 30, 2)
    y = lower_bound(codes, NCP, 3, np.random.default_rng(1)).y
    assert certifies(codes, NCP, 3, y) is not None
    assert certifies(codes, NCP, 3, y[1:]) is None
    assert certifies(codes, NCP, 3, np.where(np.arange(30) == 0, -1, y)) is None
    assert certifies(codes, NCP, 3, np.where(np.arange(30) == 0, 100 * ONE, y)) is None
    assert certifies(codes, NCP, 3, y + ONE // 100) is None


def test_the_check_shares_no_code_with_the_search():
    import ast
    from pathlib import Path

    import kohort.measures.bounds.check as module

    imported = {
        node.module
        for node in ast.walk(ast.parse(Path(module.__file__).read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    assert {name for name in imported if name.startswith("kohort")} == {"kohort.codes.encode", "kohort.measures.base"}
