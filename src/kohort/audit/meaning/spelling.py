"""What is the same, however it is spelled: persons, pseudonyms and sensitive values, for every check that counts them.

Texts that a reader takes for the same count as one: fewer persons and fewer values are the safe side. Comparing a
release with its original is another matter (see `kohort.audit.checks.truth`): there a changed blank is a change.

The maker decides the same in `kohort.table.spelling` and `identities`, and shares no line with this: a spelling that it
took for another person would else pass as one here, too. A test compares both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias
from unicodedata import category, normalize

from kohort.audit.meaning.intervals import day
from kohort.audit.meaning.notation import plain_number
from kohort.audit.meaning.published import unquoted
from kohort.audit.read.database import Database, quoted

if TYPE_CHECKING:
    from kohort.policy import Policy

_PLAIN = "[!-~]+( [!-~]+)*"
"""Texts that have no other way to be written, if they are no numbers: the database knows such by itself."""
_NUMBER = r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]*)?"
_SHORTEST = "0|-?[1-9][0-9]*"
_AT_ONCE = 1 << 16
"""Texts that Python has at a time."""

_DECIMAL = re.compile(r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:e(?P<power>[+-]?[0-9]{1,3}))?")
_COMMON = re.compile("[A-Za-z][A-Za-z0-9._/-]*( [A-Za-z0-9._/-]+)*|[1-9][0-9]*")
"""Words and whole numbers that have no other spelling but that of case, which is most of them."""
_UNSEEN = frozenset(
    chr(code)
    for first, last in (
        (0x34F, 0x34F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0xFE00, 0xFE0F),
        (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)
_EMPTY_BRAILLE = "⠀"
_TYPED = {
    letter: key
    for key, letters in {"-": "‐‑‒–—―−", "'": "‘’‚‛ʼ′", '"': "“”„‟″", "/": "⁄∕"}.items()
    for letter in letters
}
"""Dashes and quotes as they are printed, and the keys that stand for them."""

Alike: TypeAlias = Callable[[str | None], Hashable]
"""Writes equal values in one way; None for a missing one."""


def identity(text: str) -> str:
    """Write equal identifiers in one way: ``7.0`` and ``+7`` are ``7``; ``007`` is a code, and another one.

    Examples
    --------
    >>> [identity(text) for text in ("7", " +7.00", "-0", "007", "Ann ")]
    ['7', '7', '0', '007', 'Ann']
    """
    text = _seen(text)
    match = _DECIMAL.fullmatch(text)
    if match is None or match["power"] is not None or re.match("0[0-9]", match["whole"]):
        return text
    return _decimal(match) or text


def alike(text: str) -> str:
    """Write equal sensitive values in one way; as identifiers, and whatever the case, zeros and exponents.

    Examples
    --------
    >>> [alike(text) for text in ("HIV ", "hiv", "01", "1e0", "2024-01-31T00:00")]
    ['hiv', 'hiv', '1', '1', '2024-01-31']
    """
    if _COMMON.fullmatch(text):
        return text.lower()
    text = _seen(text)
    if len(text) > 4 and text[4] == "-":
        moment = _moment(text)
        if moment is not None:
            return moment
    folded = normalize("NFKC", text.casefold())
    match = _DECIMAL.fullmatch(folded)
    return (_decimal(match) if match else None) or folded


def sensitive_values(policy: Policy, name: str) -> Alike:
    """Make the comparison of a sensitive column as a release writes it; dates by the style of the policy."""
    column, missing = policy.columns[name], missing_forms(policy, alike)

    def form(text: str | None) -> Hashable:
        if text is None:
            return None
        date = day(text, column.format) if column.type == "date" else None
        if date is not None:
            return date
        spelled = alike(written(policy, name, text) or "")
        return None if spelled in missing else spelled

    return form


def written(policy: Policy, name: str, text: str | None) -> str | None:
    """Take the apostrophe from a cell of a release that keeps formulas from running; a number as a plain one."""
    text = unquoted(text) if text and policy.output.formulas == "neutralised" else text
    notation = policy.notation(name)
    if notation is None or not text or text in policy.input.missing:
        return text
    return plain_number(text, notation) or text


def missing_forms(policy: Policy, form: Callable[[str], str]) -> frozenset[str]:
    """How texts for a missing value are written in one way; a text of blanks is one, too."""
    return frozenset([*(form(text) for text in policy.input.missing), ""])


def persons(policy: Policy) -> Callable[[str | None], str | None]:
    """Make the comparison of identifiers; None for one that names nobody. Many at once: `told_apart`."""
    nobody = missing_forms(policy, identity)

    def form(text: str | None) -> str | None:
        name = None if text is None else identity(text)
        return None if name in nobody else name

    return form


def told_apart(database: Database, relation: str, policy: Policy) -> str:
    """Make SQL of the person that a text is about, NULL if it is about none, where `relation` has the texts as ``who``.

    Only texts that may be written in another way come to Python, some at a time; the statement that uses the SQL must
    join ``people ON people.text = who``.
    """
    import polars as pl

    schema = {"text": pl.String, "person": pl.String}
    database.rows("CREATE OR REPLACE TEMP TABLE people (text VARCHAR, person VARCHAR)")
    number = f"regexp_full_match(who, '{_NUMBER}') AND NOT regexp_full_match(who, '{_SHORTEST}')"
    odd = f"NOT regexp_full_match(who, '{_PLAIN}') OR ({number})"
    nobody = missing_forms(policy, identity)
    texts = database.streamed(f"SELECT DISTINCT who FROM ({relation}) AS seen WHERE who IS NOT NULL AND ({odd})")
    while some := [text for (text,) in islice(texts, _AT_ONCE)]:
        database.register("some_people", pl.DataFrame({"text": some, "person": map(identity, some)}, schema=schema))
        database.rows("INSERT INTO people SELECT text, person FROM some_people")
    named = "CASE WHEN people.text IS NULL THEN who ELSE people.person END"
    return f"CASE WHEN {named} IN ({quoted(sorted(nobody))}) THEN NULL ELSE {named} END"


def _seen(text: str) -> str:
    """What there is to see of a text: letters in one form, words with one blank between them."""
    words, word = [], ""
    for letter in normalize("NFKC", text):
        if letter.isspace() or letter == _EMPTY_BRAILLE:
            words.append(word)
            word = ""
        elif letter not in _UNSEEN and category(letter) not in {"Cf", "Cc"}:
            word += _TYPED.get(letter, letter)
    return normalize("NFKC", " ".join(filter(None, [*words, word])))


def _decimal(match: re.Match[str]) -> str | None:
    """The digits of a number without needless zeros and without an exponent; None where there are none."""
    whole, part = match["whole"] or "", match["part"] or ""
    if not whole + part:
        return None
    power = int(match["power"] or 0) if "power" in match.groupdict() else 0
    point = len(whole) + power
    digits = whole + part
    if point < 0:
        digits, point = "0" * -point + digits, 0
    digits = digits.ljust(point, "0")
    whole, part = digits[:point].lstrip("0") or "0", digits[point:].rstrip("0")
    number = f"{whole}.{part}" if part else whole
    return f"-{number}" if match["sign"] == "-" and number != "0" else number


def _moment(text: str) -> str | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    is_day = moment.tzinfo is None and moment == moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return moment.strftime("%Y-%m-%d").rjust(10, "0") if is_day else moment.isoformat(" ")
