"""What the sections of a report draw on: one release, opened once, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kohort.audit import Verdict
from kohort.measures import MEASURES
from kohort.measures.loss import Loss
from kohort.policy import Policy
from kohort.reports.attacks import Attacks, attack
from kohort.reports.measure import bound_of_source
from kohort.reports.published import Published
from kohort.reports.report.document import Edition
from kohort.reports.risk import Risk, risk
from kohort.reports.utility import Utility, utility_of


@dataclass(frozen=True)
class Evidence:
    """A release, and what may be said of it in one edition.

    The release of a public edition was opened without its original, so that no section can say what only somebody with
    the original knows.
    """

    release: Any
    published: Published
    judged: Verdict
    names: Mapping[str, str] = field(default_factory=dict)
    """The files that have a hash in the verdict, as a reader finds them: `release`, `hierarchy:COLUMN`."""
    original: Any = None
    """None in a public edition."""
    made: Mapping[str, Any] = field(default_factory=dict)
    """Of the private verdict, if it was given: how the release was made."""
    recorded: int | None = None
    """Releases in the ledger, if one was given."""

    @property
    def private(self) -> bool:
        """Whether this is the edition for the steward of the original."""
        return self.original is not None

    @property
    def edition(self) -> Edition:
        """Whom it is for."""
        return "private" if self.private else "public"

    @cached_property
    def verdict(self) -> Verdict:
        """What was found; in a public edition, what may be handed over of it."""
        return self.judged if self.private else self.judged.public()

    @property
    def compared(self) -> bool:
        """Whether the verdict compared the release with its original."""
        return self.judged.check("rows") is not None

    @property
    def policy(self) -> Policy:
        """What is promised."""
        return self.published.policy

    @property
    def k(self) -> int:
        """How many share a description."""
        return self.policy.privacy.k

    @property
    def in_classes(self) -> bool:
        """Whether rows that are published alike are what k counts."""
        return self.policy.privacy.anonymity == "classes"

    @cached_property
    def risk(self) -> Risk:
        """How easily people are found; before and after, in a private edition."""
        return risk(self.release, self.policy, original=self.original)

    @cached_property
    def attacks(self) -> Attacks:
        """What attackers would achieve; with the original, in a private edition."""
        return attack(self.release, self.policy, original=self.original)

    @cached_property
    def utility(self) -> Utility:
        """How useful the release still is."""
        return utility_of(self.published)

    @cached_property
    def loss(self) -> Loss:
        """What was lost: relative to the original in a private edition."""
        chosen = self.policy.algorithm.measure
        return self.published.loss(MEASURES.make(chosen.name, chosen.parameters))

    @cached_property
    def bound(self) -> float | None:
        """What no release of the original can lose less than; None in a public edition, and where there is none."""
        original = self.published.original
        if original is None:
            return None
        if "bound" in self.made:
            found: float | None = self.made["bound"]
            return found
        return bound_of_source(original.source, self.policy)
