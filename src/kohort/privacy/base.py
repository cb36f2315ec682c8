"""What a privacy model is: a promise about every class, as a frozen dataclass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.registry import Registry


class PrivacyModel(ABC):
    """A promise about every class of a release. Its dataclass fields are its parameters."""

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]

    @abstractmethod
    def refuses(self, records: int, suppressed: int = 0) -> str | None:
        """Why no release of that many records, others being suppressed, can keep the promise; or None."""


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
                found.append(MODELS.make(name, parameters))
            except PolicyError as error:
                wrong = error.faults
        faults += [policy.located(("privacy", "models", index), fault) for fault in wrong]
    if faults:
        raise PolicyError(*faults)
    return found
