"""A codebook of a release: what each column is, and how its published forms are read. For whoever gets the release."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import ENDS, STAR, Exact, Mask, Node, PublishedColumn, Star
from kohort.policy import Policy
from kohort.reports.published import Published, opened, policy_for

MOST = 30
"""Largest number of values of a column that are listed."""
_WORDS = {
    "value": "one value, as it is",
    "interval": "[a - b]: a value from a to b, both included",
    "at most": "<= b: a value of at most b",
    "at least": ">= a: a value of at least a",
    "masked": "12**: a code that begins so; each * is one more character",
    "label": "a label of the hierarchy: any value below it",
    "any value": "*: any value of the column",
    "missing": "an empty cell: the value is missing",
    "other": "another form, of another tool",
}
"""What published forms mean."""
_BESIDE = {"lo": "lower end of", "hi": "upper end of", "mid": "middle of"}
_TYPES = {"number": "number", "date": "date", "label": "label", "prefix": "code", "text": "text"}


@dataclass(frozen=True)
class Entry:
    """What is said about one column of a release."""

    column: str
    role: str
    """``quasi``, ``sensitive``, ``insensitive``, ``pseudonym``; or what it is of another column, as its lower end."""
    type: str
    forms: Mapping[str, int] = field(default_factory=dict)
    """Of a generalized column: rows of each published form."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """Of one with a hierarchy or a prefix: rows at each level; 0 is `*`."""
    values: Sequence[str] = ()
    """Published texts that at least k rows have, the first of them in order."""
    others: int = 0
    """Further distinct texts."""

    @property
    def meaning(self) -> str:
        """How its cells are read."""
        if self.forms:
            return "; ".join(_WORDS[form] for form in self.forms)
        if " of " in self.role:
            return "of the interval in that row; empty where there is none"
        return "a keyed pseudonym: equal for the same person" if self.role == "pseudonym" else "the value as it is"


@dataclass(frozen=True)
class Codebook:
    """The columns of a release; all of it follows from the release and its policy, so it may be handed over."""

    k: int
    rows: int
    columns: tuple[Entry, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        columns = [asdict(one) | {"meaning": one.meaning} for one in self.columns]
        return {"k": self.k, "rows": self.rows, "columns": columns}

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_csv(self) -> str:
        """As CSV, a line for each column of the release."""
        written = io.StringIO(newline="")
        lines = csv.writer(written, lineterminator="\n")
        lines.writerow(["column", "role", "type", "forms", "levels", "values", "other_values", "meaning"])
        for one in self.columns:
            counted = ("; ".join(f"{name}: {rows}" for name, rows in some.items()) for some in (one.forms, one.levels))
            lines.writerow(
                [one.column, one.role, one.type, *counted, " | ".join(one.values), one.others or "", one.meaning]
            )
        return written.getvalue()


def codebook(release: Any, policy: Policy | str | Path | None = None) -> Codebook:
    """Say what each column of a release is, and what its published forms mean.

    Parameters
    ----------
    release : path, or polars, pandas or pyarrow table
        The release. The original is not needed.
    policy : Policy or path, optional
        What it was made under; what the verdict beside it says, when absent.

    Returns
    -------
    Codebook
        With ``to_csv`` and ``to_json``. No value is listed that fewer than k rows have.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> people = pl.DataFrame({"age": [31, 30, 64, 66], "ill": ["flu", "flu", "cold", "cold"]})
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    >>> book = kohort.codebook(kohort.anonymize(people, policy).table, policy)
    >>> [(one.column, one.role, one.type, dict(one.forms), one.values) for one in book.columns]
    [('age', 'quasi', 'number', {'interval': 4}, ()), ('ill', 'sensitive', 'text', {}, ('cold', 'flu'))]
    """
    chosen = policy_for(release, policy)
    with opened(release, chosen, as_is=True) as published:
        entries = tuple(_entries(published))
        return Codebook(published.policy.privacy.k, published.rows, entries)


def _entries(published: Published) -> Iterator[Entry]:
    policy = published.policy
    beside = {f"{name}_{end}": (name, end) for name in policy.quasi_identifiers for end in ENDS if policy.output.bounds}
    for name in published.table.header:
        if name in policy.quasi_identifiers:
            yield _generalized(published, name)
        elif name in policy.columns and policy.columns[name].pseudonym:
            yield Entry(name, "pseudonym", "text")
        elif name in beside and name not in policy.columns:
            column, end = beside[name]
            yield Entry(name, f"{_BESIDE[end]} {column}", published.column(column).kind)
        elif name in published.as_is:
            role = policy.columns[name].role if name in policy.columns else "none"
            yield _as_it_is(published, name, role)


def _generalized(published: Published, name: str) -> Entry:
    reader, counted = published.column(name), published.counts[name]
    forms: Counter[str] = Counter()
    levels: Counter[int] = Counter()
    for text, rows in zip(counted.texts, counted.times.tolist(), strict=True):
        form, level = _form(reader, text)
        forms[form] += rows
        if level is not None:
            levels[level] += rows
    in_order = {form: forms[form] for form in _WORDS if forms[form]}
    by_level = {str(level): levels[level] for level in sorted(levels)} if reader.kind in ("label", "prefix") else {}
    if reader.has_ends:
        return Entry(name, "quasi", _TYPES[reader.kind], in_order, by_level)
    return _with_values(
        Entry(name, "quasi", _TYPES[reader.kind], in_order, by_level), published, counted.texts, counted
    )


def _form(reader: PublishedColumn, text: str | None) -> tuple[str, int | None]:
    """Which form a published text has, and its level."""
    if text is None:
        return "missing", None
    match reader.read(text):
        case Star():
            return "any value", 0
        case Node(node, first, last):
            depth = 0 if reader.taxonomy is None else int(reader.taxonomy.depth[node])
            return ("value" if first == last else "label"), depth
        case Mask(prefix, _):
            return "masked", len(prefix)
        case Exact(plain):
            return "value", len(plain) if reader.kind == "prefix" else 1
        case Interval(lo, hi):
            if not lo.is_finite() or not hi.is_finite():
                return ("at least" if lo.is_finite() else "at most"), None
            return ("value" if lo == hi else "interval"), None
    return "other", None


def _as_it_is(published: Published, name: str, role: str) -> Entry:
    dictionary = published.table.dictionary(name)
    kind = published.typed(name).dtype
    plain = "number" if kind.is_numeric() else "date" if kind.is_temporal() else "text"
    entry = Entry(name, role, plain)
    return _with_values(entry, published, dictionary.values.whole(), dictionary)


def _with_values(entry: Entry, published: Published, texts: pl.Series, counted: Any) -> Entry:
    """The entry with the texts that k rows have; `counted` has the rows of each in `times`."""
    k = published.policy.privacy.k
    pairs = zip(texts.to_list(), counted.times.tolist(), strict=True)
    named = {text: rows for text, rows in pairs if text not in (None, "", STAR)}
    frequent = sorted(text for text, rows in named.items() if rows >= k)[:MOST]
    return Entry(
        entry.column, entry.role, entry.type, entry.forms, entry.levels, tuple(frequent), len(named) - len(frequent)
    )
