"""Where the papers' data lie on this machine, and how they get there.

A table is accepted by its content, not by where it comes from: the digest of the converted table
is known here, and anything else is refused.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

from kohort.errors import DataError

if TYPE_CHECKING:
    import polars as pl

VARIABLE = "KOHORT_DATA"
TIMEOUT_SECONDS = 30.0
SIZE_LIMIT = 16 * 2**20  # bytes; four times what the Adult table needs

Opener: TypeAlias = Callable[[str, float], AbstractContextManager[IO[bytes]]]


def data_directory() -> Path | None:
    """Find the directory with the papers' data; None if there is none.

    The environment variable `KOHORT_DATA` decides if it is set. Otherwise the first that exists:
    `../shared/data` beside a source checkout, the same beside the working directory, and
    `kohort/data` in the user's cache directory.

    Raises
    ------
    DataError
        If `KOHORT_DATA` names no directory.
    """
    return next(_directories(), None)


def find(file: str) -> Path | None:
    """Find a file, given relative to the data directory, in the first place that has it."""
    return next((place / file for place in _directories() if (place / file).is_file()), None)


def missing(file: str) -> DataError:
    """Say what to do about a file that is nowhere."""
    if VARIABLE in os.environ:
        return DataError(f"The directory that {VARIABLE} names has no file {file}.")
    return DataError(f"The file {file} was not found: set {VARIABLE} to the directory that has it.")


def cache_directory() -> Path:
    """Give the directory that downloads go to; it need not exist."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "kohort" / "data"


def _directories() -> Iterator[Path]:
    if VARIABLE in os.environ:
        chosen = Path(os.environ[VARIABLE])
        if not os.environ[VARIABLE] or not chosen.is_dir():
            raise DataError(f"The environment variable {VARIABLE} names no existing directory.")
        yield chosen
        return
    places = [Path.cwd().parent / "shared" / "data", cache_directory()]
    project = Path(__file__).resolve().parents[3]
    if (project / "pyproject.toml").is_file():  # a source checkout, not an installed package
        places.insert(0, project.parent / "shared" / "data")
    yield from (place for place in places if place.is_dir())


def digest(table: pl.DataFrame) -> str:
    r"""Give the SHA-256 of a table of strings, written as csv with header, commas and `\n`.

    Examples
    --------
    >>> import polars as pl
    >>> digest(pl.DataFrame({"a": ["1", "2"]}))[:16]
    'd4fa155a0784a254'
    """
    text = table.write_csv(separator=",", line_terminator="\n", quote_style="necessary", null_value="")
    return hashlib.sha256(text.encode()).hexdigest()


def check(table: pl.DataFrame, name: str, sha256: str) -> pl.DataFrame:
    """Return the table if it is the one with this digest."""
    if digest(table) != sha256:
        raise DataError(f"The {name} table is not the published one: the checksum of its content differs.")
    return table


def open_https(url: str, timeout: float) -> AbstractContextManager[IO[bytes]]:
    """Open an address with an opener that speaks https only, also when it is redirected."""
    proxies = {scheme: proxy for scheme, proxy in urllib.request.getproxies().items() if scheme == "https"}
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(proxies),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    response: AbstractContextManager[IO[bytes]] = opener.open(url, timeout=timeout)
    return response


def fetch(url: str, opener: Opener = open_https, limit: int = SIZE_LIMIT) -> bytes:
    """Download what lies at an address.

    Parameters
    ----------
    url : str
        An https address.
    opener : callable
        Takes the address and the timeout in seconds; returns an open binary file.
    limit : int
        Most bytes to accept.

    Raises
    ------
    DataError
        If the address is not https, the network fails, or there are more than `limit` bytes.
    """
    if not url.startswith("https://"):
        raise DataError(f"The address {url} is refused, because it is not https.")
    try:
        with opener(url, TIMEOUT_SECONDS) as response:
            content = response.read(limit + 1)
    except (OSError, http.client.HTTPException) as error:
        fault = (
            f"The download of {url} failed ({type(error).__name__}): set {VARIABLE} to a directory that has the file."
        )
        raise DataError(fault) from error
    if len(content) > limit:
        raise DataError(f"The download of {url} is refused, because it has more than {limit} bytes.")
    return content


def store(table: pl.DataFrame, path: Path) -> None:
    """Write a table as csv such that the path never holds half of it."""
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        table.write_csv(part)
        part.replace(path)
    except OSError as error:
        raise DataError(f"The downloaded table cannot be kept in {path.parent} ({type(error).__name__}).") from error
    finally:
        with suppress(OSError):  # it is gone already, or was never there
            part.unlink()
