"""Texts by number: those of a column, and of several columns together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.audit.read.texts import Texts

Ints: TypeAlias = NDArray[np.integer]


@dataclass(frozen=True)
class Dictionary:
    """The distinct texts of a column, by number."""

    table: str
    """Its table in the database: key, code."""
    key: str
    """SQL of what cells are looked up by."""
    values: Texts
    """As the source writes them, None for those that mean that the value is missing."""
    times: Ints
    """Rows that have each."""
    missing: NDArray[np.bool_]
    """Which of them mean that the value is missing."""
    star: int | None
    """Number of ``*``, if it is there."""

    def __len__(self) -> int:
        return len(self.times)

    def held(self) -> Dictionary:
        """The same with all texts in memory: it can be read when the database is closed."""
        return replace(self, values=Texts.of(self.values.whole()))

    @cached_property
    def counts(self) -> dict[str | None, int]:
        """Rows of every value; None stands for missing. Python holds them all."""
        found: dict[str | None, int] = {}
        for text, times in zip(self.values, self.times.tolist(), strict=True):
            found[text] = found.get(text, 0) + times
        return found

    @property
    def bits(self) -> int:
        """Bits that a number takes."""
        return max(1, (len(self) - 1).bit_length())

    @property
    def kind(self) -> tuple[str, type[np.unsignedinteger]]:
        """The smallest type of the numbers, in the database and of arrays."""
        if self.bits <= 8:
            return "UTINYINT", np.uint8
        return ("USMALLINT", np.uint16) if self.bits <= 16 else ("UINTEGER", np.uint32)

    @property
    def untold(self) -> NDArray[np.bool_]:
        """Which of them tell nothing: missing ones, and ``*``."""
        found = self.missing.copy()
        if self.star is not None:
            found[self.star] = True
        return found


@dataclass(frozen=True)
class Keys:
    """Combinations of texts as a few whole numbers each; of many columns, as the texts themselves."""

    joined: str
    """SQL that brings the numbers of the texts to a relation."""
    words: tuple[str, ...]
    """SQL of the whole numbers or texts, which are equal for equal combinations only."""
    names: str
    """What they are called."""
    starred: str
    """SQL: whether every text is ``*``."""
    fields: tuple[tuple[int, int, int], ...]
    """Where the number of each column's text is: the word, the first bit and the number of bits; none for texts."""

    @property
    def named(self) -> str:
        """The words with their names."""
        return ", ".join(f"{word} AS {name}" for word, name in zip(self.words, self.names.split(", "), strict=True))

    def codes(self, arrays: Mapping[str, Ints]) -> list[list[int]]:
        """The numbers of the texts of each column, from arrays of the words."""
        names = self.names.split(", ")
        return [((arrays[names[word]] >> shift) & ((1 << bits) - 1)).tolist() for word, shift, bits in self.fields]
