"""Places: regions of Eurostat (NUTS), postcodes, states of the US and subdivisions of countries (ISO 3166-2).

Codes say themselves what they lie in. Names of subdivisions are recognised if pycountry is installed
(``kohort[knowledge]``); which of the countries they are of is that with most of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from kohort.policy.hierarchy.suggest.countries import plain_name
from kohort.policy.hierarchy.suggest.groups import Branch, Node

Path: TypeAlias = tuple[str, ...]
"""What a text lies in, from the widest."""
_ENOUGH = 0.9
_NAMED = 0.75
_NUTS_COUNTRIES = """
    AT BE BG CH CY CZ DE DK EE EL ES FI FR HR HU IE IS IT LI LT LU LV ME MK MT NL NO PL PT RO RS SE SI SK TR UK
"""
_NUTS = frozenset(_NUTS_COUNTRIES.split())
_UK_AREAS = """
    AB AL B BA BB BD BH BL BN BR BS BT CA CB CF CH CM CO CR CT CV CW DA DD DE DG DH DL DN DT DY E EC EH EN EX FK
    FY G GL GU GY HA HD HG HP HR HS HU HX IG IM IP IV JE KA KT KW KY L LA LD LE LL LN LS LU M ME MK ML N NE NG NN
    NP NR NW OL OX PA PE PH PL PO PR RG RH RM S SA SE SG SK SL SM SN SO SP SR SS ST SW SY TA TD TF TN TQ TR TS TW
    UB W WA WC WD WF WN WR WS WV YO ZE
