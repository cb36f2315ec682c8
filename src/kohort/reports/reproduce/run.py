"""Runs of a paper and their results, which are kept: what was measured once is not measured again."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from kohort.errors import DataError
from kohort.policy import Policy
from kohort.release.release import Release
from kohort.release.run import anonymize
from kohort.reports.compare import Outcome, asked_for, compare
from kohort.reports.reproduce.base import Paper, Run
from kohort.table.safe import write_text

Progress = Callable[[int, int, Run], None]
"""Called with the number of runs that are done, that of all, and the one that is next."""

WARM_UP = 200
"""Records of the first run of an algorithm, whose time would be that of compiling it."""


class Results:
    """Results in a CSV file, one row for each run; it grows with every run, so that work can go on after a stop."""

    def __init__(self, path: Path, version: str) -> None:
        self.path, self.version = path, version
        self.rows: list[dict[str, Any]] = []
        if path.exists():
            try:
                frame = pl.read_csv(path, schema_overrides={"version": pl.String}, infer_schema_length=None)
                self.rows = frame.filter(pl.col("version") == version).to_dicts()
            except (pl.exceptions.PolarsError, OSError):
                raise DataError(f"{path}: these are no results of kohort reproduce; move the file away.") from None

    def has(self, run: Run) -> bool:
        """Whether a run was made by this version."""
        return any(run.settings.items() <= row.items() for row in self.rows)

    def add(self, run: Run, figures: dict[str, float]) -> None:
        """Keep the result of a run, with day and machine."""
        self.rows.append(run.settings | figures | {"version": self.version, "date": today(), "machine": machine()})
        write_text(self.path, _table(self.rows).write_csv())

    def of(self, runs: Iterable[Run]) -> pl.DataFrame:
        """The results of some runs."""
        wanted = [run.settings for run in runs]
        return _table([row for row in self.rows if any(run.items() <= row.items() for run in wanted)])


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows that need not have the same columns."""
    columns = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame([dict.fromkeys(columns) | row for row in rows], infer_schema_length=None)


def today() -> str:
    """The day, in UTC."""
    return f"{dt.datetime.now(dt.UTC):%Y-%m-%d}"


def machine() -> str:
    """What times depend on."""
    system = f"{platform.system()} {platform.machine()}"
    return f"{system}, {os.cpu_count()} cores, Python {platform.python_version()}"


def run_all(paper: Paper, runs: Iterable[Run], results: Results, progress: Progress) -> None:
    """Make the runs that have no result yet."""
    missing = [run for run in dict.fromkeys(runs) if not results.has(run) and not paper.unable(run)]
    warm: set[str] = set()
    for number, run in enumerate(missing):
        progress(number, len(missing), run)
        frame, policy = paper.case(run)
        if run.algorithm not in warm:
            warm.add(run.algorithm)
            paper.measured(replace(run, k=min(run.k, WARM_UP // 2)), frame.head(WARM_UP), policy)
        results.add(run, paper.measured(run, frame, policy))


def of_comparison(run: Run, frame: pl.DataFrame, policy: Policy) -> dict[str, float]:
    """Loss, classes and time, without a release."""
    return figures_of(outcome_of(run, frame, policy))


def figures_of(outcome: Outcome) -> dict[str, float]:
    """Loss, classes and time."""
    return {"loss": outcome.loss or 0.0, "classes": float(outcome.classes or 0), "seconds": outcome.seconds}


def outcome_of(run: Run, frame: pl.DataFrame, policy: Policy) -> Outcome:
    """What `kohort compare` says about a run."""
    [outcome] = compare(frame, policy.with_changes("algorithm", seed=run.seed), algorithms=[run.algorithm], k=[run.k])
    if outcome.refused:
        raise DataError(f"{run.algorithm} refused a run of this paper: {outcome.refused}")
    return outcome


def released(run: Run, frame: pl.DataFrame, policy: Policy) -> Release:
    """The release of a run, verified as any other."""
    _, name, parameters = asked_for(run.algorithm)
    policy = policy.with_changes("algorithm", name=name, parameters=parameters, seed=run.seed, bound_effort=0)
    return anonymize(frame, policy.with_changes("privacy", k=run.k))
