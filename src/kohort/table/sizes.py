"""Sizes of memory as people write them."""

from __future__ import annotations

import re

from kohort.errors import DataError

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]I?B)", re.IGNORECASE | re.ASCII)
LEAST = 256 * 10**6
"""Less than this is not enough to work with."""


def memory_of(text: str) -> int:
    """Read a limit of memory; the bytes that it means.

    Raises
    ------
    DataError
        When it is no size, or too small to work with.

    Examples
    --------
    >>> memory_of("512MB"), memory_of("1.5 GiB")
    (512000000, 1610612736)
    >>> memory_of("2")
    Traceback (most recent call last):
    kohort.errors.DataError: memory: '2' is no size; give a number with MB, GB, MiB or GiB, such as 2GB.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise DataError(f"memory: {text!r} is no size; give a number with MB, GB, MiB or GiB, such as 2GB.")
    size = int(float(match[1]) * _UNITS[match[2].upper()])
    if size < LEAST:
        raise DataError(f"memory: {text!r} is too little to work with; give 256MB or more.")
    return size
