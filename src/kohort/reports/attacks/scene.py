"""What an attacker has before them: a release, perhaps people to look for, perhaps other releases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from kohort.algorithms.joins import join_classes
from kohort.codes.encode import Codes
from kohort.privacy import Histogram, Reference, reference_of
from kohort.reports.published import Original, Published

Ints = NDArray[np.int64]

ATTEMPTS = 2_000
"""People that are looked for, at most, where nothing else is said."""
SHUFFLES = 39
"""Tables whose sensitive values are shuffled: that one of 40 alike is the largest has a chance of 2.5 %."""
_AT_ONCE = 1 << 22
"""Pairs of persons and classes that are compared at once."""


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column as everybody sees it who has the release; suppressed rows are left out."""

    name: str
    reference: Reference
    """Its values and how often they occur."""
    labels: Ints
    """Class of each row, 0, 1, 2, ..."""
    values: Ints
    """Value of each row, by its number in the reference."""

    @cached_property
    def histogram(self) -> Histogram:
        """How often each value occurs in each class."""
        return Histogram.of(self.labels, self.values)

    def shuffled(self, rng: np.random.Generator) -> Iterator[Histogram]:
        """The same of tables whose values have been dealt to the records at random."""
        for _ in range(SHUFFLES):
            yield Histogram.of(self.labels, rng.permutation(self.values))


