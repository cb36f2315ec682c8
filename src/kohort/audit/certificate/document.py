"""The certificate of a release: its hashes, what was promised and what was found, for everybody who has the file.

It holds what the public verdict holds, in canonical JSON, and signatures if somebody has signed it. What it says can be
checked again against the file alone (`recheck`), but for what was compared with the original: for that, a signature
vouches.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kohort.audit.audit import verify
from kohort.audit.certificate.canonical import canonical
from kohort.audit.certificate.signature import Signature, signed
from kohort.audit.verdict import Verdict
from kohort.common.regular import regular
from kohort.errors import DataError, InternalError, VerificationError
from kohort.policy import Policy

KIND = "kohort certificate"
VERSION = 1
_LARGEST = 1 << 26
"""Bytes that a certificate has at most."""
_KEYS = {"certificate", "version", "issued", "kohort", "verdict", "signatures"}


@dataclass(frozen=True)
class Certificate:
    """What is said of a file, and who says so.

    Attributes
    ----------
    verdict : Verdict
        The public one.
    issued : date
        When it was made, in UTC.
    maker : str
        Version of kohort.
    signatures : tuple of Signature
        Of the body; whoever signs it vouches for all of it.
    """

    verdict: Verdict
    issued: date
    maker: str
    signatures: tuple[Signature, ...] = ()

    @property
    def body(self) -> bytes:
        """What is signed: the certificate without signatures, as canonical JSON in UTF-8."""
        return canonical(self._plain()).encode()

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return self._plain() | {"signatures": [one.to_dict() for one in self.signatures]}

    def to_json(self) -> str:
        """The document: canonical JSON and a line end."""
        return canonical(self.to_dict()) + "\n"

    def signed(self, key: str | Path) -> Certificate:
        """Copy with one more signature.

        Parameters
        ----------
        key : path
            Private key, as `kohort certificate keygen` writes it.

        Raises
        ------
        DataError
            When the key cannot be used, or its signature is there already.
        """
        made = signed(self.body, key)
        if any(one.key == made.key for one in self.signatures):
            raise DataError(f"{Path(key).name}: this key has signed the certificate already.")
        return replace(self, signatures=(*self.signatures, made))

    def _plain(self) -> dict[str, Any]:
        about = {"certificate": KIND, "version": VERSION, "issued": self.issued.isoformat(), "kohort": self.maker}
        return about | {"verdict": self.verdict.to_dict()}

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """Read a document back, which must be written to the letter as kohort writes it.

        Raises
        ------
        DataError
            When it is no certificate, or was edited or formatted anew.
        """
        path = Path(path)
        text = _text_of(path)
        try:
            data = json.loads(text, parse_constant=_refused)
            known = data["certificate"] == KIND
            version_of = data["version"]
            found = cls._of(data) if known and version_of == VERSION else None
            same = found is not None and data.keys() == _KEYS and found.to_json() == text
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, InternalError, DataError):
            raise DataError(f"{path.name}: is no certificate of kohort.") from None
        if found is None:
            fault = f"is of another version than {VERSION}; update kohort." if known else "is no certificate of kohort."
            raise DataError(f"{path.name}: {fault}")
        if not same:
            raise DataError(
                f"{path.name}: was edited or formatted anew after it was made; get it again from its maker."
            )
        return found

    @classmethod
    def _of(cls, data: Mapping[str, Any]) -> Certificate:
        verdict = Verdict.from_json(json.dumps(data["verdict"]))
        signatures = tuple(map(Signature.of, data["signatures"]))
        return cls(verdict, date.fromisoformat(data["issued"]), data["kohort"], signatures)


def certify(
    release: Any,
    policy: Policy | str | Path | None = None,
    *,
    verdict: str | Path | None = None,
    original: Any = None,
    sensitive_table: Any = None,
    key: str | Path | None = None,
) -> Certificate:
    """Check a release, by whatever tool, and certify what was found.

    Parameters
    ----------
    release, policy, verdict, original, sensitive_table
        As in `verify`. With the original, the certificate also says that published values are true.
    key : path, optional
        Private key that signs it.

    Returns
    -------
    Certificate
        Its `to_json` is the document.

    Raises
    ------
    VerificationError
        When the release does not keep its promise: there is no certificate of that.
    DataError
        When something cannot be read, or the release is no file.
    """
    if not isinstance(release, str | Path | list | tuple):
        raise DataError("certificate: it is about a file, by its hash; write the table to one first.")
    found = verify(release, policy, verdict=verdict, original=original, sensitive_table=sensitive_table)
    if not found.passed:
        raise VerificationError(f"no certificate, since the release does not keep its promise: {found.reason}")
    return certificate_of(found, key)


def certificate_of(verdict: Verdict, key: str | Path | None = None) -> Certificate:
    """The certificate of a verdict; signed, if there is a key."""
    today = datetime.now(UTC).date()
    public = verdict.public()
    # that a file is the one of a verdict beside it says nothing to somebody who has the certificate
    public = replace(public, checks=tuple(check for check in public.checks if check.name != "file"))
    found = Certificate(public, today, version("kohort"))
    return found if key is None else found.signed(key)


def _text_of(path: Path) -> str:
    try:
        with regular(path).open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise DataError(f"{path.name}: is too long for a certificate.")
        return content.decode()
    except UnicodeDecodeError:
        raise DataError(f"{path.name}: is no certificate of kohort.") from None
    except OSError as error:
        raise DataError(f"{path.name}: cannot be opened ({(error.strerror or 'I/O error').lower()}).") from None


def _refused(constant: str) -> Mapping[str, Any]:
    raise ValueError(constant)
