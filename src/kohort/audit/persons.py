"""Whether every class has k persons, where a person may have several rows."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import numpy as np

from kohort.audit.case import Case, count
from kohort.audit.verdict import Check

_WHOLE = re.compile(r"([+-]?)(0|[1-9][0-9]*)(?:\.0+)?")


def identity(text: str) -> str:
    """Write equal identifiers in one way: ``7.0`` and ``+7`` are ``7``; ``007`` is a code, and another one.

    Examples
    --------
    >>> [identity(text) for text in ("7", " +7.00", "-0", "007", "Ann ")]
    ['7', '7', '0', '007', 'Ann']
    """
    text = unicodedata.normalize("NFC", text.strip())
    match = _WHOLE.fullmatch(text)
    if match is None:
        return text
    return "-" + match[2] if match[1] == "-" and match[2] != "0" else match[2]


@dataclass(frozen=True)
class _Source:
    """Where it stands who a released row is about."""

    relation: str
    """Has the columns `released`, the row, and `who`, a text."""
    method: str


def persons(case: Case) -> Check | None:
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
        return Check("persons", False, f"persons cannot be counted, as {source}.", figures)
    counts, unknown = _counts(case, source)
    under, fewest = int((counts < wanted).sum()), int(counts.min()) if len(counts) else 0
    figures |= {"fewest_persons": fewest, "classes_under_k": under, "rows_without_person": unknown}
    figures |= {"method": source.method}
    faults = []
    if under:
        has = "has" if under == 1 else "have"
        several = count(len(counts), "class", "classes")
        faults.append(f"{under:,} of {several} {has} fewer than k = {wanted} persons (fewest {fewest})")
    if unknown:
        faults.append(f"{count(unknown, 'row')} {'does' if unknown == 1 else 'do'} not say who the person is")
    fine = f"every class has at least {wanted} persons (fewest {fewest:,}), {source.method}"
    if not len(counts):
        fine = "every row is suppressed, so there is no class"
    return Check("persons", not faults, f"{'; '.join(faults) or fine}.", figures)


def _source(case: Case, name: str) -> _Source | str:
    """Where persons can be counted, or why they cannot."""
    original, release = case.original, case.release
    if original is not None and name in original.columns and case.order_known:
        relation = f"SELECT released, o_{original.columns[name]} AS who FROM paired"
        return _Source(relation, "counted in the original, row by row")
    if name in case.policy.pseudonyms and name in release.columns:
        relation = f"SELECT rowid AS released, {release.columns[name]} AS who FROM release"
        return _Source(relation, "counted by pseudonyms")
    if original is None:
        return "the file does not tell them and the original was not given"
    if name not in original.columns:
        return f"column {name!r} is not in the original"
    return "it is not known which original row each row comes from"


def _counts(case: Case, source: _Source) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], int]:
    """The number of persons of each class, and of rows that do not tell theirs."""
    import polars as pl

    database, release = case.release.database, case.release
    texts = [text for (text,) in database.rows(f"SELECT DISTINCT who FROM ({source.relation})") if text is not None]
    who = [identity(text) or None for text in texts]
    people = pl.DataFrame({"text": texts, "person": who}, schema={"text": pl.String, "person": pl.String})
    database.register("people", people)
    literals = ", ".join(map(release.literal, case.columns))
    # rows of '*' are a class if they are not suppressed records
    shown = "true" if case.starred_class else "NOT starred"
    found = database.arrays(
        f"SELECT count(DISTINCT person) AS persons, count(*) - count(person) AS unknown FROM release "
        f"JOIN ({source.relation}) AS told ON told.released = release.rowid "
        f"LEFT JOIN people ON people.text = told.who WHERE {shown} GROUP BY {literals}"
    )
    return np.asarray(found["persons"], np.int64), int(np.sum(found["unknown"]))
