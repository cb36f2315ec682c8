"""The worked example of paper 001 (two-level): sixteen patients, tables I to IX."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

import polars as pl

from kohort.reports.reproduce.base import Claim, Verdict, by_share

DISEASES = dict(
    enumerate(
        [
            "FLU",
            "HIV",
            "CANCER",
            "DIABETES",
            "CANCER",
            "HIGH BP",
            "DIABETES",
            "CANCER",
            "HIV",
            "CANCER",
            "FLU",
            "HIV",
            "CANCER",
            "DIABETES",
            "CANCER",
            "HIGH BP",
        ],
        1,
    )
)
"""Table I, by ID."""
TABLE_III_DISEASES = DISEASES | {14: "HIGH BP", 16: "CANCER"}
YOUNG, OLD = (3, 7, 6, 4, 2, 1, 9, 5), (8, 16, 12, 10, 15, 11, 13, 14)
MEN = (4, 6, 7, 9, 10, 12, 13, 15)
Table = dict[str, tuple[int, ...]]
"""Published values of a column, each with the IDs of its rows."""
TABLES: dict[str, Table] = {
    "II age": {"[15-30]": YOUNG, "[41-50]": OLD},
    "II gender": {"P": YOUNG + OLD},
    "II zip": {"132***": YOUNG, "13****": OLD},
    "III": {"[15-30]": YOUNG, "[41-50]": OLD},
    "IV": {
        "13201*": (1, 6, 11, 3),
        "132012": (4, 8, 9, 14),
        "132050": (7,),
        "132150": (2, 5, 10),
        "13****": (15, 16, 13, 12),
    },
    "V": {"F": (2, 3, 5, 8), "P": (11, 14, 16, 1), "M": MEN},
    "VI": {"[15-20]": (3, 7, 6, 4), "[21-30]": (2, 1, 9, 5), "[41-50]": OLD},
    "VII": {"P": (2, 3, 5, 8, 11, 14, 16, 1), "M": MEN},
    "VIII": {"13201*": (1, 6, 11, 3, 4, 8, 9, 14), "13****": (7, 2, 5, 10, 15, 16, 13, 12)},
}
REPAIRED: Table = {value: ids for value, ids in TABLES["IV"].items() if len(ids) >= 4} | {"132***": (7, 2, 5, 10)}
"""Table IV with the class of four that its second level makes."""
WITHOUT, EQUAL, BOTH = ("II age", "II gender", "II zip"), ("III", "VII", "VIII"), ("VI", "V", "IV")
"""The tables that the printed sums use."""
RANGE = 35
DIGITS = 6


def example_claims() -> tuple[Claim, ...]:
    """What the paper says about its sixteen patients."""
    return (
        Claim("example-traditional", "Table II", "the traditional approach loses 77.50.", _traditional),
        Claim("example-equal-groups", "Tables III to V", "equal groups lose 53.50.", _equal),
        Claim("example-two-levels", "Tables VI to IX", "two levels lose 27.65.", _both),
        Claim(
            "captions",
            "Tables IV, V, VII, VIII",
            "tables III to V are those of equal groups, tables VI to VIII those of two levels.",
            _captions,
        ),
        Claim(
            "equation-2",
            "Equation 2, section 3",
            "the loss of a zip code is the height of its node over that of the hierarchy.",
            _normalized,
        ),
        Claim(
            "diseases-of-the-tables", "Tables I, II, III and VI", "all tables are about the same patients.", _diseases
        ),
        Claim("example-privacy", "Section 7", "the tables have the privacy of k = 8.", _privacy),
        Claim("example-disclosure", "Abstract", "there is no compromise with privacy.", _disclosure),
    )


def _lost(value: str, height: int) -> Fraction:
    """Loss of one record: the share of the range, the height of a gender, the stars of a zip code."""
    if ages := re.fullmatch(r"\[(\d+)-(\d+)\]", value):
        return Fraction(int(ages[2]) - int(ages[1]), RANGE)
    return Fraction(value.count("*"), height) if value.startswith("13") else Fraction(value == "P")


def _loss(tables: list[Table], height: int = 1) -> float:
    """Loss of some tables; stars are counted, or divided by a height."""
    return float(sum(len(ids) * _lost(value, height) for table in tables for value, ids in table.items()))


def _as_printed(names: tuple[str, ...], height: int = 1) -> float:
    return _loss([TABLES[name] for name in names], height)


def _traditional(results: pl.DataFrame) -> Verdict:
    found = _as_printed(WITHOUT)
    return Verdict(by_share([abs(found - 77.50) < 0.02]), f"{found:.4f}: stars of zip codes are counted.")


def _equal(results: pl.DataFrame) -> Verdict:
    found = _as_printed(EQUAL)
    return Verdict(by_share([abs(found - 53.50) < 0.02]), f"{found:.4f}, of tables {', '.join(EQUAL)}.")


def _both(results: pl.DataFrame) -> Verdict:
    alone = [value for value, ids in TABLES["IV"].items() if len(ids) < 4]
    right = _loss([TABLES["VI"], TABLES["V"], REPAIRED])
    why = f"As printed {_as_printed(BOTH):.4f}; but {' and '.join(alone)} are published as they are, in classes of "
    why += (
        f"{' and '.join(str(len(TABLES['IV'][value])) for value in alone)}. As one class of four, 132***, the loss is "
    )
    return Verdict("erratum" if alone else "reproduced", f"{why}{right:.4f}.")


def _captions(results: pl.DataFrame) -> Verdict:
    captioned = _as_printed(("III", "IV", "V")), _as_printed(("VI", "VII", "VIII"))
    why = f"By their captions they lose {captioned[0]:.2f} and {captioned[1]:.2f}; the printed sums are those of "
    why += (
        f"{', '.join(EQUAL)} ({_as_printed(EQUAL):.2f}) and {', '.join(BOTH)} ({_as_printed(BOTH):.2f}): IV and VIII "
        "are "
    )
    good = abs(captioned[0] - 53.50) < 0.02 and abs(captioned[1] - 27.65) < 0.02
    return Verdict("reproduced" if good else "erratum", f"{why}exchanged, and V and VII.")


def _normalized(results: pl.DataFrame) -> Verdict:
    found = [_as_printed(WITHOUT, DIGITS), _as_printed(EQUAL, DIGITS)]
    found.append(_loss([TABLES["VI"], TABLES["V"], REPAIRED], DIGITS))
    good = abs(found[0] - 77.50) < 0.02
    why = (
        f"The example does not divide. Divided by {DIGITS} digits, the losses are "
        f"{', '.join(f'{x:.4f}' for x in found)}."
    )
    return Verdict("reproduced" if good else "erratum", why)


def _diseases(results: pl.DataFrame) -> Verdict:
    other = [who for who in DISEASES if DISEASES[who] != TABLE_III_DISEASES[who]]
    listed = "; ".join(f"Patient {who} has {DISEASES[who]} or {TABLE_III_DISEASES[who]}" for who in other)
    return Verdict("erratum" if other else "reproduced", f"{listed}." if other else "They are.")


def _joined(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What each patient is in some tables, joined by the ID."""
    of = [{who: value for value, ids in TABLES[name].items() for who in ids} for name in names]
    return [tuple(table[who] for table in of) for who in DISEASES]


def _privacy(results: pl.DataFrame) -> Verdict:
    equal, both = (Counter(_joined(names)) for names in (EQUAL, BOTH))
    alone = {name: sum(size == 1 for size in sizes.values()) for name, sizes in (("equal", equal), ("both", both))}
    why = (
        f"Joined by the ID that all tables have, {alone['both']} of {len(DISEASES)} patients are alone; before the "
        "second "
    )
    return Verdict("reproduced" if min(both.values()) >= 8 else "erratum", f"{why}level {alone['equal']}.")


def _disclosure(results: pl.DataFrame) -> Verdict:
    left = {who: set(DISEASES.values()) for who in DISEASES}
    for name in BOTH:
        table = REPAIRED if name == "IV" else TABLES[name]
        for ids in table.values():
            there = {DISEASES[who] for who in ids}
            for who in ids:
                left[who] &= there
    one = [who for who, diseases in left.items() if len(diseases) == 1]
    why = (
        f"Even without the ID, the classes of patients {', '.join(map(str, one))} have one disease in common; those of "
    )
    why += f"{sum(len(diseases) <= 2 for diseases in left.values())} of {len(left)} two at most."
    return Verdict("erratum" if one else "reproduced", why)
