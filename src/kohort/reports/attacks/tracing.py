"""Tracing: a person is in several published tables, and has a sensitive value that all of them allow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.privacy import Histogram, reference_of
from kohort.reports.attacks.base import Adversary
from kohort.reports.attacks.result import Attack, Mitigation, NotRun
from kohort.reports.attacks.scene import Ints, Scene, Sight, sight
from kohort.reports.estimate import Estimate
from kohort.reports.published import Published
from kohort.reports.words import percent

_CELLS = 1 << 24
"""Pairs of persons and values that are looked at together."""


@dataclass(frozen=True)
class Trace:
    """A published table as somebody sees it who looks for people in it."""

    sight: Sight
    values: Ints
    """The sensitive value of each row that is shown; equal values have equal numbers in all tables."""

    def allowed(self, people: NDArray[np.int32], size: int) -> NDArray[np.bool_]:
        """Which values the rows have that fit each person, shape (people, values)."""
        shown = Histogram.of(self.sight.group, self.values)
        starts = np.searchsorted(shown.group, np.arange(len(self.sight.rows) + 1))
        found = np.zeros((len(people), size), bool)
        for who, where in self.sight.fitting(people):
            lengths = starts[where + 1] - starts[where]
            entry = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            found[np.repeat(who, lengths), shown.value[np.repeat(starts[where], lengths) + entry]] = True
        return found


class Tracing(Adversary):
    """Look for people in several tables, and keep the sensitive values that all of these allow.

    It succeeds where one value is left. Its control is the first table alone.

    Notes
    -----
    Rows of nothing but `*` that stand for suppressed records are left out. Time O(a * c) for a people and c classes of
    all tables.
    """

    joins: ClassVar[bool] = True

    @abstractmethod
    def tables(self, scene: Scene) -> Sequence[Published]:
        """The tables that are laid side by side."""

    @abstractmethod
    def said(self, column: str, share: str, alone: str) -> tuple[str, Mitigation]:
        """What a success means, and what would stop it."""

    @override
    def attack(self, scene: Scene) -> Iterator[Attack | NotRun]:
        tables = self.tables(scene)
        for name in scene.release.policy.having_role("sensitive"):
            if any(name not in table.table.columns for table in tables):
                yield NotRun(self.name, "not all of the tables have it.", name)
                continue
            found = self._attack(scene, tables, name)
            yield found or NotRun(self.name, "a table has no quasi-identifier of the people who are looked for.", name)

    def _attack(self, scene: Scene, tables: Sequence[Published], name: str) -> Attack | None:
        assert scene.people is not None
        outside, own = scene.auxiliary is not None, {id(table) for table in scene.tables}
        sights = [sight(table, scene.people, lenient=outside or id(table) not in own) for table in tables]
        values, size = _numbered(tables, name)
        traces = [
            Trace(seen, numbers[seen.shown]) for seen, numbers in zip(sights, values, strict=True) if seen is not None
        ]
        if len(traces) < len(sights):
            return None
        drawn = scene.sample(len(traces[0].sight.people), scene.rng(self.name))
        alone, left = _left(traces, drawn, size)
        success = Estimate.of_share(int((left == 1).sum()), len(drawn))
        control = Estimate.of_share(int((alone == 1).sum()), len(drawn))
        sentence, mitigation = self.said(name, percent(success.value), percent(control.value))
        return Attack(
            name=self.name,
            about=name,
            private=True,
            success=success,
            control=control,
            against="the first table alone",
            attempts=len(drawn),
            of=len(traces[0].sight.people),
            sentence=sentence,
            mitigation=mitigation,
            certain=int(((left == 1) & (alone > 1)).sum()),
            figures={
                "tables": len(tables),
                "in_not_all_tables": int((left == 0).sum()),
                "mean_values_in_the_first": float(alone.mean()),
                "mean_values_left": float(left.mean()),
            },
        )


def _left(traces: Sequence[Trace], drawn: Ints, size: int) -> tuple[Ints, Ints]:
    """Number of values that the first table allows each person, and that all tables do."""
    first, all_ = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    step = max(1, _CELLS // max(size, 1))
    for start in range(0, len(drawn), step):
        some = drawn[start : start + step]
        allowed = [trace.allowed(trace.sight.people[some], size) for trace in traces]
        first.append(allowed[0].sum(axis=1))
        all_.append(np.logical_and.reduce(allowed).sum(axis=1))
    return np.concatenate(first), np.concatenate(all_)


def _numbered(tables: Sequence[Published], name: str) -> tuple[list[Ints], int]:
    """A sensitive column of all tables by numbers: equal values have equal ones; and how many there are."""
    texts, rows = zip(*(table.texts(name) for table in tables), strict=True)
    both = [text for one in texts for text in one.to_list()]
    reference, numbers = reference_of(tables[0].policy, {name: both}, np.ones(len(both), np.int64))
    places = np.split(numbers, np.cumsum([len(one) for one in texts])[:-1])
    return [place[row] for place, row in zip(places, rows, strict=True)], reference.size
