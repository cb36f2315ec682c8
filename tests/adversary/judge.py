"""Decides from files alone whether a release keeps every promise of its policy. Nothing of kohort is used here."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from pathlib import Path
from typing import Any

from .judge_columns import STAR, Column, Span, column_of, day_span
from .judge_files import NULL, Cell, Table, canonical, moment_of, number_of, read_as
from .judge_models import POPULATIONS, SIZES, broken_classes, broken_population, broken_sizes, sensitive_value
from .judge_pairs import assignment, column_assignment

HIDDEN = ("rows_original", "withheld")
"""Facts that the public verdict may keep to itself."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Fault:
    """A promise that does not hold."""

    promise: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.sentence}"


@dataclass(frozen=True)
class Release:
    """A release beside its policy and its original, with everything that is derived from them."""

    policy: Mapping[str, Any]
    folder: Path
    original: Table
    table: Table
    dialect: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = True
    """Whether it was made by kohort; else only what any `verify` can find out is asked for."""

    # -- what the policy says --

    @cached_property
    def specs(self) -> dict[str, dict[str, Any]]:
        """What the policy says of each column."""
        return {
            name: {"role": spec} if isinstance(spec, str) else dict(spec)
            for name, spec in self.policy["columns"].items()
        }

    def having(self, role: str) -> list[str]:
        """Columns of a role, in the order of the table."""
        return [name for name in self.original.names if self.specs[name]["role"] == role]

    def setting(self, section: str, key: str, default: Any) -> Any:
        """A key of the policy."""
        return self.policy.get(section, {}).get(key, default)

    @cached_property
    def k(self) -> int:
        """The k of the policy."""
        return int(self.policy["privacy"]["k"])

    @cached_property
    def missing(self) -> frozenset[str]:
        """Texts that stand for a missing value."""
        return frozenset(self.setting("input", "missing", [""]))

    @cached_property
    def quasi(self) -> list[Column]:
        """The quasi-identifiers."""
        # What other tools publish as missing under this reading; kohort itself publishes `*` there.
        says_nothing = self.setting("privacy", "missing", "own-value") == "wildcard" and not self.strict
        columns = (
            column_of(name, self.specs[name], self.original, self.missing, self.folder) for name in self.having("quasi")
        )
        return [replace(column, says_nothing=says_nothing) for column in columns]

    # -- what the release shows --

    def shown(self, name: str) -> list[str]:
        """The texts of a published quasi-identifier; an apostrophe against formulas left out."""
        return [self._shown(cell) for cell in self.table.column(name)]

    def _shown(self, cell: Cell) -> str:
        text = cell.text
        if self.neutralised and text.startswith("'") and text[1:].startswith(FORMULA):
            return text[1:]
        return text

    @property
    def neutralised(self) -> bool:
        """Whether formulas have an apostrophe before them."""
        return self.setting("output", "formulas", "kept") == "neutralised" and self.table.types is None

    @cached_property
    def keys(self) -> list[tuple[Any, ...]]:
        """The quasi-identifiers of each row in the form that any reader tells apart."""
        columns = [self.table.column(column.name) for column in self.quasi]
        return [tuple(map(self._key, cells)) for cells in zip(*columns, strict=True)]

    def _key(self, cell: Cell) -> Any:
        if cell.raw is NULL or self.strict:
            return cell.raw
        return ("quoted", "") if cell.value == "" else cell.value

    @cached_property
    def texts(self) -> list[tuple[str, ...]]:
        """The quasi-identifiers of each row as texts."""
        return list(zip(*(self.shown(column.name) for column in self.quasi), strict=True))

    @cached_property
    def starred(self) -> set[int]:
        """Rows of suppressed records that are shown."""
        stars = {row for row, texts in enumerate(self.texts) if all(text == STAR for text in texts)}
        shown = self.setting("output", "suppressed", "withheld") == "starred"
        return stars if shown or len(stars) < self.k else set()

    @cached_property
    def members(self) -> dict[Any, list[int]]:
        """The rows of each class."""
        found: dict[Any, list[int]] = {}
        for row, key in enumerate(self.keys):
            if row not in self.starred:
                found.setdefault(key, []).append(row)
        return found

    @cached_property
    def classes(self) -> dict[tuple[str, ...], list[int]]:
        """The same by the texts of the class."""
        return {self.texts[rows[0]]: rows for rows in self.members.values()}

    @cached_property
    def records(self) -> list[tuple[Any, ...]]:
        """The values of each original record."""
        return list(zip(*([c.value(cell) for cell in self.original.column(c.name)] for c in self.quasi), strict=True))

    @cached_property
    def beside(self) -> list[str]:
        """Columns that are published as they are."""
        return [name for name in self.original.names if self.specs[name]["role"] in ("sensitive", "insensitive")]

    @property
    def order_is_known(self) -> bool:
        """Whether row i is about record i."""
        return self.setting("output", "order", "shuffled") == "kept" and len(self.table.rows) == len(self.original.rows)

    @property
    def is_tagged(self) -> bool:
        """Whether the columns beside tell every record from all others."""
        return len(set(self._beside_of_record)) == len(self.original.rows)

    @cached_property
    def owners(self) -> list[int] | None:
        """A record for each row, covered by it and with its values; None if there is no such assignment."""
        fits = [
            [self.fits(row, record) for record in range(len(self.original.rows))] for row in range(len(self.table.rows))
        ]
        if self.order_is_known:
            return list(range(len(fits))) if all(fits[row][row] for row in range(len(fits))) else None
        return assignment(fits)

    def fits(self, row: int, record: int) -> bool:
        """Whether a row can be about a record."""
        if self._beside_of_row[row] != self._beside_of_record[record]:
            return False
        return self._covers(row, record)

    def _covers(self, row: int, record: int) -> bool:
        return all(
            known[text][number]
            for known, text, number in zip(self._covered, self.texts[row], self._numbers[record], strict=True)
        )

    @cached_property
    def _values(self) -> list[list[Any]]:
        """The different values of each quasi-identifier."""
        return [list(dict.fromkeys(column)) for column in zip(*self.records, strict=True)]

    @cached_property
    def _numbers(self) -> list[tuple[int, ...]]:
        """The values of each original record by number."""
        numbers = [{value: number for number, value in enumerate(values)} for values in self._values]
        return [tuple(n[value] for n, value in zip(numbers, record, strict=True)) for record in self.records]

    @cached_property
    def _covered(self) -> list[dict[str, list[bool]]]:
        """Which values each text of a quasi-identifier is true of: many rows ask the same."""
        return [
            {text: [column.covers(text, value) for value in values] for text in set(texts)}
            for column, texts, values in zip(self.quasi, zip(*self.texts, strict=True), self._values, strict=True)
        ]

    @cached_property
    def _beside_of_row(self) -> list[tuple[Any, ...]]:
        columns = [[self._plain(n, cell) for cell in self.table.column(n)] for n in self.beside]
        return _transposed(columns, self.table)

    @cached_property
    def _beside_of_record(self) -> list[tuple[Any, ...]]:
        def written(name: str, cell: Cell) -> Any:
            return self._plain(name, Cell(cell.raw, _neutral(cell.text)) if self.neutralised else cell)

        return _transposed([[written(n, c) for c in self.original.column(n)] for n in self.beside], self.original)

    def _plain(self, name: str, cell: Cell) -> Any:
        """A cell beside the quasi-identifiers, in the form in which it must not change."""
        if not self.strict or not self._is_of_one_kind(name):
            return canonical(cell.text if (moment := moment_of(cell)) is None else moment) if cell.text else ""
        return cell.text if self.table.types is None else (cell.value is None, cell.text)

    def _is_of_one_kind(self, name: str) -> bool:
        """Whether a column has the same type in both tables, or none in both."""
        if self.table.types is None or self.original.types is None:
            return self.table.types is self.original.types
        both = (t.types[t.names.index(name)] for t in (self.table, self.original) if t.types)
        return len({"string" if "string" in kind else kind for kind in both}) == 1


