"""The distinct texts of a column, of which only some are in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

TEXTS = 1 << 18
"""Texts that are held at a time."""


class Texts:
    """Texts that can be gone through any number of times; None where a value is missing.

    Parameters
    ----------
    length : int
        How many there are.
    read : callable
        Gives those from one number to before another, as strings.
    """

    def __init__(self, length: int, read: Callable[[int, int], pl.Series]) -> None:
        self._length, self._read = length, read

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> Texts:
        """Take texts that are in memory already."""
        import polars as pl

        if isinstance(texts, Texts):
            return texts
        whole = texts if isinstance(texts, pl.Series) else pl.Series(list(texts), dtype=pl.String)
        return cls(len(whole), lambda start, stop: whole[start:stop])

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str | None]:
        for _, some in self.batches():
            yield from some

    def whole(self) -> pl.Series:
        """All of them, in memory."""
        import polars as pl

        return pl.concat(
            [pl.Series([], dtype=pl.String), *(some.cast(pl.String).alias("") for _, some in self.batches())]
        )

    def batches(self) -> Iterator[tuple[slice, pl.Series]]:
        """Some texts after the other, with their numbers."""
        for start in range(0, self._length, TEXTS):
            where = slice(start, min(start + TEXTS, self._length))
            yield where, self._read(where.start, where.stop)
