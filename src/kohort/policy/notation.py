"""How a table writes its numbers: the decimal mark, and the mark between thousands."""

from __future__ import annotations

from typing import Literal, NamedTuple

DecimalMark = Literal[".", ","]
ThousandsMark = Literal[".", ",", "'", "_", " "]
BLANKS = " \u00a0\u2009\u202f"
"""All of them are a blank between thousands, and both of the others an apostrophe."""
APOSTROPHES = "'\u2019"


class Notation(NamedTuple):
    """The marks in the numbers of a column; reading them is for the maker and the auditor, each in its own way."""

    decimal: str
    thousands: str | None

    @classmethod
    def of(cls, decimal: str | None, thousands: str | None) -> Notation | None:
        """The marks that are given: a point between thousands makes the decimal mark a comma; None without any."""
        if decimal is None and thousands is None:
            return None
        return cls(decimal or ("," if thousands == "." else "."), thousands)

    @property
    def between(self) -> str:
        """All characters that may stand between thousands; empty for none."""
        return {" ": BLANKS, "'": APOSTROPHES, None: ""}.get(self.thousands, self.thousands or "")

    @property
    def words(self) -> str:
        """For messages."""
        marks = {".": "point", ",": "comma", "'": "apostrophe", "_": "underscore", " ": "blank"}
        between = f" and a {marks[self.thousands]} between thousands" if self.thousands else ""
        return f"with a decimal {marks[self.decimal]}{between}".replace("a apo", "an apo").replace("a und", "an und")


def marks_fault(decimal: str | None, thousands: str | None) -> str | None:
    """What is wrong with two marks, if anything is."""
    return "'decimal' and 'thousands' must be different marks" if decimal is not None and decimal == thousands else None
