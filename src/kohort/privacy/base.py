"""What a privacy model is: a promise about every class, as a frozen dataclass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.registry import Registry


class PrivacyModel(ABC):
    """A promise about every class of a release. Its dataclass fields are its parameters."""

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]

    def refuses(self, records: int, suppressed: int = 0) -> str | None:
        """Why no release of that many records, others being suppressed, can keep the promise; or None."""
        del records, suppressed
        return None


@dataclass(frozen=True)
class Histogram:
    """How often the values of a sensitive column occur in each class: one entry for each pair that does."""

    group: NDArray[np.int64]
    """Class, 0, 1, 2, ..."""
    value: NDArray[np.int64]
    """Value, by number; missing is a value of its own."""
    count: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each class."""
        return np.bincount(self.group, self.count).astype(np.int64)

    @property
    def largest(self) -> NDArray[np.int64]:
        """Records of each class with its most frequent value."""
        most = np.zeros(int(self.group.max(initial=-1)) + 1, np.int64)
        np.maximum.at(most, self.group, self.count)
        return most


class SensitiveModel(PrivacyModel):
    """A promise about the values of one sensitive column in every class."""

    column: str

    @abstractmethod
    def keeps(self, classes: Histogram) -> NDArray[np.bool_]:
        """Which classes keep the promise."""

    @abstractmethod
    def refuses_values(self, counts: NDArray[np.int64]) -> str | None:
        """Why no release of a table whose values occur so often can keep the promise; or None."""


MODELS: Registry[PrivacyModel] = Registry("privacy model")


def models_of(policy: Policy) -> list[PrivacyModel]:
    """Every promise of a policy, k-anonymity first; all faults are reported together."""
    found: list[PrivacyModel] = [MODELS.make("k-anonymity", {"k": policy.privacy.k})]
    faults: list[str] = []
    for index, entry in enumerate(policy.privacy.models):
        parameters = dict(entry)
        name = parameters.pop("model", None)
        wrong: tuple[str, ...] = ()
        if name == "k-anonymity":
            wrong = ("k-anonymity is promised by 'k' of [privacy]; give it there alone.",)
        elif not isinstance(name, str):
            wrong = (f"a privacy model needs 'model', its name; there are {', '.join(MODELS)}.",)
        else:
            try:
                model = MODELS.make(name, parameters)
            except PolicyError as error:
                wrong = error.faults
            else:
                found.append(model)
                if isinstance(model, SensitiveModel) and model.column not in policy.having_role("sensitive"):
                    wrong = (f"privacy model {name!r}: column {model.column!r} is not a sensitive column.",)
        faults += [policy.located(("privacy", "models", index), fault) for fault in wrong]
    if faults:
        raise PolicyError(*faults)
    return found
