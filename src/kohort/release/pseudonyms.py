"""Keyed pseudonyms: the same identifier gets the same pseudonym, and only who has the key can compute which.

HMAC-SHA256 of the identifier, 64 hexadecimal digits. Without the key nobody can try out identifiers, as with a
plain hash. Two tables that are made with the same key can be linked by their pseudonyms.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass, field

import polars as pl

from kohort.common import private
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.table.identities import identities


@dataclass(frozen=True)
class Key:
    """A secret key, which is never shown."""

    secret: bytes = field(repr=False)

    def pseudonym(self, identity: str) -> str:
        """The pseudonym of an identifier.

        Examples
        --------
        >>> Key(b"0123456789abcdef").pseudonym("7")[:16]
        'f69cf4852626eee1'
        """
        return hmac.new(self.secret, identity.encode(), hashlib.sha256).hexdigest()


def read_key(policy: Policy) -> Key | None:
    """The key that the policy points at; None if it asks for no pseudonyms.

    Raises
    ------
    PolicyError
        When it is not there, or too short.
    """
    place = policy.output.pseudonym_key
    if place is None:
        return None

    def refused(fault: str) -> PolicyError:
        return PolicyError(policy.located(("output", "pseudonym_key"), fault))

    what = f"key file {place.file!r}" if place.env is None else f"environment variable {place.env!r}"
    if place.env is not None and place.env not in os.environ:
        raise refused(f"{what} is not set; put the key of pseudonyms there.")
    try:
        secret = private.read_key(None if place.file is None else policy.folder / place.file, place.env or "")
    except OSError as error:
        raise refused(f"{what} cannot be read ({error.strerror}); check the path.") from None
    if private.is_guessable(secret):
        raise refused(f"the key in {what} is shorter than {private.SHORTEST} bytes; take 32 random bytes.")
    return Key(secret)


def with_pseudonyms(table: pl.DataFrame, policy: Policy, key: Key | None) -> pl.DataFrame:
    """The table with pseudonyms in the place of the identifiers that the policy publishes so; missing ones stay.

    Raises
    ------
    DataError
        When a column holds what cannot be distinguished exactly.
    """
    if key is None:
        return table
    columns: list[pl.Series] = []
    faults: list[str] = []
    for name in policy.pseudonyms:
        try:
            texts = identities(table[name], policy)
        except DataError as error:
            faults += error.faults
            continue
        values = texts.drop_nulls().unique()
        made = pl.Series([key.pseudonym(value) for value in values], dtype=pl.String)
        columns.append(texts.replace_strict(values, made, default=None, return_dtype=pl.String).alias(name))
    DataError.refuse(faults)
    return table.with_columns(columns)
