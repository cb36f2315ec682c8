"""Join: the tables of one release are about the same people, and their sensitive values are intersected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from kohort.reports.attacks.base import ATTACKS
from kohort.reports.attacks.result import Mitigation
from kohort.reports.attacks.scene import Scene
from kohort.reports.attacks.tracing import Tracing
from kohort.reports.published import Published


@ATTACKS.register("join")
@dataclass(frozen=True)
class Join(Tracing):
    """Look for people in every table of a release, and keep the sensitive values that all tables allow."""

    summary = "people whose sensitive value follows from several tables of one release"
    paper = "on Vaghela (001), whose sub-tables each have some of the quasi-identifiers"
    needs = ("sensitive", "people", "tables")

    @override
    def tables(self, scene: Scene) -> Sequence[Published]:
        return scene.tables

    @override
    def said(self, column: str, share: str, alone: str) -> tuple[str, Mitigation]:
        return (
            f"Whoever lays the tables of the release side by side learns the {column!r} of {share} of the people for "
            f"certain; the first table alone gives away that of {alone}.",
            Mitigation(
                "Publish one table, which keeps k on all columns.", '[algorithm]\nname = "auto"\nparameters = {}'
            ),
        )
