"""The format of a ledger, version 1: see docs/ledger.md.

Every release is sealed with a hash that covers it and the seal of the one before. So a ledger that was cut
in the middle, mixed up or edited is found out. A seal has no key: it shows accidents, not forgery.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FORMAT, VERSION = "kohort-ledger", 1

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Token = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Cell = str | None
"""A published text; None where the value is missing."""


class _Part(BaseModel):
    """A part of the ledger: immutable, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class QuasiColumn(_Part):
    """A quasi-identifier, and how its published texts are read."""

    name: str
    kind: Literal["label", "number", "date", "prefix", "text"]
    hierarchy: Hash | None = None
    """Hash of the tree of labels; a label means the same in two releases if their trees are the same."""
    format: str | None = None
    """strptime format of dates."""


class RecordsShown(_Part):
    """Records of a class that have the same sensitive values."""

    count: int = Field(ge=1)
    values: tuple[Cell, ...]


class ClassShown(_Part):
    """A class: its published description, and the multiset of its sensitive values."""

    description: tuple[Cell, ...]
    records: tuple[RecordsShown, ...] = Field(min_length=1)

    @property
    def size(self) -> int:
        """Number of records."""
        return sum(group.count for group in self.records)


class Shown(_Part):
    """What a release shows about people, in the order of its texts: the order of its rows is not kept."""

    rows: int = Field(ge=1)
    missing: Literal["own-value", "wildcard"]
    """Whether a missing quasi-identifier is a value of its own, or may be any."""
    quasi: tuple[QuasiColumn, ...] = Field(min_length=1)
    sensitive: tuple[str, ...]
    classes: tuple[ClassShown, ...]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [*(column.name for column in self.quasi), *self.sensitive]
        if len(set(names)) < len(names):
            raise ValueError("a column is there twice")
        widths = {(len(one.description), len(group.values)) for one in self.classes for group in one.records}
        if widths != {(len(self.quasi), len(self.sensitive))}:
            raise ValueError("a class has another number of cells than there are columns")
        if sum(one.size for one in self.classes) != self.rows:
            raise ValueError("the classes have another number of records than the release")
        return self


class People(_Part):
    """Who was in the release, under a key that is kept elsewhere, and the signature of each."""

    column: str
    """The column that names the person in the table; it is never published."""
    key: Token
    """Distinguishes keys, and reveals nothing about them."""
    signatures: dict[Token, Token]
    """Keyed hash of a person to the keyed hash of the sensitive values of the person's class."""


class Entry(_Part):
    """One release."""

    status: Literal["pending", "published"]
    """Pending from just before its file appears until just after; a crash may leave it so."""
    date: str
    release: Hash
    policy: Hash
    shown: Shown
    people: People | None = None
    seal: Hash

    @classmethod
    def sealed(cls, previous: str, shown: Shown, people: People | None, **facts: str) -> Entry:
        """Make the pending entry that follows one with the given seal."""
        blank = cls(status="pending", shown=shown, people=people, seal="0" * 64, **facts)
        return blank.resealed(previous)

    def resealed(self, previous: str) -> Entry:
        """Copy that follows an entry with the given seal."""
        return self.model_copy(update={"seal": self.seal_after(previous)})

    def seal_after(self, previous: str) -> str:
        """Hash of all it says but its status, which changes, and of the seal of the entry before."""
        content = self.model_dump(mode="json", exclude={"status", "seal"}) | {"previous": previous}
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def published(self) -> Entry:
        """Say that its file has appeared."""
        return self.model_copy(update={"status": "published"})


class Ledger(_Part):
    """All releases so far, the oldest first."""

    format: Literal["kohort-ledger"] = "kohort-ledger"
    version: Literal[1] = 1
    releases: tuple[Entry, ...] = ()

    @property
    def last_seal(self) -> str:
        """The seal that the next entry follows."""
        return self.releases[-1].seal if self.releases else ""

    @property
    def broken_seal(self) -> int | None:
        """Number of the first release, counted from 1, whose seal does not fit; None if all do."""
        previous = ""
        for number, entry in enumerate(self.releases, 1):
            if entry.seal != entry.seal_after(previous):
                return number
            previous = entry.seal
        return None

    def without_pending(self) -> Ledger:
        """Copy without the releases that are pending, sealed anew."""
        kept = Ledger()
        for entry in self.releases:
            if entry.status == "published":
                kept = kept.with_last(entry.resealed(kept.last_seal))
        return kept

    def with_last(self, entry: Entry) -> Ledger:
        """Copy with one more release."""
        return self.model_copy(update={"releases": (*self.releases, entry)})

    def to_json(self) -> str:
        """The ledger as text."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":")) + "\n"
