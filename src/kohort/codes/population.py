"""A population beside the table: how many of its records a published description covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes, boxes_of_labels
from kohort.codes.encode import STAR, Axis, Codes, LineAxis, TreeAxis, encode
from kohort.errors import DataError, InfeasibleError, KohortError
from kohort.policy import Policy
from kohort.privacy import PopulationModel, PrivacyModel
from kohort.table import read_table, typed_quasi_identifiers
from kohort.table.words import in_words

_NOTHING = (1, 0)


@dataclass(frozen=True)
class Population:
    """The records of a population on axes of their own, and where the codes of the table lie on these."""

    axes: tuple[Axis, ...]
    """Those of the table."""
    wide: tuple[Axis, ...]
    """The same columns with the values of the table and of the population."""
    points: NDArray[np.int32]
    counts: NDArray[np.int64]
    """Distinct records of the population by their codes on the wide axes, and how often each occurs."""

    @classmethod
    def of(cls, table: Any, policy: Policy, frame: pl.DataFrame, codes: Codes, what: str = "population") -> Population:
        """Read a population beside a table.

        Parameters
        ----------
        table : path or table
            The population: its quasi-identifiers are looked at.
        frame : DataFrame
            The records of the table that take part, typed.
        codes : Codes
            The same, encoded.
        what : str
            What messages call the population.

        Raises
        ------
        DataError
            When it cannot be read, or does not fit the table.
        """
        quasi = list(policy.quasi_identifiers)
        try:
            source = read_table(table, policy.input, policy.columns)
            _refuse_columns(source.frame.columns, quasi)
            people = typed_quasi_identifiers(source.frame.select(quasi), policy, source.zones)
            people, known = _of_the_same_types(people, frame.select(quasi), policy)
            # Alone first: a value that the hierarchy or the domain does not have is reported with its own row.
            encode(people, policy)
            both = encode(pl.concat([known, people], how="vertical_relaxed"), policy)
        except KohortError as error:
            raise DataError(*(f"{what}: {fault}" for fault in error.faults)) from None
        rows = Codes(np.ascontiguousarray(both.array[frame.height :]), both.axes).distinct
        return cls(codes.axes, both.axes, rows.codes, rows.counts)

    def covered(self, boxes: Boxes) -> NDArray[np.int64]:
        """Records of the population that each box covers, as it is published."""
        from kohort.kernels.cover import cover

        spans = [
            _span(axis, wide, boxes.lo[:, j], boxes.hi[:, j])
            for j, (axis, wide) in enumerate(zip(self.axes, self.wide, strict=True))
        ]
        first = np.column_stack([span.lo for span in spans])
        last = np.column_stack([span.hi for span in spans])
        found: NDArray[np.int64] = cover(first, last, np.ones(len(first), np.int64), self.points, self.counts)[0]
        return found


@dataclass(frozen=True)
class Coverage:
    """What a model promises about classes and a population."""

    model: PopulationModel
    population: Population

    def kept(self, boxes: Boxes, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which classes keep it, by the box and the number of records of each."""
        return self.model.keeps(sizes, self.population.covered(boxes))


def coverages_of(
    policy: Policy, models: Sequence[PrivacyModel], frame: pl.DataFrame, codes: Codes
) -> tuple[Coverage, ...]:
    """The promises of a policy that are about a population.

    Parameters
    ----------
    models : sequence of PrivacyModel
        All promises of the policy, k-anonymity first.
    frame : DataFrame
        The records of the table that take part, typed.
    codes : Codes
        The same, encoded.

    Raises
    ------
    DataError
        When a population cannot be read, or does not fit the table.
    InfeasibleError
        When not even one class of all records would keep a promise that larger classes keep better.
    """
    found: list[Coverage] = []
    read: dict[str, Population] = {}
    for index, model in enumerate(models[1:]):
        if not isinstance(model, PopulationModel):
            continue
        if model.population not in read:
            path, what = policy.folder / model.population, f"population of {model.name!r}"
            read[model.population] = Population.of(path, policy, frame, codes, what)
        population = read[model.population]
        everybody = boxes_of_labels(codes.array, np.zeros(len(codes.array), np.int32))
        whole = population.covered(Boxes(everybody.lo[:1], everybody.hi[:1]))
        reason = model.refuses_population(int(whole[0]))
        if reason:
            raise InfeasibleError(policy.located(("privacy", "models", index), f"{reason}."))
        found.append(Coverage(model, population))
    return tuple(found)


def _refuse_columns(there: Sequence[str], quasi: Sequence[str]) -> None:
    DataError.refuse(
        f"quasi-identifier {name!r} is not in it; add the column, or give another file."
        for name in quasi
        if name not in there
    )


def _of_the_same_types(people: pl.DataFrame, table: pl.DataFrame, policy: Policy) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both, if their columns can be compared; a column without values takes the type of the other."""
    faults = []
    for name in table.columns:
        if people[name].null_count() == people.height:
            people = people.with_columns(pl.lit(None, table[name].dtype).alias(name))
        elif table[name].null_count() == table.height:
            table = table.with_columns(pl.lit(None, people[name].dtype).alias(name))
        series, other = people[name], table[name]
        alike = series.dtype == other.dtype
        # Without a hierarchy numbers are compared by size; with one, whole numbers have other labels.
        numbers = series.dtype.is_numeric() and other.dtype.is_numeric() and policy.columns[name].hierarchy is None
        if not (alike or numbers):
            faults.append(
                f"column {name!r}: holds {in_words(series.dtype)}, and {in_words(other.dtype)} in the table; "
                "give it a type in the policy, or write both alike."
            )
    DataError.refuse(faults)
    return people, table


def _span(axis: Axis, wide: Axis, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> Boxes:
    """First and last code of the wide axis that box sides cover as they are published."""
    if isinstance(axis, TreeAxis):
        assert isinstance(wide, TreeAxis)
        ends = np.array([_leaves(wide, label) for label in axis.taxonomy.labels], np.int32)[axis.nodes(lo, hi)]
        first, last = ends[:, 0], ends[:, 1]
    else:
        # A column without values is one line, whatever the population has; then only missing ones matter.
        place = np.zeros(1, np.int32)
        if isinstance(wide, LineAxis) and len(axis.values):
            place = wide.values.search_sorted(axis.values.cast(wide.values.dtype)).to_numpy().astype(np.int32)
        first, last = (place[np.minimum(side, len(place) - 1)] for side in (lo, hi))
    missing = hi == axis.missing_code
    alone = missing & (lo == hi)
    # Missing among others is published as a star, which covers everything.
    first = np.where(alone, np.int32(wide.missing_code), np.where(missing, np.int32(0), first))
    last = np.where(alone, np.int32(wide.missing_code), np.where(missing, np.int32(wide.size - 1), last))
    return Boxes(first.astype(np.int32), last.astype(np.int32))


def _leaves(wide: TreeAxis, label: str) -> tuple[int, int]:
    """What a published label covers: by its text, for that is what the reader has."""
    if label == STAR:
        return 0, wide.size - 1
    node = wide.taxonomy.node_of(label)
    return _NOTHING if node is None else (int(wide.taxonomy.first_leaf[node]), int(wide.taxonomy.last_leaf[node]))
