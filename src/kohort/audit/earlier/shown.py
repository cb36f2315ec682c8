"""What a release shows about people: its classes, their descriptions and their sensitive values.

This is all that the ledger keeps of it, and it is read from the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from kohort.audit.ledger import ClassShown, QuasiColumn, RecordsShown, Shown
from kohort.audit.meaning.published import STAR, PublishedColumn, published_column, unquoted

if TYPE_CHECKING:
    from kohort.audit.case import LoadedCase
    from kohort.policy import Policy

Literal: TypeAlias = tuple[str, ...]
"""The quasi-identifiers of a class as the file writes them."""


@dataclass(frozen=True)
class Sight:
    """What a release shows, and how it is read."""

    shown: Shown
    """Its classes."""
    readers: Mapping[str, PublishedColumn]
    """How the descriptions are read, by column. They are those of the file alone, whether or not the original is there:
    so the same file is read in the same way when it is recorded and when it is compared."""
    literals: tuple[Literal, ...]
    """What each class is called in the database."""


def sight_of(case: LoadedCase) -> Sight | None:
    """Read the classes of a release; None when it lacks a column."""
    policy, release = case.policy, case.release
    quasi, sensitive = policy.quasi_identifiers, policy.having_role("sensitive")
    if any(name not in release.columns for name in (*quasi, *sensitive)):
        return None
    readers = {name: _reader(case, name) for name in quasi}
    literals = [release.literal(name) for name in quasi]
    absent = [f"{release.columns[name]} IS NULL" for name in quasi]
    values = [release.columns[name] for name in sensitive]
    found = release.database.rows(
        f"SELECT {', '.join([*literals, *absent, *values])}, count(*) FROM {release.name} GROUP BY ALL ORDER BY ALL"
    )
    width = len(quasi)
    classes: dict[Literal, ClassShown] = {}
    for literal, group in groupby(found, key=lambda row: row[:width]):
        rows = list(group)
        missing = rows[0][width : 2 * width]
        classes[literal] = ClassShown(
            # '*' may be among the texts for missing, and still says "any value"
            description=tuple(
                None if is_missing and text != STAR else readers[name].plain(text)
                for name, text, is_missing in zip(quasi, literal, missing, strict=True)
            ),
            records=tuple(
                RecordsShown(
                    count=row[-1],
                    values=tuple(_value(policy, text) for text in row[2 * width : -1]),
                )
                for row in rows
            ),
        )
    shown = Shown(
        rows=release.rows,
        missing="wildcard" if policy.privacy.missing == "wildcard" else "own-value",
        quasi=tuple(_column(reader) for reader in readers.values()),
        sensitive=sensitive,
        classes=tuple(classes.values()),
    )
    return Sight(shown, readers, tuple(classes))


def _value(policy: Policy, text: str | None) -> str | None:
    """A sensitive cell; None if the policy calls it missing, as another policy may not."""
    if text and policy.output.formulas == "neutralised":
        text = unquoted(text)
    return None if text in policy.input.missing else text


def _reader(case: LoadedCase, name: str) -> PublishedColumn:
    known = case.columns[name]
    if known.taxonomy is not None:
        return known
    texts = [text for text in case.release.dictionary(name).counts if text is not None]
    return published_column(name, case.policy, texts)


def _column(reader: PublishedColumn) -> QuasiColumn:
    tree = None
    if reader.taxonomy is not None:
        content = json.dumps([reader.taxonomy.parent.tolist(), reader.taxonomy.labels])
        tree = hashlib.sha256(content.encode()).hexdigest()
    return QuasiColumn(name=reader.name, kind=reader.kind, hierarchy=tree, format=reader.style)
