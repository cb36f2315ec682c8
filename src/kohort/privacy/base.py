"""What a privacy model is: a promise about every class, as a frozen dataclass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.common.registry import Registry
from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.policy.parameters import Checked
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Rule


class PrivacyModel(Checked, ABC):
    """A promise about every class of a release. Its dataclass fields are its parameters."""

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]

    def refuses(self, records: int, suppressed: int = 0) -> str | None:
        """Why no release of that many records, others being suppressed, can keep the promise; or None."""
        return None


@dataclass(frozen=True)
class Histogram:
    """How often sensitive values occur in each class: one entry for each pair that does."""

    group: NDArray[np.int64]
    """Class, 0, 1, 2, ..."""
    value: NDArray[np.int64]
    """Value, by its number in the `Reference`."""
    count: NDArray[np.int64]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.group.max(initial=-1)) + 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each class."""
        return np.bincount(self.group, self.count).astype(np.int64)

    @property
    def distinct(self) -> NDArray[np.int64]:
        """Different values of each class."""
        return np.bincount(self.group).astype(np.int64)

    @property
    def largest(self) -> NDArray[np.int64]:
        """Records of each class with its most frequent value."""
        most = np.zeros(self.classes, np.int64)
        np.maximum.at(most, self.group, self.count)
        return most

    @classmethod
    def of_all(cls, table: Reference) -> Histogram:
        """The whole table as one class."""
        return cls(np.zeros(table.size, np.int64), np.arange(table.size), table.counts)

    @classmethod
    def of(cls, labels: NDArray[np.integer], values: NDArray[np.integer]) -> Histogram:
        """Count the values of records in their classes, which are numbered 0, 1, 2, ..."""
        return cls.of_pairs(labels, values, np.ones(len(labels), np.int64))

    @classmethod
    def of_pairs(cls, group: NDArray[np.integer], value: NDArray[np.integer], count: NDArray[np.integer]) -> Histogram:
        """Add up the counts of equal pairs of class and value."""
        size = int(value.max(initial=0)) + 1
        pairs, index = np.unique(group.astype(np.int64) * size + value, return_inverse=True)
        return cls(pairs // size, pairs % size, np.bincount(index.reshape(-1), count).astype(np.int64))


class SensitiveModel(PrivacyModel):
    """A promise about the sensitive values in every class."""

    monotone: ClassVar[bool] = True
    """Whether two classes that keep the promise keep it as one."""
    compares: ClassVar[bool] = False
    """Whether a class is compared with all published records, so that it matters who else is suppressed."""
    strictness: ClassVar[tuple[str, Literal["more", "less"]] | None] = None
    """The parameter that says how much is promised, and whether more or less of it promises more; None if there are
    several."""

    @cached_property  # which, unlike a property, a model may replace by a parameter
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that it is about; their values are looked at together."""
        return (self.column,)  # type: ignore[attr-defined]

    def refuses_policy(self, policy: Policy) -> str | None:
        """Why the promise makes no sense for the columns as the policy describes them; or None."""
        return None

    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        """Why no release of a table with these values can keep the promise, and what can be kept; or None.

        Nothing is impossible where the whole table as one class keeps it.

        Parameters
        ----------
        allowance : int
            Records that may be suppressed: whichever of them are in the way.
        """
        return None

    @abstractmethod
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        """Which classes keep the promise: decided in whole numbers, never by the luck of rounding."""

    @abstractmethod
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        """The promise in the form that a search can follow; what it ends with is judged by `keeps` all the same."""


class NumericModel(SensitiveModel):
    """A promise about the sensitive numbers or dates in every class; no class of other values keeps it."""

    column: str

    @override
    def refuses_policy(self, policy: Policy) -> str | None:
        if policy.columns[self.column].type != "string":
            return None
        return (
            f'it needs numbers or dates, and column {self.column!r} has type = "string"; choose another model or type'
        )

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        return self.kept(classes, table) if table.column.is_numeric else np.zeros(classes.classes, bool)

    @override
    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        if table.column.is_numeric:
            return self.refuses_numbers(table, allowance)
        return (
            f"the values of column {self.column!r} are not all numbers, or all dates; "
            "choose another model, or list what is no number in [input] missing"
        )

    @abstractmethod
    def kept(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        """`keeps`, for numbers."""

    @abstractmethod
    def refuses_numbers(self, table: Reference, allowance: int) -> str | None:
        """`refuses_values`, for numbers."""


class SizeModel(PrivacyModel):
    """A promise about how large the classes of a release are, taken together: a figure of them is at most a limit."""

    most: float

    @property
    @abstractmethod
    def least_size(self) -> int:
        """The size from which classes keep the promise, however many there are."""

    @abstractmethod
    def figure(self, sizes: NDArray[np.int64]) -> Fraction:
        """What is limited, for classes of these sizes; 0 if there is none."""

    def keeps(self, sizes: NDArray[np.int64]) -> bool:
        """Whether classes of these sizes keep the promise: `most` is the decimal number that the policy writes."""
        return self.figure(sizes) <= Fraction(str(self.most))


class PopulationModel(PrivacyModel):
    """A promise about how many records of a population each class could be about."""

    population: str
    """Path of the population's file, relative to the policy's folder."""

    def __post_init__(self) -> None:
        super().__post_init__()
        path: object = self.population
        if not isinstance(path, str) or not path.strip() or "\0" in path:
            raise ValueError("'population' must be the path of a file with the quasi-identifiers of a population")

    @abstractmethod
    def keeps(self, sizes: NDArray[np.int64], covered: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which classes keep the promise.

        Parameters
        ----------
        sizes : int64[classes]
            Records of each class.
        covered : int64[classes]
            Records of the population that its description covers.
        """

    def refuses_population(self, covered: int) -> str | None:
        """Why nothing keeps the promise if one class of all records covers that many of the population; or None."""
        return None


class SetModel(PrivacyModel):
    """A promise about the items of a column of sets, in every class of the other quasi-identifiers.

    Without such quasi-identifiers, all records are one class.
    """

    column: str

    def refuses_policy(self, policy: Policy) -> str | None:
        """Why the promise makes no sense for the column as the policy describes it; or None."""
        return None


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
                wrong = _misplaced(model, policy)
        faults += [policy.located(("privacy", "models", index), fault) for fault in wrong]
    PolicyError.refuse(faults)
    PolicyError.refuse(_unpromised(policy, [model for model in found if isinstance(model, SetModel)]))
    return found


def _unpromised(policy: Policy, models: list[SetModel]) -> list[str]:
    """Sets about which nothing is promised, or which nobody could judge together."""
    faults = []
    for name in policy.sets:
        own = [model.name for model in models if model.column == name]
        if not own:
            there = ", ".join(other for other, cls in MODELS.items() if issubclass(cls, SetModel))
            fault = f"column {name!r} is a set, and nothing is promised about its items; add a model ({there})."
            faults.append(policy.located(("columns", name), fault))
        elif len(own) > 1:
            fault = f"column {name!r} has {len(own)} models about its items; give it one of them."
            faults.append(policy.located(("privacy", "models"), fault))
    if len(policy.sets) > 1:
        fault = "there are several columns of type 'set', whose items one outsider may know; make them one column."
        faults.append(policy.located(("columns", policy.sets[1], "type"), fault))
    return faults


def _misplaced(model: PrivacyModel, policy: Policy) -> tuple[str, ...]:
    """Why a model does not fit the columns of a policy."""
    if isinstance(model, SetModel) and model.column not in policy.sets:
        return (f"privacy model {model.name!r}: column {model.column!r} is not of type 'set'.",)
    if isinstance(model, SetModel) and (reason := model.refuses_policy(policy)):
        return (f"privacy model {model.name!r}: {reason}.",)
    if not isinstance(model, SensitiveModel):
        return ()
    strangers = [column for column in model.columns if column not in policy.having_role("sensitive")]
    if strangers:
        return tuple(
            f"privacy model {model.name!r}: column {column!r} is not a sensitive column." for column in strangers
        )
    reason = model.refuses_policy(policy)
    return (f"privacy model {model.name!r}: {reason}.",) if reason else ()
