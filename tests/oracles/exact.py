"""Costs and distances as fractions, from the values and the trees themselves: nothing is rounded, nothing compiled."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from kohort.codes.encode import LineAxis


def numbers(axis):
    """The values of a line, exactly: dates in days, other numbers as the decimals that are written."""
    return [
        Fraction(value.toordinal()) if isinstance(value, dt.date) else Fraction(str(value))
        for value in axis.values.to_list()
    ]


def width(axis, lo, hi):
    """Share of the range of its column that lies between two codes of a line."""
    places = numbers(axis)
    whole = Fraction(str(axis.high)) - Fraction(str(axis.low))
    return (places[hi] - places[lo]) / whole if whole else Fraction(0)


def node(tree, lo, hi):
    """The lowest common ancestor of two leaves, by their paths."""
    paths = [path(tree, int(tree.leaf_node[leaf])) for leaf in (lo, hi)]
    return next(one for one in paths[0] if one in paths[1])


def path(tree, one):
    """A node and all above it."""
    return [one] if tree.parent[one] < 0 else [one, *path(tree, int(tree.parent[one]))]


def leaves_of(tree, one):
    """Leaves under a node, counted one by one."""
    return sum(one in path(tree, int(leaf)) for leaf in tree.leaf_node)


def height_of(tree, one):
    """Edges from a node down to its deepest leaf."""
    paths = [path(tree, int(leaf)) for leaf in tree.leaf_node]
    return max(some.index(one) for some in paths if one in some)


def ncp(tree, one):
    """Leaves under a node over all leaves, 0 for a leaf."""
    return Fraction(leaves_of(tree, one), tree.n_leaves) if height_of(tree, one) else Fraction(0)


def height(tree, one):
    """Height of a node over that of the tree."""
    return Fraction(height_of(tree, one), max(1, height_of(tree, 0)))


def iloss(tree, one):
    """Further leaves under a node over all leaves."""
    return Fraction(leaves_of(tree, one) - 1, tree.n_leaves)


NODES = {"ncp": ncp, "height": height, "iloss": iloss}


def side(measure, axis, lo, hi):
    """Cost of one side of a box, times the weight of its column."""
    weight = Fraction(str(axis.weight))
    if hi == axis.missing_code:
        if lo == hi:
            return Fraction(0)
        return weight * (1 if isinstance(axis, LineAxis) else NODES[measure](axis.taxonomy, 0))
    if not isinstance(axis, LineAxis):
        return weight * NODES[measure](axis.taxonomy, node(axis.taxonomy, lo, hi))
    if measure == "iloss":
        return weight * Fraction(hi - lo, len(axis.values))
    return weight * width(axis, lo, hi)


def tables(measure, axes):
    """Cost of every (lo, hi) of every axis."""
    return [
        {(lo, hi): side(measure, axis, min(lo, hi), max(lo, hi)) for lo in range(axis.size) for hi in range(axis.size)}
        for axis in axes
    ]


def are_proportional(costs, tables):
    """Whether compiled costs are exact multiples of the true ones, by the same factor on every axis."""
    from kohort.kernels.costs import span_cost

    factors = {
        Fraction(int(span_cost(costs, j, lo, hi))) / cost if cost else int(span_cost(costs, j, lo, hi)) or None
        for j, table in enumerate(tables)
        for (lo, hi), cost in table.items()
        if lo <= hi
    }
    return len(factors - {None}) <= 1
