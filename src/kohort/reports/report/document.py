"""What a report holds: sections of a few kinds of blocks. A page shows them, and its JSON is the same.

A block is finished text: whatever is counted is counted in `kohort.reports.report.sections`. Beside its blocks a
section has its figures as plain data, for machines.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from kohort.reports.charts import Chart
from kohort.table.safe import write_text

Edition: TypeAlias = Literal["public", "private"]
Tone: TypeAlias = Literal["plain", "good", "bad", "note"]
"""Whether a sentence says that something holds, that it does not, or what somebody must decide."""


class _Part(BaseModel):
    """A part of a report: immutable, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Text(_Part):
    """A sentence or two."""

    kind: Literal["text"] = "text"
    text: str
    tone: Tone = "plain"
    label: str = ""
    """One word before it, such as the name of a check."""


class Table(_Part):
    """Rows under a header; the first cell of a row says what it is about."""

    kind: Literal["table"] = "table"
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


class Picture(_Part):
    """A chart, with the same in words, and its data."""

    kind: Literal["chart"] = "chart"
    chart: str
    """Its name among the charts."""
    title: str
    description: str
    data: dict[str, Any]
    _chart: Chart = PrivateAttr()

    @classmethod
    def of(cls, chart: Chart) -> Self:
        """The picture of a chart."""
        made = cls(chart=chart.name, title=chart.title, description=chart.description, data=_plain(chart))
        made._chart = chart
        return made

    def svg(self, identity: str) -> str:
        """Draw it."""
        return self._chart.svg(identity)


class Command(_Part):
    """What a reader can run, and what it should print."""

    kind: Literal["command"] = "command"
    text: str
    command: str


Block: TypeAlias = Annotated[Text | Table | Picture | Command, Field(discriminator="kind")]


class Chapter(_Part):
    """A section as it was written."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    figures: dict[str, Any] = {}


class Key(_Part):
    """One of the figures at the top."""

    figure: str
    means: str


class Report(_Part):
    """What is known of a release, in sections; make one with `kohort.report`.

    The public edition holds what anybody can compute who has the release and its policy. The private one compares with
    the original: keep it as you keep that.
    """

    report: Literal["kohort report"] = "kohort report"
    version: Literal[1] = 1
    edition: Edition
    issued: date
    """The day on which it was made, in UTC."""
    kohort: str
    """The version that made it."""
    release: str
    """Name of the file, without its folder; empty for a table in memory."""
    passed: bool
    """Whether the release keeps its promise."""
    status: Literal["verified", "not verified", "not decided"]
    """Not decided is what lacked something that was not given, and has nothing that speaks against it."""
    headline: str
    keys: tuple[Key, ...]
    sections: tuple[Chapter, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `json_schema` describes it."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """The document for machines."""
        return self.model_dump_json(indent=2) + "\n"

    def to_html(self) -> str:
        """The page: one file that needs no other, no script and no network."""
        from kohort.reports.report.page import page

        return page(self)

    def save(self, path: str | Path) -> None:
        """Write it to a file that ends in .html or .json; a private one is readable by its owner only."""
        text = self.to_json() if Path(path).suffix == ".json" else self.to_html()
        write_text(Path(path), text, private=self.edition == "private")

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON schema of the document."""
        return cls.model_json_schema(mode="serialization")

    def _repr_html_(self) -> str:
        """For notebooks: what it says first."""
        from kohort.common.html import html_block, html_table

        return html_block(self.headline, html_table((), [(key.means, key.figure) for key in self.keys]))


def _plain(chart: Chart) -> dict[str, Any]:
    return asdict(chart)  # type: ignore[call-overload,no-any-return]