def _transposed(columns: list[list[Any]], table: Table) -> list[tuple[Any, ...]]:
    return list(zip(*columns, strict=True)) if columns else [()] * len(table.rows)


def _neutral(text: str) -> str:
    from .judge_files import NUMBER

    return "'" + text if text.startswith(FORMULA) and not NUMBER.fullmatch(text) else text


# -- the promises ------------------------------------------------------------------------------------


def judge(release: Release) -> list[Fault]:
    """Every promise that a release in one table does not keep."""
    faults = list(_columns(release))
    if faults:
        return faults
    anonymity = release.setting("privacy", "anonymity", "classes")
    sizes = {"classes": _classes, "matchings": _matchings}[anonymity]
    for promise in (sizes, suppression, _missing, domain, _ends, _precision, truth, pseudonyms, _persons, _models):
        faults += promise(release)
    return faults


def _columns(release: Release) -> Iterator[Fault]:
    expected: list[str] = []
    for name in release.original.names:
        spec = release.specs[name]
        if spec["role"] != "identifier" or spec.get("pseudonym"):
            expected.append(name)
        if spec["role"] == "quasi" and release.setting("output", "bounds", False) and not spec.get("hierarchy"):
            kind = next(column.kind for column in release.quasi if column.name == name)
            expected += [f"{name}_lo", f"{name}_hi", f"{name}_mid"] if kind != "text" else []
    ends = {f"{column.name}_{end}" for column in release.quasi for end in ("lo", "hi", "mid")} & set(expected)
    shown = set(release.table.names)
    same = list(release.table.names) == expected if release.strict else shown <= set(expected) <= shown | ends
    if not same or len(set(release.table.names)) != len(release.table.names):
        yield Fault(
            "columns", f"published are {len(release.table.names)} columns, and not the {len(expected)} expected"
        )


