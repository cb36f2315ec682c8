"""What a release publishes as it is, and which columns are `*` everywhere: counted in the release, so for everybody."""

from __future__ import annotations

from kohort.audit.case import Case
from kohort.audit.verdict import AsIs
from kohort.policy import Column


def as_is_of(case: Case) -> AsIs:
    """Count the values of what is not generalized, and the rows that are unique in it."""
    policy, release = case.policy, case.release
    names = [name for name in policy.having_role("sensitive", "insensitive") if name in release.columns]
    if policy.privacy.anonymity == "buckets":
        names += case.columns
    columns = {name: values for name, (values, _) in release.repeats(names).items()}
    combinations, unique = release.combinations(names) if names else (0, 0)
    hidden = {name: cure(policy.columns[name]) for name in case.columns if _is_hidden(case, name)}
    return AsIs(columns, combinations, unique, hidden)


def cure(column: Column, texts: int | None = None) -> str:
    """What may help if a quasi-identifier is `*` in every row.

    Parameters
    ----------
    texts : int, optional
        Its distinct values in the original; as secret as the original.
    """
    many = "" if texts is None else f"{texts:,} values and "
    if column.hierarchy is not None:
        return f"{many}a hierarchy that has nothing between them and *; give it levels between, or a smaller k"
    if column.type in ("integer", "number", "date"):
        return f"{many}some of them missing in every class; give missing = 'suppress', or drop the column"
    return f"{many}no hierarchy; give a format if they are dates, or a prefix hierarchy or a tree"


def _is_hidden(case: Case, name: str) -> bool:
    """Whether a column says nothing."""
    dictionary = case.release.dictionary(name)
    return dictionary.star is not None and int(dictionary.times[dictionary.star]) == case.release.rows
