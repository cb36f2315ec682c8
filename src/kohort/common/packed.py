"""Packed files, gzip and Zstandard: which they are, and their plain bytes.

Maker and auditor unpack by the same libraries, and read what comes out by readers of their own.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias, cast

from kohort.errors import DataError

Packing: TypeAlias = Literal["none", "gzip", "zstd"]
SUFFIXES: dict[str, Packing] = {".gz": "gzip", ".zst": "zstd"}
"""Ends of the names of packed files."""
_BLOCK = 1 << 20
_MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def named_packing(path: Path) -> Packing:
    """How a file is, or is to be, packed: by its name.

    Examples
    --------
    >>> named_packing(Path("table.csv.zst"))
    'zstd'
    """
    return SUFFIXES.get(path.suffix.lower(), "none")


def found_packing(head: bytes) -> Packing:
    """How a file is packed: by its first bytes."""
    return next((packing for magic, packing in _MAGIC.items() if head.startswith(magic)), "none")


def unpacked(path: Path, packing: Packing) -> IO[bytes]:
    """Open a file for its plain bytes; damage is an OSError, an EOFError or a zlib.error.

    Raises
    ------
    DataError
        When the library for Zstandard is not installed.
    """
    if packing == "gzip":
        return cast("IO[bytes]", gzip.open(path))
    if packing == "none":
        return path.open("rb")
    return cast("IO[bytes]", io.BufferedReader(_Unpacked(path), _BLOCK))


class _Unpacked(io.RawIOBase):
    """The plain bytes of a Zstandard file; the library's own reader takes a file that is cut off for a whole one."""

    def __init__(self, path: Path) -> None:
        self._library = _zstandard(path)
        self._file = path.open("rb")
        self._frame: Any = None
        self._plain = memoryview(b"")

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there are bytes."""
        while not self._plain:
            piece = (self._frame.unused_data if self._frame and self._frame.eof else b"") or self._file.read(_BLOCK)
            if not piece:
                if self._frame is not None and not self._frame.eof:
                    raise EOFError
                return 0
            if self._frame is None or self._frame.eof:
                self._frame = self._library.ZstdDecompressor().decompressobj()
            try:
                self._plain = memoryview(self._frame.decompress(piece))
            except self._library.ZstdError:
                raise EOFError from None
        count = min(len(buffer), len(self._plain))
        buffer[:count] = self._plain[:count]
        self._plain = self._plain[count:]
        return count

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def _zstandard(path: Path) -> Any:
    try:
        import zstandard
    except ImportError:
        raise DataError(f"{path.name}: files packed with Zstandard need a library; install kohort[zstd].") from None
    return zstandard


@contextmanager
def packed(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file for writing, packed if its name says so."""
    packing = named_packing(path)
    with path.open("wb") as file:
        if packing == "gzip":
            # A gzip header names the file and the time by default; that of the release has neither.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as writer:
                yield cast("IO[bytes]", writer)
        elif packing == "zstd":
            with _zstandard(path).ZstdCompressor(level=3).stream_writer(file, closefd=False) as writer:
                yield cast("IO[bytes]", writer)
        else:
            yield file