def _classes(release: Release) -> Iterator[Fault]:
    wildcard = release.setting("privacy", "missing", "own-value") == "wildcard" and not release.strict
    for members in release.members.values():
        alike = len(members)
        if alike < release.k and wildcard:
            alike = sum(
                _match(release, members[0], row) for row in range(len(release.texts)) if row not in release.starred
            )
        if alike < release.k:
            yield Fault("k", f"a class has {alike} rows, and k is {release.k}")


def _match(release: Release, one: int, other: int) -> bool:
    """Whether two rows match if a missing cell and a star match anything."""
    anything = release.missing | {"", STAR}
    pairs = zip(release.texts[one], release.texts[other], strict=True)
    return all(a == b or a in anything or b in anything for a, b in pairs)


def _matchings(release: Release) -> Iterator[Fault]:
    """Every record could be k rows, each in a perfect matching."""
    owners = release.owners
    if owners is None:
        return
    fits = [[release._covers(row, record) for row in range(len(owners))] for record in owners]
    reach = [{j for j, fit in enumerate(row) if fit} | {i} for i, row in enumerate(fits)]
    changed = True
    while changed:
        changed = False
        for i, there in enumerate(reach):
            further = set().union(*(reach[j] for j in there))
            if further != there:
                reach[i], changed = further, True
    for i, row in enumerate(fits):
        could = sum(fit and i in reach[j] for j, fit in enumerate(row))
        if could < release.k:
            yield Fault("k", f"a record could be {could} rows, and k is {release.k}")


def suppression(release: Release) -> Iterator[Fault]:
    """No more records are suppressed than may be."""
    rows, records = len(release.table.rows), len(release.original.rows)
    gone = len(release.starred) + records - rows
    allowed = floor(Fraction(str(release.setting("privacy", "suppression_limit", 0))) * records)
    if rows > records:
        yield Fault("rows", f"{rows} rows of {records} records")
    elif gone > allowed:
        yield Fault("suppression", f"{gone} records are suppressed, and {allowed} may be")


def _missing(release: Release) -> Iterator[Fault]:
    if release.setting("privacy", "missing", "own-value") not in ("suppress", "refuse"):
        return
    for column in release.quasi:
        if any(text == "" or (text in release.missing and text != STAR) for text in release.shown(column.name)):
            yield Fault("missing", f"column {column.name!r} has a missing cell")


def domain(release: Release) -> Iterator[Fault]:
    """Every published quasi-identifier can be read as a value or label of its column."""
    for column in release.quasi:
        values = {column.value(cell) for cell in release.original.column(column.name)}
        for text in set(release.shown(column.name)):
            if text != "" and text not in release.missing and not column.readable(text, values):
                yield Fault("domain", f"column {column.name!r} has a text that is no value or label of it")


