"""What several releases together reveal about somebody who is in all of them.

An outsider knows a person's quasi-identifiers, and that the person is in this release and in an earlier one.
The person is then in a class of each whose descriptions overlap, and has sensitive values that both classes
show (Ganta, Kasiviswanathan and Smith 2008). Every such pair of classes is looked at; releases are taken two by
two. A pair fails if the two together leave fewer values than the policy promises and than each class alone
shows, or fewer records of a class than k and than the class has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kohort.audit.checks.pairs import Tally, compared
from kohort.audit.earlier.invariance import is_comparable
from kohort.audit.earlier.overlap import comparable
from kohort.audit.earlier.shown import Sight
from kohort.audit.ledger import Entry, Shown
from kohort.audit.verdict import Check
from kohort.audit.words import count
from kohort.policy import Policy
from kohort.privacy import SensitiveModel, models_of

if TYPE_CHECKING:
    from kohort.audit.case import LoadedCase


def intersection(case: LoadedCase) -> Check | None:
    """Ask whether this release together with any earlier one still leaves what the policy promises.

    Releases whose persons are recognised are compared person by person instead.
    """
    sight, ledger = case.sight, case.ledger
    if ledger is None:
        return None
    if sight is None:
        sentence = "earlier releases cannot be compared, as the release lacks a column of the policy."
        return Check("intersection", False, sentence)
    if case.people is None:
        return _intersection(sight, ledger.releases, case.policy)
    others = [entry for entry in ledger.releases if not is_comparable(entry, sight)]
    return _intersection(sight, others, case.policy) if others else None


def _intersection(sight: Sight, earlier: Sequence[Entry], policy: Policy) -> Check:
    shown = sight.shown
    others = [entry.shown for entry in earlier if not _is_alike(entry.shown, shown)]
    promised = _promised(policy)
    tallies = [compared(sight, other, promised, policy) for other in others]
    records = np.array([group.count for one in shown.classes for group in one.records])
    touched = np.zeros(len(records), bool)
    for tally in tallies:
        touched |= tally.touched
    figures = {
        "releases": len(earlier),
        "pending": sum(entry.status == "pending" for entry in earlier),
        "alike": len(earlier) - len(others),
        "pairs": sum(tally.pairs for tally in tallies),
        "pairs_failing": sum(tally.failing for tally in tallies),
        "records_in_them": int(records[touched].sum()),
        "pairs_short_of_records": sum(tally.short[None] for tally in tallies),
        **{f"pairs_short_of.{name}": _short(tallies, name) for name in promised if name is not None},
        "pairs_short_alone": sum(tally.alone for tally in tallies),
        "columns_not_compared": sum(_not_compared(shown, other) for other in others),
    }
    passed = not figures["pairs_failing"]
    if not earlier:
        sentence = "the ledger has no earlier release"
    elif not others:
        sentence = "every earlier release in the ledger shows just what this one shows"
    elif not figures["pairs"]:
        sentence = "no class shows a sensitive value in common with an overlapping class of an earlier release"
    else:
        pairs = f"{count(figures['pairs'], 'overlapping pair')} of classes (one here, one in an earlier release)"
        if passed:
            sentence = f"for none of {pairs} the two together reveal more than the policy allows"
        else:
            sentence = _failure(figures, pairs, promised, tallies)
    return Check("intersection", passed, f"{sentence}.", figures)


def _failure(
    figures: Mapping[str, int], pairs: str, promised: Mapping[str | None, int], tallies: Sequence[Tally]
) -> str:
    what = [
        f"fewer than {f'k = {least} records' if name is None else f'{least} values of column {name!r}'} "
        f"in {count(_short(tallies, name), 'pair')}"
        for name, least in promised.items()
        if _short(tallies, name)
    ]
    failing, records = figures["pairs_failing"], figures["records_in_them"]
    sentence = (
        f"for {failing:,} of {pairs} the two together reveal more than the policy allows: {', '.join(what)}; "
        f"up to {count(records, 'record')} of this release {'is' if records == 1 else 'are'} affected"
    )
    if figures["columns_not_compared"]:
        columns = count(figures["columns_not_compared"], "quasi-identifier")
        sentence += f"; {columns} of earlier releases had another hierarchy or type and could not be compared"
    return sentence


def _promised(policy: Policy) -> dict[str | None, int]:
    """Least number of records, under None, and of values of each sensitive column that a person may be left with."""
    least: dict[str | None, int] = {None: policy.privacy.k}
    least |= dict.fromkeys(policy.having_role("sensitive"), 2)
    for model in models_of(policy):
        if isinstance(model, SensitiveModel):
            for column in model.columns:
                least[column] = max(least[column], math.ceil(getattr(model, "l", 2)))
    return least


def _short(tallies: Sequence[Tally], name: str | None) -> int:
    return sum(tally.short[name] for tally in tallies)


def _is_alike(one: Shown, other: Shown) -> bool:
    """Whether two releases show the same, in whatever order of rows: then both together reveal what each reveals."""
    return (one.quasi, one.sensitive, one.classes) == (other.quasi, other.sensitive, other.classes)


def _not_compared(new: Shown, old: Shown) -> int:
    """Quasi-identifiers of both releases whose published values may mean other things in the two."""
    names = {column.name for column in new.quasi} & {column.name for column in old.quasi}
    return len(names) - len(comparable(new, old))
