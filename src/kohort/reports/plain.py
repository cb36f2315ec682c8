"""A verdict in plain words: for the last lines of a command, and for the first one of a report."""

from __future__ import annotations

from kohort.audit import Verdict
from kohort.policy.sections import Anonymity

_ALIKE: dict[Anonymity, str] = {
    "classes": "every record looks like at least {others}",
    "matchings": "every record could be the row of at least {others}",
    "buckets": "every record shares its sensitive values with at least {others}",
}


def promised(k: int, anonymity: Anonymity) -> str:
    """What k means, without its name.

    Examples
    --------
    >>> promised(10, "classes"), promised(2, "matchings")
    ('every record looks like at least 9 others', 'every record could be the row of at least 1 other')
    """
    return _ALIKE[anonymity].format(others=f"{k - 1:,} other{'' if k == 2 else 's'}")


def records_in_words(verdict: Verdict) -> str:
    """How many records are published, and what became of the others."""
    facts = verdict.facts
    if facts.rows_original is None:
        return f"{facts.rows_released:,} are published."
    if not facts.suppressed:
        return f"all {facts.rows_original:,} are published, none is suppressed."
    share = facts.suppressed / max(facts.rows_original, 1)
    shown = facts.rows_released - (facts.suppressed - (facts.withheld or 0))
    return f"{shown:,} of {facts.rows_original:,} are published, {facts.suppressed:,} ({100 * share:.2f} %) suppressed."