def _ends(release: Release) -> Iterator[Fault]:
    """What stands beside an interval says what it says, in one way for rows that show the same."""
    for column in release.quasi:
        shown = release.shown(column.name)
        for end in ("lo", "hi", "mid"):
            name = f"{column.name}_{end}"
            if name not in release.table.names or name in release.specs:
                continue
            cells = release.table.column(name)
            if len(set(zip(shown, map(_raw, cells), strict=True))) > len(set(shown)):
                yield Fault("ends", f"column {name!r} tells rows apart that show the same")
            said = [_said(column, text, end, release.missing) for text in shown]
            if any(_read_end(column, cell, end) != one for one, cell in zip(said, cells, strict=True)):
                yield Fault("ends", f"column {name!r} does not say what the intervals say")


def _raw(cell: Cell) -> Any:
    return None if cell.raw is NULL else (cell.text, type(cell.value).__name__)


def _said(column: Column, text: str, end: str, missing: frozenset[str]) -> Fraction | float | None:
    """An end of what a text says, or its middle; None if it has none."""
    span = None if text in (STAR, "") or text in missing else column.span(text)
    if span is None:
        return None
    if end != "mid":
        return span.low if end == "lo" else span.high
    if span.low is None or span.high is None:
        return None
    middle = (span.low + span.high) / 2
    return Fraction(floor(middle)) if column.kind == "date" else float(middle)


def _read_end(column: Column, cell: Cell, end: str) -> Fraction | float | None:
    """What a cell of ends says; a text that nobody can read is no end."""
    if cell.text == "":
        return None
    if column.kind != "date":
        number = number_of(cell.text)
        return math.inf if number is None else float(number) if end == "mid" else number
    span = day_span(cell.text)
    return math.inf if span is None or span.low != span.high else span.low


def _precision(release: Release) -> Iterator[Fault]:
    for column in release.quasi:
        if not column.spec.keys() & {"snap", "bottom", "top", "min_width"}:
            continue
        for text in set(release.shown(column.name)):
            span = None if text in (STAR, "") or text in release.missing else column.span(text)
            if span is not None and (why := _too_precise(column, span)):
                yield Fault("precision", f"column {column.name!r} {why}")


def _too_precise(column: Column, span: Span) -> str | None:
    def place(key: str) -> Fraction | None:
        border = column.spec.get(key)
        if border is None:
            return None
        if column.kind == "date" and key in ("bottom", "top"):
            from .judge_columns import day_of

            return Fraction(day_of(str(border), None).toordinal())
        return Fraction(str(border))

    snap, bottom, top, width = (place(key) for key in ("snap", "bottom", "top", "min_width"))
    closed = span.whole() if column.kind in ("integer", "date") else span
    first = 1 if column.kind == "date" else 0  # days are counted from 0001-01-01
    for end in (span.low, span.high):
        if snap is not None and end is not None and (end - first) % snap:
            return "has an end that is no multiple of snap"
    if closed.low is not None and closed.high is not None:
        least = max(snap or Fraction(0), width or Fraction(0))
        if closed.high - closed.low < least:
            return "has an interval that is too narrow"
    if top is not None and _tells_apart(closed, top):
        return "tells values above the top apart"
    if bottom is not None and _tells_apart(_mirrored(closed), -bottom):
        return "tells values below the bottom apart"
    return None


def _tells_apart(span: Span, top: Fraction) -> bool:
    """Whether a stretch tells values from a border on apart: an end may lie on it, but none beyond."""
    if span.high is not None and span.high > top:
        return True
    if span.low is None:
        return False
    return span.low > top or (span.low == top and (not span.low_in or span.high == top))


def _mirrored(span: Span) -> Span:
    def turned(end: Fraction | None) -> Fraction | None:
        return None if end is None else -end

    return Span(turned(span.high), turned(span.low), span.high_in, span.low_in)


def truth(release: Release) -> Iterator[Fault]:
    """Every row is true of a record of its own, as far as the order is known or can be found."""
    if len(release.table.rows) > len(release.original.rows):
        return
    if release.strict or release.order_is_known:
        if release.owners is None:
            yield Fault("truth", "there is no way to give every row a record that it is true of")
        return
    for column in release.quasi:
        values = [column.value(cell) for cell in release.original.column(column.name)]
        if not column_assignment(release.shown(column.name), values, column.covers):
            yield Fault("coverage", f"column {column.name!r} cannot be true in any order")
    for at, name in enumerate(release.beside):
        here = Counter(row[at] for row in release._beside_of_row)
        there = Counter(row[at] for row in release._beside_of_record)
        if here - there:
            yield Fault("values", f"column {name!r} has a value more often than the original")


