"""What can be learned from a release, beside what can be learned from its original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kohort.errors import PolicyError
from kohort.reports.estimate import Estimate
from kohort.reports.learning import Task, features, predicted, score, split, target_of
from kohort.reports.published import Published

MOST_TARGETS = 3
"""Number of sensitive columns that are targets if none is declared."""


@dataclass(frozen=True)
class Learned:
    """How well a target is predicted for records that are in neither table to learn from."""

    target: str
    task: Task
    release: Estimate
    """By what was learned from the release: share of the right categories, or explained share of the variance."""
    original: Estimate
    """By what was learned from as many records of the original."""
    baseline: Estimate
    """By always guessing the most frequent category, or the mean."""
    learned_from: int
    """Rows of the release that were learned from."""
    tested: int
    """Records of the original that were held out."""
    values: int
    """Different values of the target."""
    joined: bool
    """Whether the rarer of many categories counted as one."""

    @property
    def kept(self) -> float | None:
        """How much of what the original adds to the baseline the release keeps; None if that adds nothing clear."""
        gain = self.original.value - self.baseline.value
        if self.original.low <= self.baseline.value or gain <= 0:
            return None
        return (self.release.value - self.baseline.value) / gain


def learned(published: Published, targets: Sequence[str], seed: int) -> tuple[Learned, ...]:
    """Predict each target from all other columns that are in both tables."""
    rng = np.random.default_rng(seed)
    parts = split(published, rng)
    columns = (*published.policy.quasi_identifiers, *published.in_both)
    found = []
    for name in targets:
        target = target_of(published, name, rng, join=True)
        space = features(published, [one for one in columns if one != name])
        tested = parts.tested[~np.isnan(target.original[parts.tested])]
        truth = target.original[tested]
        guesses = {
            "release": predicted(space, target, parts.rows, "release", tested, seed),
            "original": predicted(space, target, parts.records, "original", tested, seed),
        }
        scores = {table: score(target.task, truth, guess) for table, guess in guesses.items()}
        known = target.original[parts.records]
        constant = np.full(len(truth), _usual(target.task, known[~np.isnan(known)]))
        baseline = score(target.task, truth, constant)
        found.append(
            Learned(
                name,
                target.task,
                **scores,
                baseline=baseline,
                learned_from=len(parts.rows),
                tested=len(truth),
                values=target.values,
                joined=target.joined,
            )
        )
    return tuple(found)


def _usual(task: Task, known: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The most frequent category, or the mean."""
    if task == "number" or not len(known):
        return float(known.mean()) if len(known) else float("nan")
    values, times = np.unique(known, return_counts=True)
    return float(values[times.argmax()])


def usual_targets(published: Published) -> tuple[str, ...]:
    """Sensitive columns that can be learned: what is to be predicted if nobody says."""
    found = []
    for name in published.policy.having_role("sensitive"):
        try:
            target_of(published, name, np.random.default_rng(0), join=True)
        except PolicyError:
            continue
        found.append(name)
    return tuple(found[:MOST_TARGETS])
