"""Texts that name people or machines, by their shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LETTERS = r"[^\W\d_]['\w .-]*"
PATTERNS = {
    "e-mail addresses": [r"[^\s@]+@[^\s@]+\.[^\s@.]+"],
    "addresses on the web": [r"^(https?://|www\.)\S+$"],
    "addresses of machines": [r"^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$"],
    "telephone numbers": [r"^(\+|00|\(0|0)[\d()/ .-]{6,20}\d$", r"^\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}$"],
    "account numbers": [r"^[A-Z]{2}\d{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}$"],
    "social-security numbers": [
        r"^\d{3}-\d{2}-\d{4}$",
        r"^[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]$",
        r"^[12] ?\d{2} ?\d{2} ?\d[0-9AB] ?\d{3} ?\d{3} ?\d{2}$",
        r"^\d{2} ?\d{6} ?[A-Z] ?\d{3}$",
        r"^[XYZ\d]\d{7}-?[A-Z]$",
    ],
    "long numbers, as of accounts and cards": [r"^\d([ -]?\d){8,}$"],
    "codes made by machines": [r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$", r"^[0-9a-f]{32,64}$"],
    "streets with numbers": [
        rf"^{_LETTERS}(str\.|straße|strasse|weg|allee|platz|straat|laan|street|road|avenue|lane)\s*\d+\s*\w?$",
        rf"^(rue|via|calle|rua|avenida|avenue|plaza|piazza)\s{_LETTERS},?\s+\d+$",
        rf"^\d+,?\s{_LETTERS}\s(street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard)\.?$",
        rf"^\d+,?\s(rue|avenue|boulevard)\s{_LETTERS}$",
    ],
}
"""What texts look like to regular expressions, any of which may fit."""
_INITIALS = re.compile(r"^([^\W\d_]\.[ -]?)+[^\W\d_]{2,}$|^[^\W\d_]{2,},? ([^\W\d_]\. ?)+$")
_TITLES = re.compile(r"^(dr|prof|mr|mrs|ms|herr|frau|mme|mlle|sra?|sig|dott|dhr|mevr)\.?\s+[^\W\d_]", re.IGNORECASE)
_COMMON = """
    james john robert michael william david richard joseph thomas charles mary patricia jennifer linda elizabeth
    barbara susan jessica sarah karen nancy lisa margaret emily emma olivia sophia george paul mark donald kevin
    brian daniel anna peter hans klaus wolfgang juergen jürgen stefan andreas monika petra sabine ursula renate
    claudia julia lena leonie finn jonas lukas maximilian felix heike birgit jan karl heinz uwe katrin katja jean
    pierre michel philippe alain nicolas louis marie nathalie isabelle sylvie catherine camille chloe chloé lea
    léa manon hugo jose josé juan antonio francisco manuel carlos javier maria maría carmen ana isabel dolores
    pilar lucia lucía sofia sofía pablo diego alvaro giuseppe giovanni mario luigi marco andrea luca matteo
    francesca giulia chiara sara laura paolo elena piet kees johannes willem hendrik cornelis dirk sanne daan sem
    lotte fleur joost femke joao joão pedro tiago rui miguel ines inês mariana beatriz sofie eva max leon mia ben
    noah liam lucas martin simon christian alexander sebastian nina sophie charlotte clara hannah marta rosa alice
    helena teresa alberto fernando ricardo luis luís roberto stefano silvia valentina martina federica henk anneke
    ingrid margot
"""
_FIRST_NAMES = frozenset(_COMMON.split())


def share_of(texts: Sequence[str], *patterns: str, ignore_case: bool = True) -> float:
    """The share of texts that one of the patterns fits."""
    found = re.compile("|".join(patterns), re.IGNORECASE if ignore_case else 0).search
    return sum(found(text) is not None for text in texts) / max(1, len(texts))


def share_of_names(texts: Sequence[str]) -> float:
    """The share of texts of several words with a common first name at an end, with a title, or with initials.

    Examples
    --------
    >>> share_of_names(["Anna Schmidt", "Smith, John", "Dr. Who", "Multiple Sclerosis"])
    0.75
    """
    return sum(map(_is_name, texts)) / max(1, len(texts))


def _is_name(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text.lower())
    shaped = _TITLES.match(text) or _INITIALS.match(text)
    return bool(shaped) or (1 < len(words) < 6 and bool({words[0], words[-1]} & _FIRST_NAMES))
