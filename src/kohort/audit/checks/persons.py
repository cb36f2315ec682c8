"""Whether every class has k persons, where a person may have several rows."""

from __future__ import annotations

from dataclasses import dataclass

from kohort.audit.case import LoadedCase
from kohort.audit.meaning.spelling import told_apart
from kohort.audit.verdict import UNDECIDED, Check
from kohort.audit.words import count


@dataclass(frozen=True)
class _Source:
    """Where it stands who a released row is about."""

    relation: str
    """Has the columns `released`, the row, and `who`, a text."""
    method: str


def persons(case: LoadedCase) -> Check | None:
    """Ask whether every class has k different persons, if the policy counts persons."""
    name, wanted = case.policy.privacy.person, case.policy.privacy.k
    if name is None:
        return None
    figures: dict[str, int | float | str] = {"k": wanted}
    if case.policy.privacy.anonymity != "classes" or case.classes is None:
        sentence = "persons cannot be counted, as the release is not in classes of all quasi-identifiers."
        return Check("persons", False, sentence, figures)
    source = _source(case, name)
    if isinstance(source, str):
        return Check("persons", False, f"persons cannot be counted, as {source}.", figures | {"method": UNDECIDED})
    counts = _counts(case, source)
    under, fewest, unknown = counts.under, counts.fewest, counts.unknown
    figures |= {"fewest_persons": fewest, "classes_under_k": under, "rows_without_person": unknown}
    figures |= {"method": source.method}
    faults = []
    if under:
        has = "has" if under == 1 else "have"
        several = count(counts.classes, "class", "classes")
        faults.append(f"{under:,} of {several} {has} fewer than k = {wanted} persons (fewest {fewest})")
    if unknown:
        faults.append(f"{count(unknown, 'row')} {'does' if unknown == 1 else 'do'} not say who the person is")
    fine = f"every class has at least {wanted} persons (fewest {fewest:,}), {source.method}"
    if not counts.classes:
        fine = "every row is suppressed, so there is no class"
    return Check("persons", not faults, f"{'; '.join(faults) or fine}.", figures)


def _source(case: LoadedCase, name: str) -> _Source | str:
    """Where persons can be counted, or why they cannot."""
    original, release = case.original, case.release
    if original is not None and name in original.columns and case.order_known:
        relation = f"SELECT released, o_{original.columns[name]} AS who FROM paired"
        return _Source(relation, "counted in the original, row by row")
    if name in case.policy.pseudonyms and name in release.columns:
        relation = f"SELECT rowid AS released, {release.columns[name]} AS who FROM release"
        return _Source(relation, "counted by pseudonyms")
    if original is None:
        return "the file does not name them and the original was not given"
    if name not in original.columns:
        return f"column {name!r} is not in the original"
    return case.order_unknown


@dataclass(frozen=True)
class _Counts:
    """Classes, those with fewer than k persons, the fewest persons of one, and rows without a person."""

    classes: int
    under: int
    fewest: int
    unknown: int


def _counts(case: LoadedCase, source: _Source) -> _Counts:
    database, release, wanted = case.release.database, case.release, case.policy.privacy.k
    person = told_apart(database, source.relation, case.policy)
    keys = release.keys(list(case.columns))
    # rows of '*' are a class if they are not suppressed records
    shown = "true" if case.starred_class else f"NOT ({keys.starred})"
    database.rows(
        f"CREATE OR REPLACE TEMP TABLE class_people AS SELECT {keys.names}, {person} AS person, count(*) AS times FROM "
        f"(SELECT {release.row} AS released, {keys.named} FROM {release.relation} {keys.joined} WHERE {shown}) AS r "
        f"JOIN ({source.relation}) AS written USING (released) LEFT JOIN people ON people.text = who GROUP BY ALL"
    )
    [(classes, under, fewest)] = database.rows(
        f"SELECT count(*), count(*) FILTER (persons < {wanted}), coalesce(min(persons), 0) FROM "
        f"(SELECT count(person) AS persons FROM class_people GROUP BY {keys.names}) AS counted"
    )
    [(unknown,)] = database.rows(
        "SELECT CAST(coalesce(sum(times), 0) AS BIGINT) FROM class_people WHERE person IS NULL"
    )
    return _Counts(int(classes), int(under), int(fewest), int(unknown))
