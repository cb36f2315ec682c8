"""Local search on a partition: simulated annealing over neighbouring clusters."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Codes
from kohort.common import stopping
from kohort.common.system import cores
from kohort.errors import Interrupted
from kohort.privacy import Promise
from kohort.search.neighbours import nearness
from kohort.search.order import column_order, first_partition
from kohort.search.rules import rules_of
from kohort.search.spans import places_of, spans_of

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs
    from kohort.kernels.search.rules import Rules
    from kohort.kernels.search.search import Nearness, Round
    from kohort.kernels.search.state import State

Report = Callable[[float, float], None]
"""Called with the share of the search that is done, and the mean cost of a record so far."""

COLD = 0.05
"""Temperature at the end, as a multiple of the mean cost of a record in the best cut."""
HOTTEST = 2.5
"""The same at the start, at most: a longer search starts hotter."""
DEALING = 0.5
"""Share of steps that deal clusters anew."""
CLUSTERS_PER_STEP = 6
"""Clusters for which a round has one step: few of them want the same one."""
ROOM = 4
"""How many times larger a cluster may be with promises than without."""
LARGEST = 1 << 26
"""Most places for members of clusters, in all clusters together."""
SHORT = 200
"""A search with less work is short."""
TICK = 0.1
"""Seconds between two looks at the clock."""
QUENCH = 0.1
"""A search that is stopped ends with this share of the rounds done so far at the last temperature."""


@dataclass(frozen=True)
class Effort:
    """How long to search."""

    work: float
    """Steps for each record, times k. As many steps are taken wherever it runs, so the result depends on the seed
    alone."""
    seconds: float | None = None
    """A time instead. The result then depends on the machine, too."""
    heat: float | None = None
    """Temperature at the start; one that suits the work when absent."""

    @property
    def length(self) -> float:
        """What the lengths of several searches are compared by."""
        return self.work if self.seconds is None else self.seconds

    def in_words(self, k: int) -> str:
        """How long it is, for people."""
        return f"{self.work / k:,.0f} steps per record" if self.seconds is None else f"{self.seconds:g} s"

    @property
    def is_short(self) -> bool:
        """Whether so few steps are taken that it matters little how well near rows are known."""
        return self.seconds is None and self.work < SHORT

    @property
    def hot(self) -> float:
        """Temperature at the start."""
        return self.heat or min(HOTTEST, 0.05 * math.sqrt(self.work))


@dataclass
class Search:
    """The search for a good partition of a table."""

    codes: Codes
    costs: Costs
    k: int
    rng: np.random.Generator
    threads: int = 0
    """All cores that this process may use, when absent. They have no influence on the result."""
    promises: Sequence[Promise] = ()
    """What every cluster has to keep beside its size."""
    quick: bool = False
    """Whether only short searches follow, for which near rows need not be known so well."""

    def __post_init__(self) -> None:
        self.threads = self.threads or cores()
        # Sorted: the order of the input has no influence on what is published.
        self._order = _order_of(self.codes, self.promises)
        self._rows = self.codes.distinct
        self._row = self._rows.row
        self.columns = column_order(self._rows.codes, self._rows.counts, self.costs, self.k, self.rng)
        self._spans, self._axes = spans_of(self.costs)
        self.stopped = False
        """Whether Ctrl-C ended a search early."""
        self.settled = False
        """Whether the last search ended at the very loss that it started from: a sign that there is no less."""

    @cached_property
    def start(self) -> NDArray[np.int32]:
        """The best cut of a good order: a label for each record."""
        return self._of_input(self._cut[1])

    def _of_input(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Labels of the sorted records, in the order of the input."""
        given = np.empty_like(labels)
        given[self._order] = labels
        return given

    @cached_property
    def _cut(self) -> tuple[int, NDArray[np.int32]]:
        rows = self._rows
        return first_partition(rows.codes, rows.counts, self.costs, self.k, self.columns, self.rng)

    @cached_property
    def _nearness(self) -> Nearness:
        # The records are sorted now, so the copies of a row follow each other.
        rows = replace(self._rows, order=np.arange(len(self._row)))
        return nearness(
            rows, self._row_places, self.costs, self._spans, self.columns, self.rng, self.threads, quick=self.quick
        )

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        return self._row_places[self._row]

    @cached_property
    def _row_places(self) -> NDArray[np.int32]:
        return places_of(self._rows.codes, self.costs, self._spans, self._axes)

    @cached_property
    def _rules(self) -> Rules | None:
        """What a search has to follow; None is another kernel, which is sooner compiled."""
        if not self.promises:
            return None
        promises = [replace(promise, values=promise.values[self._order]) for promise in self.promises]
        return rules_of(promises, len(self._order))

    def refined(self, labels: NDArray[np.int32], effort: Effort, report: Report) -> NDArray[np.int32]:
        """A partition that loses less than the given one, or as much; every cluster has at least k records.

        Without promises, it has at most 2k - 1. A cluster that breaks a promise will break it less, if that can be,
        whatever it costs. One that keeps all of them will keep them.
        """
        from kohort.kernels.search.state import loss_of

        labels = self._cut_large(labels[self._order])
        # Where the best cut loses nothing, any loss is much.
        scale = self._cut[0] / len(labels) or 1.0
        state = self._state(labels)
        begun = self._broken(state), loss_of(state)
        if len(state.sizes) < 2 or begun == (0, 0):
            self.settled = True
            return self._of_input(labels)
        self._anneal(state, scale, effort, report)
        ended = self._broken(state), loss_of(state)
        self.settled = ended == begun
        if ended >= begun:
            return self._of_input(labels)
        # Clusters that are too large for the search stay as they are.
        outside = state.labels < 0
        state.labels[outside] = labels[outside] + len(state.sizes)
        return self._of_input(state.labels)

    def _broken(self, state: State) -> int:
        """By how much all clusters together break the promises."""
        from kohort.kernels.search.state import judge

        if self._rules is not None:
            judge(self._rules, state)
        return sum(state.broken.tolist())  # which has no limit, as 64 bits have

    def without_outliers(self, labels: NDArray[np.int32], most: int) -> NDArray[np.int32]:
        """The partition with at most that many records suppressed, label -1, where the total loss falls by it.

        A record that is withheld costs as much as a box can. Outliers leave clusters that have more than k records,
        or clusters are dissolved around them. The clusters that lose most have their turn first.

        Parameters
        ----------
        labels : int32[n]
            Clusters of k to 2k - 1 records.
        """
        from kohort.kernels.search.withhold import withhold

        everything = int(self.costs.full.sum())
        state = self._state(labels[self._order])
        gone = 0
        while gone < most:
            clusters = np.argsort(-state.sizes * state.cost, kind="stable")
            more = withhold(
                self._places, self._spans, self.k, everything, most - gone, clusters, self._nearness, state
            )  # fmt: skip
            if not more:
                break
            gone += more
        return self._of_input(state.labels)

    def _cut_large(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Cut clusters of 2k and more, which costs nothing, if the parts keep all promises; number them 0, 1, 2, ...

        One that breaks a promise is cut all the same if it is too large for the search, which could not repair it.
        """
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        sizes = np.bincount(labels)
        clusters = len(sizes)
        large = np.flatnonzero(sizes >= 2 * self.k)
        members = np.argsort(labels, kind="stable")
        starts = np.append(0, np.cumsum(sizes))
        cut = labels.copy()
        for cluster in large:
            records = members[starts[cluster] : starts[cluster + 1]]
            some, alone = self._rows.codes[self._row[records]], np.ones(len(records), np.int64)
            _, parts = first_partition(some, alone, self.costs, self.k, self.columns, self.rng)
            cut[records[parts > 0]] = clusters + parts[parts > 0] - 1
            clusters += int(parts.max())
        whole = np.zeros(len(sizes), bool)
        whole[labels[self._breaks(cut)]] = True
        broken = np.zeros(len(sizes), bool)
        broken[labels[self._breaks(labels)]] = True
        whole &= ~broken | (sizes <= self._largest)
        return np.unique(np.where(whole[labels], labels, cut), return_inverse=True)[1].astype(np.int32)

    def _breaks(self, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of the sorted records are in a cluster that breaks a promise."""
        broken = np.zeros(len(labels), bool)
        for promise in self.promises:
            broken |= ~replace(promise, values=promise.values[self._order]).kept(labels)[labels]
        return broken

    @property
    def _largest(self) -> int:
        """Most records of a cluster that the search can change."""
        largest = 2 * self.k - 1
        if not self.promises:
            return largest
        return max(largest, min(ROOM * largest, LARGEST // max(1, len(self._row) // self.k)))

    def _state(self, labels: NDArray[np.int32]) -> State:
        from kohort.kernels.search.state import empty_state, gather

        n, d = self._places.shape
        sizes = np.bincount(labels[labels >= 0])
        largest = self._largest
        labels = np.where((labels >= 0) & (sizes[labels] <= largest), labels, np.int32(-1))
        state = empty_state(labels, n // self.k, largest, d)
        gather(self._places, self._spans, state)
        return state

    def _anneal(self, state: State, scale: float, effort: Effort, report: Report) -> None:
        """Do rounds of steps while it gets colder, until the effort is spent or Ctrl-C is pressed."""
        from kohort.kernels.ahead import SEARCH, await_kernels
        from kohort.kernels.search.search import empty_round
        from kohort.kernels.search.state import loss_of

        await_kernels(SEARCH)
        n = len(state.labels)
        self._seed = np.uint64(self.rng.integers(2**63))
        steps = empty_round(max(1, len(state.sizes) // CLUSTERS_PER_STEP), len(state.sizes))
        rounds = max(1, round(effort.work * n / self.k / len(steps.record)))
        clock = _Clock(rounds, effort.seconds)
        with stopping.Workers(self.threads) as pool:
            try:
                while clock.gone < 1:
                    report(clock.gone, loss_of(state) / n)
                    shares = clock.next_rounds()
                    temperatures = scale * effort.hot * (COLD / effort.hot) ** shares
                    self._do_rounds(pool, temperatures, clock.done, steps, state)
                    clock.count(len(shares))
            except (KeyboardInterrupt, Interrupted):
                stopping.forgive()
                self.stopped = True
        if self.stopped:
            with stopping.Workers(self.threads) as pool:
                temperatures = np.full(math.ceil(QUENCH * clock.done), scale * COLD)
                self._do_rounds(pool, temperatures, clock.done, steps, state)

    def _do_rounds(
        self, pool: stopping.Workers, temperatures: NDArray[np.float64], number: int, steps: Round, state: State
    ) -> None:
        """Do one round at each temperature; the first has the given number."""
        from kohort.kernels.search.search import carry_out, draw_round

        places, spans, k, near, rules = self._places, self._spans, self.k, self._nearness, self._rules
        alone = self.threads == 1 or len(steps.record) < 16 * self.threads
        for index, temperature in enumerate(temperatures):
            free = (state.sizes == 0).nonzero()[0].astype(np.int32)
            won = draw_round(number + index, self._seed, DEALING, near, state, free, steps)
            if alone:
                carry_out(places, spans, k, rules, temperature, steps, 0, won, state)
                continue
            borders = [won * part // self.threads for part in range(self.threads + 1)]
            work = partial(carry_out, places, spans, k, rules, temperature, steps)
            pool.each(lambda start, stop: work(start, stop, state), borders, borders[1:])  # noqa: B023


def _order_of(codes: Codes, promises: Sequence[Promise]) -> NDArray[np.int64]:
    """The records sorted by row, copies of a row by their sensitive values: the order of the input is forgotten."""
    rows = codes.distinct
    if not promises:
        return rows.order
    keys: list[NDArray[Any]] = [*(promise.values[rows.order] for promise in promises), rows.row]
    return rows.order[np.lexsort(keys)]


class _Clock:
    """Says how much of a search is done, and how many rounds to do before the next look."""

    def __init__(self, rounds: int, seconds: float | None) -> None:
        self.done = 0
        self._rounds = rounds
        self._seconds = seconds
        self._start = time.perf_counter()
        self._step = 1

    @property
    def gone(self) -> float:
        """Share of the search that is done."""
        if self._seconds is None:
            return self.done / self._rounds
        return (time.perf_counter() - self._start) / self._seconds

    def next_rounds(self) -> NDArray[np.float64]:
        """For each of the next rounds, the share of the search that is done before it."""
        if self._seconds is None:
            return np.arange(self.done, min(self.done + self._step, self._rounds)) / self._rounds
        return np.full(self._step, min(self.gone, 1.0))

    def count(self, rounds: int) -> None:
        """Count rounds that are done."""
        self.done += rounds
        passed = time.perf_counter() - self._start
        self._step = max(1, round(TICK * self.done / max(passed, 1e-9)))
