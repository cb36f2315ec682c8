"""How large the equivalence classes are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kohort.measures.figures.class_size import ClassSize
from kohort.reports.charts.class_sizes import ClassSizes
from kohort.reports.report.document import Block, Picture, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section

_BELOW = (1, 2, 3, 5, 10, 20, 50, 100)
"""Where ranges of sizes below k begin."""
_ABOVE = (0, 1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000)
"""And how far above k the others do."""


@SECTIONS.register("classes")
@dataclass(frozen=True)
class Classes(Section):
    """Sizes of classes, in words and as bars."""

    title = "Sizes of the classes"
    place = 70

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """Smallest, middle and largest class, and how many records are in classes of which size."""
        if not evidence.in_classes:
            yield Text(text="Rows may differ from all others here: k counts matchings, not equal rows.")
            return
        sizes = evidence.published.partition.sizes
        if not len(sizes):
            return
        yield Text(
            text=f"{len(sizes):,} classes. The smallest has {sizes.min():,} records, half of them have at most "
            f"{int(np.quantile(sizes, 0.5, method='lower')):,}, the largest has {sizes.max():,}; "
            f"{sizes.mean():,.1f} on average."
        )
        before, after = evidence.risk.original, evidence.risk.file
        if evidence.private and before is not None:
            title = "Records of the original by the size of their class"
            yield Picture.of(ClassSizes(records_by_size(before.quasi.sizes, evidence.k), evidence.k, title))
        yield Picture.of(ClassSizes(records_by_size(after.quasi.sizes, evidence.k), evidence.k))

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """The figure about sizes, as `measure` has it."""
        return ClassSize().of(evidence.published.partition) if evidence.in_classes else {}


def records_by_size(classes: Mapping[int, int], k: int) -> dict[str, int]:
    """Records in classes of each size, or range of sizes; no range holds sizes below k and others.

    Parameters
    ----------
    classes : mapping
        How many classes there are of each size.

    Examples
    --------
    >>> records_by_size({3: 1, 5: 2, 6: 1, 9: 1, 40: 1}, 5)
    {'3-4': 3, '5': 10, '6': 6, '8-9': 9, '25-54': 40}
    """
    edges = [*(edge for edge in _BELOW if edge < k), *(k + step for step in _ABOVE)]
    found = {}
    for first, after in zip(edges, [*edges[1:], None], strict=True):
        inside = [size * many for size, many in classes.items() if size >= first and (after is None or size < after)]
        if inside:
            found[_named(first, after)] = sum(inside)
    return found


def _named(first: int, after: int | None) -> str:
    if after is None:
        return f">={first}"
    return str(first) if after == first + 1 else f"{first}-{after - 1}"
