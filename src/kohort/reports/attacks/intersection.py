"""Intersection: a person is in two releases, and has a sensitive value that both allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from kohort.reports.attacks.base import ATTACKS
from kohort.reports.attacks.result import Mitigation
from kohort.reports.attacks.scene import Scene
from kohort.reports.attacks.tracing import Tracing
from kohort.reports.published import Published


@ATTACKS.register("intersection")
@dataclass(frozen=True)
class Intersection(Tracing):
    """Look for people in this release and in other ones, and keep the sensitive values that all of them allow."""

    summary = "people whose sensitive value follows from several releases together"
    paper = "Ganta, Kasiviswanathan and Smith, KDD 2008"
    needs = ("sensitive", "people", "earlier")

    @override
    def tables(self, scene: Scene) -> Sequence[Published]:
        return scene.release, *scene.earlier

    @override
    def said(self, column: str, share: str, alone: str) -> tuple[str, Mitigation]:
        return (
            f"Whoever has all releases, and knows that a person is in all of them, learns the {column!r} of {share} of "
            f"the people for certain; this release alone gives away that of {alone}.",
            Mitigation(
                "Keep a ledger of releases (anonymize --ledger) and check each one against it (verify --against), or "
                "publish new people only."
            ),
        )
