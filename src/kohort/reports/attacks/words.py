"""What to paste against an attack: lines for the policy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kohort.policy import Policy


def with_model(policy: Policy, **model: Any) -> str:
    """Lines of a policy that promise one more model, instead of one of the same name about the same column.

    Examples
    --------
    >>> print(with_model(Policy.build(k=2, quasi_identifiers=["age"]), model="k-e", column="pay", k=2, e=100))
    [privacy]
    models = [{ model = "k-e", column = "pay", k = 2, e = 100 }]
    """
    same = ("model", "column")
    others = [one for one in policy.privacy.models if any(one.get(key) != model.get(key) for key in same)]
    entries = [*map(_table, others), _table(model)]
    if len(entries) == 1:
        return f"[privacy]\nmodels = [{entries[0]}]"
    lines = "".join(f"    {entry},\n" for entry in entries)
    return f"[privacy]\nmodels = [\n{lines}]"


def with_keys(column: str, **keys: Any) -> str:
    """Lines of a policy that give a column more keys.

    Examples
    --------
    >>> print(with_keys("age", snap=5))
    [columns."age"]
    snap = 5
    """
    return "\n".join([f"[columns.{text(column)}]", *(f"{key} = {text(value)}" for key, value in keys.items())])


def _table(entries: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {text(value)}" for key, value in entries.items()) + " }"


def text(value: Any) -> str:
    """A value as TOML has it: of texts, numbers, and lists of these, JSON is a part."""
    return json.dumps(value, ensure_ascii=False)
