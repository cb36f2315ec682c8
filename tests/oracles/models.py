"""Every privacy model a second time: record by record, straight from its definition, in fractions.

A class is the list of its records' values, and the table the list of all: None where missing, Fractions for numbers,
else texts. For several columns a record is a tuple of them. Nothing of `kohort.privacy` is used here.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from math import lcm, prod

import numpy as np


def keeps(name, group, table, tree=None, **parameters):
    """Whether a class keeps what a model promises.

    Parameters
    ----------
    tree : dict or list of dict, optional
        Leaf to its path up to the root; one for each column where there are several.
    """
    given = {key: exact(value) for key, value in parameters.items() if key not in ("column", "columns")}
    return _MODELS[name](group, table, tree, **given)


def exact(value):
    """Numbers as the decimals that are written."""
    if isinstance(value, float):
        return Fraction(str(value))
    return tuple(map(exact, value)) if isinstance(value, list | tuple) else value


def paths(nested, above=("*",)):
    """Leaf to its path up to the root, of nested tables and lists."""
    found = {}
    for label in nested:
        if isinstance(nested, dict):
            found |= paths(nested[label], (label, *above))
        elif isinstance(label, dict):
            found |= paths(label, above)
        else:
            found[label] = (label, *above)
    return found


# -- how many, and how often -----------------------------------------------------------------------


def _k_distinct(group, table, tree, l):  # noqa: E741
    return len(set(group)) >= l


def _entropy(group, table, tree, l):  # noqa: E741
    n = len(group)
    return prod(Fraction(c) ** c for c in Counter(group).values()) * Fraction(l) ** n <= Fraction(n) ** n


def _recursive(group, table, tree, c, l):  # noqa: E741
    counts = sorted(Counter(group).values(), reverse=True)
    return counts[0] < c * sum(counts[l - 1 :])


def _frequency(group, table, tree, l):  # noqa: E741
    return all(Fraction(group.count(value), len(group)) <= Fraction(1, l) for value in group)


def _alpha_k(group, table, tree, alpha, values=None):
    listed = None if values is None else {None if value == "" else _number_or_text(value, table) for value in values}
    return all(
        Fraction(group.count(value), len(group)) <= alpha for value in group if listed is None or value in listed
    )


def _number_or_text(value, table):
    return Fraction(value) if any(isinstance(one, Fraction) for one in table) else value


# -- numbers ---------------------------------------------------------------------------------------


def _k_e(group, table, tree, k, e):
    known = [value for value in group if value is not None]
    return len(set(known)) >= k and any(abs(a - b) >= e for a in known for b in known)


def _variance(group, table, tree, variance):
    known = [value for value in group if value is not None]
    if not known:
        return False
    mean = sum(known, Fraction(0)) / len(known)
    return sum(((value - mean) ** 2 for value in known), Fraction(0)) / len(known) >= variance


def _epsilon_m(group, table, tree, epsilon, m, relative=False):
    def is_near(x, y):
        if x is None or y is None:
            return x is y
        return abs(x - y) <= (epsilon * abs(x) if relative else epsilon)

    return all(sum(is_near(x, y) for y in group) <= Fraction(len(group), m) for x in group)


def _dissimilarity(group, table, tree, epsilon, delta):
    def is_far(x, y):
        if x is None or y is None:
            return x is not y
        return abs(x - y) > epsilon

    return _enough_others(group, is_far, delta)


def _dissimilarity_plus(group, table, tree, epsilon, delta, weights=None):
    width = len(table[0])
    weights = weights or (Fraction(1),) * width
    columns = [[record[j] for record in table] for j in range(width)]
    trees = tree or [None] * width

    def distance(x, y):
        parts = [_far(x[j], y[j], columns[j], trees[j]) for j in range(width)]
        return sum((w * d for w, d in zip(weights, parts, strict=True)), Fraction(0)) / sum(weights)

    return _enough_others(group, lambda x, y: distance(x, y) > epsilon, delta)


def _enough_others(group, is_far, delta):
    others = [
        sum(is_far(group[i], group[j]) for j in range(len(group)) if j != i) >= delta * (len(group) - 1)
        for i in range(len(group))
    ]
    return all(others)


def _far(a, b, column, tree):
    """Equations 1 and 2 of paper 003; a missing value is as far as can be."""
    if a == b:
        return Fraction(0)
    if a is None or b is None:
        return Fraction(1)
    if tree is not None:
        up, other = tree[a], tree[b]
        edges = min(i + other.index(node) for i, node in enumerate(up) if node in other)
        return Fraction(edges, 2 * max(len(path) - 1 for path in tree.values()))
    if isinstance(a, Fraction):
        known = [value for value in column if value is not None]
        return abs(a - b) / (max(known) - min(known))
    return Fraction(1)


# -- compared with the table -----------------------------------------------------------------------


def _t_closeness(group, table, tree, t, distance="equal"):
    return earth_movers_distance(group, table, distance, tree) <= t


def earth_movers_distance(group, table, distance, tree=None, order=None):
    """The least work that makes the records of a class into those of the table, found by moving single records."""
    known = sorted({value for value in table if value is not None}, key=_place(tree))
    ranks = {value: rank for rank, value in enumerate(known)} | {None: len(known)}
    last = max(ranks[value] for value in table)
    unit = {"equal": 1, "ordered": last or 1, "hierarchical": _height(tree, "*") if tree else 1}[distance]

    def steps(a, b):
        if a == b:
            return 0
        if distance == "ordered":
            return abs(ranks[a] - ranks[b])
        if distance == "equal" or a is None or b is None:
            return unit
        return _height(tree, next(node for node in tree[a] if node in tree[b]))

    from scipy.optimize import linear_sum_assignment  # half a second, which few tests need

    records = lcm(len(group), len(table))
    here, there = group * (records // len(group)), table * (records // len(table))
    values = list(dict.fromkeys([*here, *there]))
    apart = np.array([[steps(a, b) for b in values] for a in values])
    places = {value: place for place, value in enumerate(values)}
    costs = apart[np.ix_([places[a] for a in here], [places[b] for b in there])]
    rows, columns = linear_sum_assignment(costs)
    return Fraction(int(costs[rows, columns].sum()), unit * len(here))


def _place(tree):
    """Numbers by size, texts in the order of the tree."""
    leaves = list(tree or ())
    return lambda value: value if isinstance(value, Fraction) or not tree else leaves.index(value)


def _height(tree, node):
    """Edges from a node down to its deepest leaf."""
    return max(path.index(node) for path in tree.values() if node in path)


def _beta(group, table, tree, beta, enhanced=True):
    for value in set(table):
        p, q = Fraction(table.count(value), len(table)), Fraction(group.count(value), len(group))
        limit = min(beta, -_ln(p)) if enhanced else beta
        if (q - p) / p > limit:
            return False
    return True


def _delta(group, table, tree, delta, log="e", zeros="count"):
    delta = Fraction(delta)
    for value in set(table):
        p, q = Fraction(table.count(value), len(table)), Fraction(group.count(value), len(group))
        if not q and zeros == "skip":
            continue
        if not q:
            return False
        ratio = max(q / p, p / q)
        # |log2(ratio)| < a / b if and only if ratio^b < 2^a.
        small = ratio**delta.denominator < 2**delta.numerator if log == "2" else _ln(ratio) < delta
        if not small:
            return False
    return True


def _ln(number):
    with localcontext(prec=40):
        return Fraction((Decimal(number.numerator) / number.denominator).ln())


_MODELS = {
    "distinct-l-diversity": _k_distinct,
    "entropy-l-diversity": _entropy,
    "recursive-cl-diversity": _recursive,
    "frequency-l-diversity": _frequency,
    "alpha-k": _alpha_k,
    "k-e": _k_e,
    "variance-control": _variance,
    "epsilon-m": _epsilon_m,
    "dissimilarity": _dissimilarity,
    "dissimilarity-plus": _dissimilarity_plus,
    "t-closeness": _t_closeness,
    "beta-likeness": _beta,
    "delta-disclosure": _delta,
}
NAMES = tuple(_MODELS)
