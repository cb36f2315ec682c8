"""What a section of a report is. Adding one means adding a file to `sections`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from kohort.common.registry import Registry
from kohort.reports.report.document import Block, Chapter
from kohort.reports.report.evidence import Evidence


class Section(ABC):
    """A question that a report answers."""

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[int]
    """Sections stand in the order of their places."""

    @abstractmethod
    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """What is said; a section that says nothing is left out."""

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """The figures behind it, as plain data."""
        return {}


SECTIONS: Registry[Section] = Registry("section")


def written(evidence: Evidence) -> tuple[Chapter, ...]:
    """All sections that have something to say, in their order."""
    sections = sorted((SECTIONS[name]() for name in SECTIONS), key=lambda one: one.place)
    chapters = ((one, tuple(one.blocks(evidence))) for one in sections)
    return tuple(
        Chapter(name=one.name, title=one.title, blocks=blocks, figures=one.figures(evidence))
        for one, blocks in chapters
        if blocks
    )
