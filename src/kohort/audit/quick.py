"""A promise in a few words, for a file of which there is no policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kohort.audit.read.database import Database
from kohort.audit.read.load import load
from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.policy.faults import closest_place


def quick_policy(
    release: Any,
    *,
    k: int,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    distinct: int | None = None,
) -> Policy:
    """The policy of a file that is judged by its k, and its l, alone: all other columns may be published.

    Parameters
    ----------
    release : path, or whatever else `load` takes
        Its header says which columns there are.
    quasi_identifiers, sensitive : sequence of str
        Names of columns; one text may hold several, with commas between.
    distinct : int, optional
        The least number of distinct values of each sensitive column in every class.
    """
    with Database() as database:
        header = load(database, "release", release, Policy.build(k=k, quasi_identifiers=["any"]), ()).header
    return policy_in_words(header, k=k, quasi_identifiers=quasi_identifiers, sensitive=sensitive, distinct=distinct)


def policy_in_words(
    header: Sequence[str],
    *,
    k: int,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    distinct: int | None = None,
) -> Policy:
    """The same for a file of which the header is known."""
    quasi, kept = _named(quasi_identifiers, header), _named(sensitive, header)
    others = [name for name in header if name not in quasi and name not in kept]
    promise: dict[str, Any] = {"model": "distinct-l-diversity", "l": distinct}
    policy = Policy.build(k=k, quasi_identifiers=quasi, sensitive=kept, insensitive=others, suppression_limit=1.0)
    if distinct is None:
        return policy
    return policy.with_changes("privacy", models=[promise | {"column": name} for name in kept])


def _named(given: Sequence[str], header: Sequence[str]) -> list[str]:
    """The names of columns; what is no name as a whole is several, with commas between."""
    names: list[str] = []
    for one in given:
        names += [one] if one in header else [part.strip() for part in one.split(",")]
    PolicyError.refuse(
        f"column {name!r} is not in the file{closest_place(name, header)}; name columns as its header does."
        for name in names
        if name not in header
    )
    return list(dict.fromkeys(names))
