"""Sizes of memory as people write them."""

from __future__ import annotations

from pydantic import ByteSize, TypeAdapter, ValidationError

from kohort.errors import DataError

LEAST = 256 * 10**6
"""Less than this is not enough to work with."""
_MOST = 2**60
"""No machine has more; a limit above it is none, and libraries do not take every number."""


def memory_of(given: str | int) -> int:
    """Read a limit of memory; the bytes that it means.

    Raises
    ------
    DataError
        When it is no size, or too small to work with.

    Examples
    --------
    >>> memory_of("512MB"), memory_of("1.5 GiB"), memory_of(300_000_000)
    (512000000, 1610612736, 300000000)
    >>> memory_of("2 apples")
    Traceback (most recent call last):
    kohort.errors.DataError: memory: '2 apples' is no size; give a number with MB, GB, MiB or GiB, such as 2GB.
    """
    try:
        size = int(TypeAdapter(ByteSize).validate_python(given))
    except (ValidationError, OverflowError):
        raise DataError(f"memory: {given!r} is no size; give a number with MB, GB, MiB or GiB, such as 2GB.") from None
    if size < LEAST:
        raise DataError(f"memory: {given!r} is too little to work with; give 256MB or more.")
    return min(size, _MOST)
