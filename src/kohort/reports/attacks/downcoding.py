"""Downcoding: a description that is as narrow as can be says which values are behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log10

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.codes.encode import Axis, LineAxis, TreeAxis, as_numbers
from kohort.policy import Policy
from kohort.policy.hierarchy import Taxonomy
from kohort.reports.attacks.base import ATTACKS, Adversary
from kohort.reports.attacks.result import Attack, Mitigation, NotRun
from kohort.reports.attacks.scene import Crowd, Ints, Scene
from kohort.reports.attacks.words import with_keys
from kohort.reports.estimate import Estimate
from kohort.reports.published import Published
from kohort.reports.words import percent

_SPREAD = 20
"""Least number of steps into which proposed grids divide the range of a column."""


@dataclass(frozen=True)
class Claims:
    """What somebody says of classes who takes their descriptions for as narrow as can be."""

    axis: int
    group: Ints
    """The class."""
    first: Ints
    last: Ints
    """Codes, one of which a member is said to have; none of the table if the first is larger."""

    @property
    def names_one(self) -> NDArray[np.bool_]:
        """Which of them name values that there are."""
        return self.first <= self.last


@ATTACKS.register("downcoding")
@dataclass(frozen=True)
class Downcoding(Adversary):
    """Say that somebody in the class has each end of its interval, and somebody each of two children of its node.

    That is so where descriptions are made as narrow as they can be. A success is a generalized cell, one for each such
    claim that is true: its value, or a narrower description of it, is known, though not whose it is. The control says
    the same of as many people drawn at random from those within the interval or under the node.

    Notes
    -----
    Whether a claim is true is asked of the records of the original that the class covers; of classes that overlap,
    these are more than its own. Classes are a sample. Time O(c * n) for c classes.
    """

    summary = "generalized cells whose values follow from intervals and nodes that are as narrow as can be"
    paper = "Cohen, USENIX Security 2022"
    needs = ("original", "classes")

    @override
    def attack(self, scene: Scene) -> Iterator[Attack | NotRun]:
        release = scene.beside_original
        groups = np.intersect1d(release.labels[release.kept], np.flatnonzero(release.sizes > 1))
        drawn = groups[scene.sample(len(groups), scene.rng(self.name))]
        cells = _generalized_cells(release, drawn)
        if not cells:
            yield NotRun(self.name, "no class of several rows is generalized.")
            return
        claims = [one for axis in range(len(release.axes)) for one in _claims(release, axis, drawn)]
        right, expected = _true(release, claims), _expected(release, claims)
        yield self._result(scene, release, cells, (right, expected), (len(drawn), len(groups)))

    def _result(
        self, scene: Scene, release: Published, cells: int, counts: tuple[int, float], classes: tuple[int, int]
    ) -> Attack:
        success = Estimate.of_share(counts[0], cells)
        control = Estimate.of_share(round(counts[1]), cells)
        whole = cells if classes[0] == classes[1] else round(cells * classes[1] / classes[0])
        return Attack(
            name=self.name,
            about=None,
            private=True,
            success=success,
            control=control,
            against="as many people, drawn at random from those whom the description would fit",
            attempts=cells,
            of=whole,
            sentence=(
                f"Whoever takes intervals and groups for as narrow as can be learns the value of "
                f"{percent(success.value)} of the generalized cells, or a narrower group, though not whose cell it is; "
                f"if classes were drawn at random from those who fit, it would be {percent(control.value)}."
            ),
            mitigation=_mitigation(release.policy, release.axes),
            figures={"classes": classes[0], "of_classes": classes[1], "generalized_cells": cells},
        )


def _generalized_cells(release: Published, groups: Ints) -> int:
    """Cells of some classes whose value is not published as it is."""
    wide = release.boxes.lo[groups] < release.boxes.hi[groups]
    return int((wide.sum(axis=1) * release.sizes[groups]).sum())


def _claims(release: Published, axis: int, groups: Ints) -> Iterator[Claims]:
    """Two for each class that is generalized on an axis: of both ends, or both children."""
    found = release.axes[axis]
    low, high = release.boxes.lo[groups, axis].astype(np.int64), release.boxes.hi[groups, axis].astype(np.int64)
    if isinstance(found, TreeAxis):
        wide = (low < high) & (high < found.taxonomy.n_leaves)
        yield from _of_children(found.taxonomy, axis, groups[wide], low[wide], high[wide])
    elif release.column(found.name).has_ends:
        texts = release.class_texts[groups, axis]
        ends = release.column(found.name).ends(release.counts[found.name].texts.fill_null(""))
        said = ends.plain[texts] & (low < high)
        numbers = as_numbers(found.values)
        for end in (ends.lo[texts[said]], ends.hi[texts[said]]):
            place = np.searchsorted(numbers, end).astype(np.int64)
            there = numbers[np.minimum(place, len(numbers) - 1)] == end
            yield Claims(axis, groups[said], np.where(there, place, 1), np.where(there, place, 0))


def _of_children(tree: Taxonomy, axis: int, groups: Ints, low: Ints, high: Ints) -> Iterator[Claims]:
    """The claims about nodes that have two children."""
    node = tree.lca(low, high)
    children = np.bincount(tree.parent[1:], minlength=tree.n_nodes)
    two = (tree.first_leaf[node] == low) & (tree.last_leaf[node] == high) & (children[node] == 2)
    # nodes are numbered depth first, so that the first child comes next
    border = tree.last_leaf[node[two] + 1].astype(np.int64)
    yield Claims(axis, groups[two], low[two], border)
    yield Claims(axis, groups[two], border + 1, high[two])


def _true(release: Published, claims: list[Claims]) -> int:
    """How many claims are true of somebody whom the class covers."""
    assert release.original is not None
    people, crowd, found = release.original.codes.array, Crowd.of(release.original), 0
    by_class: dict[int, list[tuple[int, int, int]]] = {}
    for one in claims:
        for group, first, last in zip(one.group.tolist(), one.first.tolist(), one.last.tolist(), strict=True):
            if first <= last:
                by_class.setdefault(group, []).append((one.axis, first, last))
    for group, said in by_class.items():
        members = people[crowd.inside(release.boxes.lo[group], release.boxes.hi[group])]
        for axis, first, last in said:
            found += bool(((members[:, axis] >= first) & (members[:, axis] <= last)).any())
    return found


def _expected(release: Published, claims: list[Claims]) -> float:
    """How many claims would be true of as many people drawn at random from those whom one axis lets in."""
    assert release.original is not None
    total = 0.0
    for one in claims:
        codes = release.original.codes.array[:, one.axis]
        before = np.append(0, np.cumsum(np.bincount(codes, minlength=release.axes[one.axis].size)))
        low, high = release.boxes.lo[one.group, one.axis], release.boxes.hi[one.group, one.axis]
        inside = np.maximum(before[high + 1] - before[low], 1)
        meant = np.where(one.names_one, before[one.last + 1] - before[np.minimum(one.first, one.last + 1)], 0)
        total += float((1 - (1 - meant / inside) ** release.sizes[one.group]).sum())
    return total


def _mitigation(policy: Policy, axes: tuple[Axis, ...]) -> Mitigation:
    """Grids for the columns of numbers and dates that have none."""
    free = [axis for axis in axes if isinstance(axis, LineAxis) and policy.columns[axis.name].snap is None]
    steps = {axis.name: _step(axis) for axis in free if policy.columns[axis.name].hierarchy is None}
    lines = [with_keys(name, snap=step) for name, step in steps.items() if step is not None]
    advice = "Move the ends of intervals outward to a grid, and choose a larger k, so that ends reveal less."
    if not lines:
        advice = "Choose a larger k, so that ends and nodes reveal less, or global recoding (algorithm incognito)."
    return Mitigation(advice, "\n\n".join(lines) if lines else f"[privacy]\nk = {2 * policy.privacy.k}")


def _step(axis: LineAxis) -> float | None:
    """A round step, 1, 2 or 5 times a power of ten; None where there is none that is of use."""
    wanted = (axis.high - axis.low) / _SPREAD
    if wanted <= 0:
        return None
    power = floor(log10(wanted))
    times = next(times for times in (1, 2, 5, 10) if times * 10.0**power >= wanted * (1 - 1e-9))
    if axis.values.dtype.is_float():
        return float(f"{times}e{power}")
    step = round(times * 10.0**power)
    return step if step > 1 else None
