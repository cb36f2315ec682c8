"""Ed25519 signatures (RFC 8032), by the library `cryptography`."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kohort.common.private import read_secret
from kohort.common.regular import regular
from kohort.errors import DataError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_SIZES = {"key": 32, "signature": 64}


@dataclass(frozen=True)
class Signature:
    """A public key, and what the private one that belongs to it made of a document."""

    key: str
    """The public key: its 32 bytes in base64."""
    signature: str
    """64 bytes in base64."""

    @classmethod
    def of(cls, data: dict[str, Any]) -> Signature:
        """Take plain data.

        Raises
        ------
        ValueError, TypeError, KeyError
            When it is something else.
        """
        for name, size in _SIZES.items():
            content = b64decode(data[name], validate=True)
            # the last letter has bits to spare: only one way to write them is taken
            if len(content) != size or b64encode(content).decode() != data[name]:
                raise ValueError(name)
        return cls(**data)

    def to_dict(self) -> dict[str, str]:
        """Plain data."""
        return {"key": self.key, "signature": self.signature}

    @property
    def fingerprint(self) -> str:
        """What a person can compare: the SHA-256 of the public key's bytes, in hexadecimal digits."""
        return hashlib.sha256(b64decode(self.key)).hexdigest()

    def is_of(self, body: bytes) -> bool:
        """Whether it was made of these bytes by the owner of the key."""
        refuse_without_signatures()
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(b64decode(self.key)).verify(b64decode(self.signature), body)
        except (InvalidSignature, ValueError):
            return False
        return True


def signed(body: bytes, key: str | Path) -> Signature:
    """Sign bytes with a private key from a file."""
    private = private_key(key)
    return Signature(_written(private.public_key()), b64encode(private.sign(body)).decode())


def new_keys() -> tuple[str, str]:
    """A new private key and its public key, as PEM."""
    refuse_without_signatures()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    secret = private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = private.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    return secret.decode(), public.decode()


def private_key(path: str | Path) -> Ed25519PrivateKey:
    """A private key from its file.

    Raises
    ------
    DataError
        When there is none, or somebody else could have put it there.
    """
    refuse_without_signatures()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = _bytes_of(Path(path))
    try:
        found = load_pem_private_key(content, password=None)
    except Exception:
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        raise DataError(f"{Path(path).name}: is no private key of Ed25519 in PEM; make one: kohort certificate keygen.")
    return found


def public_key(path: str | Path) -> str:
    """A public key from its file, as signatures have it.

    Raises
    ------
    DataError
        When there is none.
    """
    refuse_without_signatures()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    content = _bytes_of(Path(path))
    try:
        found = load_pem_public_key(content)
    except ValueError:
        found = None
    if not isinstance(found, Ed25519PublicKey):
        raise DataError(f"{Path(path).name}: is no public key of Ed25519 in PEM; ask its owner for it again.")
    return _written(found)


def refuse_without_signatures() -> None:
    """Refuse if the library is not installed.

    Raises
    ------
    DataError
        Naming the extra.
    """
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise DataError('certificate: signatures are not installed; run: pip install "kohort[signature]".') from None


def _written(key: Ed25519PublicKey) -> str:
    return b64encode(key.public_bytes_raw()).decode()


def _bytes_of(path: Path) -> bytes:
    try:
        return read_secret(regular(path))
    except OSError as error:
        raise DataError(f"{path.name}: cannot be read ({(error.strerror or 'I/O error').lower()}).") from None
