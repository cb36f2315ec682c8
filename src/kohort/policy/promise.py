"""The part of a policy that a release is judged by, in a form that may be handed over with it.

It has no seed, no key, no path of a folder, no weight and no column that was dropped. A `domain`, the values of a
tree and those that a model lists are left out, too: they may be those of the table, which the release hides. What is
left out is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kohort.errors import DataError, PolicyError
from kohort.policy.faults import Source
from kohort.policy.model import Policy

_OUTPUT = ("order", "suppressed", "formulas", "bounds")
_COLUMN = (
    "role",
    "type",
    "hierarchy",
    "format",
    "decimal",
    "thousands",
    "pseudonym",
    "snap",
    "bottom",
    "top",
    "min_width",
    "separator",
    "item_suppression_limit",
)
_FILES = ("population", "protect", "utility")
"""Keys of models that may name a file."""
_NO_KEY = {"env": "KOHORT_KEY_IS_NOT_NEEDED"}
"""To check pseudonyms, nobody needs their key; a policy needs to say where it is."""


def promise_of(policy: Policy) -> dict[str, Any]:
    """What a release is judged by, as plain data; `left_out` has the columns of which something is missing.

    Examples
    --------
    >>> policy = Policy.from_dict({"privacy": {"k": 10}, "algorithm": {"seed": 7}, "output": {"bounds": True},
    ...                            "columns": {"age": "quasi", "name": "identifier"}})
    >>> promise_of(policy)
    {'privacy': {'k': 10}, 'output': {'bounds': True}, 'columns': {'age': {'role': 'quasi'}}}
    """
    data = policy.to_dict()
    privacy = dict(data["privacy"])
    left_out: dict[str, list[str]] = {}
    if "models" in privacy:
        left_out = {"values": [str(model.get("column")) for model in privacy["models"] if "values" in model]}
        left_out |= {
            key: [str(model.get("column")) for model in privacy["models"] if isinstance(model.get(key), list | tuple)]
            for key in ("protect", "utility", "sensitive")
        }
        privacy["models"] = [_nameless(model) for model in privacy["models"]]
    output = {key: value for key, value in data.get("output", {}).items() if key in _OUTPUT}
    hidden = set(policy.dropped) - {policy.privacy.person}
    columns: dict[str, dict[str, Any]] = {}
    for name, given in data["columns"].items():
        if name in hidden:
            continue
        column = {key: given[key] for key in _COLUMN if key in given}
        hierarchy = column.get("hierarchy")
        if isinstance(hierarchy, str):
            column["hierarchy"] = placeless(hierarchy)
        elif hierarchy is not None and "tree" in hierarchy:
            del column["hierarchy"]
            left_out.setdefault("tree", []).append(name)
        if "domain" in given:
            left_out.setdefault("domain", []).append(name)
        columns[name] = column
    sections = {"input": data.get("input", {}), "privacy": privacy, "output": output, "columns": columns}
    left_out = {what: names for what, names in left_out.items() if names}
    return {section: value for section, value in (sections | {"left_out": left_out}).items() if value}


def policy_of_promise(promise: Mapping[str, Any], verdict: Path) -> Policy:
    """The policy by which a release can be judged again; its files are looked for beside the verdict.

    Raises
    ------
    DataError
        When the promise does not say enough, or a hierarchy file is not there.
    """
    if not promise:
        raise DataError(f"{verdict.name}: it does not say what was promised; give the policy.")
    sections = {section: value for section, value in promise.items() if section != "left_out"}
    try:
        without = promise.get("left_out", {})
        lacking = [
            f"the {what} of column {name!r}"
            for what in ("tree", "values", "protect", "utility", "sensitive")
            for name in without.get(what, ())
        ]
        if any(column.get("pseudonym") for column in sections["columns"].values()):
            sections["output"] = sections.get("output", {}) | {"pseudonym_key": _NO_KEY}
        policy = Policy(**sections)
    except (PolicyError, AttributeError, KeyError, TypeError):
        raise DataError(
            f"{verdict.name}: what was promised is not written as kohort writes it; give the policy."
        ) from None
    if lacking:
        raise DataError(f"{verdict.name}: it leaves out {', '.join(lacking)}; give the policy.")
    policy._source = Source(verdict, "")
    DataError.refuse(
        f"{verdict.name}: the {what} is in {path.name}, which is not beside it; put it there, or give the policy."
        for what, path in policy.files.items()
        if what.startswith("hierarchy") and not path.is_file()
    )
    return policy


def _nameless(model: Mapping[str, Any]) -> dict[str, Any]:
    """A model as it is, but for the folder of a file that it names, and the values that it lists."""
    return {
        key: placeless(value) if key in _FILES and isinstance(value, str) else value
        for key, value in model.items()
        if key != "values" and not (key in ("protect", "utility", "sensitive") and isinstance(value, list | tuple))
    }


def placeless(path: str) -> str:
    """A path below the folder of the policy as it is; of any other, the name."""
    given = Path(path)
    return given.name if given.is_absolute() or ".." in given.parts else given.as_posix()
