"""How many published rows a person of the original could be: rows whose description covers the person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.reports.published import Published
from kohort.reports.risk.attackers import Attacker


@dataclass(frozen=True)
class Containment:
    """Rows that cover the records of the original. All of it is private: it says what the release hides.

    Attributes
    ----------
    records : int
        Records of the original.
    covered : int
        Those that some row covers.
    least, mean : float
        Rows that cover a covered record: the fewest, and the mean.
    below : int or None
        Covered records with fewer than k rows; None without a k.
    counts : mapping
        Number of covered records by the number of rows that cover them.
    attacker : Attacker
        The chance of somebody who knows all quasi-identifiers of a covered record exactly, and picks one of these rows.
    """

    records: int
    covered: int
    least: int
    mean: float
    below: int | None
    counts: Mapping[int, int]
    attacker: Attacker

    @classmethod
    def of(cls, published: Published, k: int | None) -> Containment:
        """Count the rows whose box each record of the original lies in; rows of nothing but `*` are left out."""
        rows = rows_around(published)
        covered = rows[rows > 0]
        found, records = np.unique(covered, return_counts=True)
        return cls(
            len(rows),
            len(covered),
            int(found[0]) if len(found) else 0,
            float(covered.mean()) if len(covered) else 0.0,
            None if k is None else int((covered < k).sum()),
            dict(zip(found.tolist(), records.tolist(), strict=True)),
            Attacker.of(found, records),
        )

    @property
    def below_share(self) -> float | None:
        """Covered records with fewer than k rows, as a share of them."""
        return None if self.below is None else self.below / max(self.covered, 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "records": self.records,
            "covered": self.covered,
            "least": self.least,
            "mean": self.mean,
            "below_k": self.below,
            "below_k_share": self.below_share,
            "risk": self.attacker.to_dict(),
        }


def rows_around(published: Published) -> NDArray[np.int64]:
    """The number of rows that cover each record of the original.

    Notes
    -----
    Of distinct records and distinct boxes, by a k-d tree; see `kohort.kernels.cover.cover`.
    """
    from kohort.kernels.cover import cover

    there = published.kept_classes
    times, boxes = published.sizes[there], published.boxes.of(there)
    points = published.original_codes.distinct
    covering = cover(boxes.lo, boxes.hi, times, points.codes, points.counts)[1]
    return points.by_row(covering)
