"""What the models about numbers have in common: they refuse columns without them."""

from __future__ import annotations

from kohort.policy import Policy
from kohort.privacy.reference import SensitiveColumn


def refuses_type(policy: Policy, column: str) -> str | None:
    """Why a column cannot hold numbers, by the policy; or None."""
    if policy.columns[column].type != "string":
        return None
    return f'it needs numbers or dates, and column {column!r} has type = "string"; choose another model or type'


def refuses_texts(column: SensitiveColumn) -> str | None:
    """Why a column does not hold numbers, by its values; or None."""
    if is_numeric(column):
        return None
    return (
        f"the values of column {column.name!r} are not all numbers, or all dates; "
        "choose another model, or list what is no number in [input] missing"
    )


def is_numeric(column: SensitiveColumn) -> bool:
    """Whether all known values are numbers or dates."""
    return column.numbers is not None or not column.known
