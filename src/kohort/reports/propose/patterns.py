"""Texts that name people or machines, by their shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module

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
    "long numbers, as of accounts and cards": [r"^(?!\d{5}-\d{4}$)\d([ -]?\d){8,}$"],
    "codes made by machines": [r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$", r"^[0-9a-f]{32,64}$"],
    "streets with numbers": [
        rf"^{_LETTERS}(str\.|straße|strasse|weg|allee|platz|straat|laan|street|road|avenue|lane)\s*\d+\s*\w?$",
        rf"^(rue|via|calle|rua|avenida|avenue|plaza|piazza)\s{_LETTERS},?\s+\d+$",
        rf"^\d+,?\s{_LETTERS}\s(street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard)\.?$",
        rf"^\d+,?\s(rue|avenue|boulevard)\s{_LETTERS}$",
    ],
}
"""What texts look like to regular expressions, any of which may fit."""
_CAPITAL = r"[^\W\d_a-zà-öø-ÿ][\w'’.-]*"
CAPITALS = rf"^{_CAPITAL}(,? (\w{{1,3}} )?{_CAPITAL}){{1,3}}$"
"""Words that begin with capitals, short ones such as `de la` between them."""
_INITIALS = re.compile(r"^([^\W\d_]\.[ -]?)+[^\W\d_]{2,}$|^[^\W\d_]{2,},? ([^\W\d_]\. ?)+$")
_REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "NL", "PT", "BR", "AT", "CH", "BE")
_DIALLED = re.compile(r"^\+?[\d()/ .-]+$")
_TRIED = 60
"""Number of texts that are shown to libraries, which take their time."""
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
_SURNAMES_WORDS = """
    smith jones taylor brown williams wilson johnson davies patel wright robinson thompson evans walker white
    roberts green hall wood jackson clarke hughes edwards turner miller davis garcia martinez anderson lee harris
    clark lewis khan ahmed mueller müller schmidt schneider fischer weber meyer meier wagner becker schulz
    hoffmann schäfer koch bauer richter klein wolf schröder neumann schwarz zimmermann braun krüger hofmann
    hartmann lange werner krause lehmann köhler huber martin bernard dubois thomas robert richard petit durand
    leroy moreau simon laurent lefebvre michel garcia roux fournier girard bonnet dupont lambert fontaine rousseau
    vincent mercier blanc guerin boyer rodríguez rodriguez gonzález gonzalez fernández fernandez lópez lopez
    martínez martinez sánchez sanchez pérez perez gómez gomez ruiz hernández hernandez jiménez jimenez díaz diaz
    moreno muñoz alonso gutiérrez romero navarro torres rossi russo ferrari esposito bianchi romano colombo ricci
    marino greco bruno gallo conti costa giordano mancini rizzo lombardi moretti barbieri fontana mariani rinaldi
    jong jansen vries berg dijk bakker janssen visser smit meijer mulder bos vos peters hendriks leeuwen dekker
    brouwer silva santos ferreira pereira oliveira rodrigues martins sousa fernandes gonçalves gomes lopes marques
    alves almeida ribeiro pinto carvalho teixeira moreira correia mendes nunes soares vieira monteiro cardoso
    rocha souza lima
"""
_SURNAMES = frozenset(_SURNAMES_WORDS.split())
"""Frequent surnames."""


_NUMBERS_OF_PEOPLE = (
    "us.ssn", "ca.sin", "gb.nhs", "de.idnr", "de.stnr", "at.vnr", "ch.ssn", "fr.nir", "es.dni", "es.nie",
    "it.codicefiscale", "nl.bsn", "be.nn", "pt.nif", "pt.cc", "br.cpf", "mx.curp", "pl.pesel", "se.personnummer",
    "dk.cpr", "fi.hetu", "no.fodselsnummer", "iban", "luhn",
)  # fmt: skip
"""Modules of python-stdnum: numbers with check digits, and those whose parts are dates."""


def share_of_numbers(texts: Sequence[str]) -> float:
    """The largest share of texts that are valid numbers of people or accounts of one kind, if python-stdnum is there.

    A few of any numbers are valid by chance, most of a column are not.
    """
    some = [text for text in texts[:_TRIED] if 8 <= len(text) <= 34 and any(map(str.isdigit, text))]
    if len(some) < max(10, 0.8 * len(texts[:_TRIED])):
        return 0.0
    try:
        import_module("stdnum")
    except ImportError:
        return 0.0
    shares = (sum(map(import_module(f"stdnum.{name}").is_valid, some)) / len(some) for name in _NUMBERS_OF_PEOPLE)
    found = max(shares)
    return found if found >= 0.8 else 0.0


def share_of_telephones(texts: Sequence[str], regions: Sequence[str] = _REGIONS) -> float:
    """The largest share of texts that are telephone numbers of one region, if phonenumbers is there."""
    some = [text for text in texts[:_TRIED] if _DIALLED.match(text) and 7 <= sum(map(str.isdigit, text)) <= 15]
    if len(some) < max(10, 0.8 * len(texts[:_TRIED])):
        return 0.0
    try:
        import phonenumbers
    except ImportError:
        return 0.0

    def is_valid(text: str, region: str) -> bool:
        try:
            return phonenumbers.is_valid_number(phonenumbers.parse(text, region))
        except phonenumbers.NumberParseException:
            return False

    found = max(sum(is_valid(text, region) for text in some) / len(some) for region in regions)
    return found if found >= 0.8 else 0.0


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


def share_of_known_names(texts: Sequence[str]) -> float:
    """The share of texts that are a frequent first name or surname, or a name in several words.

    Examples
    --------
    >>> share_of_known_names(["Weber", "de Jong", "Emily", "Asthma"])
    0.75
    """
    known = _FIRST_NAMES | _SURNAMES
    return sum(_is_name(text) or not known.isdisjoint(text.lower().split()[-1:]) for text in texts) / max(1, len(texts))


def _is_name(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text.lower())
    shaped = _TITLES.match(text) or _INITIALS.match(text)
    return bool(shaped) or (1 < len(words) < 6 and bool({words[0], words[-1]} & _FIRST_NAMES))
