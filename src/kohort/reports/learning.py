"""Learning from a release: published rows and records as they are, in one space of features.

What a row may stand for is encoded as the mean of what its values would be encoded as: an interval of ages has its
middle, and the chance to be below each of some ages; a node of a hierarchy has a share of each leaf under it. A record
as it is has the same features, with chances of 0 and 1. So a model that was trained on the one can be asked about the
other (Inan, Kantarcioglu, Bertino: Using anonymized data for classification, ICDE 2009: expectations of what is not
known).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import TreeAxis
from kohort.common.system import cores
from kohort.errors import DataError, PolicyError
from kohort.reports.estimate import Estimate
from kohort.reports.published import Published
from kohort.reports.ranges import AsIs, Floats, Generalized, Ranges, as_is, generalized

CUTS = 16
"""Number of others that a number is compared with."""
MOST_VALUES = 48
"""Number of values and groups of a category that have a feature: those of the most rows."""
FEW_NUMBERS = 10
"""A target of numbers with more distinct ones is predicted as a number, otherwise as a category."""
MOST_CLASSES = 50
"""A target with more categories is not learned: each would have too few records."""
TREES = 60
TOLD_APART = 20
"""Number of categories of a target that are distinguished where the rarer ones may be joined."""
OTHERS = -1.0

Rows: TypeAlias = NDArray[np.int64]
Task: TypeAlias = Literal["category", "number"]


def refuse_without_sklearn() -> None:
    """Refuse if scikit-learn is not installed.

    Raises
    ------
    DataError
        Naming the extra.
    """
    try:
        import_module("sklearn")
    except ImportError:
        raise DataError('learning needs scikit-learn; run: pip install "kohort[sklearn]".') from None


@dataclass(frozen=True)
class Feature:
    """Some features of one column."""

    column: str
    of_release: Callable[[Rows], Ranges]
    of_original: Callable[[Rows], Ranges]
    cuts: Floats
    """Places that a number is compared with."""
    groups: tuple[tuple[int, int], ...]
    """First and last number of the values, and of the groups of values, of a category."""
    mean: float = 0.0
    deviation: float = 0.0
    """Of a number; 0 if it is none, or always the same."""

    @property
    def width(self) -> int:
        """How many features."""
        return len(self.cuts) + len(self.groups) + (self.deviation > 0) + 1

    def encoded(self, ranges: Ranges) -> Iterator[Floats]:
        """One after the other: whether the value is missing, the number, and the chances."""
        yield ranges.missing.astype(np.float64)
        if self.deviation > 0:
            yield np.nan_to_num((ranges.middle - self.mean) / self.deviation)
        for cut in self.cuts:
            yield ranges.below(cut)
        for first, last in self.groups:
            yield ranges.within(first, last)


@dataclass(frozen=True)
class Features:
    """A space in which rows of a release and records of its original have a place."""

    parts: tuple[Feature, ...]

    @property
    def width(self) -> int:
        """Number of features."""
        return sum(part.width for part in self.parts)

    @property
    def columns(self) -> tuple[str, ...]:
        """What they are made of."""
        return tuple(part.column for part in self.parts)

    def release(self, rows: Rows) -> NDArray[np.float32]:
        """Some rows of the release, shape (rows, features)."""
        return self._encoded(len(rows), (part.encoded(part.of_release(rows)) for part in self.parts))

    def original(self, records: Rows) -> NDArray[np.float32]:
        """Some records of the original."""
        return self._encoded(len(records), (part.encoded(part.of_original(records)) for part in self.parts))

    def _encoded(self, rows: int, parts: Iterator[Iterator[Floats]]) -> NDArray[np.float32]:
        found = np.empty((rows, self.width), np.float32)
        for place, feature in enumerate(one for part in parts for one in part):
            found[:, place] = feature
        return found


def features(published: Published, columns: Collection[str]) -> Features:
    """A space of features made of some columns; what the features are depends on the release alone.

    Parameters
    ----------
    published : Published
        With its original, opened `as_is` if other columns than quasi-identifiers and sensitive ones are among them.
    columns : collection of str
        Quasi-identifiers, and columns that are published as they are.
    """
    parts = [_of_quasi(published, one) for one in generalized(published) if one.name in columns]
    return Features((*parts, *(_of_as_is(published, name) for name in published.in_both if name in columns)))


def _of_quasi(published: Published, column: Generalized) -> Feature:
    kept = published.kept
    classes, labels = column.classes, published.labels
    values = column.values
    assert values is not None

    def of_release(rows: Rows) -> Ranges:
        return classes.of(labels[rows])

    shown = classes.of(labels[kept])
    if column.kind == "category":
        return Feature(column.name, of_release, values.of, np.empty(0), _groups(column, shown))
    return Feature(column.name, of_release, values.of, *_of_numbers(shown))


def _of_as_is(published: Published, name: str) -> Feature:
    column = as_is(published, name)
    assert column.values is not None
    ours, theirs = column.rows, column.values
    shown = ours.of(published.kept)
    if column.kind != "category":
        return Feature(name, ours.of, theirs.of, *_of_numbers(shown))
    times = np.bincount(shown.low[~shown.missing].astype(np.int64))
    frequent = sorted(np.argsort(-times, kind="stable")[:MOST_VALUES].tolist())
    groups = tuple((value, value) for value in frequent if times[value])
    return Feature(name, ours.of, theirs.of, np.empty(0), groups)


def _of_numbers(shown: Ranges) -> tuple[Floats, tuple[tuple[int, int], ...], float, float]:
    """Where to compare numbers, no groups, and what they are measured by."""
    middles = shown.middle[~shown.missing]
    if not len(middles):
        return np.empty(0), (), 0.0, 0.0
    cuts = np.unique(np.quantile(middles, np.linspace(0, 1, CUTS + 2)[1:-1]))
    return cuts, (), float(middles.mean()), float(middles.std())


def _groups(column: Generalized, shown: Ranges) -> tuple[tuple[int, int], ...]:
    """The leaves and groups of a hierarchy, all but the root, that most rows may belong to; larger groups first."""
    assert isinstance(column.axis, TreeAxis)
    tree = column.axis.taxonomy
    ends = np.unique(np.column_stack([tree.first_leaf, tree.last_leaf])[1:], axis=0)
    known = ~shown.missing
    shares = shown.of(known).spread(np.ones(int(known.sum())), tree.n_leaves)
    reached = np.append(0.0, shares.cumsum())
    rows = reached[ends[:, 1] + 1] - reached[ends[:, 0]]
    order = np.argsort(-rows, kind="stable")[:MOST_VALUES]
    return tuple(
        (int(first), int(last)) for (first, last), some in zip(ends[order], rows[order], strict=True) if some > 1e-9
    )


# -- what is learned -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """What is to be predicted."""

    column: str
    task: Task
    release: Floats
    """Of each row of the release: the number, or the number of the category; NaN where nobody knows."""
    original: Floats
    """Of each record of the original."""
    values: int
    """How many different ones there are."""
    joined: bool = False
    """Whether the rarer categories are one, with the number of `OTHERS`."""


def target_of(published: Published, name: str, rng: np.random.Generator, *, join: bool = False) -> Target:
    """A column as a target; of a quasi-identifier, each row of the release has one of its values, drawn by chance.

    Parameters
    ----------
    join : bool
        Whether the rarer ones of many categories become one; many are refused otherwise.

    Raises
    ------
    PolicyError
        When there is no such column in the release, or it cannot be learned.
    """
    column: AsIs | Generalized
    if name in published.in_both:
        column = as_is(published, name)
        ours, theirs = column.rows, column.values
    elif name in published.policy.quasi_identifiers:
        column = next(one for one in generalized(published) if one.name == name)
        drawn = _drawn(column.classes.of(published.labels), rng).low
        ours, theirs = Ranges.of_values(drawn, whole=column.whole), column.values
    else:
        raise PolicyError(f"the release has no column {name!r} that could be a target.")
    assert theirs is not None
    is_number = column.kind != "category"
    distinct = len(np.unique(theirs.low[~theirs.missing]))
    if distinct < 2:
        raise PolicyError(f"column {name!r} has fewer than two values; choose another target.")
    is_number &= distinct > FEW_NUMBERS
    if is_number or distinct <= (TOLD_APART if join else MOST_CLASSES):
        return Target(name, "number" if is_number else "category", ours.low, theirs.low, distinct)
    if not join:
        raise PolicyError(f"column {name!r} has {distinct} categories, and at most {MOST_CLASSES} can be learned.")
    return Target(name, "category", *_joined(ours.low, theirs.low), distinct, joined=True)


def _joined(ours: Floats, theirs: Floats) -> tuple[Floats, Floats]:
    """The most frequent categories of the release; all others are one."""
    values, times = np.unique(ours[~np.isnan(ours)], return_counts=True)
    frequent = values[np.argsort(-times, kind="stable")[:TOLD_APART]]
    first, second = (np.where(np.isin(one, frequent) | np.isnan(one), one, OTHERS) for one in (ours, theirs))
    return first, second


def _drawn(ranges: Ranges, rng: np.random.Generator) -> Ranges:
    """One value of each range."""
    part = rng.random(len(ranges)) * (ranges.high - ranges.low + ranges.whole)
    return Ranges.of_values(ranges.low + (np.floor(part) if ranges.whole else part), whole=ranges.whole)


@dataclass(frozen=True)
class Split:
    """Whom a model learns from, and by whom it is tested: no person is in both."""

    rows: Rows
    """Rows of the release to learn from."""
    records: Rows
    """Records of the original to learn from: as many, as far as there are."""
    tested: Rows
    """Records of the original that are held out."""


def split(published: Published, rng: np.random.Generator, *, share: float = 0.3, most: int = 20_000) -> Split:
    """Hold records out of both tables.

    Nobody says which row of a release was made of which record. So for each record that is held out, a row is taken
    away that could be its own: its box covers the record, and all columns that are published as they are agree.

    Parameters
    ----------
    share : float
        Of the records that are held out.
    most : int
        Records to learn from, at most; half as many are tested.
    """
    original = published.original
    assert original is not None
    order = rng.permutation(original.rows)
    tested = order[: min(round(share * original.rows), most // 2)]
    rest = rng.permutation(np.setdiff1d(order, tested, assume_unique=True))
    rows = rng.permutation(np.flatnonzero(published.kept & ~_rows_of(published, tested)))
    return Split(rows[:most], rest[:most], tested)


def _rows_of(published: Published, records: Rows) -> NDArray[np.bool_]:
    """Rows that may be those of some records, a row of its own for each as far as there are."""
    assert published.original is not None
    ours, theirs = _keys(published, records)
    rows = np.flatnonzero(published.kept)
    rows = rows[np.lexsort([published.labels[rows], ours[rows]])]
    # a pile: the rows of a class whose other columns agree
    changes = np.diff(ours[rows], prepend=-1).astype(bool) | np.diff(published.labels[rows], prepend=-1).astype(bool)
    piles = np.flatnonzero(changes)
    sizes = np.diff(np.append(piles, len(rows)))
    keys, boxes = ours[rows][piles], published.boxes.of(published.labels[rows][piles])
    firsts, lasts = np.searchsorted(keys, theirs, "left"), np.searchsorted(keys, theirs, "right")
    taken = np.zeros(len(piles), np.int64)
    for point, first, last in zip(published.original.codes.array[records], firsts, lasts, strict=True):
        some = first + np.flatnonzero(taken[first:last] < sizes[first:last])
        for axis, code in enumerate(point):
            some = some[(boxes.lo[some, axis] <= code) & (code <= boxes.hi[some, axis])]
        taken[some[:1]] += 1
    place = np.arange(len(rows)) - np.repeat(piles, sizes)
    found = np.zeros(published.rows, bool)
    found[rows] = place < np.repeat(taken, sizes)
    return found


def _keys(published: Published, records: Rows) -> tuple[Rows, Rows]:
    """A number for what each row, and each of some records, is in all columns that are published as they are."""
    both = [published.values_of_both(name) for name in published.in_both]
    if not both:
        return np.zeros(published.rows, np.int64), np.zeros(len(records), np.int64)
    ours, theirs = np.column_stack([one for one, _ in both]), np.column_stack([one for _, one in both])[records]
    keys = np.unique(np.concatenate([ours, theirs]), axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    return keys[: len(ours)], keys[len(ours) :]


def predicted(
    space: Features,
    target: Target,
    rows: Rows,
    table: Literal["release", "original"],
    asked: Rows,
    seed: int,
) -> Floats:
    """Learn a target from rows of a table, and predict it for records of the original.

    What learns is a forest of random trees (Breiman 2001), which takes any number of categories. Its trees are grown
    side by side, from seeds that were drawn before; they are asked one after the other, so that sums have one order.
    """
    refuse_without_sklearn()
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    known, encode = (target.release, space.release) if table == "release" else (target.original, space.original)
    rows = rows[~np.isnan(known[rows])]
    if target.task == "category" and len(np.unique(known[rows])) < 2:
        return np.full(len(asked), known[rows[0]] if len(rows) else np.nan)
    kind: Any = RandomForestClassifier if target.task == "category" else RandomForestRegressor
    model = kind(TREES, min_samples_leaf=5, max_features="sqrt", random_state=seed, n_jobs=cores())
    model.fit(encode(rows), known[rows]).set_params(n_jobs=1)
    return np.asarray(model.predict(space.original(asked)), np.float64)


def score(task: Task, truth: Floats, guesses: Floats) -> Estimate:
    """How well guesses do: the share of right ones of categories, the explained share of the variance of numbers."""
    if task == "category":
        return Estimate.of_share(int((truth == guesses).sum()), len(truth))
    spread = (truth - truth.mean()) ** 2
    missed = Estimate.of_ratio((truth - guesses) ** 2, spread)
    return Estimate(1 - missed.value, 1 - missed.high, 1 - missed.low)
