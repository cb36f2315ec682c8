"""Parameters of what a policy names: one check and one wording for each kind of value."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Limits:
    """Between which numbers a parameter is; for a whole number, `least` is 1 when absent."""

    least: int | None = None
    above: int | None = None
    most: int | None = None
    below: int | None = None
    note: str = ""

    def hold(self, value: float) -> bool:
        """Whether a number is within them."""
        return not (
            (self.least is not None and value < self.least)
            or (self.above is not None and value <= self.above)
            or (self.most is not None and value > self.most)
            or (self.below is not None and value >= self.below)
        )

    def __str__(self) -> str:
        if self.least is not None and self.most is not None:
            return f"from {self.least} to {self.most}{self.note}"
        limits = {"of at least": self.least, "above": self.above, "at most": self.most, "below": self.below}
        words = " and ".join(f"{word} {limit}" for word, limit in limits.items() if limit is not None)
        return f"{words}{self.note}"


Share = Annotated[float, Limits(least=0, most=1)]


class Checked:
    """A dataclass whose fields are parameters of a policy: each is checked by its type.

    A `Literal` is one of its words, and a number is within the `Limits` that its type is annotated with. None is fine
    where the type has it. What else can be wrong, a class says itself.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Search(Checked):
    ...     rounds: int
    ...     tau: Share | None = None
    ...     mode: Literal["strict", "relaxed"] = "strict"
    >>> def fault(*values):
    ...     try:
    ...         Search(*values)
    ...     except ValueError as error:
    ...         return str(error)
    >>> fault(0), fault(1, 2.0)
    ("'rounds' must be an integer of at least 1; got 0", "'tau' must be a number from 0 to 1; got 2.0")
    >>> fault(1, None, "lax")
    "'mode' must be 'strict' or 'relaxed'; got 'lax'"
    """

    def __post_init__(self) -> None:
        for name, kind in _kinds(type(self)).items():  # type: ignore[arg-type]
            _check(name, getattr(self, name), kind)


@cache
def _kinds(cls: type[Any]) -> dict[str, Any]:
    """The types of the parameters."""
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: hints[field.name] for field in fields(cls)}


def _check(name: str, value: Any, kind: Any) -> None:
    """Refuse a parameter that is not of its type."""
    if NoneType in get_args(kind):
        if value is None:
            return
        [kind] = [one for one in get_args(kind) if one is not NoneType]
    kind, limits = get_args(kind) if get_origin(kind) is Annotated else (kind, Limits())
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            *others, last = map(repr, get_args(kind))
            raise _wrong(name, f"{', '.join(others)} or {last}", value)
    elif kind is float:
        require_number(name, value, limits)
    elif kind is bool and not isinstance(value, bool):
        raise _wrong(name, "true or false", value)
    elif kind is int:
        least = limits.least or 1
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise _wrong(name, f"an integer of at least {least}", value)


def require_number(name: str, value: object, limits: Limits) -> None:
    """Refuse a parameter that is no finite number, or none within its limits."""
    if (
        not isinstance(value, int | float)
        or isinstance(value, bool)
        or (isinstance(value, float) and not math.isfinite(value))
        or not limits.hold(value)
    ):
        raise _wrong(name, f"a number {limits}", value)


def _wrong(name: str, wanted: str, value: object) -> ValueError:
    return ValueError(f"'{name}' must be {wanted}; got {value!r}")
