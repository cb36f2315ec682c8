"""Pairs of classes, one of each of two releases, in which the same person can be.

Records of both are matched by their sensitive values: by each sensitive column alone, as other values of a person
may have changed, and by all of them together, as a combination reveals more. For each class of this release all
classes of the other one are looked at together.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.audit.earlier.overlap import Boxes, boxes
from kohort.audit.earlier.shown import Sight
from kohort.audit.ledger import Shown
from kohort.audit.meaning.spelling import sensitive_values
from kohort.policy import Policy

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass
class Tally:
    """What was found in the pairs of classes of two releases."""

    touched: Bools
    """Which groups of equal records of this release can be in a failing pair."""
    short: dict[str | None, int]
    """Failing pairs by what falls short: a sensitive column, or the number of records under None."""
    pairs: int = 0
    """Pairs in which somebody can be: their descriptions overlap, and they show a value in common."""
    failing: int = 0
    """Those that leave less than is promised, and not only because one release alone does."""
    alone: int = 0
    """Those that leave less than is promised only because one release alone does."""


@dataclass(frozen=True)
class Records:
    """The records of a release that are equal in class and sensitive values, as the ledger lists them."""

    owner: Ints
    times: Ints
    """Class, and how many records there are."""
    values: Ints
    """Values by number: equal numbers are equal values, also of the other release; shape (entries, columns)."""


@dataclass(frozen=True)
class Groups:
    """The same, counted by some of the columns."""

    columns: tuple[str, ...]
    owner: Ints
    key: Ints
    times: Ints
    """Class, combination of values by number, and how many records have it; in the order of classes."""
    values: Ints
    """Each value by number; shape (groups, columns)."""
    sizes: Ints
    """Records of each class."""
    kinds: Ints
    """Different values of each class; shape (classes, columns)."""
    group_of: Ints
    """The group of each entry."""
    keys: int
    """Number of combinations in both releases."""

    @cached_property
    def starts(self) -> Ints:
        """First group of each class, and one more for the end."""
        return np.searchsorted(self.owner, np.arange(len(self.sizes) + 1))

    @cached_property
    def by_key(self) -> list[Ints]:
        """The groups that have each key."""
        order = np.argsort(self.key, kind="stable")
        return np.split(order, np.searchsorted(self.key[order], np.arange(1, self.keys)))


def compared(sight: Sight, old: Shown, promised: Mapping[str | None, int], policy: Policy) -> Tally:
    """Count the pairs of classes of this release and an earlier one, and those that leave too little.

    Parameters
    ----------
    promised : mapping
        The least number of values of each sensitive column, and of records under None.
    """
    new = sight.shown
    shared = [name for name in new.sensitive if name in old.sensitive]
    records = _numbered((new, old), shared, policy)
    views = [(name,) for name in shared] + ([tuple(shared)] if len(shared) > 1 else [])
    sides = [_grouped(records, columns, shared) for columns in views]
    places = boxes(new, old, sight.readers)
    tally = Tally(np.zeros(len(records[0].owner), bool), dict.fromkeys(promised, 0))
    touched = [np.zeros(len(mine.owner), bool) for mine, _ in sides]
    for number in range(len(new.classes)):
        others = np.flatnonzero(_overlapping(places, number))
        if not len(others):
            continue
        seen, short_alone = np.zeros(len(others), bool), np.zeros(len(others), bool)
        fails = {name: np.zeros(len(others), bool) for name in promised}
        for (mine, theirs), mark in zip(sides, touched, strict=True):
            found = _left(mine, theirs, number, others, promised)
            seen |= found.seen
            short_alone |= found.little
            for name, fail in found.fails.items():
                fails[name] |= fail
            mark[found.touched] = True
        failing = np.logical_or.reduce(list(fails.values()))
        tally.pairs += int(seen.sum())
        tally.failing += int(failing.sum())
        tally.alone += int((short_alone & ~failing).sum())
        for name, fail in fails.items():
            tally.short[name] += int(fail.sum())
    for (mine, _), mark in zip(sides, touched, strict=True):
        tally.touched |= mark[mine.group_of]
    return tally


@dataclass(frozen=True)
class Left:
    """What one class and each of some others leave: who can be in both, what fails, and whose records these are."""

    seen: Bools
    little: Bools
    fails: Mapping[str | None, Bools]
    touched: Ints


def _left(mine: Groups, theirs: Groups, number: int, others: Ints, promised: Mapping[str | None, int]) -> Left:
    """Match the records of a class with those of other classes of the other release."""
    rows = np.arange(mine.starts[number], mine.starts[number + 1])
    partners = [theirs.by_key[key] for key in mine.key[rows]]
    j = np.concatenate(partners)
    i = np.repeat(rows, [len(some) for some in partners])
    place = np.full(len(theirs.sizes), -1)
    place[others] = np.arange(len(others))
    pair = place[theirs.owner[j]]
    i, j, pair = i[pair >= 0], j[pair >= 0], pair[pair >= 0]
    common = np.bincount(pair, minlength=len(others))
    seen = common > 0
    least = promised[None]
    here = np.bincount(pair, mine.times[i], len(others))
    there = np.bincount(pair, theirs.times[j], len(others))
    little = (here < least) | (there < least)
    few = (here < min(least, mine.sizes[number])) | (there < np.minimum(least, theirs.sizes[others]))
    fails: dict[str | None, Bools] = {None: seen & few}
    for column, name in enumerate(mine.columns):
        least = promised[name]
        left = common if len(mine.columns) == 1 else _different(pair, mine.values[i, column], len(others))
        alone = np.minimum(mine.kinds[number, column], theirs.kinds[others, column])
        fails[name] = seen & (left < np.minimum(least, alone))
        little |= left < least
    failing = np.logical_or.reduce(list(fails.values()))
    return Left(seen, seen & little, fails, i[failing[pair]])


def _overlapping(places: Boxes, number: int) -> Bools:
    """Which classes of the earlier release can hold a person of this class."""
    (first, last), (other_first, other_last) = places
    fit = np.ones(other_first.shape[1], bool)
    for column in range(len(first)):
        fit &= first[column, number] <= other_last[column]
        fit &= other_first[column] <= last[column, number]
    return fit


def _numbered(releases: tuple[Shown, Shown], shared: Sequence[str], policy: Policy) -> tuple[Records, Records]:
    """Give equal values equal numbers, in both releases."""
    numbers: list[dict[Hashable, int]] = [{} for _ in shared]
    canonical = [sensitive_values(policy, name) for name in shared]
    found = []
    for shown in releases:
        where = [shown.sensitive.index(name) for name in shared]
        rows = [(number, group) for number, one in enumerate(shown.classes) for group in one.records]
        values = [
            [
                known.setdefault(same(group.values[place]), len(known))
                for known, same, place in zip(numbers, canonical, where, strict=True)
            ]
            for _, group in rows
        ]
        found.append(
            Records(
                np.array([number for number, _ in rows], np.int64),
                np.array([group.count for _, group in rows], np.int64),
                np.array(values, np.int64).reshape(len(rows), len(shared)),
            )
        )
    return found[0], found[1]


def _grouped(
    records: tuple[Records, Records], columns: tuple[str, ...], shared: Sequence[str]
) -> tuple[Groups, Groups]:
    """Count the records of both releases by class and by the given columns."""
    where = [shared.index(name) for name in columns]
    both = np.concatenate([side.values[:, where] for side in records])
    distinct, key = np.unique(both, axis=0, return_inverse=True)
    mine, theirs = (
        _counted(columns, side, key, side.values[:, where], len(distinct))
        for side, key in zip(records, np.split(key.reshape(-1), [len(records[0].owner)]), strict=True)
    )
    return mine, theirs


def _counted(columns: tuple[str, ...], side: Records, key: Ints, values: Ints, width: int) -> Groups:
    groups, example, group_of = np.unique(side.owner * width + key, return_index=True, return_inverse=True)
    owner, values = groups // width, values[example]
    classes = int(side.owner.max()) + 1
    return Groups(
        columns=columns,
        owner=owner,
        key=groups % width,
        times=np.bincount(group_of, side.times).astype(np.int64),
        values=values,
        sizes=np.bincount(side.owner, side.times).astype(np.int64),
        kinds=np.stack([_different(owner, values[:, place], classes) for place in range(len(columns))], axis=1),
        group_of=group_of,
        keys=width,
    )


def _different(owner: Ints, values: Ints, owners: int) -> Ints:
    """Count the different values of every owner."""
    width = int(values.max(initial=0)) + 1
    return np.bincount(np.unique(owner * width + values) // width, minlength=owners)