def pseudonyms(release: Release) -> Iterator[Fault]:
    """Pseudonyms look like ones, and stand for one identifier each."""
    for name in release.having("identifier"):
        if not release.specs[name].get("pseudonym"):
            continue
        shown = [cell.text for cell in release.table.column(name)]
        if any(text and not re.fullmatch(r"[0-9a-f]{64}", text) for text in shown):
            yield Fault("pseudonyms", f"column {name!r} has a cell that is no pseudonym")
        if not (release.order_is_known or release.is_tagged) or release.owners is None:
            continue
        people = [_identity(release, name, record) for record in release.owners]
        pairs = set(zip(people, shown, strict=True))
        if (
            len(pairs) != len(set(people))
            or len(pairs) != len(set(shown))
            or any((p is None) != (t == "") for p, t in pairs)
        ):
            yield Fault("pseudonyms", f"column {name!r} does not have one pseudonym for one identifier")


def _identity(release: Release, name: str, record: int) -> Any:
    cell = release.original.column(name)[record]
    return None if cell.text in release.missing else read_as(cell.value, release.missing)


def _persons(release: Release) -> Iterator[Fault]:
    name = release.setting("privacy", "person", None)
    if name is None or release.owners is None or not (release.order_is_known or release.is_tagged):
        return
    for members in release.members.values():
        persons = {_identity(release, name, release.owners[row]) for row in members}
        if len(persons) < release.k:
            yield Fault("persons", f"a class has {len(persons)} persons, and k is {release.k}")


def _models(release: Release) -> Iterator[Fault]:
    values = {
        name: [
            sensitive_value(_without_apostrophe(release, cell), release.missing) for cell in release.table.column(name)
        ]
        for name in release.having("sensitive")
    }
    for model in release.setting("privacy", "models", []):
        name = model["model"]
        if not release.members:
            continue
        if name in SIZES:
            broken = int(broken_sizes(model, release.members))
        elif name in POPULATIONS:
            broken = broken_population(model, release.classes, release.quasi, release.folder, release.dialect)
        else:
            broken = broken_classes(model, release.members, values, release.policy, release.folder)
        if broken:
            yield Fault(name, f"{broken} classes do not keep it")


def _without_apostrophe(release: Release, cell: Cell) -> Cell:
    shown = release._shown(cell)
    return cell if shown == cell.text else Cell(cell.raw, shown)


# -- what goes with a release ------------------------------------------------------------------------


def judge_verdict(release: Release, verdict: Mapping[str, Any], path: Path | None) -> list[Fault]:
    """What a verdict says that is not so."""
    faults = [] if verdict.get("passed") is True else [Fault("verdict", "it does not pass")]
    facts = verdict.get("facts", {})
    withheld = len(release.original.rows) - len(release.table.rows)
    expected = {
        "k": release.k,
        "rows_released": len(release.table.rows),
        "rows_original": len(release.original.rows),
        "withheld": withheld,
    }
    if release.setting("privacy", "anonymity", "classes") == "classes":
        sizes = [len(members) for members in release.members.values()]
        expected |= {"classes": len(sizes)}
        if release.setting("privacy", "missing", "own-value") != "wildcard":  # there it is the fewest rows that match
            expected["smallest_class"] = min(sizes, default=None)
    faults += [
        Fault("verdict", f"it says {key} = {facts.get(key)}, and it is {value}")
        for key, value in expected.items()
        if facts.get(key) != value and not (key in HIDDEN and facts.get(key) is None)
    ]
    if path is not None and path.is_file():
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if verdict["hashes"].get("release") != found:
            faults.append(Fault("verdict", "the hash of the release is that of another file"))
    return faults


def leaks(texts: Sequence[str], secrets: Mapping[str, str]) -> list[Fault]:
    """Secrets, by what they are, that stand in what is printed or published beside the release."""
    return [
        Fault("nothing on the side", f"{what} is told")
        for secret, what in secrets.items()
        if any(secret in t for t in texts)
    ]
