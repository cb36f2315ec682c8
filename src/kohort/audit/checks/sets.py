"""The checks of columns of sets: what their cells say, how often items occur together, and what the original has.

Supports are counted here once more, from the written cells alone: every set of at most m labels, in every class.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kohort.audit.case import LoadedCase
from kohort.audit.checks.promise import unknown
from kohort.audit.meaning.published import STAR
from kohort.audit.meaning.sets import SetTexts, set_texts
from kohort.audit.read.dictionary import Ints
from kohort.audit.read.table import Table
from kohort.audit.verdict import Check
from kohort.audit.words import are, count
from kohort.errors import KohortError
from kohort.policy.hierarchy import Taxonomy
from kohort.policy.hierarchy.items import group_items, groups_taxonomy, is_grouped, item_taxonomy
from kohort.privacy import SetModel
from kohort.privacy.constraints import parts_of
from kohort.privacy.models.item_constraints import ItemConstraints, groups_of
from kohort.privacy.models.k_m_anonymity import KMAnonymity
from kohort.privacy.models.rho_uncertainty import RhoUncertainty

if TYPE_CHECKING:
    import polars as pl

_RULES = 1 << 27
"""Sets of labels up to which rules are looked at."""
_KEYS = 1 << 24
"""Sets of labels that are held at once."""


@dataclass(frozen=True)
class ReadSets:
    """A column of sets as the audit reads it."""

    texts: SetTexts
    cells: Ints
    """Number of the text of every row."""

    @classmethod
    def of(cls, table: Table, column: str, separator: str | None, *, published: bool) -> ReadSets:
        """Read all of a column."""
        found = set_texts(table.dictionary(column).values.whole(), separator, published=published)
        cells = np.concatenate([table.codes([column], *batch)[0] for batch in table.batches()])
        return cls(found, cells.astype(np.int64))


def read_sets(case: LoadedCase, column: str) -> ReadSets:
    """The sets of the release, read once."""
    return _read_once(case, case.release, column)


def _read_once(case: LoadedCase, table: Table, column: str) -> ReadSets:
    key = (table.name, column)
    if key not in case.read:
        separator = case.policy.columns[column].separator
        case.read[key] = ReadSets.of(table, column, separator, published=table is case.release)
    found: ReadSets = case.read[key]
    return found


def classes_of(case: LoadedCase) -> Ints:
    """The number of the class of every row."""
    table, names = case.release, case.policy.quasi_identifiers
    found = np.zeros(table.rows, np.int64)
    for name in names:
        codes = np.concatenate([table.codes([name], *batch)[0] for batch in table.batches()]).astype(np.int64)
        found = np.unique(found * len(table.dictionary(name)) + codes, return_inverse=True)[1].ravel().astype(np.int64)
    return found


# -- what the cells say ----------------------------------------------------------------------------


def cells(case: LoadedCase) -> Check | None:
    """Ask whether every cell is a set, written in the one form, of labels that the hierarchy has."""
    if not case.sets:
        return None
    sentences: list[str] = []
    figures: dict[str, int | float | str] = {}
    for name in case.sets:
        read = read_sets(case, name)
        times = np.bincount(read.cells, minlength=len(read.texts.starts) - 1)
        wrong = int(times[read.texts.faulty].sum())
        strange = _unknown_labels(case, name, read.texts)
        of = np.repeat(np.arange(len(times)), np.diff(read.texts.starts))
        with_strange = int(times[np.unique(of[np.isin(read.texts.codes, strange)])].sum())
        figures |= {f"rows.{name}": wrong + with_strange, f"labels.{name}": len(read.texts.labels)}
        if wrong:
            hold = "holds" if wrong == 1 else "hold"
            sentences.append(
                f"column {name!r}: {count(wrong, 'row')} {hold} no set of labels in ascending order, each once"
            )
        if with_strange:
            hold = "holds" if with_strange == 1 else "hold"
            sentences.append(
                f"column {name!r}: {count(with_strange, 'row')} {hold} a label that its hierarchy does not have"
            )
    sentence = "; ".join(sentences) or "every set is written in the one form, of labels that its hierarchy has"
    return Check("sets", not sentences, f"{sentence}.", figures)


def _unknown_labels(case: LoadedCase, name: str, texts: SetTexts) -> Ints:
    """Numbers of the labels that no tree has, as far as one is known."""
    if is_grouped(case.policy, name):
        if case.original is None or name not in case.original.columns:
            return np.empty(0, np.int64)
        known = set(original_sets(case, name).texts.labels)
        return np.flatnonzero([not known.issuperset(group_items(label)) for label in texts.labels])
    tree = _tree(case, name)
    if tree is None:
        return np.empty(0, np.int64)
    return np.flatnonzero([tree.node_of(label) is None for label in texts.labels])


def _tree(case: LoadedCase, name: str) -> Taxonomy | None:
    """The tree of the items; None where it is made of those of the original, and this is not given."""
    spec = case.policy.columns[name].hierarchy
    items: tuple[str, ...] = ()
    if spec is None or (spec.file is None and spec.tree is None):
        if case.original is None or name not in case.original.columns:
            return None
        items = original_sets(case, name).texts.labels
    return item_taxonomy(case.policy, name, items)


def _whole_tree(case: LoadedCase, name: str, published: SetTexts) -> Taxonomy | None:
    """The same with the groups that are published, where items are; None where it cannot be made."""
    if not is_grouped(case.policy, name):
        return _tree(case, name)
    return groups_taxonomy(original_sets(case, name).texts.labels, published.labels, name)


def original_sets(case: LoadedCase, name: str) -> ReadSets:
    """The sets of the original."""
    assert case.original is not None
    return _read_once(case, case.original, name)


# -- how often they occur together -----------------------------------------------------------------


def promised(case: LoadedCase, model: SetModel) -> Check:
    """Ask whether the items of a column keep what a model promises; one that nobody has taught the audit fails."""
    if isinstance(model, KMAnonymity):
        return k_m(case, model)
    if isinstance(model, RhoUncertainty):
        return uncertain(case, model)
    return constraints(case, model) if isinstance(model, ItemConstraints) else unknown(model)


def k_m(case: LoadedCase, model: KMAnonymity) -> Check:
    """Ask whether every set of at most m labels occurs in k records of a class or more, or in none."""
    if model.column not in case.sets or case.classes is None:
        return Check(model.name, False, f"{model.name} cannot be checked, as the release lacks a column.")
    k = case.policy.privacy.k
    read = read_sets(case, model.column)
    supports = list(supports_of(read, classes_of(case), model.m))
    rare = sum(int((found < k).sum()) for found in supports)
    fewest = min((int(found.min()) for found in supports if len(found)), default=0)
    figures: dict[str, int | float | str] = {"k": k, "m": model.m, "fewest": fewest, "rare_sets": rare}
    about = f"{model.name} of {model.column!r}"
    what = f"{'set' if rare == 1 else 'sets'} of at most {model.m} labels"
    if rare:
        occur = "occurs" if rare == 1 else "occur"
        sentence = f"{about}: {rare:,} {what} {occur} in fewer than k = {k} records of a class (fewest {fewest})."
        return Check(model.name, False, sentence, figures)
    sentence = f"{about}: every set of at most {model.m} labels occurs in at least {k} records of a class, or in none"
    return Check(model.name, True, f"{sentence} (fewest {fewest:,}).", figures)


def supports_of(read: ReadSets, classes: Ints, m: int) -> Iterator[Ints]:
    """How many records of a class have each set of labels: all sets of at most m that any record has."""
    import polars as pl

    number = len(read.texts.starts) - 1
    pairs, times = np.unique(classes * number + read.cells, return_counts=True)
    of_class, text = pairs // number, pairs % number
    sizes = np.diff(read.texts.starts)[text]
    width = max(len(read.texts.labels), 1)
    for size in range(1, m + 1):
        total = sum(
            int(n) * math.comb(int(length), size)
            for length, n in zip(*np.unique(sizes, return_counts=True), strict=True)
        )
        turns = max(1, -(-total // _KEYS))
        for turn in range(turns):
            pieces = list(_keyed(read.texts, of_class, text, sizes, times, size, width, (turn, turns)))
            if pieces:
                frame = pl.concat(pieces)
                keys = [name for name in frame.columns if name != "times"]
                yield frame.group_by(keys).agg(pl.col("times").sum())["times"].to_numpy().astype(np.int64)


def _keyed(
    texts: SetTexts, of_class: Ints, text: Ints, sizes: Ints, times: Ints, size: int, width: int, part: tuple[int, int]
) -> Iterator[pl.DataFrame]:
    """All sets of some size with their classes as whole numbers, of one part of them, and their records."""
    import polars as pl

    turn, turns = part
    for length in np.unique(sizes[sizes >= size]).tolist():
        rows = np.flatnonzero(sizes == length)
        columns = texts.codes[texts.starts[text[rows], None] + np.arange(length)]
        # each of the sets that begin with one label of a class is looked at in the same turn
        own = (of_class[rows, None] * 31 + columns) % turns == turn
        for places in combinations(range(length), size):
            mine = np.flatnonzero(own[:, places[0]]) if turns > 1 else np.arange(len(rows))
            if not len(mine):
                continue
            words, word, room = [], of_class[rows[mine]], int(of_class.max()) + 1
            for place in places:
                if room * width >= 2**62:
                    words.append(word)
                    word, room = np.zeros(len(mine), np.int64), 1
                word, room = word * width + columns[mine, place], room * width
            words.append(word)
            keys = [pl.Series(f"key{i}", some.astype(np.int64)) for i, some in enumerate(words)]
            yield pl.DataFrame([*keys, pl.Series("times", times[rows[mine]].astype(np.uint32))])


def constraints(case: LoadedCase, model: ItemConstraints) -> Check:
    """Ask whether each protected set, and each part of it, is kept by k records or more, or by none.

    A record keeps a set if it has, for each of its items, the label that the item is published in.
    """
    name, policy = model.column, case.policy
    if name not in case.sets:
        return Check(model.name, False, f"{model.name} cannot be checked, as the release lacks a column.")
    k, read = policy.privacy.k, read_sets(case, name)
    figures: dict[str, int | float | str] = {"k": k}
    label_of: dict[str, int] = {}
    twice, merged = 0, 0
    for number, label in enumerate(read.texts.labels):
        group = group_items(label)
        twice += any(item in label_of for item in group) or label == STAR
        label_of |= dict.fromkeys(group, number)
    groups = groups_of(policy, model, tuple(label_of))
    if groups is not None:
        allowed = [set(group) for group in groups]
        merged = sum(
            not any(group <= one for one in allowed)
            for group in (set(group_items(label)) for label in read.texts.labels)
            if len(group) > 1
        )
    figures |= {"overlapping": twice, "merged_against_utility": merged}
    if twice or merged:
        fault = "published groups overlap" if twice else "groups hold items that may not be merged"
        return Check(model.name, False, f"{model.name} of {name!r}: {twice or merged:,} {fault}.", figures)
    rare, fewest, total = _rare_constraints(case, model, read, label_of)
    figures |= {"sets": total, "rare_sets": rare, "fewest": fewest}
    about = f"{model.name} of {name!r}"
    if rare:
        sentence = (
            f"{about}: {count(rare, 'protected set')} {are(rare)} kept by fewer than k = {k} records (fewest {fewest})"
        )
        return Check(model.name, False, f"{sentence}.", figures)
    sentence = f"{about}: every one of {count(total, 'protected set')} is kept by at least {k} records, or by none"
    return Check(model.name, True, f"{sentence} (fewest {fewest:,}).", figures)


def _rare_constraints(
    case: LoadedCase, model: ItemConstraints, read: ReadSets, label_of: Mapping[str, int]
) -> tuple[int, int, int]:
    """Protected sets that too few records keep, the fewest records that keep one, and all protected sets."""
    k = case.policy.privacy.k
    lists = model.sets_of("protect", case.policy.folder, case.policy.columns[model.column].separator)
    if lists is None:
        # items of one group are published alike: sets of them are sets of labels
        supports = list(supports_of(read, np.zeros(len(read.cells), np.int64), model.every or 1))
        rare = sum(int((found < k).sum()) for found in supports)
        return rare, min((int(found.min()) for found in supports), default=0), sum(map(len, supports))
    times = np.bincount(read.cells, minlength=len(read.texts.starts) - 1)
    of = np.repeat(np.arange(len(times)), np.diff(read.texts.starts))
    texts = {label: of[read.texts.codes == label] for label in set(label_of.values())}
    rare, fewest = 0, 0
    parts = parts_of(lists)
    for part in parts:
        if any(item not in label_of for item in part):
            continue
        kept = reduce(np.intersect1d, (texts[label] for label in {label_of[item] for item in part}))
        records = int(times[kept].sum())
        if records:
            rare, fewest = rare + (records < k), min(fewest or records, records)
    return rare, fewest, len(parts)


def uncertain(case: LoadedCase, model: RhoUncertainty) -> Check:
    """Ask whether no sensitive item follows from other items of a record with a confidence of rho or more."""
    name = model.column
    if name not in case.sets:
        return Check(model.name, False, f"{model.name} cannot be checked, as the release lacks a column.")
    read = read_sets(case, name)
    if STAR in read.texts.labels:
        sentence = f"{model.name} of {name!r}: '*' may stand for a sensitive item, and items are left out to keep it."
        return Check(model.name, False, sentence)
    hidden = np.array([label in model.sensitive for label in read.texts.labels], bool)
    sizes = np.diff(read.texts.starts)
    deepest = int(sizes.max(initial=0))
    total = sum(1 << min(int(size), 60) for size in sizes) if model.m is None else 0
    if total > _RULES:
        return Check(model.name, False, f"{model.name}: sets of {deepest} items have too many subsets to be checked.")
    certain = rules = 0
    fewer = None
    for size in range(1, min(deepest, deepest if model.m is None else model.m + 1) + 1):
        sets = _counted_sets(read, size)
        if fewer is not None:
            broken, seen = _certain(sets, fewer, size, hidden, model)
            certain, rules = certain + broken, rules + seen
        fewer = sets
    figures: dict[str, int | float | str] = {"rho": model.rho, "rules": rules, "certain": certain}
    about = f"{model.name} of {name!r}"
    if certain:
        have = "has" if certain == 1 else "have"
        sentence = f"{about}: {certain:,} of {count(rules, 'rule')} {have} a confidence of {model.rho:g} or more."
        return Check(model.name, False, sentence, figures)
    return Check(
        model.name, True, f"{about}: no one of {count(rules, 'rule')} has it with {model.rho:g} or more.", figures
    )


def _counted_sets(read: ReadSets, size: int) -> pl.DataFrame:
    """All sets of labels of some size that a row has, with the number of these rows."""
    import polars as pl

    times = np.bincount(read.cells, minlength=len(read.texts.starts) - 1)
    sizes = np.diff(read.texts.starts)
    names = [f"label{place}" for place in range(size)]
    pieces = [
        pl.DataFrame({name: [] for name in names} | {"times": []}, schema=dict.fromkeys([*names, "times"], pl.Int64))
    ]
    for length in np.unique(sizes[(sizes >= size) & (times > 0)]).tolist():
        rows = np.flatnonzero((sizes == length) & (times > 0))
        columns = read.texts.codes[read.texts.starts[rows, None] + np.arange(length)]
        for places in combinations(range(length), size):
            cells = {name: columns[:, place] for name, place in zip(names, places, strict=True)}
            pieces.append(pl.DataFrame(cells | {"times": times[rows]}))
    return pl.concat(pieces).group_by(names).agg(pl.col("times").sum())


def _certain(
    sets: pl.DataFrame, fewer: pl.DataFrame, size: int, hidden: NDArray[np.bool_], model: RhoUncertainty
) -> tuple[int, int]:
    """Rules from all but one label of each set to this one, if it is sensitive: those too certain, and all."""
    certain = rules = 0
    for place in range(size):
        some = sets.filter(hidden[sets[f"label{place}"].to_numpy()])
        rest = [f"label{other}" for other in range(size) if other != place]
        known = fewer.rename({f"label{other}": name for other, name in enumerate(rest)} | {"times": "known"})
        both = some.join(known, on=rest, how="left")
        pairs, times = np.unique(both.select("times", "known").to_numpy(), axis=0, return_counts=True)
        rules += both.height
        certain += sum(
            int(n) for (joint, alone), n in zip(pairs, times, strict=True) if model.breaks(int(joint), int(alone))
        )
    return certain, rules


# -- what the original has -------------------------------------------------------------------------


def items(case: LoadedCase) -> Check | None:
    """Ask whether every label stands for an item of its record, and no more items are left out than is allowed."""
    if case.original is None or not case.sets:
        return None
    [name] = case.sets
    if name not in case.original.columns:
        return Check("items", False, f"items cannot be checked, as column {name!r} is not in the original.")
    try:
        tree = _whole_tree(case, name, read_sets(case, name).texts)
    except KohortError:
        tree = None
    if tree is None:
        return Check("items", False, f"items of column {name!r} cannot be checked, as they do not fit its hierarchy.")
    released, there = read_sets(case, name), original_sets(case, name)
    nodes = np.array(
        [-1 if (node := tree.node_of(label)) is None else node for label in released.texts.labels], np.int64
    )
    leaves = tree.codes(there.texts.labels).astype(np.int64)
    rows = _rows(case)
    if rows is None:
        untrue, gone, total = _in_any_order(released, there, nodes, leaves, tree)
    else:
        untrue, gone, total = _row_by_row(released, there, nodes, leaves, tree, rows)
    limit = case.policy.columns[name].item_suppression_limit
    within = gone <= Fraction(str(limit)) * total
    figures: dict[str, int | float | str] = {
        "labels_of_nothing": untrue,
        "left_out": gone,
        "items": total,
        "limit": limit,
    }
    if untrue:
        do = "stands" if untrue == 1 else "stand"
        return Check("items", False, f"{count(untrue, 'published label')} {do} for no item of the record.", figures)
    share = f"{gone:,} of {count(total, 'item')} ({100 * gone / max(total, 1):.3g} %)"
    fate = f"{share} {are(gone)} left out, {'within' if within else 'more than'} the limit of {100 * limit:g} %"
    return Check(
        "items", within, f"{fate if gone else 'every item is published, by itself or by a label above it'}.", figures
    )


def _rows(case: LoadedCase) -> Ints | None:
    """The original row of each row, if somebody says it."""
    assert case.original is not None
    if case.order is not None:
        return np.concatenate([case.order.rows(*batch) for batch in case.release.batches()]).astype(np.int64)
    if case.order_said:
        return np.arange(case.release.rows)
    return None


def _row_by_row(
    released: ReadSets, there: ReadSets, nodes: Ints, leaves: Ints, tree: Taxonomy, rows: Ints
) -> tuple[int, int, int]:
    """Labels that stand for no item of their record, items that no label stands for, and all items."""
    label, row = released.texts.of(released.cells)
    item, of = there.texts.of(there.cells[rows])
    width = tree.n_nodes
    own, node = leaves[item], nodes[label]
    known = np.sort(of[own >= 0] * width + own[own >= 0])
    low = row * width + tree.first_leaf[node]
    true = (node >= 0) & (_next(known, low) <= row * width + tree.last_leaf[node])
    shown = np.sort(row * width + node)
    covered = np.zeros(len(item), bool)
    above = np.where(own >= 0, tree.leaf_node[own], -1).astype(np.int64)
    while (above >= 0).any():
        key = of * width + above
        covered |= (above >= 0) & (_next(shown, key) == key)
        above = np.where(above > 0, tree.parent[above], -1)
    return int((~true).sum()), int((~covered).sum()), len(item)


def _next(ordered: Ints, wanted: Ints) -> Ints:
    """The smallest number of an ascending array that is not below each wanted one; the largest there is, if none."""
    return np.append(ordered, np.iinfo(np.int64).max)[np.searchsorted(ordered, wanted)]


def _in_any_order(
    released: ReadSets, there: ReadSets, nodes: Ints, leaves: Ints, tree: Taxonomy
) -> tuple[int, int, int]:
    """The same, at least, where nobody knows which row is whose: by the number of records that have each."""
    label, _ = released.texts.of(released.cells)
    item, of = there.texts.of(there.cells)
    published = np.bincount(nodes[label][nodes[label] >= 0], minlength=tree.n_nodes)
    node = np.where(leaves[item] >= 0, tree.leaf_node[leaves[item]], -1).astype(np.int64)
    pairs = np.empty(0, np.int64)
    while (node >= 0).any():
        pairs = np.union1d(pairs, of[node >= 0] * tree.n_nodes + node[node >= 0])
        node = np.where(node > 0, tree.parent[node], -1)
    occurs = np.bincount(pairs % tree.n_nodes, minlength=tree.n_nodes)
    reached = np.zeros(tree.n_nodes, np.int64)
    for leaf in range(tree.n_leaves):
        step = int(tree.leaf_node[leaf])
        while step >= 0:
            reached[tree.leaf_node[leaf]] += published[step]
            step = int(tree.parent[step])
    untrue = int(np.maximum(published - occurs, 0).sum()) + int((nodes[label] < 0).sum())
    return untrue, _fewest_left_out(item, leaves, tree, reached, len(released.cells), len(there.cells)), len(item)


def _fewest_left_out(item: Ints, leaves: Ints, tree: Taxonomy, reached: Ints, rows: int, of: int) -> int:
    """Items that are left out whoever is whose: those of withheld records may be any."""
    own = leaves[item]
    occurs = np.bincount(tree.leaf_node[own[own >= 0]], minlength=tree.n_nodes)
    return int(np.maximum(occurs - reached - (of - rows), 0).sum()) + int((own < 0).sum())
