"""rho-uncertainty of sets (Cao, Karras, Raissi and Tan 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from typing_extensions import override

from kohort.policy import Policy
from kohort.policy.parameters import Limits
from kohort.privacy.base import MODELS, SetModel


@MODELS.register("rho-uncertainty")
@dataclass(frozen=True)
class RhoUncertainty(SetModel):
    """Whatever items of a record somebody knows, no sensitive item follows from them with confidence rho or more.

    Of the records that have some items, fewer than rho of them have any one further sensitive item.

    Examples
    --------
    >>> RhoUncertainty(column="basket", rho=0.5, sensitive=["insulin"]).breaks(1, 2)
    True
    """

    column: str
    rho: Annotated[float, Limits(above=0, most=1)]
    """Confidence that no rule reaches."""
    sensitive: Any = None
    """The sensitive items."""
    m: Annotated[int, Limits(least=1)] | None = None
    """Items of a record that somebody may know; all of them when absent."""

    summary = "no sensitive item follows from other items of a record with a confidence of rho or more"
    paper = "Cao, Karras, Raissi, Tan, VLDB 2010"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.sensitive
        if (
            not isinstance(given, list | tuple)
            or not given
            or not all(isinstance(item, str) and item for item in given)
            or len(set(given)) < len(given)
        ):
            raise ValueError("'sensitive' must be a list of different items")
        object.__setattr__(self, "sensitive", tuple(given))

    def breaks(self, both: int, known: int) -> bool:
        """Whether a rule reaches rho, taken as the decimal that the policy writes."""
        return both > 0 and both >= Fraction(str(self.rho)) * known

    @override
    def refuses_policy(self, policy: Policy) -> str | None:
        if policy.quasi_identifiers:
            return "it is kept over the whole table, and there are other quasi-identifiers; choose 'k-m-anonymity'"
        if policy.columns[self.column].hierarchy is not None:
            return "it is kept by leaving items out, which needs no hierarchy; remove it"
        return None