@dataclass(frozen=True)
class Sight:
    """Published rows beside people that somebody looks for, on axes of what is known of these."""

    people: NDArray[np.int32]
    """What is known of each person, shape (people, axes)."""
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    """What rows that are alike say, shape (groups, axes)."""
    rows: Ints
    """How many rows are so."""
    group: Ints
    """The group of each row that is shown; suppressed rows are left out."""
    shown: NDArray[np.bool_]
    """Which rows these are."""

    def fitting(self, people: NDArray[np.int32]) -> Iterator[tuple[Ints, Ints]]:
        """Each person with each group that the person fits: some pairs after others, in the order of the people."""
        size = self.last.astype(np.int64) - self.first + 1
        order = np.argsort(size.mean(axis=0) / np.maximum(self.people.max(axis=0, initial=0), 1), kind="stable")
        step = max(1, _AT_ONCE // max(len(self.rows), 1))
        for start in range(0, len(people), step):
            some = people[start : start + step]
            lead = order[0]
            who, where = np.nonzero(
                (self.first[:, lead] <= some[:, lead, None]) & (some[:, lead, None] <= self.last[:, lead])
            )
            for axis in order[1:]:
                known = some[who, axis]
                fits = (self.first[where, axis] <= known) & (known <= self.last[where, axis])
                who, where = who[fits], where[fits]
            yield who + start, where

    def candidates(self, people: NDArray[np.int32]) -> Ints:
        """Number of rows that each person fits."""
        found = np.zeros(len(people), np.int64)
        for who, where in self.fitting(people):
            np.add.at(found, who, self.rows[where])
        return found


@dataclass(frozen=True)
class Crowd:
    """The records of an original, such that those in a box are found quickly."""

    codes: NDArray[np.int32]
    """In the order of their first code."""
    order: Ints
    """Which records these are."""

    @classmethod
    def of(cls, original: Original) -> Crowd:
        """Sort them."""
        order = np.argsort(original.codes.array[:, 0], kind="stable")
        return cls(original.codes.array[order], order)

    def inside(self, low: NDArray[np.int32], high: NDArray[np.int32]) -> Ints:
        """The records in a box."""
        lead = self.codes[:, 0]
        some = np.arange(np.searchsorted(lead, low[0], "left"), np.searchsorted(lead, high[0], "right"))
        for axis in range(1, self.codes.shape[1]):
            some = some[(low[axis] <= self.codes[some, axis]) & (self.codes[some, axis] <= high[axis])]
        found: Ints = self.order[some]
        return found


@dataclass(frozen=True)
class Scene:
    """Everything that attacks can use."""

    release: Published
    """The table that is attacked, read without the original: what follows from it, everybody can find."""
    tables: tuple[Published, ...]
    """All tables of the release, if it has several."""
    earlier: tuple[Published, ...]
    """Other releases about the same people."""
    original: Original | None
    auxiliary: Original | None
    """A table that an outsider may have: some quasi-identifiers, perhaps other columns, of some people."""
    seed: int
    attempts: int = ATTEMPTS

    def rng(self, name: str) -> np.random.Generator:
        """Chance for one attack: what it draws does not depend on which others are run."""
        return np.random.default_rng([self.seed, crc32(name.encode())])

    @property
    def people(self) -> Original | None:
        """People to look for."""
        return self.auxiliary or self.original

    @cached_property
    def beside_original(self) -> Published:
        """The table with the original beside it, of which only the columns count that the table has."""
        assert self.original is not None
        names, axes = self.release.policy.quasi_identifiers, self.original.codes.axes
        places = [place for place, axis in enumerate(axes) if axis.name in names]
        array = np.ascontiguousarray(self.original.codes.array[:, places])
        codes = Codes(array, tuple(axes[place] for place in places))
        return self.release.beside(replace(self.original, codes=codes, typed=self.original.typed.select(names)))

    @cached_property
    def sensitive(self) -> tuple[Sensitive, ...]:
        """The sensitive columns of the table."""
        release = self.release
        names = [name for name in release.policy.having_role("sensitive") if name in release.table.columns]
        kept = ~release.suppressed
        if not names or not kept.any():
            return ()
        labels = np.unique(release.labels[kept], return_inverse=True)[1].astype(np.int64)
        return tuple(_sensitive(release, name, labels, kept) for name in names)

    def sample(self, size: int, rng: np.random.Generator) -> Ints:
        """Draw some of a given number, if they are more than the attempts; ascending."""
        if size <= self.attempts:
            return np.arange(size)
        return np.sort(rng.choice(size, self.attempts, replace=False))


def _sensitive(release: Published, name: str, labels: Ints, kept: NDArray[np.bool_]) -> Sensitive:
    texts, numbers = release.texts(name)
    whole, of_text = reference_of(release.policy, {name: texts.to_list()}, np.bincount(numbers, minlength=len(texts)))
    reference, values = whole.of_records(of_text[numbers][kept])
    return Sensitive(name, reference, labels, values)


def sight(release: Published, people: Original, *, as_is: bool = False, lenient: bool = False) -> Sight | None:
    """Lay people and published rows out on the axes that both have; None if there is none.

    Parameters
    ----------
    as_is : bool
        Whether columns that are published as they are count as known, where the table of people has them.
    lenient : bool
        Whether the release may have values that nobody of these people has: it is about others, too.
    """
    quasi = [axis.name for axis in release.axes]
    places = [place for place, axis in enumerate(people.codes.axes) if axis.name in quasi]
    if not places:
        return None
    seen = replace(release, known=tuple(people.codes.axes[place] for place in places), original=people, lenient=lenient)
    shown = ~release.suppressed
    both = [seen.values_of_both(name) for name in (release.as_is if as_is else ()) if name in people.frame.columns]
    group = join_classes([seen.labels[shown], *(ours[shown] for ours, _ in both)])
    _, someone = np.unique(group, return_index=True)
    boxes = seen.boxes.of(seen.labels[shown][someone])
    extra = np.column_stack([np.empty((len(someone), 0)), *(ours[shown][someone] for ours, _ in both)]).astype(np.int32)
    known = np.column_stack([people.codes.array[:, places], *(theirs for _, theirs in both)]).astype(np.int32)
    return Sight(
        people=known,
        first=np.hstack([boxes.lo, extra]),
        last=np.hstack([boxes.hi, extra]),
        rows=np.bincount(group).astype(np.int64),
        group=group,
        shown=shown,
    )