"""
_AREAS = frozenset(_UK_AREAS.split())
_DIVISIONS = {
    "New England": ("Northeast", "CT ME MA NH RI VT"),
    "Middle Atlantic": ("Northeast", "NJ NY PA"),
    "East North Central": ("Midwest", "IL IN MI OH WI"),
    "West North Central": ("Midwest", "IA KS MN MO NE ND SD"),
    "South Atlantic": ("South", "DC DE FL GA MD NC SC VA WV"),
    "East South Central": ("South", "AL KY MS TN"),
    "West South Central": ("South", "AR LA OK TX"),
    "Mountain": ("West", "AZ CO ID MT NV NM UT WY"),
    "Pacific": ("West", "AK CA HI OR WA"),
}
"""Divisions of the US census, each with its region and states."""


def by_place(texts: Sequence[str]) -> tuple[list[Node], str] | None:
    """Texts that are regions, postcodes or states, by what they lie in; None if too few of them are.

    Examples
    --------
    >>> tree, reason = by_place(["DE21A", "DE212", "DE300", "FR101"])
    >>> [node if isinstance(node, str) else node.label for node in tree], reason
    (['DE*', 'FR101'], 'regions of Eurostat (NUTS), by country and level')
    """
    if len(texts) < 3:
        return None
    for find, reason, enough in _KINDS:
        paths = find(texts)
        if len(paths) >= max(3, enough * len(texts)):
            others = [text for text in texts if text not in paths]
            tree = _tree([text for text in texts if text in paths], paths, 0, set(texts))
            if len(tree) == 1 and not others and isinstance(tree[0], Branch):
                tree = list(tree[0].children)  # it holds all of them, as the root does
            return [*tree, *others], reason
    return None


def _tree(texts: Sequence[str], paths: Mapping[str, Path], depth: int, taken: set[str]) -> list[Node]:
    """The texts below what they lie in, at that depth; what holds a single one is left out."""
    groups: dict[str | None, list[str]] = {}
    for text in texts:
        path = paths[text]
        groups.setdefault(path[depth] if depth < len(path) else None, []).append(text)
    found: list[Node] = list(groups.pop(None, []))
    for label, some in groups.items():
        inner = _tree(some, paths, depth + 1, taken)
        assert label is not None
        found += inner if len(inner) == 1 else [Branch(_free(label, taken), inner)]
    return found


def _free(label: str, taken: set[str]) -> str:
    """A label that no value and no other group has."""
    while label in taken:
        label += "*" if label.endswith("*") else " (region)"
    taken.add(label)
    return label


def _each(path: Callable[[str], Path | None]) -> Callable[[Sequence[str]], dict[str, Path]]:
    """Find the paths of texts one by one."""
    return lambda texts: {text: found for text in texts if (found := path(text.strip())) is not None}


def _region(text: str) -> Path | None:
    if text[:2] not in _NUTS or not re.fullmatch(r"[A-Z]{2}[0-9A-Z]{1,3}", text) or not re.search(r"\d|[A-Z]{3}", text):
        return None
    return tuple(f"{text[:size]}*" for size in range(2, len(text)))


def _british(text: str) -> Path | None:
    match = re.fullmatch(r"([A-Z]{1,2})(\d[A-Z\d]?) ?(\d)[A-Z]{2}", text)
    if match is None or match[1] not in _AREAS:
        return None
    area, district = match[1], match[1] + match[2]
    return f"{area}*", f"{district}*", f"{district} {match[3]}*"


def _british_districts(texts: Sequence[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for text in texts:
        match = re.fullmatch(r"([A-Z]{1,2})\d[A-Z\d]?", text)
        if match is not None and match[1] in _AREAS:
            found[text] = (f"{match[1]}*",)
    # one letter and two digits may be a code of anything
    return found if sum(text[1].isalpha() for text in found) >= 0.3 * len(texts) else {}


_POSTCODES = (
    (re.compile(r"\d{4} ?[A-Z]{2}"), (1, 2, 4)),  # Netherlands
    (re.compile(r"\d{4}-\d{3}"), (1, 2, 4)),  # Portugal
    (re.compile(r"\d{5}-\d{4}"), (1, 3, 5)),  # United States, with the street
    (re.compile(r"\d{5}-\d{3}"), (1, 2, 3, 5)),  # Brazil
    (re.compile(r"[A-Z]\d[A-Z] ?\d[A-Z]\d"), (1, 3)),  # Canada
    (re.compile(r"\d{2}-\d{3}"), (1, 2)),  # Poland
    (re.compile(r"\d{3} \d{2}"), (1, 2, 3)),  # Sweden, Czechia, Slovakia, Greece
    (re.compile(r"(?:A|B|CH|D|DK|F|I|L|NL)-\d{4,5}"), ()),  # with the country before it
)


def _postcode(text: str) -> Path | None:
    for shape, sizes in _POSTCODES:
        if shape.fullmatch(text):
            start = text.find("-") + 1
            return tuple(f"{text[:size]}*" for size in sizes or (start, start + 1, start + 2))
    return None


def _states(texts: Sequence[str]) -> dict[str, Path]:
    inside = {
        state: (region, division) for division, (region, states) in _DIVISIONS.items() for state in states.split()
    }
    names = {name: code.removeprefix("US-") for name, code in _names("US").items()}
    found = {text: inside.get(text.strip().upper()) or inside.get(names.get(plain_name(text), "")) for text in texts}
    return {text: path for text, path in found.items() if path is not None}


def _subdivision_codes(texts: Sequence[str]) -> dict[str, Path]:
    known = _subdivisions()
    return {text: _above(known[text.strip()]) for text in texts if text.strip() in known}


def _subdivision_names(texts: Sequence[str]) -> dict[str, Path]:
    plain = {text: plain_name(text) for text in texts}
    countries = Counter(country for name in plain.values() for country in _countries().get(name, ()))
    if not countries:
        return {}
    country, known = countries.most_common(1)[0][0], _subdivisions()
    names = _names(country)
    inside = {text: _above(known[names[name]], named=True) for text, name in plain.items() if name in names}
    return {text: path[1:] for text, path in inside.items() if len(path) > 1}


def _above(place: Any, *, named: bool = False) -> Path:
    """The country of a subdivision and what it lies in there, as codes or as names."""
    known, path = _subdivisions(), []
    while place.parent_code is not None and place.parent_code in known:
        place = known[place.parent_code]
        path.append(_called(place)[0] if named else f"{place.code}*")
    return (f"{place.country_code}-*", *reversed(path))


@cache
def _subdivisions() -> dict[str, Any]:
    """Subdivisions of all countries by their codes, if pycountry is there."""
    try:
        import pycountry
    except ImportError:
        return {}
    return {place.code: place for place in pycountry.subdivisions}


@cache
def _names(country: str) -> dict[str, str]:
    """Names of the subdivisions of a country, and their codes; the smaller place has the name of two."""
    places = [place for place in _subdivisions().values() if place.country_code == country]
    places.sort(key=lambda place: place.parent_code is not None)
    return {plain_name(name): place.code for place in places for name in _called(place)}


def _called(place: Any) -> list[str]:
    """The names of a subdivision, in all its languages."""
    return [name.strip() for name in re.split(r"[/;*\[\]()]", place.name) if name.strip()]


@cache
def _countries() -> dict[str, set[str]]:
    """Names of subdivisions, and the countries that have one of that name."""
    found: dict[str, set[str]] = {}
    for country in {place.country_code for place in _subdivisions().values()}:
        for name in _names(country):
            found.setdefault(name, set()).add(country)
    return found


_KINDS: tuple[tuple[Callable[[Sequence[str]], Mapping[str, Path]], str, float], ...] = (
    (_each(_british), "postcodes of the United Kingdom, by area, district and sector", _ENOUGH),
    (_each(_region), "regions of Eurostat (NUTS), by country and level", _ENOUGH),
    (_each(_postcode), "postcodes, by their first digits", _ENOUGH),
    (_states, "states of the US, under the regions and divisions of its census", _ENOUGH),
    (_subdivision_codes, "subdivisions of countries (ISO 3166-2), under what they lie in", _ENOUGH),
    (_subdivision_names, "subdivisions of a country, under what they lie in (ISO 3166-2)", _NAMED),
    (_british_districts, "postcode districts of the United Kingdom, by area", _ENOUGH),
)
