"""Persons in a ledger: keyed hashes, which mean nothing to whoever lacks the key."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kohort.audit.ledger.format import Entry
from kohort.common.private import SHORTEST, is_guessable, read_key
from kohort.errors import DataError

KEY_VARIABLE = "KOHORT_LEDGER_KEY"
_TOKEN = 32
"""Hex digits of a token: 128 bits, so that no two persons share one by chance."""


@dataclass(frozen=True)
class PersonKey:
    """The column that names a person, and the key under which names are hashed.

    A plain hash would not do: whoever knows all possible names could hash them all.
    """

    column: str
    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, column: str, key: str | Path | None) -> PersonKey:
        """Take the key from its file, or from the environment.

        Raises
        ------
        DataError
            When there is none, or one that could be guessed.
        """
        path = None if key is None else Path(key)
        try:
            secret = read_key(path, KEY_VARIABLE)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise DataError(f"ledger key {path and path.name}: cannot be read ({reason}); check the path.") from None
        if not secret.strip():
            fault = f"persons are hashed under a key, and there is none; give its file, or set {KEY_VARIABLE}."
            raise DataError(f"ledger key: {fault}")
        if is_guessable(secret):
            fault = f"it has fewer than {SHORTEST} bytes and could be guessed; take 32 random ones."
            raise DataError(f"ledger key: {fault}")
        return cls(column, secret)

    @property
    def name(self) -> str:
        """A token that distinguishes this key from others."""
        return self._token("key", "")

    def person(self, text: str) -> str:
        """Hash of a person."""
        return self._token("person", text)

    def signature(self, classes: Collection[str]) -> str:
        """Hash of what the classes of a person show, each in canonical form; one class as a rule."""
        return self._token("signature", json.dumps(sorted(set(classes))))

    def _token(self, what: str, text: str) -> str:
        return hmac.new(self.secret, f"{what}:{text}".encode(), hashlib.sha256).hexdigest()[:_TOKEN]


def refuse_other_persons(earlier: Sequence[Entry], key: PersonKey) -> None:
    """Refuse a key or column under which nobody would be recognised: everybody would seem new."""
    for number, entry in enumerate(earlier, 1):
        if entry.people is not None and entry.people.column != key.column:
            raise DataError(
                f"ledger: release {number} knows persons by column {entry.people.column!r}, and not by "
                f"{key.column!r}; give the same column, or begin another ledger."
            )
        if entry.people is not None and entry.people.key != key.name:
            raise DataError(
                f"ledger: release {number} knows persons under another key; give that key, or begin another ledger."
            )
