"""One form for all spellings of a value, so that nobody is distinguished, and nothing counted, by a blank.

Promises count persons and sensitive values. Texts that a reader takes for the same must count as one: outer, double
and unusual blanks, invisible characters, typographic dashes and quotes, composed and decomposed letters, and ``7`` and
``7.0``. What is published stays as it is written. The auditor has a form of its own
(`kohort.audit.meaning.spelling`), and a test compares the two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal

import polars as pl

from kohort.policy import Policy
from kohort.table.numbers import plain_numbers

PLAIN = r"^[!-~]+(?: [!-~]+)*$"
"""Texts that have no other spelling, if they are no numbers."""
NUMBER = r"^[+-]?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?$"
"""What may be a number; a leading zero makes a code, and a code is no number."""
SHORTEST = r"^(?:0|-?[1-9][0-9]*)$"
"""A whole number that is written as short as it can be."""

_DIGITS = re.compile(r"([+-]?)(0|[1-9][0-9]*)?(?:\.([0-9]*))?")
_ANY_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?")
_WORDS = re.compile(r"[A-Za-z][!-~]*(?: [!-~]+)*")
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_IGNORED = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_BLANK_PATTERN = "\u2800"
_MARKS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032", "'")
    | dict.fromkeys("\u2044\u2215", "/")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
)
"""Dashes and quotes that word processors put where the keyboard has one."""


def identity(text: str) -> str:
    r"""Write equal identifiers in one way; empty if there is nothing to see.

    Examples
    --------
    >>> [identity(text) for text in ("7", " +7.00", "-0", "7.50", "007", "Ann\u00a0 Lee\u200b")]
    ['7', '7', '0', '7.5', '007', 'Ann Lee']
    """
    text = _cleaned(text)
    match = _DIGITS.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        return text
    fraction = (match[3] or "").rstrip("0")
    digits = (match[2] or "0") + (f".{fraction}" if fraction else "")
    return f"-{digits}" if match[1] == "-" and digits != "0" else digits


def alike(text: str) -> str:
    """Write equal sensitive values in one way: as identifiers, and whatever the case, the zeros or the exponent.

    Days are ISO, and midnight is the day.

    Examples
    --------
    >>> [alike(text) for text in ("HIV ", "hiv", "01", "1e0", "2024-01-31T00:00", " ")]
    ['hiv', 'hiv', '1', '1', '2024-01-31', '']
    """
    if _WORDS.fullmatch(text):
        return text.lower()
    if _WHOLE.fullmatch(text):
        return text
    text = _cleaned(text)
    if text[4:5] == "-":
        try:
            return datetime.fromisoformat(text).isoformat(" ").removesuffix(" 00:00:00")
        except ValueError:
            pass  # a text like any other
    text = unicodedata.normalize("NFKC", text.casefold())
    if not _ANY_NUMBER.fullmatch(text):
        return text
    digits = f"{Decimal(text):f}"
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "0" if digits == "-0" else digits


def _cleaned(text: str) -> str:
    """One form of its letters, single blanks between words, and nothing that cannot be seen."""
    shown = "".join(map(_shown, unicodedata.normalize("NFKC", text)))
    return unicodedata.normalize("NFKC", " ".join(_IGNORED.sub("", shown).split())).translate(_MARKS)


def _shown(character: str) -> str:
    if character.isspace() or character == _BLANK_PATTERN:
        return " "
    return "" if unicodedata.category(character) in ("Cc", "Cf") else character


def absent(policy: Policy, form: Callable[[str], str]) -> frozenset[str]:
    """The forms of texts that stand for a missing value."""
    return frozenset({"", *map(form, policy.input.missing)})


def one_spelling(series: pl.Series, policy: Policy, labels: Sequence[str] = ()) -> pl.Series:
    """Texts of sensitive values with one spelling for each value, null where it is missing; other types as they are.

    Parameters
    ----------
    labels : sequence of str
        Spellings that are preferred, such as the leaves of a hierarchy.
    """
    if series.dtype != pl.String:
        return series
    gone = absent(policy, alike)
    texts = series.drop_nulls().unique().sort()
    forms = [alike(text) for text in plain_numbers(texts, policy)]
    preferred = {alike(label): label for label in reversed(labels)}
    chosen: dict[str, str] = {}
    for text, form in zip(texts, forms, strict=True):
        chosen.setdefault(form, preferred.get(form, text))
    spellings = pl.Series([None if form in gone else chosen[form] for form in forms], dtype=pl.String)
    if texts.equals(spellings):
        return series
    return series.replace_strict(texts, spellings, default=None, return_dtype=pl.String)


def other_spellings(series: pl.Series) -> int:
    """Number of distinct texts that spell a value of the column in another way than some other text does."""
    if series.dtype != pl.String:
        return 0
    texts = series.drop_nulls().unique()
    return len(texts) - len({alike(text) for text in texts})
