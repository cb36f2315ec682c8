"""k-anonymity (Samarati and Sweeney 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.base import MODELS, PrivacyModel


@MODELS.register("k-anonymity")
@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every published combination of quasi-identifiers is shared by at least k records.

    Examples
    --------
    >>> KAnonymity(k=5).refuses(records=3)
    'k = 5 is more than the 3 records of the table; choose a smaller k'
    """

    k: Annotated[int, Limits(least=2)]

    summary = "every class has at least k records"
    paper = "Samarati and Sweeney 1998"

    @override
    def refuses(self, records: int, suppressed: int = 0) -> str | None:
        if self.k <= records:
            return None
        place = f"left after suppressing {suppressed}" if suppressed else "of the table"
        records_of = "record" if records == 1 else "records"
        return f"k = {self.k} is more than the {records:,} {records_of} {place}; choose a smaller k"
