"""Promises about sets a second time: every set of labels is counted, record by record, from texts alone."""

from collections import Counter, defaultdict
from itertools import combinations


def labels_of(cell, separator=";"):
    """The labels of a published cell."""
    if cell is None or cell == "":
        return frozenset()
    return frozenset(cell.split(separator) if isinstance(cell, str) else cell)


def rare_sets(rows, k, m):
    """Sets of at most m labels that 1 to k-1 rows of a class have.

    Parameters
    ----------
    rows : list of (class, labels)
    """
    counts = Counter()
    for group, labels in rows:
        for size in range(1, m + 1):
            for some in combinations(sorted(labels), size):
                counts[group, some] += 1
    return {key: count for key, count in counts.items() if count < k}


def leaves(tree, above=("*",)):
    """Each item with the labels above it, itself first."""
    found = {}
    for label in tree:
        if isinstance(tree, dict):
            found |= leaves(tree[label], (label, *above))
        elif isinstance(label, dict):
            found |= leaves(label, above)
        else:
            found[label] = (label, *above)
    return found


def candidates(known, group, rows, paths):
    """Rows of a class that an outsider who knows some items of a record cannot rule out."""
    return sum(
        group == other and all(any(label in labels for label in paths[item]) for item in known)
        for other, labels in rows
    )


def untrue(pairs, paths):
    """Labels that stand for no item of their record, and items that no label of it stands for.

    Parameters
    ----------
    pairs : list of (original items, published labels)
    """
    wrong, gone = 0, 0
    for items, labels in pairs:
        above = defaultdict(set)
        for item in items:
            for label in paths[item]:
                above[label].add(item)
        wrong += sum(label not in above for label in labels)
        gone += sum(not any(label in labels for label in paths[item]) for item in items)
    return wrong, gone


def rare_constraints(rows, sets, k):
    """Parts of protected sets that 1 to k-1 rows keep, a group being a label ``(a, b)``."""
    found = {}
    for one in sets:
        for size in range(1, len(one) + 1):
            for part in combinations(sorted(one), size):
                kept = sum(all(any(item in groups(label) for label in labels) for item in part) for labels in rows)
                if 0 < kept < k:
                    found[part] = kept
    return found


def groups(label):
    """The items of a published group."""
    return label[1:-1].split(", ") if label.startswith("(") else [label]


def certain_rules(rows, sensitive, rho, m=None):
    """Rules from some labels of a row to a sensitive one whose confidence is rho or more, a Fraction."""
    counts = Counter()
    for labels in rows:
        for size in range(1, len(labels) + 1):
            for some in combinations(sorted(labels), size):
                counts[some] += 1
    return [
        (known, item)
        for some, both in counts.items()
        for item in some
        if item in sensitive and 2 <= len(some) <= (len(some) if m is None else m + 1)
        for known in [tuple(other for other in some if other != item)]
        if both >= rho * counts[known]
    ]
