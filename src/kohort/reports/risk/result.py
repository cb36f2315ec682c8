"""The risk of a table: what everybody can compute from the file, and what only its steward may know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kohort.common.html import html_block, html_table, html_text
from kohort.reports.risk.attackers import THRESHOLDS
from kohort.reports.risk.containment import Containment
from kohort.reports.risk.exposure import Exposure

if TYPE_CHECKING:
    from kohort.reports.charts import Chart

SCHEMA = 1


@dataclass(frozen=True)
class Risk:
    """How easily people are found in a table. It holds names of columns, counts and shares, and no value.

    Attributes
    ----------
    file : Exposure
        The file itself. Whoever has it can compute this; if it is an original, keep it with the original.
    original : Exposure or None
        The table that it was made of, if that was given; private.
    containment : Containment or None
        How many rows of the file cover each record of the original; private.
    k : int or None
        The promised size of a class, if there is a promise.
    in_classes : bool
        Whether the file was made in classes of equal rows; if not, classes say little about it.
    is_counted : bool
        Whether the population was given as a file. What is found with it is private.
    caveats : tuple of str
        What these figures do not say about this file.
    """

    file: Exposure
    original: Exposure | None = None
    containment: Containment | None = None
    k: int | None = None
    in_classes: bool = True
    is_counted: bool = False
    caveats: tuple[str, ...] = ()

    @property
    def population(self) -> int | None:
        """Number of people that the rows are a sample of, if it is known."""
        return None if self.file.uniqueness is None else self.file.uniqueness.population

    @property
    def public(self) -> dict[str, Any]:
        """What follows from the file alone, and from the size of the population."""
        return _without_population(self.file.to_dict()) if self.is_counted else self.file.to_dict()

    @property
    def private(self) -> dict[str, Any]:
        """What was found with the original or a population file."""
        counted = {"quasi": self.file.quasi.to_dict(), "uniqueness": self.file.to_dict()["uniqueness"]}
        return {
            "original": None if self.original is None else self.original.to_dict(),
            "containment": None if self.containment is None else self.containment.to_dict(),
            "population": counted if self.is_counted else None,
        }

    def to_dict(self, private: bool = True) -> dict[str, Any]:
        """Plain data.

        Parameters
        ----------
        private : bool
            Whether with what only the steward of the original may know.
        """
        found: dict[str, Any] = {
            "schema": SCHEMA,
            "k": self.k,
            "population": None if self.is_counted and not private else self.population,
            "thresholds": dict(THRESHOLDS),
            "public": self.public,
            "caveats": list(self.caveats),
        }
        return found | {"private": self.private} if private else found

    def sentences(self, private: bool = True) -> list[str]:
        """The figures in plain words, the most telling first."""
        from kohort.reports.risk.words import sentences_of

        return sentences_of(self, private=private)

    def charts(self, private: bool = True) -> list[Chart]:
        """Pictures of the figures."""
        from kohort.reports.risk.pictures import charts_of

        return charts_of(self, private=private)

    def rows(self, private: bool = True) -> list[tuple[str, ...]]:
        """A table of the main figures: a line for each, with a cell for each table that was looked at."""
        from kohort.reports.risk.words import lines_of

        return lines_of(self, private=private)

    def _repr_html_(self) -> str:
        header, *lines = self.rows()
        return html_block("risk", html_table(header, lines), *(html_text(sentence) for sentence in self.sentences()))


def _without_population(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures without those that a population file is behind."""
    quasi = figures["quasi"]
    quasi = quasi | {"journalist": None, "marketer": quasi["prosecutor"]["mean"]}
    return {**figures, "quasi": quasi, "uniqueness": None}
