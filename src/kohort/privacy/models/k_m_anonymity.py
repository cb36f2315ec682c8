"""k^m-anonymity of sets (Terrovitis, Mamoulis and Kalnis 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from kohort.policy.parameters import Limits
from kohort.privacy.base import MODELS, SetModel

_MOST = 8
"""Items that are looked at together."""


@MODELS.register("k-m-anonymity")
@dataclass(frozen=True)
class KMAnonymity(SetModel):
    """Whoever knows up to m items of a record finds at least k records that have them, or none.

    Every set of at most m published labels occurs in k records of a class or more, or in none. With other
    quasi-identifiers this is (k, k^m)-anonymity (Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos 2013).

    Examples
    --------
    >>> KMAnonymity(column="basket", m=2).recoding
    'global'
    """

    column: str
    m: Annotated[int, Limits(least=1)] = 2
    """Items of a record that an outsider may know."""
    recoding: Literal["global", "local"] = "global"
    """Whether an item is published alike in all records of a class, or differently in groups of similar ones."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m > _MOST:
            raise ValueError(f"'m' must be an integer from 1 to {_MOST}; got {self.m}")

    summary = "every set of at most m published items occurs in at least k records of a class, or in none"
    paper = "Terrovitis, Mamoulis, Kalnis, VLDB 2008; VLDB Journal 2011"
