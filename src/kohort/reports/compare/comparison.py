"""Algorithms x k x privacy models x seeds on one table; nothing is published."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.privacy import models_of
from kohort.release.engines.frame import usable_of
from kohort.release.finish import keyed_hash
from kohort.reports.compare.cells import Cell, Models, cells_of
from kohort.reports.compare.outcomes import Outcome, Outcomes
from kohort.reports.compare.run import BoundOf, Result, Run, Setting
from kohort.reports.compare.store import Store, hash_of_files, noted
from kohort.reports.compare.workers import results
from kohort.table import Table, read_table
from kohort.table.header import policy_for
from kohort.table.targets import read_by


@dataclass(frozen=True)
class Comparison:
    """All runs of a comparison, before any of them."""

    setting: Setting
    cells: Sequence[Cell]
    """In the order of their numbers, which begin at 1."""
    bounds: Sequence[BoundOf] = ()
    store: Store | None = None

    @classmethod
    def of(
        cls,
        table: Any,
        policy: Policy | str | Path,
        *,
        algorithms: Sequence[str | Mapping[str, Any]] | None = None,
        k: Sequence[int] | None = None,
        models: Sequence[str | Models] | None = None,
        seeds: Sequence[int] | None = None,
        bounds: bool = False,
        resume: str | Path | None = None,
    ) -> Comparison:
        """Look at everything that is asked for; the parameters are those of `compare`."""
        policy = policy_for(policy, table)
        grid: dict[str, Any] = {"algorithms": algorithms, "k": k, "models": models, "seeds": seeds}
        note = noted(Path(resume)) if resume is not None else None
        if note and note["grid"] and all(asked is None for asked in grid.values()):
            grid = note["grid"]
        cells_of(policy, grid["algorithms"], grid["k"], grid["models"], grid["seeds"] or [0])
        source = read_table(table, policy.input, policy.columns)
        setting = Setting(policy, usable_of(source, policy))
        store = _store(Path(resume), note, source, table, policy) if resume is not None else None
        seed = policy.algorithm.seed
        if seed is None:
            seed = store.note["seed"] if store else secrets.randbits(62)
        cells = cells_of(policy, grid["algorithms"], grid["k"], grid["models"], grid["seeds"] or [seed])
        sizes = dict.fromkeys(cell.k for cell in cells) if bounds and policy.algorithm.bound_effort else ()
        store = store.kept_for(grid) if store else None
        return cls(setting, cells, [BoundOf(size, seed) for size in sizes], store)

    @property
    def runs(self) -> list[Run]:
        """The cells, then the bounds."""
        return [*self.cells, *self.bounds]

    def cell(self, number: int) -> Cell:
        """The cell of that number."""
        if not 1 <= number <= len(self.cells):
            raise PolicyError(f"there is no result number {number}; they are numbered from 1 to {len(self.cells)}.")
        return self.cells[number - 1]

    def outcomes(
        self, workers: int = 1, progress: Callable[[Outcomes, Outcome | None], None] = lambda found, outcome: None
    ) -> Outcomes:
        """Do all runs that are not kept already.

        Parameters
        ----------
        workers : int
            Processes that do them; with 1, this one.
        progress : callable
            Called when a run is finished, with all outcomes so far and the one that is new; None for a bound.
        """
        runs = self.runs
        found: dict[int, Result] = {}
        kept = [(place, self.store.get(run) if self.store else None) for place, run in enumerate(runs)]
        for place, result in kept:
            if result is not None:
                found[place] = result
                progress(self._gathered(found), self._outcome(place, result))
        rest = [place for place, result in kept if result is None]
        for turn, result in results(self.setting, [runs[place] for place in rest], workers):
            place = rest[turn]
            if self.store:
                self.store.put(runs[place], result)
            found[place] = result
            progress(self._gathered(found), self._outcome(place, result))
        return self._gathered(found)

    def _gathered(self, found: Mapping[int, Result]) -> Outcomes:
        """What is known so far, in the order of the numbers."""
        outcomes = [self._outcome(place, found[place]) for place in sorted(found)]
        cells = len(self.cells)
        bounds = {one.k: found[cells + turn]["loss"] for turn, one in enumerate(self.bounds) if cells + turn in found}
        privacy = self.setting.policy.privacy
        return Outcomes([one for one in outcomes if one], privacy.k, privacy.models, bounds)

    def _outcome(self, place: int, result: Result) -> Outcome | None:
        if place >= len(self.cells):
            return None
        return Outcome(**result | {"number": place + 1, "cell": self.cells[place]})


def _store(folder: Path, note: Mapping[str, Any] | None, source: Table, table: Any, policy: Policy) -> Store:
    """The folder of results of this table, this policy and this version."""
    import polars

    import kohort

    key = note["key"] if note else secrets.token_hex(16)
    files = read_by(table, policy, models_of(policy))
    facts = {
        "table": keyed_hash(source.files or source.frame, key),
        "policy": hash_of_files(policy, {name: path for name, path in files.items() if name != "input"}, key),
        "version of kohort": f"{kohort.__version__}, polars {polars.__version__}",
    }
    return Store.opened(folder, facts, key)


def compare(
    table: Any,
    policy: Policy | str | Path,
    *,
    algorithms: Sequence[str | Mapping[str, Any]] | None = None,
    k: Sequence[int] | None = None,
    models: Sequence[str | Models] | None = None,
    seeds: Sequence[int] | None = None,
    bounds: bool = False,
    workers: int = 1,
    resume: str | Path | None = None,
    progress: Callable[[Outcome], None] | None = None,
) -> Outcomes:
    """Run several algorithms on one table, and see what each risks and loses; nothing is published.

    Parameters
    ----------
    table
        Path of a CSV or Parquet file, a folder of such files or a pattern, or a polars, pandas or pyarrow table.
    policy : Policy or path
        Roles, hierarchies, weights, measure and seed; every algorithm starts from the same seed.
    algorithms : sequence of str or mapping, optional
        Algorithms, all of them when absent: names, with parameters after colons (``"gccg-parallel:parts=4"``), or
        mappings as in `Policy.build` (``{"name": "gccg-parallel", "parts": 4}``). What is not given has its default.
    k : sequence of int, optional
        Class sizes; the policy's when absent.
    models : sequence, optional
        Sets of privacy models, each a sequence of mappings as in a policy, or a text such as
        ``"t-closeness:column=disease:t=0.2 + average-risk:most=0.05"``; ``"policy"`` is the policy's, ``"none"`` is
        k-anonymity alone. The policy's when absent.
    seeds : sequence of int, optional
        Seeds; the policy's when absent.
    bounds : bool
        Compute, for each k, what no release of the table in classes can lose less than.
    workers : int
        Processes that work side by side; 1 for this one. They make no difference to the results, but for times.
    resume : path, optional
        A private folder in which finished results are kept, and from which they are taken the next time.
    progress : callable, optional
        Called with each outcome as soon as it is there.

    Returns
    -------
    Outcomes
        A list of one `Outcome` for every combination; `to_frame` gives it as a table, `frontier` has the numbers of
        those that no other beats, `recommended` one of them with a reason. `Outcome.policy` is the policy by which
        `kohort.anonymize` makes a release of it.

    Notes
    -----
    Where the policy gives the search a budget of time, its results depend on the machine and on what else it does.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], seed=1)
    >>> ages = pl.DataFrame({"age": [30, 31, 60, 64, 65]})
    >>> [outcome] = kohort.compare(ages, policy, algorithms=["k-member"])
    >>> outcome.classes, round(outcome.loss, 4), outcome.highest_risk
    (2, 0.0971, 0.5)
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise PolicyError("workers: give a whole number of processes, 1 or more.")
    comparison = Comparison.of(
        table, policy, algorithms=algorithms, k=k, models=models, seeds=seeds, bounds=bounds, resume=resume
    )

    def report(_: Outcomes, outcome: Outcome | None) -> None:
        if outcome and progress:
            progress(outcome)

    return comparison.outcomes(workers, report)
