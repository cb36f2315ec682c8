"""The worked example of paper 000 (GCCG): tables 2 to 8 and figure 2."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import polars as pl

from kohort.measures import MEASURES
from kohort.policy import Policy
from kohort.policy.hierarchy import Taxonomy
from kohort.release.run import anonymize
from kohort.reports.reproduce.base import Claim, Verdict, by_share

NAMES = ("education", "race", "sex", "age")
TABLE_4 = [
    ("Bachelors", "White", "Male", 39),
    ("Bachelors", "White", "Male", 50),
    ("HS-grad", "White", "Male", 38),
    ("11th", "Black", "Male", 53),
    ("Bachelors", "Black", "Female", 28),
    ("Masters", "White", "Female", 37),
    ("9th", "Black", "Female", 49),
    ("HS-grad", "White", "Male", 52),
    ("Masters", "White", "Female", 31),
    ("Bachelors", "White", "Male", 42),
]
"""Its first eight records are table 2."""
SCORES = ("1.8", "1.8", "1.8", "1.6", "1.6", "1.4", "1.4", "1.2", "1.1", "0.9")
"""Table 5."""
TABLE_3 = [{39, 50}, {38, 52}, {49, 53}, {28, 37}]
TABLE_7 = [{39, 42}, {50, 52}, {37, 38}, {28, 31}, {49, 53}]
TABLE_8 = [{39, 42}, {37, 38, 50}, {52, 53}, {28, 31, 49}]
"""Classes by the ages of their members."""
THREE_LEVELS = {"Low": ["9th", "11th", "HS-grad"], "High": ["Bachelors", "Masters"]}
FOUR_LEVELS = {
    "Senior high": {"Low": ["9th", "11th"], "HS-grad only": ["HS-grad"]},
    "University": {"High": ["Bachelors", "Masters"]},
}


def example_claims() -> tuple[Claim, ...]:
    """What the paper says about its ten records."""
    return (
        Claim("scores", "Table 5", "the scores of the ten records are 1.8 (three times) down to 0.9.", _scores),
        Claim(
            "classes-of-the-example",
            "Tables 3, 6 and 7",
            "with K = 2 the eight records of table 2 become the classes of table 3, the ten of table 4 those of table "
            "7.",
            _classes,
        ),
        Claim("parallel-example", "Table 8", "two threads make the four classes of table 8.", _parallel),
        Claim(
            "tree-of-education",
            "Tables 8 and 9",
            "the hierarchy of education has three levels, of which table 8 publishes 'Senior high'.",
            _tree,
        ),
        Claim("figure-2", "Figure 2", "generalizing e to c costs 2/3, and the distance of e and f is 1/2.", _figure_2),
    )


def _found(records: int, tree: dict[str, Any], algorithm: str | dict[str, Any]) -> list[set[int]]:
    """The classes of a release, by the ages of their members."""
    frame = pl.DataFrame(TABLE_4[:records], schema=NAMES, orient="row")
    trees = {"education": {"tree": tree}, "race": {"flat": True}, "sex": {"flat": True}}
    policy = Policy.build(k=2, quasi_identifiers=NAMES, hierarchies=trees, algorithm=algorithm, seed=1)
    release = anonymize(frame, policy)
    classes: dict[tuple[Any, ...], set[int]] = {}
    for row, place in zip(release.table.rows(), release.row_order, strict=True):
        classes.setdefault(row, set()).add(frame["age"][int(place)])
    return sorted(classes.values(), key=min)


def _same(found: list[set[int]], printed: list[set[int]]) -> bool:
    return found == sorted(printed, key=min)


def _scores(results: pl.DataFrame) -> Verdict:
    counts = [Counter(column) for column in zip(*TABLE_4, strict=True)]
    shares = [sum(Fraction(of[value], 10) for of, value in zip(counts, row, strict=True)) for row in TABLE_4]
    found = sorted(shares, reverse=True)
    why = "A value adds its share of the records, a number, too: each age occurs once and adds 0.1."
    return Verdict(by_share(score == Fraction(text) for score, text in zip(found, SCORES, strict=True)), why)


def _classes(results: pl.DataFrame) -> Verdict:
    good = [
        _same(_found(records, tree, "gccg"), printed)
        for tree in (THREE_LEVELS, FOUR_LEVELS)
        for records, printed in ((8, TABLE_3), (10, TABLE_7))
    ]
    return Verdict(
        by_share(good), f"{sum(good)} of 4 times, with hierarchies of education of three and of four levels."
    )


def _parallel(results: pl.DataFrame) -> Verdict:
    found = _found(10, FOUR_LEVELS, {"name": "gccg-parallel", "parts": 2})
    return Verdict(by_share([_same(found, TABLE_8)]), f"With four levels of education: {_told(found)}.")


def _tree(results: pl.DataFrame) -> Verdict:
    found = _found(10, THREE_LEVELS, {"name": "gccg-parallel", "parts": 2})
    if _same(found, TABLE_8):
        return Verdict("reproduced", "Three levels give table 8.")
    return Verdict(
        "erratum",
        f"With three levels the classes are {_told(found)}, and no node can be called 'Senior high'. Four levels give "
        "table 8; table 9 has three.",
    )


def _told(classes: list[set[int]]) -> str:
    """Classes by the ages of their members."""
    return ", ".join("{" + ", ".join(map(str, sorted(ages))) + "}" for ages in classes)


def _figure_2(results: pl.DataFrame) -> Verdict:
    tree = Taxonomy.from_tree({"b": ["d"], "c": ["e", "f"]}, column="x", root="a")
    c = tree.node_of("c")
    cost, distance = (float(MEASURES.make(name, {}).node_costs(tree)[c]) for name in ("leaf", "height"))
    good = abs(cost - 2 / 3) < 1e-12, abs(distance - 1 / 2) < 1e-12
    return Verdict(by_share(good), f"By the measures `leaf` and `height`: {cost:.4f} and {distance:.4f}.")
