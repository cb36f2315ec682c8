"""A verdict in plain words: for the last lines of a command, and for the first one of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def promised_in_words(verdict: Verdict) -> str:
    """What a verdict promises; of sets, what is known of their items."""
    privacy, k = verdict.promise.get("privacy", {}), verdict.facts.k
    alike = promised(k, privacy.get("anonymity", "classes"))
    columns = verdict.promise.get("columns", {})
    sets = {name for name, column in columns.items() if column.get("type") == "set"}
    if not sets:
        return alike
    others = any(column.get("role") == "quasi" for name, column in columns.items() if name not in sets)
    models = [model for model in privacy.get("models", ()) if model.get("column") in sets]
    said = [_of_items(model, k) for model in models]
    return ", and ".join(([f"{alike} but for its items"] if others else []) + said)


def _of_items(model: Mapping[str, Any], k: int) -> str:
    """What a model promises about items."""
    if model["model"] == "k-m-anonymity":
        known = "1 item" if model.get("m", 2) == 1 else f"{model.get('m', 2)} items"
        return f"whoever knows up to {known} of a record finds at least {k:,} that may have them"
    if model["model"] == "rho-uncertainty":
        return f"no sensitive item follows from other items with a confidence of {model['rho']:g}"
    return f"each protected set of items is kept by at least {k:,} records, or by none"


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
