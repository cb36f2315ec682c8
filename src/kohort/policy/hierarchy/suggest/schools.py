"""Education under the levels of ISCED, where texts say it in words that are common in tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kohort.policy.hierarchy.suggest.groups import Branch, Node

_LEVELS: dict[str, str] = {
    "up to primary education": r"preschool|kindergarten|no school|illiterate|primary|elementary|1st|[1-6](st|nd|rd|th)"
    r"|grundschule|ohne abschluss|primaria|primaire|elementare|basisschool|basisonderwijs|isced ?[01]\b",
    "lower secondary education": r"[7-9]th|10th|middle school|lower secondary|junior high|hauptschul|realschul"
    r"|mittlere reife|college|brevet|secundaria|media inferiore|vmbo|mavo|basico|isced ?2\b",
    "upper secondary education": r"11th|12th|hs[- ]?grad|high school|upper secondary|a[- ]level|abitur|matura|lyc"
    r"|baccalaur|bachillerato|superiore|havo|vwo|mbo|secundario|isced ?[34]\b|some[- ]college|berufs|lehre|ausbildung",
    "higher education": r"bachelor|licen[cs]|assoc|degree|prof[- ]school|universit|fachhochschul|hochschul|hbo|laurea"
    r"|isced ?[56]\b|undergraduate|diplom",
    "postgraduate education": r"master|doctor|phd|ph\.d|promotion|mba|m[aá]ster|mestrado|doutor|dottor|isced ?[78]\b",
}
_ENOUGH = 0.75
_SURE = re.compile(
    r"bachelor|hs-?grad|high school|abitur|isced|lyc[eé]e|bachillerato|hauptschul|doctorate|laurea", re.I
)


def by_education(texts: Sequence[str]) -> tuple[list[Node], str] | None:
    """Texts that are levels of education, in their order; None if too few of them are."""
    if not 4 <= len(texts) <= 60 or not any(_SURE.search(text) for text in texts):
        return None
    found: dict[str, list[str]] = {level: [] for level in _LEVELS}
    others: list[str] = []
    for text in texts:
        level = next((level for level in reversed(_LEVELS) if re.search(_LEVELS[level], text, re.IGNORECASE)), None)
        (others if level is None else found[level]).append(text)
    if len(others) > (1 - _ENOUGH) * len(texts):
        return None
    levels = [some[0] if len(some) == 1 else Branch(level, some) for level, some in found.items() if some]
    return [*levels, *others], "levels of education, grouped as ISCED does"
