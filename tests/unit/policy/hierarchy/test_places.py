"""Hierarchies of places, from what their codes and names say."""

import random
import string

import pytest

from kohort.policy.hierarchy.suggest import suggest
from kohort.policy.hierarchy.suggest.places import by_place


def path(texts, text):
    """What a text lies in, from the nearest, in the tree that is proposed for these texts."""
    rows = suggest(dict.fromkeys(texts, 1), "place").taxonomy.to_rows()
    return next(row for row in rows if row[0] == text)[1:]


def within(texts, text, *labels):
    """Whether a text lies in all of these, in this order; between them may be more."""
    found = iter(path(texts, text))
    return all(label in found for label in labels)


@pytest.mark.parametrize(
    ("texts", "text", "labels"),
    [
        (["DE212", "DE21A", "DE300", "FR101", "FR102", "EL301"], "DE212", ["DE21*", "DE*", "*"]),
        (["DE21", "DE22", "DE3", "FR1", "AT1", "ITC1", "ITC4"], "ITC1", ["ITC*", "*"]),
        (["SW1A 1AA", "SW1A 2AA", "SW1X 7XL", "M1 1AE", "M1 2AB"], "SW1A 1AA", ["SW1A*", "SW*", "*"]),
        (["SW1A1AA", "SW1A1AB", "SW2 7XL", "LS1 1AE"], "SW1A1AA", ["SW1A 1*", "SW*", "*"]),
        (["1011 AB", "1011 AC", "1022 AB", "3511 XZ"], "1011 AB", ["1011*", "10*", "*"]),
        (["1000-001", "1000-002", "4000-010"], "1000-001", ["1000*", "*"]),
        (["90210-1234", "90210-1235", "90211-0001", "10001-0001"], "90210-1234", ["90210*", "902*", "*"]),
        (["K1A 0B1", "K1A 0B2", "K2P 1L4", "M5V 3L9"], "K1A 0B1", ["K1A*", "K*", "*"]),
        (["D-10115", "D-10117", "D-80331", "A-1010", "A-8010"], "D-10115", ["D-10*", "D-*", "*"]),
        (["CA", "WA", "TX", "NY", "NJ", "WY"], "CA", ["Pacific", "West", "*"]),
        (["SW1", "SW2", "SE1", "NW3", "NW5", "M1"], "SW1", ["SW*", "*"]),
    ],
)
def test_codes_lie_in_what_they_begin_with(texts, text, labels):
    assert within(texts, text, *labels), path(texts, text)


@pytest.mark.parametrize(
    ("texts", "text", "labels"),
    [
        (["California", "Oregon", "Utah", "Texas", "Oklahoma", "New York"], "Oregon", ["Pacific", "*"]),
        (["US-CA", "US-NY", "DE-BY", "DE-BE", "FR-ARA"], "DE-BY", ["DE-*", "*"]),
        (["Milano", "Bergamo", "Roma", "Latina", "Torino", "Cuneo"], "Bergamo", ["Lombardia", "*"]),
        (["Sevilla", "Cádiz", "Barcelona", "Girona", "Lleida"], "Girona", ["Catalunya", "*"]),
    ],
)
def test_names_and_codes_of_subdivisions(texts, text, labels):
    pytest.importorskip("pycountry")
    assert within(texts, text, *labels), path(texts, text)


@pytest.mark.parametrize(
    "texts",
    [
        ["flu", "cold", "asthma"],
        ["A1", "A2", "B1", "B20"],
        ["E11", "I10", "J45", "M54"],
        ["low", "middle", "high"],
        ["DE", "FR", "IT"],
        ["DEXA scan", "MRI", "CT"],
        ["Weber", "Koch", "Wolf", "Lange"],
        ["12345", "12346", "99999"],
    ],
)
def test_other_texts_are_no_places(texts):
    assert by_place(texts) is None


@pytest.mark.parametrize("seed", range(6))
def test_every_tree_of_places_holds_all_texts_once(seed):
    r = random.Random(seed)
    letters, digits = string.ascii_uppercase, string.digits
    makers = [
        lambda: r.choice(["DE", "FR", "UK", "EL"]) + "".join(r.choice(digits + "AB") for _ in range(r.randint(1, 3))),
        lambda: (
            f"{r.choice(['SW', 'M', 'LS'])}{r.randint(1, 20)} {r.choice(digits)}{r.choice(letters)}{r.choice(letters)}"
        ),
        lambda: f"{r.randint(1000, 9999)} {r.choice(letters)}{r.choice(letters)}",
        lambda: f"{r.randint(10, 99)}-{r.randint(100, 999)}",
    ]
    make = makers[seed % 4]
    texts = sorted({make() for _ in range(200)} | ({"DE2", "DE21"} if seed % 4 == 0 else set()))
    found = suggest(dict.fromkeys(texts, 1), "place")
    assert sorted(found.taxonomy.leaf_labels) == texts
