"""Matching: where rows differ, whoever knows everybody may find out which row cannot be whose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from kohort.audit.checks.consistency import candidates, graph_of
from kohort.reports.attacks.base import ATTACKS, Adversary
from kohort.reports.attacks.result import Attack, Mitigation, NotRun
from kohort.reports.attacks.scene import Scene, Sight, sight
from kohort.reports.estimate import Estimate
from kohort.reports.words import percent


@ATTACKS.register("matching")
@dataclass(frozen=True)
class Matching(Adversary):
    """Give every record of the original a row that fits it, in all ways there are, and see which rows are left to each.

    It succeeds where fewer than k rows are left: an edge of the graph of records and rows counts if some perfect
    matching has it. The control looks at each record by itself, and so counts all rows that fit. It is for releases
    that are not in classes of k or more; in these, rows that are alike are left together.

    Notes
    -----
    Time and memory as `kohort.audit.checks.consistency` needs them; every record is counted.
    """

    summary = "people whose row follows, or nearly, from everybody having a row (releases whose rows differ)"
    paper = "Wong, Mamoulis and Cheung, SIGMOD 2010; Gionis, Mazza and Tassa, ICDE 2008"
    needs = ("original",)

    @override
    def lacks(self, scene: Scene) -> str | None:
        release = scene.release
        if release.sizes.min() >= release.policy.privacy.k:
            return "the rows are in classes of k or more, within which no matching distinguishes them."
        return super().lacks(scene)

    @override
    def attack(self, scene: Scene) -> Iterator[Attack | NotRun]:
        assert scene.original is not None
        seen = sight(scene.release, scene.original)
        assert seen is not None, "the original has all quasi-identifiers"
        yield self._attack(scene, seen)

    def _attack(self, scene: Scene, seen: Sight) -> Attack | NotRun:
        k, records = scene.release.policy.privacy.k, len(seen.people)
        if len(seen.group) != records:
            return NotRun(self.name, "some records are suppressed, and it is not known which.")
        graph = graph_of(seen.people, seen.first[seen.group], seen.last[seen.group])
        found = candidates(graph, k)
        if isinstance(found, str):
            return NotRun(self.name, f"{found}.")
        one = float(graph.records[found.candidates == 1].sum() / records)
        few = int(graph.records[found.candidates < k].sum())
        drawn = scene.sample(records, scene.rng(self.name))
        fitting = seen.candidates(seen.people[drawn])
        success = Estimate.exactly(few / records)
        control = Estimate.of_share(int((fitting < k).sum()), len(drawn))
        return Attack(
            name=self.name,
            about=None,
            private=True,
            success=success,
            control=control,
            against="the rows that fit a person, each looked at by itself",
            attempts=records,
            of=records,
            sentence=(
                f"Whoever knows all quasi-identifiers of everybody, and gives every person a row, is left with fewer "
                f"than k = {k} rows for {percent(success.value)} of the people, and with one for {percent(one)}."
            ),
            mitigation=Mitigation(
                "Publish classes of k or more.", '[privacy]\nanonymity = "classes"\n\n[algorithm]\nname = "auto"'
            ),
            certain=few,
            figures={
                "k": k,
                "fewest_left": int(found.candidates.min()),
                "singled_out": int(graph.records[found.candidates == 1].sum()),
                "mean_fitting": float(np.mean(fitting)),
            },
        )
