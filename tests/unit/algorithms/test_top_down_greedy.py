"""Top-down greedy: its steps by hand, and the same partition as a plain version of it."""

import numpy as np
import pytest
from hypothesis import given, settings

from helpers.tasks import assert_only_the_seed_decides, assert_steps_do_not_matter, cluster, costs_of, encoded, numbers
from kohort.algorithms import ALGORITHMS, top_down_greedy
from kohort.errors import PolicyError
from oracles.plain_kmember import dense_tables
from property.strategies import cases

NAME = "top-down-greedy"


class Plain:
    """The algorithm over lists, one record at a time, straight from its description."""

    def __init__(self, codes, tables, k, seed, assign):
        order = codes.distinct.order
        self.drawn = order[np.random.default_rng(seed).permutation(len(order))]
        self.rows, self.tables, self.k, self.assign = codes.array[self.drawn], tables, k, assign

    def cost(self, members):
        rows = self.rows[list(members)]
        return sum(int(table[lo, hi]) for table, lo, hi in zip(self.tables, rows.min(0), rows.max(0), strict=True))

    def loss(self, members):
        return len(members) * self.cost(members)

    def classes(self):
        groups = self.mended(self.divided(list(range(len(self.rows))), fill=False))
        return [found for group in groups for found in self.divided(sorted(group), fill=True)]

    def divided(self, members, fill):
        k = self.k
        if len(members) < 2 * k and (fill or len(members) <= k):
            return [members]
        u = members[0]
        v = self.furthest(members, u)
        for _ in range(2):
            u, v = v, self.furthest(members, v)
        sides = [u], [v]
        for i in members:
            if i not in (u, v):
                price = [(self.price(side, i), len(side), number) for number, side in enumerate(sides)]
                sides[min(price)[2]].append(i)
        small, large = sorted(sides, key=len)
        if len(large) < k:
            return [members]
        if fill and len(small) < k:
            nearest = sorted(sorted(large), key=lambda i: self.cost([*small, i]))[: k - len(small)]
            small += nearest
            for i in nearest:
                large.remove(i)
        return [found for side in sides for found in self.divided(sorted(side), fill)]

    def furthest(self, members, i):
        return max((other for other in members if other != i), key=lambda other: self.cost([i, other]))

    def price(self, side, i):
        grown = [*side, i]
        return self.cost(grown) if self.assign == "cost" else self.loss(grown) - self.loss(side)

    def mended(self, groups):
        for g in range(len(groups)):
            group = groups[g]
            if not 0 < len(group) < self.k:
                continue
            wanted = self.k - len(group)
            others = [h for h in range(len(groups)) if h != g and groups[h]]
            growth = {h: self.loss(group + groups[h]) - self.loss(groups[h]) for h in others}
            nearest = min(others, key=growth.get)
            lenders = [h for h in others if len(groups[h]) >= self.k + wanted]
            if lenders:
                lender = min(lenders, key=growth.get)
                donors = sorted(groups[lender], key=lambda i: self.cost([*group, i]))
                lent, rest = donors[:wanted], donors[wanted:]
                if self.loss(group + lent) + self.loss(rest) - self.loss(groups[lender]) <= growth[nearest]:
                    groups[g], groups[lender] = group + lent, rest
                    continue
            groups[nearest] = groups[nearest] + group
            groups[g] = []
        return [group for group in groups if group]


@pytest.mark.parametrize("assign", ["growth", "cost"])
@pytest.mark.parametrize("measure", ["ncp", "leaf"])
@given(case=cases(max_rows=50))
@settings(max_examples=40, deadline=None)
def test_same_partition_as_the_plain_version(assign, measure, case):
    frame, policy = case
    codes, k = encoded(frame, policy), policy.privacy.k
    labels = cluster(NAME, codes, k, measure=measure, assign=assign)
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() < 2 * k
    plain = Plain(codes, dense_tables(costs_of(codes, measure)), k, 3, assign)
    expected = sorted(sorted(plain.drawn[members]) for members in plain.classes())
    assert sorted(sorted(np.flatnonzero(labels == label)) for label in range(len(sizes))) == expected


def test_two_heaps_by_hand():
    """Whatever the first record is, the furthest two lie in different heaps, and each heap stays whole."""
    codes = numbers([[1], [2], [3], [90], [91], [92]])
    for seed in range(5):
        labels = cluster(NAME, codes, 3, seed=seed)
        assert len(set(labels[:3])) == len(set(labels[3:])) == 1
        assert labels[0] != labels[3]


def test_a_lone_outlier_finds_a_group():
    sizes = np.bincount(cluster(NAME, numbers([[1], [1], [2], [2], [99]]), 2))
    assert sorted(sizes) == [2, 3]


@pytest.mark.parametrize("reach", [1, 3])
def test_a_short_reach_still_mends_every_group(reach, monkeypatch):
    monkeypatch.setattr(top_down_greedy, "REACH", reach)
    sizes = np.bincount(cluster(NAME, numbers(np.random.default_rng(1).integers(0, 40, (1500, 4))), 7))
    assert 7 <= sizes.min() <= sizes.max() <= 13


def test_work_in_small_steps_is_the_same_work(monkeypatch):
    assert_steps_do_not_matter(monkeypatch, NAME, {"WORK": 1, "STEP": 1})


def test_the_seed_decides_and_the_row_order_does_not():
    assert_only_the_seed_decides(NAME)


def test_equal_rows_and_fewer_than_2k():
    """25 = 6 + 6 + 6 + 7; 7 = 4 + 3, and the 3 borrow one from a group of 6."""
    assert sorted(np.bincount(cluster(NAME, numbers(np.zeros((25, 2), int)), 4))) == [4, 4, 5, 6, 6]
    assert len(set(cluster(NAME, numbers([[1], [5], [9]]), 2))) == 1


def test_growth_is_the_better_rule_on_scattered_records():
    """The loss is what the rule is for; both rules must differ, or the parameter means nothing."""
    codes = numbers(np.random.default_rng(8).integers(0, 60, (3000, 4)))
    loss = {assign: _loss(codes, cluster(NAME, codes, 10, assign=assign)) for assign in ("growth", "cost")}
    assert loss["growth"] < loss["cost"]


def _loss(codes, labels):
    return sum((labels == label).sum() * np.ptp(codes.array[labels == label], axis=0).sum() for label in set(labels))


def test_wrong_parameters():
    with pytest.raises(PolicyError, match="'assign' must be 'growth' or 'cost'; got 'size'"):
        ALGORITHMS.make(NAME, {"assign": "size"})
