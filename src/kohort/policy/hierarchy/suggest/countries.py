"""Countries under the regions of the United Nations (standard M49).

Countries are recognised by their ISO codes; by their names, in seven languages, if pycountry and Babel are installed
(``kohort[knowledge]``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from kohort.policy.hierarchy.suggest.groups import Branch, Node

REGIONS: dict[str, dict[str, str]] = {
    "Africa": {
        "Northern Africa": "DZ EG LY MA SD TN EH",
        "Eastern Africa": "IO BI KM DJ ER ET TF KE MG MW MU YT MZ RE RW SC SO SS UG TZ ZM ZW",
        "Middle Africa": "AO CM CF TD CG CD GQ GA ST",
        "Southern Africa": "BW SZ LS NA ZA",
        "Western Africa": "BJ BF CV CI GM GH GN GW LR ML MR NE NG SH SN SL TG",
    },
    "Americas": {
        "Caribbean": "AI AG AW BS BB BQ VG KY CU CW DM DO GD GP HT JM MQ MS PR BL KN LC MF VC SX TT TC VI",
        "Central America": "BZ CR SV GT HN MX NI PA",
        "South America": "AR BO BV BR CL CO EC FK GF GY PY PE GS SR UY VE",
        "Northern America": "BM CA GL PM US UM",
    },
    "Asia": {
        "Central Asia": "KZ KG TJ TM UZ",
        "Eastern Asia": "CN HK MO KP JP MN KR TW",
        "South-eastern Asia": "BN KH ID LA MY MM PH SG TH TL VN",
        "Southern Asia": "AF BD BT IN IR MV NP PK LK",
        "Western Asia": "AM AZ BH CY GE IQ IL JO KW LB OM QA SA PS SY TR AE YE",
    },
    "Europe": {
        "Eastern Europe": "BY BG CZ HU PL MD RO RU SK UA",
        "Northern Europe": "AX DK EE FO FI GG IS IE IM JE LV LT NO SJ SE GB",
        "Southern Europe": "AL AD BA HR GI GR VA IT MT ME MK PT SM RS SI ES XK",
        "Western Europe": "AT BE FR DE LI LU MC NL CH",
    },
    "Oceania": {
        "Australia and New Zealand": "AU CX CC HM NZ NF",
        "Melanesia": "FJ NC PG SB VU",
        "Micronesia": "GU KI MH FM NR MP PW",
        "Polynesia": "AS CK PF NU PN WS TK TO TV WF",
    },
}
_OTHERS = {
    "usa": "US", "uk": "GB", "england": "GB", "scotland": "GB", "wales": "GB", "northern ireland": "GB",
    "south korea": "KR", "north korea": "KP", "laos": "LA", "vietnam": "VN", "russia": "RU", "iran": "IR",
    "syria": "SY", "taiwan": "TW", "holland": "NL", "czech republic": "CZ", "macedonia": "MK", "ivory coast": "CI",
    "hong kong": "HK", "hong": "HK", "moldova": "MD", "tanzania": "TZ", "venezuela": "VE", "bolivia": "BO",
    "trinidad": "TT", "trinadad tobago": "TT", "columbia": "CO", "burma": "MM", "swaziland": "SZ", "turkey": "TR",
    "cape verde": "CV", "palestine": "PS", "kosovo": "XK", "brunei": "BN", "micronesia": "FM", "macau": "MO",
}  # fmt: skip
_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt")
_ENOUGH = 0.75
"""With at least this share of countries among the texts, the others are put under one branch."""


def by_country(texts: Sequence[str]) -> tuple[list[Node], str] | None:
    """Texts that are countries, by region; None if too few of them are.

    Examples
    --------
    >>> tree, _ = by_country(["FR", "DE", "IT", "JP", "CN"])
    >>> [node.label for node in tree]
    ['Asia', 'Europe']
    """
    if len(texts) < 3 or len(texts) > 300:
        return None
    found = {text: code for text in texts if (code := code_of(text)) is not None}
    if len(found) < 3 or len(found) < _ENOUGH * len(texts):
        return None
    if all(len(text) == 2 for text in texts) and len(found) < len(texts):  # other codes of two letters
        return None
    tree: list[Node] = []
    taken = {text.casefold() for text in texts}
    for region, parts in REGIONS.items():
        inner: list[Node] = []
        for part, codes in parts.items():
            here = [text for text, code in found.items() if code in codes.split()]
            inner += here if len(here) < 2 else [Branch(_free(part, taken), here)]
        if len(inner) == 1 and isinstance(inner[0], Branch):
            inner = list(inner[0].children)
        tree += inner if len(inner) < 2 else [Branch(_free(region, taken), inner)]
    others = [text for text in texts if text not in found]
    tree += others if len(others) < 2 else [Branch(_free("other countries", taken), others)]
    return tree, "countries, under the regions of the United Nations (M49)"


def code_of(text: str) -> str | None:
    """The ISO code of a country that is written in any way; None for what is none."""
    plain = plain_name(text)
    known = _known()
    return known.get(plain) or (_OTHERS.get(plain) if len(plain) > 3 or plain in ("usa", "uk") else None)


@cache
def _known() -> dict[str, str]:
    """Names and codes of countries, as far as they are known."""
    codes = {code for parts in REGIONS.values() for some in parts.values() for code in some.split()}
    found = {code.lower(): code for code in codes}
    try:
        import pycountry
        from babel import Locale
    except ImportError:
        return found
    for country in pycountry.countries:
        if country.alpha_2 in codes:
            for key in ("alpha_3", "name", "official_name", "common_name"):
                if name := getattr(country, key, None):
                    found.setdefault(plain_name(name), country.alpha_2)
    for language in _LANGUAGES:
        for code, name in Locale(language).territories.items():
            if code in codes:
                found.setdefault(plain_name(name), code)
    return found


def plain_name(text: str) -> str:
    """A name by its letters alone, small ones without accents."""
    letters = "".join(part for part in unicodedata.normalize("NFKD", text) if not unicodedata.combining(part))
    return " ".join(re.findall(r"[a-z]+", letters.lower()))


def _free(label: str, taken: set[str]) -> str:
    """A label that no value has."""
    return label if label.casefold() not in taken else f"{label} (region)"
