"""What of a verdict may be handed over: what follows from the release and its policy, and that a check passed.

A check is handed over as it is if all its figures are listed here, as figures that everybody who has the release can
compute, or that are the same for every release that passed. Of any other check, one that is new or one that looked at
the original, a few figures and a sentence without any other are left. docs/published-form.md has the list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING

from kohort.privacy import MODELS, SensitiveModel, SetModel, SizeModel

if TYPE_CHECKING:
    from kohort.audit.verdict import Check

ROW_BY_ROW, IN_ANY_ORDER = "row by row", "in any order"
"""How rows were compared with those of the original: in an order that somebody says, or column by column."""
AS_THEY_STAND = "row by row, as the files stand"
"""In the order of both files, as they fit so. That they do is for the eyes of those who have the original."""
COVERED_IN_ANY_ORDER = "every published value covers an original of its own, column by column in any order of rows"

FIGURES: Mapping[str, Collection[str]] = {
    "columns": ("identifiers", "without_role", "absent", "second.strange", "second.absent"),
    "pseudonyms": ("method", "not_pseudonyms.*", "inconsistent.*"),
    "k": (
        *("k", "smallest_class", "classes", "rows_under_k", "suppressed_rows"),
        *("without_bucket", "in_one_table", "unequal", "twice", "unreadable"),
    ),
    "diversity": ("buckets_failing", "records_in_them"),
    "missing": ("missing_cells", "rule"),
    "domain": ("rows.*", "values.*"),
    "precision": ("too_precise.*",),
    "sets": ("rows.*", "labels.*"),
    "coverage": ("method", "not_covered.*"),
    "values": ("method", "not_original.*"),
    "sensitive": ("method", "not_original.*"),
    "bounds": ("wrong.*",),
}
"""Figures of checks that follow from the release and the policy; `*` stands for the name of a column."""
IN_PART: Mapping[str, Collection[str]] = {
    "k": ("k", "suppressed_rows"),
    "persons": ("k",),
    "suppression": ("suppressed", "limit"),
    "rows": ("released",),
}
"""Public figures of checks that have others, too."""
LEFT_OUT = frozenset({"repeats"})
"""Checks that are asked for the owner alone: whether they have an answer depends on columns that nobody else sees."""
OF_THE_FILE = frozenset({"k"})
"""Checks that may say what is wrong, too: everybody who has the file can count it."""
_OF_SIZES = ("most", "found", "classes", "records")
_OF_SETS = ("k", "m", "rho", "fewest", "rare_sets", "sets", "rules", "certain", "overlapping", "merged_against_utility")
_OF_VALUES = (
    *("columns", "classes_failing", "rows_in_them"),
    *("strict_classes", "strict_classes_failing", "strict_rows_in_them"),
)
_SENTENCES = {
    "k": "every record could be at least {k} rows, each in a perfect matching of records and rows.",
    "persons": "every class has at least {k} persons.",
    "suppression": "no more records are suppressed than the policy allows.",
    "items": "every label stands for an item of its record, and no more items are left out than the policy allows.",
    "rows": "the release has no more rows than the original.",
    "m-invariance": "everybody who was released before is in a class with the same sensitive values as then.",
    "intersection": "this release and any earlier one in the ledger together reveal no more than the policy allows.",
}


def public_check(check: Check) -> tuple[str, dict[str, int | float | str]]:
    """The sentence and the figures of a check that may be handed over."""
    if not check.passed and check.name not in OF_THE_FILE:
        return f"{_table(check)}{check.name}: not kept.", {}
    if check.figures.get("method") == AS_THEY_STAND:
        return f"{_table(check)}{COVERED_IN_ANY_ORDER}.", {**check.figures, "method": IN_ANY_ORDER}
    known = public_figures(check.name)
    if known and all(_is_listed(name, known) for name in check.figures):
        return check.sentence, dict(check.figures)
    if not check.passed:
        return f"{_table(check)}{check.name}: not kept.", {}
    figures = {name: check.figures[name] for name in IN_PART.get(check.name, ()) if name in check.figures}
    return _table(check) + _SENTENCES.get(check.name, f"{check.name}: kept.").format(**figures), figures


def _table(check: Check) -> str:
    return f"table {check.table}: " if check.table else ""


@cache
def public_figures(name: str) -> Collection[str]:
    """The figures of a check that follow from the release and the policy; none of one that is not known here."""
    model = MODELS.get(name)
    if model is not None and issubclass(model, SizeModel):
        return _OF_SIZES
    if model is not None and issubclass(model, SetModel):
        return _OF_SETS
    if model is not None and issubclass(model, SensitiveModel):
        return (*_OF_VALUES, *(field.name for field in fields(model)))  # type: ignore[arg-type]
    return FIGURES.get(name, ())


def _is_listed(figure: str, known: Collection[str]) -> bool:
    of_column, dot, _ = figure.partition(".")
    return figure in known or bool(dot and f"{of_column}.*" in known)
