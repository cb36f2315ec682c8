"""One run of a comparison: what `anonymize` would do with the table, up to writing it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kohort.codes.boxes import Solution
from kohort.codes.encode import Codes
from kohort.codes.publish import published_tables
from kohort.common.system import cores
from kohort.errors import KohortError
from kohort.measures.bounds.table import bound_of_codes
from kohort.measures.loss import loss_of_solution
from kohort.measures.sse import within_share
from kohort.policy import Policy
from kohort.release.engines.features import MEMORY, refuse
from kohort.release.engines.frame import FrameScan, Loaded, loaded, solution_of
from kohort.release.engines.survey import Usable
from kohort.release.plan import plan_of
from kohort.release.sets import PublishedSets, SetsOf, joint_loss, published_sets
from kohort.release.solve import refuse_stars
from kohort.reports.compare.cells import Cell, spelled_models
from kohort.reports.compare.outcomes import Outcome
from kohort.reports.compare.reached import reached


@dataclass(frozen=True)
class BoundOf:
    """The lower bound on the loss for one k: a run like the others."""

    k: int
    seed: int

    @property
    def key(self) -> str:
        """A name that no other run has."""
        return f"bound-{self.k}-{self.seed}"


Run: TypeAlias = Cell | BoundOf
Result: TypeAlias = dict[str, Any]
"""Plain data: the fields of an `Outcome`, or `loss` of a bound."""


@dataclass(frozen=True)
class Setting:
    """What all runs of a comparison share."""

    policy: Policy
    usable: Usable[FrameScan]
    threads: int = 0
    """Of each run; all cores when 0. They have no influence on its result."""

    def result(self, run: Run) -> Result:
        """Do a run."""
        return self._bound(run) if isinstance(run, BoundOf) else self._outcome(run).to_dict()

    def shared_by(self, workers: int) -> Setting:
        """The same for one of several processes that work side by side."""
        return Setting(self.policy, self.usable, max(1, cores() // workers))

    def _bound(self, run: BoundOf) -> Result:
        """What no release in classes of k can lose less than."""
        policy = self.policy.with_changes("privacy", k=run.k, anonymity="classes", models=())
        plan = plan_of(policy.with_changes("algorithm", name="auto", parameters={}, refine=False))
        codes = self.usable.scan.codes(self.usable.axes)
        if policy.sets:
            return {"loss": None}
        return {"loss": bound_of_codes(codes, plan.measure, policy, self.usable.records, run.seed)}

    def _outcome(self, cell: Cell) -> Outcome:
        """Run a cell, or say why `anonymize` would refuse it."""
        from kohort.kernels.jit import compiling

        policy = cell.policy(self.policy)
        begun, spent = time.perf_counter(), 0.0
        with compiling() as compiled:
            try:
                plan = plan_of(policy)
                refuse(MEMORY, plan)
                table = loaded(plan, self.usable, threads=self.threads)
                begun, spent = time.perf_counter(), compiled.seconds
                solution = solution_of(table, self.usable.records)
                of_sets = self._of_sets(table, solution)
                solution = solution if of_sets is None else of_sets.solution
                seconds = time.perf_counter() - begun - (compiled.seconds - spent)
                self._refuse_stars(table, solution)
            except KohortError as error:
                seconds = time.perf_counter() - begun - (compiled.seconds - spent)
                return self._named(cell, dict.fromkeys(_FIGURES), seconds, refused=error.faults[0])
        return self._named(cell, self._figures(table, solution, of_sets), seconds)

    def _of_sets(self, table: Loaded, solution: Solution) -> PublishedSets | None:
        """What becomes of the sets, where there are some; classes may be merged for them."""
        plan, scan = table.job.plan, table.scan
        sets = SetsOf.of(scan.source.frame, plan)
        return None if sets is None else published_sets(sets, table.codes, scan.kept, solution, plan, as_text=True)

    def _refuse_stars(self, table: Loaded, solution: Solution) -> None:
        """Refuse what would be refused when it is written: too many rows of `*`, where these count as suppressed."""
        policy, frame = table.job.policy, table.scan.source.frame
        if policy.output.suppressed == "starred":
            for part in published_tables(frame, table.scan.kept, table.codes, solution, policy):
                refuse_stars(part.stars, frame.height, policy)

    def _named(self, cell: Cell, figures: Mapping[str, Any], seconds: float, refused: str = "") -> Outcome:
        return Outcome(
            algorithm=cell.algorithm,
            k=cell.k,
            anonymity=cell.policy(self.policy).privacy.anonymity,
            models=spelled_models(cell.models),
            seed=cell.seed,
            seconds=seconds,
            refused=refused,
            **figures,
        )

    def _figures(self, table: Loaded, solution: Solution, of_sets: PublishedSets | None) -> dict[str, Any]:
        plan, usable = table.job.plan, self.usable
        # Two clusters that are published alike are one class.
        classes = solution.classes(usable.axes)
        sizes = np.bincount(classes)
        codes = table.codes
        kept = codes if solution.kept is None else Codes(codes.array[solution.kept], codes.axes)
        in_classes = plan.policy.privacy.anonymity == "classes"
        everyone = np.ones(len(codes.array), bool) if solution.kept is None else solution.kept
        promises = [promise.among(everyone) for promise in table.work.whole.promises]
        people = _persons(table, classes, everyone, sizes)
        if of_sets is None:
            loss = loss_of_solution(plan.measure, codes, solution, usable.without)
        else:
            loss = joint_loss(plan, codes, of_sets, usable.without)
        return {
            "loss": loss.total,
            "classes": len(sizes),
            "smallest": int(sizes.min()),
            "largest": int(sizes.max()),
            "suppressed": usable.without + solution.suppressed,
            "sse": within_share(kept, classes) if in_classes and codes.axes else None,
            "clusters": solution.clusters,
            "facts": json.loads(json.dumps(dict(solution.facts), default=_plain)),
            "highest_risk": float(1 / people.min()) if in_classes and of_sets is None else None,
            "mean_risk": float((sizes / people).sum() / sizes.sum()) if in_classes and of_sets is None else None,
            "reached": reached(plan.models, promises, classes, sizes) if in_classes else {},
        }


_FIGURES = ("loss", "classes", "smallest", "largest", "suppressed")


def _persons(
    table: Loaded, classes: np.ndarray[Any, Any], everyone: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """How many persons each class is about: its records, unless the policy says who a person is."""
    if table.work.persons is None:
        return sizes
    pairs = np.unique(np.column_stack([classes, table.work.persons[everyone]]), axis=0)
    return np.bincount(pairs[:, 0])


def _plain(value: Any) -> Any:
    """A number or array of numpy as plain data; texts for all else."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)
